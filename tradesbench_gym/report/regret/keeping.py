"""A run that was found, played once more into a world file that anybody can audit and replay."""

from __future__ import annotations

from pathlib import Path

from tradesbench_gym.core.codes import Stop
from tradesbench_gym.errors import StateError
from tradesbench_gym.report.regret.playing import Whole
from tradesbench_gym.report.regret.recorded import Recorded, offer_of
from tradesbench_gym.world import World


def keep(path: str | Path, recorded: Recorded, answers: Whole, profit: int) -> None:
    """Write a run of the same seed with these answers into a new world file.

    Args:
        path: the file.
        recorded: a run of the seed.
        answers: to the calls in order, by their code.
        profit: what it must come to, in cents.

    Raises:
        WorldError: the file is there already or cannot be made.
        StateError: the run came to something else.

    """
    salt = int(recorded.start[0]["salt"])
    with World.create(path, recorded.seed, salt=salt, business=recorded.business) as world:
        given = iter(answers.tolist())
        while world.next_call() == Stop.NEW_CALL:
            if (offer := offer_of(next(given))) is None:
                world.reject()
            else:
                world.offer(*offer)
        if world.profit_cents != profit:
            raise StateError(
                f"{path} came to {world.profit_cents} cents instead of {profit}", code="astray"
            )
