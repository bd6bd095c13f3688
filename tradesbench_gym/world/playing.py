"""Playing the run of a file on with a policy, from wherever it stands, stop by stop.

It knows what may be waiting for an answer when a run is resumed, and no file.
"""

from __future__ import annotations

from collections.abc import Iterator

from tradesbench_gym.company.play import answer
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.policies.registry import Policy
from tradesbench_gym.world.world import World


def play_on(world: World, decide: Policy) -> Iterator[Stop]:
    """Play a run to its end, coming back after each stop has been answered.

    A run that was left in the middle of a call or a cancellation answers it first, so that it goes
    on as if it had never been left.

    Raises:
        PolicyError: the policy made an offer that the company does not let out.
        WorldError: the file cannot be written.

    """
    if world.line is not None:
        answer(world, decide)
    elif int(world.record["phoned"]) >= 0:
        world.acknowledge()
    while not world.ended:
        stop = world.advance()
        if stop == Stop.NEW_CALL:
            answer(world, decide)
        elif stop == Stop.CANCELLATION:
            world.acknowledge()
        yield stop
