"""A run played before somebody's eyes: on the board in a terminal, or as one line a day.

Paces the run for people. What the board shows is `envs.rendering`'s matter, and what a policy may
return is `policies.load`'s.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain

from rich.console import Console
from rich.control import Control
from rich.live import Live

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.play import answer
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.envs.rendering import board
from tradesbench_gym.policies.registry import Policy

FRAME_SECONDS = 0.05
LAST_LOOK_SECONDS = 1.0


def played(simulation: Simulation, decide: Policy) -> Iterator[Stop]:
    """Play a run to its end, coming back at each stop; a call is answered after it was shown."""
    stop = None
    while stop != Stop.ENDED:
        stop = simulation.advance()
        if stop == Stop.CANCELLATION:
            yield stop
            simulation.acknowledge()
            continue
        yield stop
        if stop == Stop.NEW_CALL:
            answer(simulation, decide)


def play_by_day(simulation: Simulation, decide: Policy, tell: Callable[[int], None]) -> None:
    """Play a run and tell each day as it closes, by its number from 0."""
    for stop in played(simulation, decide):
        if stop == Stop.DAY_CLOSED or (stop == Stop.ENDED and simulation.record["bankrupt"]):
            tell(simulation.day)


def play_live(simulation: Simulation, decide: Policy, speed: float, console: Console) -> None:
    """Play a run on the board.

    Args:
        simulation: at its start.
        decide: the policy.
        speed: days of the run a second; 0 for as fast as it goes.
        console: the terminal.

    """
    stops = played(simulation, decide)
    # Whatever has to be compiled is compiled before the screen is taken.
    first = [next(stops), next(stops), next(stops)]
    pace = _Pace(speed, simulation.business)
    with _screen(console) as live:
        for stop in chain(first[2:], stops):
            closing = stop in (Stop.DAY_CLOSED, Stop.ENDED)
            if closing or pace.frame_due():
                live.update(
                    board(simulation.business, simulation.desk, console.height), refresh=True
                )
                pace.drawn()
            pace.wait(int(simulation.record["clock"]))
        if speed:
            time.sleep(LAST_LOOK_SECONDS)


@contextmanager
def _screen(console: Console) -> Iterator[Live]:
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            yield live
    except KeyboardInterrupt:
        # Ctrl-C while the screen is being taken finds nobody who would give it back.
        console.control(Control.alt_screen(enable=False), Control.show_cursor(show=True))
        raise


class _Pace:
    """Holds a run to its speed: the working day passes evenly, the night in no time."""

    def __init__(self, speed: float, business: Business) -> None:
        hours = business.scenario.calendar
        self._speed = speed
        self._morning, self._evening = hours.office_opens, hours.calls_until
        self._begun = time.monotonic()
        self._last = 0.0

    def frame_due(self) -> bool:
        return time.monotonic() - self._last >= FRAME_SECONDS

    def drawn(self) -> None:
        self._last = time.monotonic()

    def wait(self, clock: int) -> None:
        if self._speed:
            day, second = divmod(clock, DAY_SECONDS)
            passed = (second - self._morning) / (self._evening - self._morning)
            passed = min(1.0, max(0.0, passed))
            due = self._begun + (day + passed) / self._speed
            time.sleep(max(0.0, due - time.monotonic()))
