"""The environment's part of a saved state: where its loop stands, and `np_random`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tradesbench_gym.errors import StateError

_MAGIC = b"TRADESBENCH-ENV\n"


@dataclass
class Loop:
    """Where the loop of `reset` and `step` stands.

    Attributes:
        run_seed: number of the run; -1 before the first reset.
        ready: whether a step may come.
        last: the last answer as the observation shows it.
        carried: cents of the days before the first call, for the first reward.

    """

    run_seed: int = -1
    ready: bool = False
    last: int = 0
    carried: int = 0


def pack(loop: Loop, random: np.random.Generator, run: bytes) -> bytes:
    """Everything as bytes, with a digest that vouches for them.

    Raises:
        StateError: a generator that is not Gymnasium's PCG64.

    """
    generator = random.bit_generator
    if not isinstance(generator, np.random.PCG64):
        raise StateError(
            f"np_random is saved as NumPy's PCG64, not as {type(generator).__name__}",
            code="state_generator",
            field="np_random",
        )
    header = json.dumps({"random": generator.state, **asdict(loop)}).encode()
    body = header + b"\n" + run
    return _MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpack(state: Any) -> tuple[Loop, np.random.Generator, bytes]:
    """Loop, generator and the bytes of the run.

    Raises:
        StateError: bytes that `pack` did not write, or damaged ones.

    """
    if not isinstance(state, bytes) or not state.startswith(_MAGIC):
        raise StateError(
            "these bytes are not the state of an environment", code="state_foreign", field="state"
        )
    digest, _, body = state[len(_MAGIC) :].partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise StateError("the bytes of this state are damaged", code="state_damaged", field="state")
    text, _, run = body.partition(b"\n")
    random = np.random.Generator(np.random.PCG64())
    try:
        header = json.loads(text)
        random.bit_generator.state = header.pop("random")
        return Loop(**header), random, run
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        # Whole, as its digest says: written by a release whose header is another.
        raise StateError(
            "this state was written by another release", code="state_mismatch", field="state"
        ) from None
