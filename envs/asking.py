"""What a user hands to the environment, checked: actions, options, arguments; each error one
sentence.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.simulation import as_word
from tradesbench_gym.errors import ActionError, shown

_SHAPE = (4,)
_INT64 = np.dtype(np.int64)


def as_action(action: Any) -> npt.NDArray[np.int64]:
    """Four whole numbers in the one layout the compiled step takes.

    Raises:
        ActionError: anything else; in lenient mode too, for it is no answer at all.

    """
    found = _whole_numbers(action, _SHAPE)
    if found is None:
        raise ActionError(
            "an action is four whole numbers (accept, technician, days ahead, window), "
            f"not {shown(action)}",
            code="malformed_action",
            field="action",
        )
    return found


def as_actions(actions: Any, runs: int) -> npt.NDArray[np.int64]:
    """Four whole numbers a run, in the one layout the compiled step takes.

    Raises:
        ActionError: anything else.

    """
    found = _whole_numbers(actions, (runs, *_SHAPE))
    if found is None:
        raise ActionError(
            f"the actions of {runs} runs are whole numbers of shape ({runs}, 4) "
            f"(accept, technician, days ahead, window), not {shown(actions)}",
            code="malformed_action",
            field="action",
        )
    return found


def _whole_numbers(given: Any, shape: tuple[int, ...]) -> npt.NDArray[np.int64] | None:
    """As int64 in rows, which need no copy if they are that already; None for anything else."""
    if type(given) is np.ndarray and given.dtype is _INT64 and given.shape == shape:
        return given if given.flags.carray else given.copy()
    try:
        numbers = np.asarray(given)
    except (ValueError, OverflowError):
        return None
    if numbers.shape != shape or numbers.dtype.kind not in "iu":
        return None
    return numbers.astype(np.int64, order="C")


def as_seeds(seed: Any, runs: int) -> list[int | None]:
    """The number of each run, None where it is to be drawn.

    Raises:
        StateError: numbers that are not of 64 bits.
        ActionError: a list of another length.

    """
    if seed is None:
        return [None] * runs
    if isinstance(seed, list | tuple) or (isinstance(seed, np.ndarray) and seed.ndim > 0):
        if len(seed) != runs:
            raise ActionError(
                f"a list of seeds names one for each of {runs} environments, not {len(seed)}",
                code="seed",
                field="seed",
            )
        return [None if one is None else int(as_word(one, "seed")) for one in seed]
    first = int(as_word(seed, "seed"))
    as_word(first + runs - 1, "seed")
    return [first + i for i in range(runs)]


def as_mask(mask: Any, runs: int) -> npt.NDArray[np.bool_]:
    """Which environments to reset.

    Raises:
        ActionError: no array of so many bools, or none of them true.

    """
    if not (isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (runs,)):
        raise ActionError(
            f"reset_mask is an array of {runs} bools, not {shown(mask)}",
            code="option",
            field="options",
        )
    if not mask.any():
        raise ActionError("reset_mask chooses no environment", code="option", field="options")
    return mask.copy()


def check_count(name: str, value: Any) -> int:
    """A whole number of 1 or more; ActionError if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ActionError(
            f"{name} must be a whole number of 1 or more, not {shown(value)}",
            code=name,
            field=name,
        )
    return int(value)


def check_room(runs: int, bytes_a_run: int) -> None:
    """ActionError if so many runs can never be in this machine's memory."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return
    room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if 0 < room < runs * bytes_a_run:
        raise ActionError(
            f"num_envs={runs:,} takes more memory than this machine has: {room // bytes_a_run:,} "
            "runs at most",
            code="num_envs",
            field="num_envs",
        )


def unknown_answer(accept: int) -> ActionError:
    """The error for an accept that is neither 0 nor 1."""
    return ActionError(f"accept is 0 or 1, not {accept}", code="unknown_answer", field="accept")


def salt_of(options: Any) -> Any:
    """The salt in the options of `reset`, 0 if there is none.

    Raises:
        ActionError: options that are no dictionary, or hold anything else.

    """
    if options is None:
        return 0
    if not isinstance(options, dict) or set(options) - {"salt"}:
        raise ActionError(
            f"the options of reset() are a dictionary with 'salt' or nothing, not {shown(options)}",
            code="option",
            field="options",
        )
    return options.get("salt", 0)


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """ActionError that names what is allowed, unless the value is one of it (True is not 1)."""
    if not any(type(value) is type(choice) and value == choice for choice in allowed):
        named = ", ".join(map(repr, allowed))
        raise ActionError(
            f"{name} must be one of {named}, not {shown(value)}", code=name, field=name
        )
