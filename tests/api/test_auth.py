"""Who may ask: the right token, in time, at its own server; and where tokens are kept."""

from __future__ import annotations

import hmac
import logging
import os
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.api.companies import (
    AGENT,
    DRIVER,
    Company,
    Served,
    bearer,
    in_process,
    problem,
)
from tradesbench_gym.api.app import agent_app
from tradesbench_gym.api.tokens import (
    AGENT_VARIABLE,
    TokenError,
    check_different,
    new_token,
    token_from_environment,
    token_from_file,
)

TOKEN = "t" * 40
NO_MODES = pytest.mark.skipif(os.name != "posix", reason="files have no modes here")


def asked(company: Company, *headers: tuple[str, str]) -> httpx.Response:
    company.agent.client.headers.pop("Authorization", None)
    return company.agent.client.post("/v1/company.status", json={}, headers=list(headers))


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([], "token_missing"),
        ([("Authorization", "")], "token_missing"),
        ([("Authorization", "Bearer")], "token_missing"),
        ([("Authorization", "Bearer ")], "token_missing"),
        ([("Authorization", f"Basic {AGENT.secret.decode()}")], "token_missing"),
        ([("Authorization", AGENT.secret.decode())], "token_missing"),
        ([(name, f"Bearer {AGENT.secret.decode()}") for name in ("Authorization",) * 2],
         "token_missing"),
        ([("Authorization", "Bearer wrong")], "token_wrong"),
        ([("Authorization", f"Bearer {AGENT.secret.decode()[:-1]}")], "token_wrong"),
        ([("Authorization", f"Bearer {AGENT.secret.decode()}x")], "token_wrong"),
        ([("Authorization", f"Bearer {AGENT.secret.decode()} x")], "token_wrong"),
        ([("Authorization", f"Bearer {AGENT.secret.decode().upper()}")], "token_wrong"),
    ],
)  # fmt: skip
def test_without_the_right_token_nothing_is_answered(
    company: Company, headers: list[tuple[str, str]], code: str
) -> None:
    answer = asked(company, *headers)
    assert problem(answer) == (401, code)
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert AGENT.secret.decode() not in answer.text


def test_a_token_that_is_no_ascii_is_wrong_and_no_error(company: Company) -> None:
    answer = company.agent.client.post(
        "/v1/query", headers=[(b"Authorization", b"Bearer t\xf6ken-of-the-agent")]
    )
    # The client's own header stands beside it.
    assert problem(answer) in {(401, "token_missing"), (401, "token_wrong")}


def test_the_scheme_is_written_in_any_case(company: Company) -> None:
    token = AGENT.secret.decode()
    assert asked(company, ("Authorization", f"bearer {token}")).status_code == 200
    assert asked(company, ("authorization", f"BEARER   {token} ")).status_code == 200


def test_an_expired_token_was_right_once(company: Company) -> None:
    for seconds, status in ((60, 200), (-1, 401)):
        token = replace(AGENT, expires_at=time.time() + seconds)
        with in_process(agent_app(company.office, token)) as client:
            answer = client.post("/v1/company.status", json={}, headers=bearer(token))
            assert answer.status_code == status
            wrong = client.post("/v1/company.status", json={}, headers=bearer(DRIVER))
            assert problem(wrong) == (401, "token_wrong")
    assert problem(answer) == (401, "token_expired")


def test_neither_party_s_token_opens_the_other_s_server(company: Company) -> None:
    for party, other in ((company.agent, DRIVER), (company.driver, AGENT)):
        party.client.headers.update(bearer(other))
        for path in ("/v1/company.status", "/v1/advance", "/v1/status", "/openapi.json", "/"):
            assert problem(party.client.post(path, json={})) == (401, "token_wrong")
            assert problem(party.client.get(path)) == (401, "token_wrong")


def test_what_exists_is_not_told_without_a_token(company: Company) -> None:
    company.agent.client.headers.pop("Authorization")
    said = {company.agent.client.post(path).text for path in ("/v1/query", "/v1/nothing", "/")}
    assert len(said) == 1


def test_tokens_are_compared_in_constant_time(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert asked(company, ("Authorization", "Bearer wrong")).status_code == 401
    assert compared == [(b"wrong", AGENT.secret)]


def test_no_token_is_ever_logged(running: Served, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        token = AGENT.secret.decode()
        running.agent("company.status")
        running.agent.client.get(f"/v1/query?token={token}")
        running.agent.client.post(f"/{token}", json={"token": token})
        running.agent.refused("query", sql=token)
        running.agent.refused("jobs.get", job_id=token)
    told = [
        record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))
    ]
    assert token not in "".join(record.getMessage() for record in told)
    assert token not in repr(AGENT)


def test_a_new_token_lies_in_a_file_for_its_owner_alone(tmp_path: Path) -> None:
    token, other = new_token(folder=tmp_path, name="agent"), new_token()
    assert token.secret != other.secret
    assert len(token.secret) >= 40
    path = tmp_path / "agent.token"
    assert token.origin == str(path)
    assert token_from_file(path) == token
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600


@NO_MODES
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o660, 0o601])
def test_a_file_that_others_may_enter_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN, encoding="utf-8")
    path.chmod(mode)
    with pytest.raises(TokenError, match=f"mode is {mode:04o}.*chmod 600") as caught:
        token_from_file(path)
    assert TOKEN not in str(caught.value)
    path.chmod(0o600)
    assert token_from_file(path).secret == TOKEN.encode()


@pytest.mark.parametrize(
    "text", ["", "short", "t" * 513, "two words of a token", "tökens-abcdefgh"]
)
def test_what_is_no_token_is_refused_and_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    path = tmp_path / "token"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    monkeypatch.setenv(AGENT_VARIABLE, text)
    with pytest.raises(TokenError) as caught:
        token_from_file(path)
    with pytest.raises(TokenError) as also:
        token_from_environment(AGENT_VARIABLE)
    assert not text or text not in f"{caught.value}{also.value}"


def test_a_token_file_that_is_none_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(TokenError, match="token"):
            token_from_file(path)


def test_a_token_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AGENT_VARIABLE, raising=False)
    assert token_from_environment(AGENT_VARIABLE) is None
    monkeypatch.setenv(AGENT_VARIABLE, TOKEN)
    found = token_from_environment(AGENT_VARIABLE, 5.0)
    assert found is not None
    assert (found.secret, found.expires_at, found.origin) == (
        TOKEN.encode(),
        5.0,
        f"${AGENT_VARIABLE}",
    )
    with pytest.raises(TokenError, match="different"):
        check_different(found, found)
