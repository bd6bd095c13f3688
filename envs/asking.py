"""What a user hands to the environment, checked: actions, options, arguments; each error one
sentence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.errors import ActionError, shown

_SHAPE = (4,)
_INT64 = np.dtype(np.int64)


def as_action(action: Any) -> npt.NDArray[np.int64]:
    """Four whole numbers in the one layout the compiled step takes.

    Raises:
        ActionError: anything else; in lenient mode too, for it is no answer at all.

    """
    if type(action) is np.ndarray and action.dtype is _INT64 and action.shape == _SHAPE:
        return action if action.flags.carray else action.copy()
    try:
        given = np.asarray(action)
    except (ValueError, OverflowError):
        given = np.asarray(None)
    if given.shape != _SHAPE or given.dtype.kind not in "iu":
        raise ActionError(
            "an action is four whole numbers (accept, technician, days ahead, window), "
            f"not {shown(action)}",
            code="malformed_action",
            field="action",
        )
    return given.astype(np.int64)


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
