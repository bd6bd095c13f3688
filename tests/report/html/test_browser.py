"""The page in a real browser: every control clicked, wide and narrow, light and dark, without one
message on the console, one request, or anything wider than the window.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.html.worlds import KINDS, Runs
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.report.html.page import render
from tradesbench_gym.report.html.reading import read_run
from tradesbench_gym.world import World, play_on

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, of [dev]")
pytest.importorskip("jinja2", reason="needs [report]")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
MOST_BYTES = 8_000_000
DRAWN = "() => document.querySelectorAll('{} .figure:not([data-drawn])').length === 0"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        # As root, which continuous integration often is, Chromium runs only without its sandbox.
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def every_kind(run_of: Runs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One page about a run of every kind."""
    path = tmp_path_factory.mktemp("page") / "all.html"
    runs = [run_of(name) for name in KINDS]
    path.write_text(render(runs, most=len(runs)), encoding="utf-8")
    return path


class Reader:
    """Somebody with a browser, who writes down every message and request."""

    def __init__(self, browser: Any, path: Path, size: dict[str, int], scheme: str) -> None:
        self.context = browser.new_context(viewport=size, color_scheme=scheme)
        self.page = self.context.new_page()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def look(self) -> None:
        """Nothing has been said, and nothing is wider than the window."""
        assert self.messages == []
        over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert self.page.evaluate(over) <= 0

    def scroll_through(self) -> None:
        """Bring everything into sight, so that every figure is drawn."""
        figures = self.page.locator(".figure:visible")
        for number in range(figures.count()):
            figures.nth(number).scroll_into_view_if_needed()
        self.page.wait_for_function(DRAWN.format("article:not([hidden])"))
        for number in range(figures.count()):
            assert figures.nth(number).locator("svg.main-svg").count() > 0

    def close(self) -> None:
        assert [url for url in self.requests if not url.startswith(("file:", "data:"))] == []
        self.context.close()


def click_through(reader: Reader, article: Any) -> int:
    """Use every control of a run that is shown; how many there were."""
    used = 0
    for picker in article.locator(".days").all():
        days = picker.locator(".day option").count()
        for day in range(0, days, 5):
            picker.locator(".day").select_option(str(day))
        picker.locator(".day").select_option(str(days - 1))
        assert not picker.locator(".forth").is_enabled()
        assert picker.locator(".back").is_enabled() == (days > 1)
        if days > 1:
            picker.locator(".back").click()
            picker.locator(".forth").click()
            assert picker.locator(".day").input_value() == str(days - 1)
        used += 3
        reader.look()
    for player in article.locator(".player").all():
        slider = player.locator(".time")
        for place in ("min", "max"):
            slider.evaluate(f"s => {{ s.value = s.{place}; s.dispatchEvent(new Event('input')); }}")
            reader.look()
        player.locator(".play").click()
        assert player.locator(".play").get_attribute("aria-pressed") == "true"
        reader.page.wait_for_timeout(300)
        player.locator(".play").click()
        assert player.locator(".play").get_attribute("aria-pressed") == "false"
        used += 2
        reader.look()
    for details in article.locator("details").all():
        details.locator("summary").click()
        assert details.get_attribute("open") is not None
        for button in details.locator("button").all():
            day = button.get_attribute("data-day")
            button.click()
            assert article.locator(".day").first.input_value() == day
        used += 1
        reader.look()
    return used


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_control_works_and_nothing_is_said_on_the_console(
    browser: Any, every_kind: Path, size: dict[str, int], scheme: str
) -> None:
    reader = Reader(browser, every_kind, size, scheme)
    reader.look()
    used = 0
    for number in range(len(KINDS)):
        reader.page.locator("#chosen").select_option(str(number))
        reader.scroll_through()
        article = reader.page.locator("article:not([hidden])")
        assert article.count() == 1
        used += click_through(reader, article)
    assert used > 40
    for link in reader.page.locator("nav a").all():
        link.click()
        target = link.get_attribute("href")
        assert reader.page.locator(target).is_visible()
    reader.look()
    reader.close()


def test_figures_follow_the_reader_s_scheme_while_he_reads(browser: Any, every_kind: Path) -> None:
    reader = Reader(browser, every_kind, WIDE, "light")
    reader.scroll_through()
    asked = "() => document.querySelector('[data-figure=cash]')._fullLayout.font.color"
    light = reader.page.evaluate(asked)
    reader.page.emulate_media(color_scheme="dark")
    reader.page.wait_for_timeout(500)
    assert reader.page.evaluate(asked) != light
    reader.look()
    reader.close()


def test_pointing_at_a_job_tells_about_it(browser: Any, every_kind: Path) -> None:
    reader = Reader(browser, every_kind, WIDE, "light")
    reader.scroll_through()
    place = reader.page.locator('article:not([hidden]) [data-figure="day"]')
    place.scroll_into_view_if_needed()
    place.locator(".bars .point").first.hover(force=True)
    label = place.locator(".hoverlayer .hovertext")
    label.first.wait_for()
    assert "job " in (label.first.text_content() or "")
    reader.look()
    reader.close()


def test_names_from_a_file_are_shown_as_they_are(browser: Any, every_kind: Path) -> None:
    reader = Reader(browser, every_kind, WIDE, "light")
    reader.page.locator("#chosen").select_option(str(list(KINDS).index("hostile")))
    reader.scroll_through()
    names = reader.page.locator("article:not([hidden]) .technicians li").all_inner_texts()
    assert names[0] == "</script><b>Bob&Co</b>"
    reader.look()
    reader.close()


def test_the_slider_moves_the_technicians(browser: Any, every_kind: Path) -> None:
    reader = Reader(browser, every_kind, WIDE, "light")
    reader.scroll_through()
    article = reader.page.locator("article:not([hidden])")
    slider, spots = article.locator(".time"), "p => p.data[p.data.length - 1].x.slice()"
    seen = []
    for share in (0, 0.5, 1):
        slider.evaluate(
            "(s, share) => { s.value = +s.min + share * (s.max - s.min);"
            " s.dispatchEvent(new Event('input')); }",
            share,
        )
        seen.append(article.locator('[data-figure="map"]').evaluate(spots))
    assert seen[0] != seen[1]
    assert article.locator(".clock").inner_text() != ""
    reader.look()
    reader.close()


def test_the_page_of_a_run_of_14_days_is_small_and_opens(browser: Any, tmp_path: Path) -> None:
    world = tmp_path / "oracle-5.sqlite"
    with World.create(world, 5) as played:
        for _stop in play_on(played, load_policy("oracle")):
            pass
    page = tmp_path / "page.html"
    page.write_text(render([read_run(world)]), encoding="utf-8")
    assert page.stat().st_size < MOST_BYTES
    reader = Reader(browser, page, NARROW, "dark")
    reader.scroll_through()
    # Drives were drawn along roads: more points than their ends.
    asked = (
        "() => DATA.runs[0].replay.days[0].stretches.filter(s => s.way && s.way.length > 4).length"
    )
    assert reader.page.evaluate(asked) > 0
    reader.look()
    reader.close()
