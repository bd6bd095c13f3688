"""The pages of the site: what they take from the code is there, and every page can be reached."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="not a checkout")


def hooks() -> Any:
    spec = importlib.util.spec_from_file_location("_site_hooks", DOCS / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_takes_from_the_code_is_there(page: Path) -> None:
    made = hooks().on_page_markdown(page.read_text())
    assert not re.search(r"\{\{.*?\}\}", made)


def test_a_page_says_what_the_scenario_says() -> None:
    made = hooks().on_page_markdown("{{ pay.overhead }} {{ windows.5.opens }} {{ demand.loss }}")
    assert made == "1,250 17:00 3.0"


def test_a_page_lists_members_and_what_is_seen_of_a_record_and_nothing_hidden() -> None:
    made = hooks().on_page_markdown("{{ members:tradesbench_gym.core.view.Desk }}")
    assert "### `copy() -> Desk`" in made
    assert "### `call`\n\nThe call on the line" in made
    made = hooks().on_page_markdown("{{ fields:call }}")
    assert "| `rang_at` | s | when the call came in |" in made
    assert "cancel_at" not in made


@pytest.mark.parametrize("mark", ["pay.none", "windows.9.opens", "pay.overhead.more"])
def test_a_number_that_the_scenario_lacks_stops_the_build(mark: str) -> None:
    with pytest.raises(KeyError, match=mark):
        hooks().on_page_markdown(f"{{{{ {mark} }}}}")


def test_every_page_is_in_the_navigation() -> None:
    settings = (ROOT / "mkdocs.yml").read_text()
    pages = {str(page.relative_to(DOCS)) for page in [*PAGES, *DOCS.rglob("*.ipynb")]}
    named = set(re.findall(r": ([\w/]+\.(?:md|ipynb))$", settings, re.MULTILINE))
    assert named == pages
