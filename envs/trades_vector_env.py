"""The native batch: many runs stepped by compiled code at once, each step for step what
`TradesEnv` plays. Loops over no run in Python but those that end or ask for what is not let out.
"""

from __future__ import annotations

import os
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.simulation import as_word
from tradesbench_gym.core.batch import ANSWERED, KNOWN_AS, NOT_TOLD, REFUSED_AS, TOLD
from tradesbench_gym.core.tally import COLUMNS
from tradesbench_gym.core.view import Desk
from tradesbench_gym.envs.answers import ANSWERS, Refused
from tradesbench_gym.envs.asking import (
    as_actions,
    as_mask,
    as_seeds,
    check_choice,
    check_count,
    check_room,
    salt_of,
)
from tradesbench_gym.envs.blocks import Block, Blocks
from tradesbench_gym.envs.numbering import Numbering
from tradesbench_gym.envs.showing import Shown, showing
from tradesbench_gym.envs.slices import Slices
from tradesbench_gym.envs.spaces import action_space, observation_space, shape_of
from tradesbench_gym.envs.trades_env import OBSERVATIONS, TradesEnv
from tradesbench_gym.errors import ActionError

Observation = dict[str, npt.NDArray[Any]]
Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]
_ANSWERS = np.array([*ANSWERS, None], object)
_OPEN = np.uint64(0)


class TradesVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """Many runs of `TradesBench-v0` at once, in compiled code.

    What `gym.make_vec("TradesBench-v0", num_envs=n)` gives. Spaces, rewards, infos and the
    numbering of runs are those of n `TradesEnv` behind Gymnasium's `SyncVectorEnv`, to the bit;
    only the speed is another. `reset(seed=s)` plays run s + i in environment i, and a list of seeds
    names each. Arguments of `TradesEnv` and:

    | argument | default | meaning |
    | --- | --- | --- |
    | num_envs | 1 | runs in the batch |
    | autoreset_mode | NEXT_STEP | or SAME_STEP, or DISABLED: see "reset_mask" of `reset` |
    | copy | True | False: the next step overwrites what this one shows, masks too |
    | threads | one a core | that play slices of at least 64 runs |

    Threads stay awake, for about as long as a step takes, while steps follow each other within half
    a millisecond; a learner who thinks in between has the cores to himself.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        scenario: Any = "sunridge",
        map: Any = "phoenix",  # noqa: A002 - the word of the trade
        days: int | None = None,
        start_date: Any = None,
        observation: str = "desk",
        strict: bool = False,
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int | None = None,
    ) -> None:
        num_envs = self.num_envs = check_count("num_envs", num_envs)
        check_choice("observation", observation, OBSERVATIONS)
        check_choice("strict", strict, (False, True))
        check_choice("render_mode", render_mode, (None, "ansi", "rgb_array"))
        check_choice("copy", copy, (False, True))
        modes = tuple(mode.value for mode in AutoresetMode)
        check_choice("autoreset_mode", getattr(autoreset_mode, "value", autoreset_mode), modes)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        rate = TradesEnv.metadata["render_fps"]
        self.metadata = {
            "render_modes": ["ansi", "rgb_array"],
            "render_fps": rate,
            "autoreset_mode": self.autoreset_mode,
        }
        self.render_mode, self.strict, self._copy = render_mode, strict, copy
        business = open_business(scenario, map, days, start_date)
        planned = observation == "planned"
        check_room(num_envs, business.run_dtype.itemsize)
        self._blocks = Blocks(shape_of(business), planned=planned, runs=num_envs)
        self.single_action_space = action_space(self._blocks.shape)
        self.single_observation_space = observation_space(business, planned=planned)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        wanted = cores or 1 if threads is None else check_count("threads", threads)
        self._slices = Slices(business, num_envs, wanted)
        self._showing = showing(business, render_mode, rate)
        self._refused = Refused(business)
        self._block: Block | None = None
        self._begun, self._ended, self._named = (np.zeros(num_envs, np.bool_) for _ in range(3))
        self._numbering = Numbering(num_envs)

    # -- Gymnasium --

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a run in every environment, or in those of `options["reset_mask"]`.

        Args:
            seed: s for runs s, s + 1 …; a list with one for each environment, None to draw it.
            options: "salt" as in `TradesEnv.reset`, and "reset_mask", bool, shape (num_envs,).

        Raises:
            StateError, ActionError: as `TradesEnv.reset`, or a mask or list of another kind;
                nothing has changed.

        """
        given = dict(options) if isinstance(options, dict) else options
        chosen = np.ones(self.num_envs, np.bool_)
        if isinstance(given, dict) and "reset_mask" in given:
            chosen = as_mask(given.pop("reset_mask"), self.num_envs)
        salt = as_word(salt_of(given), "salt")
        seeds = as_seeds(seed, self.num_envs)
        if self._slices.torn and not chosen.all():
            self._ask_for_reset()
        self._begun &= ~chosen  # until they have: a reset may be broken off
        for i in np.flatnonzero(chosen).tolist():
            number = seeds[i]
            self._named[i] = number is not None
            if number is not None:
                self._slices.seeds[i] = number
                self._numbering.begin(i, number)
        self._ended &= ~chosen
        block = self._next_block()
        self._begin(chosen, block, salt)
        self._begun |= chosen
        if not chosen.all():
            self._slices.show(~chosen, self._blocks.where, block.words)
        return block.observation(), self._info(chosen, block)

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Observation, npt.NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """Answer the call of every run and play on; see `TradesEnv.step`.

        Raises:
            ActionError: actions that are not four whole numbers a run, or a run that was never
                begun or, with autoreset disabled, is over; with `strict` an offer that is not let
                out. It names the environment, and nothing has changed in any. Also after a step
                that Ctrl-C broke off between its threads: all environments want a reset. (One that
                it broke off later has been played: its rewards and observations are lost.)

        """
        chosen = as_actions(actions, self.num_envs)
        over = self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any()
        if over or self._slices.torn or not self._begun.all():
            self._ask_for_reset()
        fresh, playing = self._ended, ~self._ended
        if self.strict:
            self._refuse_if_wrong(chosen, playing)
        block = self._next_block()
        self._draw_seeds(fresh)
        where, known = self._blocks.where, self._refused.known
        rewards, ended, counts = self._slices.step(fresh, chosen, known, where, block.words)
        self._ended = ended
        any_ended = bool(ended.any())
        at_once = any_ended and self.autoreset_mode is AutoresetMode.SAME_STEP
        told = self._told(~ended if at_once else playing, chosen)
        if at_once:
            told |= self._final(ended, counts, block, chosen)
            self._begin(ended, block)
            self._ended = np.zeros(self.num_envs, np.bool_)
        elif any_ended:
            told |= _results(ended, counts)
        info = self._info(self._begun, block) | told
        return (
            block.observation(),
            rewards,
            ended.copy(),
            np.zeros(self.num_envs, np.bool_),
            info,
        )

    def render(self) -> tuple[Shown, ...] | None:
        """The board of every run as text, or the picture of every run, a frame for each as
        Gymnasium's vector wrappers take them.
        """
        if self._showing is None:
            gym.logger.warn('render() does nothing without make_vec(..., render_mode="ansi")')
            return None
        desks = (Desk(self._slices.desk(i)) for i in range(self.num_envs))
        shown = (self._showing.render(desk) for desk in desks)
        return tuple(one for one in shown if one is not None)

    def close_extras(self) -> None:
        """Let the threads go."""
        if hasattr(self, "_slices"):  # Gymnasium closes what was refused while it was made, too
            self._slices.close()

    # -- for learners --

    @property
    def business(self) -> Business:
        """What its runs are of."""
        return self._slices.business

    @property
    def services(self) -> npt.NDArray[np.int64]:
        """The service each caller asks for, int64, shape (num_envs,); -1 without one."""
        return self._slices.services()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions in sb3-contrib's form for the flattened action of each run.

        Shape (num_envs, 1 + technicians x 14 x 6), bool: entry 0 is "reject".
        """
        masks = np.ones((self.num_envs, 1 + self._blocks.shape.slots), np.bool_)
        # Not into the rows themselves: a single run's are contiguous, for which a kernel compiles.
        found = np.empty((self.num_envs, self._blocks.shape.slots), np.int8)
        self._slices.legal(found)
        masks[:, 1:] = found.view(np.bool_)
        return masks

    # -- within --

    def _next_block(self) -> Block:
        if self._copy or self._block is None:
            self._block = self._blocks.take()
        return self._block

    def __getstate__(self) -> dict[str, Any]:
        """Copies fill blocks of their own."""
        return self.__dict__ | {"_block": None}

    def _begin(self, chosen: Flags, block: Block, salt: np.uint64 = _OPEN) -> None:
        self._draw_seeds(chosen)
        self._slices.begin(chosen, salt, self._blocks.where, block.words)

    def _draw_seeds(self, chosen: Flags) -> None:
        """Give the chosen runs that have no seed of their own a drawn one."""
        unnamed = chosen
        if self._named.any():
            unnamed = chosen & ~self._named
            self._named &= ~chosen
        (places,) = unnamed.nonzero()
        if len(places):
            self._slices.seeds[places] = self._numbering.draw(places)

    def _ask_for_reset(self) -> None:
        if self._slices.torn:
            raise ActionError(
                "the last step was broken off in the middle: call reset() of all environments",
                code="reset_needed",
            )
        which = int(np.flatnonzero(self._ended | ~self._begun)[0])
        raise ActionError(
            f"environment {which}: the run is over or was never begun: call reset() first",
            code="reset_needed",
        )

    def _refuse_if_wrong(self, chosen: npt.NDArray[np.int64], playing: Flags) -> None:
        why = self._slices.why_refused(chosen)
        for i in np.flatnonzero(playing & (why < 0)).tolist():
            raise self._refused.error(int(why[i]), chosen[i].tolist(), f"environment {i}: ")

    # -- infos, as Gymnasium's vector environments lay them out --

    def _info(self, shown: Flags, block: Block) -> dict[str, Any]:
        seeds, mask = self._slices.seeds.copy(), block.mask
        if not shown.all():
            seeds[~shown], mask = 0, np.where(shown[:, None, None, None], mask, 0).astype(np.int8)
        signed = seeds.view(np.int64)
        numbers = seeds if signed.min() < 0 else signed  # those that no int64 holds
        return _marked({"run_seed": numbers, "action_mask": mask}, shown)

    def _told(self, which: Flags, chosen: npt.NDArray[np.int64]) -> dict[str, Any]:
        if not which.any():
            return {}
        outcomes = self._slices.outcomes
        said, rows = outcomes[TOLD], outcomes[KNOWN_AS]
        if self.autoreset_mode is AutoresetMode.SAME_STEP:  # some are told apart, see `_final`
            said, rows = np.where(which, said, NOT_TOLD), np.where(which, rows, 0)
        told = _marked({"answer": _ANSWERS[said]}, which)
        if (wrong := rows != 0).any():
            asked = outcomes[REFUSED_AS], outcomes[ANSWERED], chosen
            errors = self._refused.told_many(rows, *asked)
            told |= _marked({"error": _marked(errors, wrong)}, wrong)
        return told

    def _final(self, ended: Flags, counts: Whole, block: Block, chosen: Whole) -> dict[str, Any]:
        """What ended runs showed at last, to be taken before others begin in their place."""
        last = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(ended).tolist():
            last[i] = {name: array[i].copy() for name, array in block.observation().items()}
        told = self._info(ended, block) | self._told(ended, chosen) | _results(ended, counts)
        told["action_mask"] = told["action_mask"].copy()  # the block's own where all have ended
        return _marked({"final_obs": last, "final_info": told}, ended)


def _results(ended: Flags, counts: Whole) -> dict[str, Any]:
    """What ended runs came to, from a column of `core.tally` for each."""
    found = dict(zip(COLUMNS, counts, strict=True))
    days = found.pop("bankrupt_on")
    told = _marked(found, ended)
    if (bankrupt := days > 0).any():
        told |= _marked({"bankrupt_on": np.where(bankrupt, days, 0)}, bankrupt)
    return _marked({"results": told}, ended)


def _marked(values: dict[str, Any], which: Flags) -> dict[str, Any]:
    """Each value with the array beside it that says whose entries are meant."""
    own = which.copy()
    return values | {f"_{name}": own for name in values}
