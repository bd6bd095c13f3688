"""The page: whole, self-contained, escaped, and sensible for every kind of run; and its command."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tests.report.html.worlds import HOSTILE, KINDS, Runs, make, map_file
from tradesbench_gym.commands.report import report
from tradesbench_gym.errors import StateError
from tradesbench_gym.report.html.facts import Run
from tradesbench_gym.report.html.page import PLOTLY, render
from tradesbench_gym.report.published import PUBLISHED

pytest.importorskip("jinja2", reason="needs [report]")


class Seen(HTMLParser):
    """The tags of a page, the text outside scripts, and the data inside."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.data = "", ""
        self._inside: tuple[str, str | None] = ("", None)
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = (tag, dict(attrs).get("type"))

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._inside = ("", None)

    def handle_data(self, data: str) -> None:
        if self._inside == ("script", "application/json"):
            self.data += data
        elif self._inside[0] not in ("script", "style"):
            self.text += data


@pytest.fixture(params=list(KINDS))
def run(request: pytest.FixtureRequest, run_of: Runs) -> Run:
    return run_of(request.param)


def test_a_page_fetches_nothing(run: Run) -> None:
    page = render([run])
    seen = Seen(page)
    for tag, attributes in seen.tags:
        assert tag not in ("img", "iframe", "object", "embed")
        assert "src" not in attributes
        if tag == "link":
            assert str(attributes["href"]).startswith("data:")
        if tag == "a":
            assert str(attributes["href"]).startswith("#")
    policies = [a["content"] for _, a in seen.tags if a.get("http-equiv")]
    assert len(policies) == 1
    assert str(policies[0]).startswith("default-src 'none'")


def test_a_page_has_the_figures_of_the_run_beside_the_report_s(run_of: Runs) -> None:
    text = Seen(render([run_of("whole")])).text
    for figure in PUBLISHED.values():
        assert figure.text in text
    assert f"{run_of('whole').results.completed}" in text
    assert "What the report's figures are about" in text
    assert "the report's figures are about" in Seen(render([run_of("long")])).text.lower()
    assert "147" not in re.findall(r"\b147\b", Seen(render([run_of("unbegun")])).text)[1:]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("bankrupt", "Bankrupt on day 1 of 14"),
        ("quiet", "Nobody has called."),
        ("long", "Ended after 28 days"),
        ("unfinished", "waits for an answer"),
        ("unbegun", "Not begun: day 1 of 14 has not opened"),
        ("whole", "Ended after 14 days"),
    ],
)
def test_a_page_says_in_words_how_a_run_stands(kind: str, sentence: str, run_of: Runs) -> None:
    assert sentence in Seen(render([run_of(kind)])).text


def test_words_of_a_file_are_never_read_as_html(run_of: Runs) -> None:
    page = render([run_of("hostile"), run_of("whole")])
    assert HOSTILE not in page
    seen = Seen(page)
    assert HOSTILE in seen.text
    data = json.loads(seen.data)
    shown = json.dumps(data["runs"][0]["figures"]) + json.dumps(data["runs"][0]["days"])
    assert "<b>Bob" not in shown
    assert "&lt;b&gt;Bob&amp;Co&lt;/b&gt;" in shown


def test_the_map_s_attribution_stands_on_the_page(
    run_of: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, line = run_of("whole"), "© OpenStreetMap contributors, ODbL"
    assert "Map:" not in Seen(render([run])).text
    monkeypatch.setattr(run.business.roadmap, "attribution", line)
    assert f"Map: {line}." in Seen(render([run])).text


def test_without_the_extra_one_sentence_says_what_to_install(
    run_of: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(StateError, match=r"needs Jinja2: pip install 'tradesbench-gym.report"):
        render([run_of("quiet")])


def test_plotly_s_bundle_is_the_published_one_and_keeps_its_licence(run_of: Runs) -> None:
    folder = resources.files("tradesbench_gym.report.html")
    bundle = folder.joinpath(PLOTLY).read_bytes()
    # Of plotly.js-basic-dist-min 4.1.1, as its publisher has it on npm.
    published = "99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba"
    assert hashlib.sha256(bundle).hexdigest() == published
    assert "MIT License" in folder.joinpath("plotly-basic.LICENSE.md").read_text(encoding="utf-8")
    assert "Licensed under the MIT license" in render([run_of("quiet")])


def test_the_salt_of_a_sealed_run_stands_nowhere(tmp_path: Path) -> None:
    from tests.worlds import tiny_business
    from tradesbench_gym.report.html.reading import read_run
    from tradesbench_gym.world import World

    secret = 8_273_645_528_374
    path = tmp_path / "sealed-1.sqlite"
    World.create(path, 1, salt=secret, business=tiny_business({}, 1)).close()
    page = render([read_run(path, map_name=str(map_file(tmp_path)))])
    assert "sealed" in page
    assert str(secret) not in page


def test_runs_beyond_those_shown_in_full_are_compared_and_named(run_of: Runs) -> None:
    runs = [run_of("whole"), run_of("missing"), run_of("unfinished")]
    seen = Seen(render(runs, most=1))
    assert len(json.loads(seen.data)["runs"]) == 1
    assert (
        "Only compared, not shown in full below: missing, seed 7; unfinished, seed 7" in seen.text
    )
    assert "Not over, and not counted here: unfinished, seed 7" in seen.text


def called(*words: object) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(report)
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_the_command_writes_a_page_and_says_what_it_shows(tmp_path: Path) -> None:
    tiny, output = map_file(tmp_path), tmp_path / "page.html"
    files = [make(tmp_path / f"oracle-{seed}.sqlite", KINDS["unfinished"], seed) for seed in (7, 8)]
    status, said = called(*files, "--map", tiny, "-o", output)
    assert status == 0
    assert "oracle, seed 8: " in said
    assert "unfinished, day" in said
    assert output.read_text(encoding="utf-8").startswith("<!doctype html>")
    status, said = called(*files, "--map", tiny, "-o", output, "--json")
    plain = json.loads(said)
    assert plain["bytes"] == output.stat().st_size
    assert [one["results"]["seed"] for one in plain["runs"]] == [7, 8]
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def test_the_command_never_replaces_a_run_by_a_page(tmp_path: Path) -> None:
    tiny = map_file(tmp_path)
    file = make(tmp_path / "oracle-7.sqlite", KINDS["unbegun"])
    before = file.read_bytes()
    for output, sentence in (
        (file, "it is a database"),
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "page.html", "there is no folder"),
    ):
        with pytest.raises(StateError, match=sentence):
            called(file, "--map", tiny, "-o", output)
    assert file.read_bytes() == before
