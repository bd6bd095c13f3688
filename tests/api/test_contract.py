"""Both OpenAPI documents, and whatever schemathesis thinks of: no 5xx, no undocumented answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.companies import AGENT, Company, Party, bearer, in_process, opened, problem
from tradesbench_gym.api.app import agent_app, agent_routes, driver_routes
from tradesbench_gym.api.models import ErrorAnswer
from tradesbench_gym.api.operations import (
    AGENT_OPERATIONS,
    ASTRAY_FAULTS,
    COMMON_FAULTS,
    DRIVER_OPERATIONS,
)
from tradesbench_gym.world import World, WorldError

QUICK, THOROUGH = 25, 500
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EVERY = [
    *(("agent", one.name) for one in AGENT_OPERATIONS),
    *(("driver", one.name) for one in DRIVER_OPERATIONS),
]


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    """A company in the middle of its second day, with a caller on the line."""
    with opened(tmp_path_factory.mktemp("contract") / "run.sqlite") as company:
        while company.agent("company.status")["day"] < 2:
            caller = company.next_call()
            company.register(caller)
            company.agent("jobs.book", **company.offer(caller, service_date="2026-10-05"))
        company.next_call()
        yield company


@pytest.fixture(scope="module")
def documents(busy: Company) -> dict[str, Any]:
    return {
        "agent": agent_routes(busy.office).openapi(),
        "driver": driver_routes(busy.office).openapi(),
    }


def sent(party: Party, case: schemathesis.Case[Any]) -> httpx.Response:
    """A case's request in the words of another client, with the party's token."""
    wanted = case.as_transport_kwargs(base_url="http://company")
    known = {"method", "url", "headers", "data", "json", "params", "cookies", "files"}
    made = requests.Request(**{key: wanted[key] for key in known & set(wanted)}).prepare()
    headers = {key: str(made.headers[key]) for key in made.headers if key != "Authorization"}
    body: Any = made.body
    return party.client.request(str(made.method), str(made.url), headers=headers, content=body)


def judged(party: Party, case: schemathesis.Case[Any]) -> None:
    """The case as it came, and once more about the call that is on the line."""
    case.validate_response(sent(party, case), checks=CHECKS)
    if isinstance(case.body, dict) and {"call_id", "job_id"} & set(case.body):
        line = party.client.post("/v1/calls.current", json={})
        caller = line.json().get("new_job") or {"call_id": 1}
        real = {"call_id": caller["call_id"], "job_id": 1}
        case.body = {key: real.get(key, value) for key, value in case.body.items()}
        case.validate_response(sent(party, case), checks=CHECKS)


def explore(
    busy: Company, documents: dict[str, Any], party: str, operation: str, examples: int
) -> None:
    asked = busy.agent if party == "agent" else busy.driver
    schema = schemathesis.openapi.from_dict(documents[party])
    for mode in GenerationMode:

        @settings(
            max_examples=examples,
            suppress_health_check=list(HealthCheck),
            derandomize=examples == QUICK,
            database=None,
        )
        @given(case=schema[f"/v1/{operation}"]["POST"].as_strategy(generation_mode=mode))
        def look(case: schemathesis.Case[Any]) -> None:
            judged(asked, case)

        look()


@pytest.mark.parametrize(("party", "operation"), EVERY)
def test_whatever_is_asked_the_answer_is_a_documented_one(
    busy: Company, documents: dict[str, Any], party: str, operation: str
) -> None:
    explore(busy, documents, party, operation, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize(("party", "operation"), EVERY)
def test_whatever_is_asked_at_length_the_answer_is_a_documented_one(
    busy: Company, documents: dict[str, Any], party: str, operation: str
) -> None:
    explore(busy, documents, party, operation, THOROUGH)


@pytest.mark.parametrize("party", ["agent", "driver"])
def test_the_document_says_all_that_the_list_of_operations_does(
    documents: dict[str, Any], party: str
) -> None:
    operations = AGENT_OPERATIONS if party == "agent" else DRIVER_OPERATIONS
    document = documents[party]
    assert set(document["paths"]) == {one.path for one in operations}
    for one in operations:
        said = document["paths"][one.path]["post"]
        assert said["summary"] == one.summary
        assert said["security"] == [{"HTTPBearer": []}]
        body = said["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        assert body.endswith(f"/{one.request.__name__}")
        assert set(said["responses"]) == {"200", *(str(fault.status) for fault in one.all_faults)}
        for fault in one.all_faults:
            answer = said["responses"][str(fault.status)]
            assert f"`{fault.code}`" in answer["description"]
            shape = answer["content"]["application/json"]["schema"]["$ref"]
            assert shape.endswith(f"/{ErrorAnswer.__name__}")


def test_every_field_of_every_model_has_a_description_and_an_example(
    documents: dict[str, Any],
) -> None:
    for document in documents.values():
        for name, model in document["components"]["schemas"].items():
            assert model["description"]
            for key, field in model.get("properties", {}).items():
                assert field["description"], f"{name}.{key}"
                text = str(field)
                assert "examples" in field or "$ref" in text, f"{name}.{key}"
                assert not key.endswith(("_cents", "_m", "_f")) or "x-unit" in text, f"{name}.{key}"


def test_nothing_in_the_agent_s_document_is_of_the_driver(documents: dict[str, Any]) -> None:
    text = str(documents["agent"])
    for word in ("advance", "leave_unanswered", "digest", "seed", "salt", "journal"):
        assert word not in text


def test_the_document_is_there_for_whoever_has_the_token(busy: Company) -> None:
    for party in (busy.agent, busy.driver):
        answer = party.client.get("/openapi.json")
        assert answer.status_code == 200
        assert answer.json()["openapi"].startswith("3.1")


def test_an_unforeseen_failure_is_told_in_the_same_shape(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is on fire")

    monkeypatch.setattr(type(company.office), "query", fail)
    app = agent_app(company.office, AGENT)
    with in_process(app, raises=False) as client:
        answer = client.post("/v1/query", json={"sql": "SELECT 1"}, headers=bearer(AGENT))
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "server_failed"
    assert "fire" not in answer.text


def test_records_that_cannot_be_used_are_told_of_and_only_the_driver_is_told_why(
    company: Company, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(world: World, *_: object) -> None:
        raise WorldError(f"the disk is full: {world.path} is as it was", code="disk_full")

    number, digest = company.next_call()["call_id"], company.world.digest()
    with monkeypatch.context() as broken:
        broken.setattr(World, "_commit", full)
        answer = company.agent.ask("calls.reject", call_id=number)
        assert problem(answer) == (503, "records_unusable")
        assert "disk" not in answer.text
        assert str(company.world.path) not in answer.text
        answer = company.driver.ask("leave_unanswered", call_id=number)
        assert problem(answer) == (503, "records_unusable")
        assert f"the disk is full: {company.world.path}" in answer.json()["error"]["message"]
    assert "the disk is full" in caplog.text
    assert company.world.digest() == digest
    assert company.agent("calls.reject", call_id=number)["outcome"] == "rejected"


def test_a_public_database_that_cannot_be_written_keeps_no_command_from_being_done(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full: /tmp/somewhere")

    question = "SELECT outcome FROM calls"
    company.agent("calls.reject", call_id=company.next_call()["call_id"])
    with monkeypatch.context() as broken:
        broken.setattr(company.office.database, "_write", full)
        answer = company.agent.ask("query", sql=question)
        assert problem(answer) == (503, "records_unusable")
        assert "somewhere" not in answer.text
        company.agent("calls.reject", call_id=company.next_call()["call_id"])
    assert company.agent("query", sql=question)["rows"] == [["rejected"], ["rejected"]]


def test_what_is_asked_of_a_company_that_is_being_closed_is_told_so(company: Company) -> None:
    number = company.next_call()["call_id"]
    company.office.stop()
    assert company.agent.refused("query", sql="SELECT 1") == (503, "closed")
    assert company.agent("calls.current")["kind"] == "new_job"
    company.office.close()
    assert company.agent.refused("calls.reject", call_id=number) == (503, "closed")


def test_every_error_is_defined_once_and_has_one_status() -> None:
    every = [*COMMON_FAULTS, *ASTRAY_FAULTS]
    for one in (*AGENT_OPERATIONS, *DRIVER_OPERATIONS):
        every += one.faults
        codes = [fault.code for fault in one.all_faults]
        assert len(set(codes)) == len(codes)
    meanings = {(fault.code, fault.status, fault.meaning) for fault in every}
    assert len({code for code, _, _ in meanings}) == len(meanings)
