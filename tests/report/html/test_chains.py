"""What led to a missed appointment, in a day whose times are worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.html.worlds import Runs, map_file
from tests.worlds import ROBERTO, STILL, W07, W09, clock, tiny_business
from tradesbench_gym.core.codes import CallState, Stop
from tradesbench_gym.report.html.chains import Chain, chains_of
from tradesbench_gym.report.html.reading import read_run
from tradesbench_gym.world import World

# Plumbing takes exactly 5 h, as is typical: a job begun in the first window, 07:00 to 09:00, ends
# at 12:00 at the earliest, when the second window has been closed for an hour.
LONG = {
    **STILL,
    "demand.start": 18,
    "demand.loss": 3,
    **{f"services.plumbing.{name}": 300 for name in ("shortest", "typical", "longest")},
}
PLUMBING = 2


def book_two_in_a_row(world: World) -> list[int]:
    """Book the first two plumbing calls of day 0 for day 1, one behind the other; their numbers."""
    booked: list[int] = []
    while len(booked) < 2 and world.next_call() == Stop.NEW_CALL:
        number = world.line
        assert number is not None
        assert world.day == 0
        if int(world.record["calls"][number - 1]["service"]) != PLUMBING:
            world.reject()
        elif world.offer(ROBERTO, 1, W07 if not booked else W09):
            booked.append(number)
    return booked


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    folder = tmp_path_factory.mktemp("chain")
    path = folder / "late-3.sqlite"
    with World.create(path, 3, business=tiny_business(LONG, days=3)) as world:
        booked = book_two_in_a_row(world)
        assert len(booked) == 2
        while world.next_call() == Stop.NEW_CALL:
            world.reject()
    run = read_run(path, map_name=str(map_file(folder)))
    (found,) = chains_of(run)
    assert found.call == booked[1]
    return found


def test_a_job_of_five_hours_before_it_is_named_as_what_led_to_a_miss(chain: Chain) -> None:
    assert chain.state == CallState.MISSED
    texts = [link.text for link in chain.links]
    assert sum("booked for" in text for text in texts) == 2
    assert any("1 job of Roberto's before it" in text for text in texts)
    # It took 5 h, as is typical here, from 07:00 to 12:00 or later.
    assert any("0 min over the typical 5 h" in text for text in texts)
    assert any("Roberto is at work on job" in text for text in texts)
    assert chain.why.startswith("Booked too tight: the job before it took as long as is typical")


def test_a_chain_is_told_in_the_order_of_time(chain: Chain) -> None:
    at = [link.at for link in chain.links]
    assert at == sorted(at)
    assert at[-1] % 86_400 == clock("11:00")  # the close of the second window


def test_what_is_hidden_from_who_plays_is_marked(chain: Chain) -> None:
    assert [link.truth for link in chain.links][-1]
    hidden = [link.text for link in chain.links if "demand level" in link.text]
    assert all(link.truth for link in chain.links if link.text in hidden)
    assert hidden[0].startswith("this alone takes 3 calls a weekday off the demand level")


def test_every_lost_appointment_has_a_chain_and_a_reason(run_of: Runs) -> None:
    run = run_of("missing")
    chains = chains_of(run)
    assert len(chains) == run.results.missed + run.results.failed > 0
    assert run.results.failed > 0
    for one in chains:
        assert one.why.endswith(".")
        assert one.links
        assert any("booked for" in link.text for link in one.links)
    reasons = {one.why for one in chains if one.state == CallState.FAILED}
    assert any("not qualified" in why or "does not do this work" in why for why in reasons)


def test_no_file_is_changed_by_reading_it(tmp_path: Path, run_of: Runs) -> None:
    run = run_of("missing")
    before = run.path.read_bytes()
    read_run(run.path, map_name=str(map_file(tmp_path)))
    assert run.path.read_bytes() == before
