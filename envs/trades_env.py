"""The environment: one incoming new-job call a step. Loops over the stops of `Simulation`; holds no rule."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.play import results
from tradesbench_gym.company.refusals import booking_error
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.layout import Refusal, Stop
from tradesbench_gym.core.step import CONTINUE, REFUSED, REJECTED
from tradesbench_gym.core.view import Desk
from tradesbench_gym.envs.spaces import Buffers, action_space, observation_space
from tradesbench_gym.errors import ActionError, StateError, TradesBenchError

FIRST_OPEN_RUN = 10_000
"""Runs drawn without a seed are numbered from here up, so that none lands on a benchmark seed."""
_LAST_OPEN_RUN = 2**31
OBSERVATIONS = ("desk", "planned")
_MAGIC = b"TRADESBENCH-ENV\n"
_CENTS = 100.0
_ANSWERS = ("none", "rejected", "declined", "accepted")
_STAY = np.array([CONTINUE, 0, 0, 0], np.int64)
_ACTION_SIZE = 4


class TradesEnv(gym.Env[dict[str, npt.NDArray[Any]], npt.NDArray[np.int64]]):
    """DOCSTRING"""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "human"], "render_fps": 4}

    def __init__(
        self,
        *,
        scenario: Any = "sunridge",
        map: Any = "phoenix",  # noqa: A002 - the word of the trade
        days: int | None = None,
        start_date: Any = None,
        observation: str = "desk",
        strict: bool = False,
        render_mode: str | None = None,
    ) -> None:
        _check_choice("observation", observation, OBSERVATIONS)
        _check_choice("strict", strict, (False, True))
        _check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.render_mode = render_mode
        self.strict = strict
        business = open_business(scenario, map, days, start_date)
        self._simulation = Simulation(business=business)
        self._buffers = Buffers(business, observation == "planned")
        self.action_space = action_space(self._buffers.shape)
        self.observation_space = observation_space(business, observation == "planned")
        self._mask = np.zeros(self._buffers.shape.slots, np.int8)
        self._run_seed = -1
        self._ready = False
        self._last = REFUSED

    # -- Gymnasium ----------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Begin a run and play on to its first call; see the class for how runs are numbered."""
        super().reset(seed=seed)
        salt = _salt(options)
        run = seed if seed is not None else int(self.np_random.integers(FIRST_OPEN_RUN, _LAST_OPEN_RUN))
        self._simulation.restart(run, salt=salt)
        self._run_seed = int(run)
        _, stop, _, seen = self._play(_STAY)
        self._ready = stop == Stop.NEW_CALL
        info = self._info()
        if self.render_mode == "human":
            self.render()
        return seen, info

    def step(
        self, action: npt.NDArray[np.int64]
    ) -> tuple[dict[str, npt.NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Answer the call on the line and play on to the next one or to the end."""
        if not self._ready:
            raise ActionError("the run is over or was never begun: call reset() first", code="reset_needed")
        chosen = _as_action(action)
        if chosen[0] != 0 and (self.strict or chosen[0] != 1):
            wrong = self._fault(chosen)
            if wrong is not None:
                if self.strict:
                    raise ActionError(wrong.message, code=wrong.code, field=wrong.field)
                return self._finish(np.zeros(_ACTION_SIZE, np.int64), wrong)
        return self._finish(chosen, None)

    def _finish(
        self, chosen: npt.NDArray[np.int64], wrong: TradesBenchError | None
    ) -> tuple[dict[str, npt.NDArray[Any]], float, bool, bool, dict[str, Any]]:
        day = self._simulation.day
        answer, stop, cents, seen = self._play(chosen)
        if answer < 0:
            wrong = booking_error(self._simulation.business, day, Refusal(-answer), *chosen[1:].tolist())
        ended = stop == Stop.ENDED
        self._ready = not ended
        info = self._info()
        info["answer"] = _ANSWERS[max(answer, REJECTED)]
        if wrong is not None:
            info["error"] = {"code": wrong.code, "message": wrong.message, "field": wrong.field}
        if ended:
            info["results"] = results(self._simulation).as_dict()
        if self.render_mode == "human":
            self.render()
        return seen, cents / _CENTS, ended, False, info

    def render(self) -> str | None:  # type: ignore[override]
        """The board: a string for "ansi", printed for "human"."""
        from tradesbench_gym.envs.rendering import show  # noqa: PLC0415 - rich is needed only here

        if self.render_mode is None:
            gym.logger.warn('render() does nothing without render_mode: make(..., render_mode="ansi")')
            return None
        return show(self._simulation.business, self._simulation.desk, self.render_mode)

    def close(self) -> None:
        """Nothing to release."""

    # -- masks, state and looking -------------------------------------------------------------------------------

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions in sb3-contrib's form for the flattened action: shape (1 + technicians x 14 x 6,), bool.

        Entry 0 is "reject", then technician, days ahead and window with the window fastest.
        """
        return np.concatenate(([True], self._mask.astype(np.bool_)))

    @property
    def desk(self) -> Desk:
        """What a dispatcher may know now, for policies; a view that the next step overwrites."""
        return self._simulation.desk

    @property
    def simulation(self) -> Simulation:
        """The run behind the environment, hidden state included: for the researcher's loop."""
        return self._simulation

    def take_events(self) -> list[Event]:
        """Everything that has happened since the last time this was asked (or since reset)."""
        return self._simulation.take_events()

    def get_state(self) -> bytes:
        """The whole state, `np_random` included, as bytes."""
        header = {
            "random": self.np_random.bit_generator.state,
            "run_seed": self._run_seed,
            "ready": self._ready,
            "last": self._last,
        }
        return _MAGIC + json.dumps(header).encode() + b"\n" + self._simulation.get_state()

    def set_state(self, state: bytes) -> None:
        """Continue from saved bytes, bit for bit.

        Raises:
            StateError: bytes of other rules, another scenario or map, or damaged ones; nothing has changed.
        """
        if not isinstance(state, bytes) or not state.startswith(_MAGIC):
            raise StateError("these bytes are not the state of an environment", code="state_foreign", field="state")
        text, _, body = state[len(_MAGIC) :].partition(b"\n")
        random = np.random.Generator(np.random.PCG64())
        try:
            header = json.loads(text)
            random.bit_generator.state = header["random"]
            kept = int(header["run_seed"]), bool(header["ready"]), int(header["last"])
        except (ValueError, KeyError, TypeError):
            raise StateError("the header of this state is damaged", code="state_damaged", field="state") from None
        self._simulation.set_state(body)
        self.np_random = random
        self._run_seed, self._ready, self._last = kept
        self._look()

    # -- inside -------------------------------------------------------------------------------------------------

    def _play(self, chosen: npt.NDArray[np.int64]) -> tuple[int, int, int, dict[str, npt.NDArray[Any]]]:
        ints, floats, self._mask = self._buffers.fresh()
        answer, stop, cents = self._simulation.step(chosen, REFUSED, ints, floats, self._mask)
        self._last = max(answer, REFUSED)
        return answer, stop, cents, self._buffers.observation(ints, floats)

    def _look(self) -> dict[str, npt.NDArray[Any]]:
        """The present observation again, after a state was set."""
        ints, floats, self._mask = self._buffers.fresh()
        self._simulation.observe(self._last, ints, floats, self._mask)
        return self._buffers.observation(ints, floats)

    def observe(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """The present observation and info, as the last `reset` or `step` gave them: for use after `set_state`."""
        return self._look(), self._info()

    def _info(self) -> dict[str, Any]:
        return {"run_seed": self._run_seed, "action_mask": self._buffers.mask(self._mask)}

    def _fault(self, chosen: npt.NDArray[np.int64]) -> TradesBenchError | None:
        if chosen[0] not in (0, 1):
            return ActionError(f"accept is 0 or 1, not {int(chosen[0])}", code="unknown_answer", field="accept")
        return self._simulation.refusal(*map(int, chosen[1:]))


def _as_action(action: Any) -> npt.NDArray[np.int64]:
    """Four whole numbers; ActionError for anything else, in lenient mode too, for it is no answer at all."""
    given = np.asarray(action)
    if given.shape != (_ACTION_SIZE,) or given.dtype.kind not in "iu":
        raise ActionError(
            f"an action is four whole numbers (accept, technician, days ahead, window), not {action!r:.80}",
            code="malformed_action",
            field="action",
        )
    return given.astype(np.int64, copy=False)


def _salt(options: dict[str, Any] | None) -> int:
    unknown = set(options or ()) - {"salt"}
    if unknown:
        raise ActionError(
            f"reset() knows the option 'salt', not {', '.join(map(repr, sorted(unknown)))}", code="option", field="options"
        )
    return 0 if not options else options["salt"]


def _check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if value not in allowed or isinstance(value, int) != isinstance(allowed[0], int):
        named = ", ".join(map(repr, allowed))
        raise ActionError(f"{name} must be one of {named}, not {value!r}", code=name, field=name)
