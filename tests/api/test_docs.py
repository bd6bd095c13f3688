"""The documents in a workspace say everything of the API, and what they show is right."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from tests.api.publics import followed
from tests.api.remote import AGENT, open_company
from tests.company.scenarios import SUNRIDGE
from tests.worlds import tiny_business
from tradesbench_gym.api.docs import QUERIES, DocsError, docs_texts, write_docs
from tradesbench_gym.api.examples import answers_of, example_of, part_of
from tradesbench_gym.api.fields import Model
from tradesbench_gym.api.handbook import handbook_text
from tradesbench_gym.api.markdown import tables
from tradesbench_gym.api.models import ErrorAnswer
from tradesbench_gym.api.operations import AGENT_OPERATIONS, DRIVER_OPERATIONS, Operation
from tradesbench_gym.api.views import VIEWS
from tradesbench_gym.commands.docs import docs
from tradesbench_gym.errors import TradesBenchError

PAGES = docs_texts(tiny_business(days=3))
_BLOCK = re.compile(r"^(\w+)[^\n]*:\n\n```json\n(.*?)\n```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)]+)\)")


def name_of(one: Any) -> str:
    return str(one.name)


def words(page: str, head: str) -> set[str]:
    """What stands in a column of the tables of a page."""
    return {row[head].strip("`") for rows in tables(page) for row in rows if head in row}


def fields_of(model: type[Model]) -> Iterator[tuple[str, str]]:
    """The fields of a model and of those it is made of, each with its description."""
    schema = model.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        for name, kind in part.get("properties", {}).items():
            yield name, kind["description"]


@pytest.mark.parametrize("operation", AGENT_OPERATIONS, ids=name_of)
def test_each_operation_has_a_page_with_every_field_and_error(operation: Operation) -> None:
    page = PAGES[f"{operation.name}.md"]
    assert operation.path in page
    assert operation.description in page
    arguments, fields = words(page, "argument"), words(page, "field")
    for name, meaning in fields_of(operation.request):
        assert name in arguments
        assert meaning in page
    for name, meaning in fields_of(operation.answer):
        assert name in fields
        assert meaning in page
    told = {row["code"].strip("`"): row for rows in tables(page) for row in rows if "code" in row}
    assert set(told) == {fault.code for fault in operation.all_faults}
    for fault in operation.all_faults:
        assert told[fault.code]["status"] == str(fault.status)
        assert told[fault.code]["meaning"] == fault.meaning


@pytest.mark.parametrize("operation", AGENT_OPERATIONS, ids=name_of)
def test_what_a_page_shows_is_what_the_models_take(operation: Operation) -> None:
    models: dict[str, type[Model]] = {
        "Request": operation.request,
        "Answer": operation.answer,
        "An": ErrorAnswer,
    }
    shown = _BLOCK.findall(PAGES[f"{operation.name}.md"])
    assert {kind for kind, _ in shown} == set(models)
    for kind, body in shown:
        models[kind].model_validate_json(body)


def test_units_words_and_needs_stand_in_the_tables() -> None:
    (arguments,) = [rows for rows in tables(PAGES["jobs.book.md"]) if "argument" in rows[0]]
    by_name = {row["argument"].strip("`"): row for row in arguments}
    assert by_name["window_start"]["unit"] == "time of day"
    assert {row["needed"] for row in arguments} == {"yes"}
    (optional,) = [rows for rows in tables(PAGES["customers.find.md"]) if "argument" in rows[0]]
    assert {row["needed"] for row in optional} == {"no"}
    job = {
        row["field"]: row for rows in tables(PAGES["jobs.get.md"]) for row in rows if "field" in row
    }
    assert job["`invoice_cents`"]["unit"] == "cents"
    assert job["`invoice_cents`"]["type"] == "whole number or null"
    assert "`cancelled`" in job["`state`"]["values"]


def test_every_field_has_a_description_and_plain_values_an_example() -> None:
    for operation in (*AGENT_OPERATIONS, *DRIVER_OPERATIONS):
        for model in (operation.request, operation.answer):
            schema = model.model_json_schema()
            for part in (schema, *schema.get("$defs", {}).values()):
                for name, kind in part.get("properties", {}).items():
                    assert kind["description"].endswith("."), (model, name)
                    assert part_of(kind) or len(kind["examples"]) == 1, (model, name)
            assert example_of(model) is not None


def test_the_current_call_is_shown_in_all_its_kinds() -> None:
    (current,) = [one for one in AGENT_OPERATIONS if one.name == "calls.current"]
    kinds = [example.body["kind"] for example in answers_of(current)]
    assert kinds == ["new_job", "cancellation", "none"]
    for example in answers_of(current):
        said = [key for key in ("new_job", "cancellation") if example.body[key] is not None]
        assert said == [key for key in (example.body["kind"],) if key != "none"]


def test_each_view_and_column_stands_on_the_page_of_views() -> None:
    page = PAGES["views.md"]
    for view in VIEWS:
        section = page.partition(f"\n## {view.name}\n")[2].partition("\n## ")[0]
        assert view.meaning in section
        (rows,) = tables(section)
        assert [row["column"].strip("`") for row in rows] == list(view.names)
        for row, column in zip(rows, view.columns, strict=True):
            assert (row["type"], row["unit"], row["meaning"]) == (
                column.type,
                column.unit,
                column.meaning,
            )
            assert column.empty in row["may be empty"]


def test_the_questions_on_the_page_of_views_are_answered(tmp_path: Path) -> None:
    with followed(tmp_path) as (world, public):
        world.next_call()
        for sql in QUERIES.values():
            assert sql in PAGES["views.md"]
            assert public.ask(sql).columns


def test_links_lead_somewhere() -> None:
    for name, page in PAGES.items():
        anchors = {line.lstrip("#").strip().lower() for line in page.split("\n") if line[:1] == "#"}
        for link in _LINK.findall(page):
            target, _, anchor = link.partition("#")
            assert target in {"", *PAGES}, (name, link)
            assert not anchor or anchor in anchors, (name, link)


def test_nothing_of_the_driver_is_told() -> None:
    for operation in DRIVER_OPERATIONS:
        assert f"{operation.name}.md" not in PAGES
    text = " ".join(PAGES.values()).lower()
    for word in ("/v1/advance", "leave_unanswered", "driver", "digest", "seed", "journal"):
        assert word not in text, word


@pytest.mark.parametrize("language", ["sh", "python"])
def test_the_calls_that_the_readme_shows_work(tmp_path: Path, language: str) -> None:
    script = PAGES["README.md"].partition(f"```{language}\n")[2].partition("```")[0]
    command = [sys.executable, "-c", script] if language == "python" else ["sh", "-c", script]
    if language == "sh" and shutil.which("curl") is None:
        pytest.skip("no curl here")
    with open_company(tmp_path, tiny_business()) as company:
        told = {
            "SUNRIDGE_API_PORT": str(company.agent_port),
            "SUNRIDGE_API_TOKEN": AGENT,
        }
        done = subprocess.run(
            command, env={**os.environ, **told}, capture_output=True, text=True, check=True
        )
    assert ("Sunridge Services" if language == "sh" else "'kind': 'none'") in done.stdout


# -- the files --


def test_docs_and_handbook_are_written_and_written_again(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    business = tiny_business(days=3)
    for _ in range(2):
        files = write_docs(workspace, business)
        assert {file.name for file in files} == set(PAGES)
        assert {one.name for one in workspace.iterdir()} == {"docs"}
        assert {one.name: one.read_text() for one in (workspace / "docs").iterdir()} == PAGES
    handbook = (workspace / "docs" / "HANDBOOK.md").read_text()
    assert handbook == handbook_text(business.scenario, 3, business.start_date)


def test_another_scenario_changes_the_documents(tmp_path: Path) -> None:
    write_docs(tmp_path / "ours", tiny_business())
    write_docs(tmp_path / "theirs", tiny_business({"company": "Moonridge", "pay.overhead": 9}))
    ours, theirs = (
        {one: (tmp_path / name / one).read_text() for one in ("docs/HANDBOOK.md", "docs/README.md")}
        for name in ("ours", "theirs")
    )
    assert "Moonridge" in theirs["docs/README.md"]
    assert "$9.00 a day" in theirs["docs/HANDBOOK.md"]
    assert not ours.items() & theirs.items()


@pytest.mark.parametrize("kind", ["file inside", "file", "link"])
def test_a_docs_folder_of_somebody_else_is_left_alone(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "docs"
    if kind == "file":
        place.write_text("mine")
    elif kind == "link":
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.mkdir()
        (place / "calibration.md").write_text("mine")
    with pytest.raises(DocsError) as caught:
        write_docs(tmp_path, tiny_business())
    assert caught.value.code == "foreign_docs"
    assert len(list(tmp_path.rglob("*"))) == (2 if kind == "file inside" else 1)


def test_a_folder_that_cannot_be_written_holds_nothing_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(DocsError) as caught:
        write_docs(tmp_path, tiny_business())
    assert str(caught.value).endswith("no space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "workspace").write_text("")
    with pytest.raises(DocsError):
        write_docs(tmp_path / "workspace", tiny_business())


# -- the command --


def run(*arguments: object) -> Any:
    app = typer.Typer()
    app.command()(docs)
    return CliRunner().invoke(app, [str(one) for one in arguments])


def test_the_command_writes_a_workspace(tmp_path: Path) -> None:
    done = run(tmp_path, "--days", 5)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Wrote ")
    assert "| length | 5 days |" in (tmp_path / "docs" / "HANDBOOK.md").read_text()
    told = json.loads(run(tmp_path, "--json").stdout)
    assert str(tmp_path / "docs" / "HANDBOOK.md") in told["files"]
    assert (tmp_path / "docs" / "HANDBOOK.md").read_text() == handbook_text(SUNRIDGE)


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    done = run(tmp_path, "--scenario", "nowhere")
    assert isinstance(done.exception, TradesBenchError)
    assert not list(tmp_path.iterdir())
