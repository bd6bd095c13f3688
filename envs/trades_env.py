"""The environment: one incoming new-job call a step. Loops over the stops of `Simulation`; holds no
rule.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.events import Event
from tradesbench_gym.company.play import results
from tradesbench_gym.company.simulation import Simulation, as_word
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.core.step import REFUSED, REJECTED
from tradesbench_gym.core.view import Desk
from tradesbench_gym.envs.answers import ANSWERS, Refused, figures
from tradesbench_gym.envs.asking import as_action, check_choice, salt_of, unknown_answer
from tradesbench_gym.envs.blocks import Block, Blocks
from tradesbench_gym.envs.numbering import FIRST_OPEN_RUN, LAST_OPEN_RUN
from tradesbench_gym.envs.showing import Shown, showing
from tradesbench_gym.envs.spaces import action_space, observation_space, shape_of
from tradesbench_gym.envs.state import Loop, pack, unpack
from tradesbench_gym.errors import ActionError, TradesBenchError

OBSERVATIONS = ("desk", "planned")
CONTINUE = np.zeros(0, np.int64)
"""In place of an action: give no answer, only play on."""
_CENTS = 100.0
_ENDED = int(Stop.ENDED)


class TradesEnv(gym.Env[dict[str, Any], npt.NDArray[np.int64]]):
    """A home-services company answers its phone: one incoming call is one step.

    ## Description

    Sunridge Services has four technicians in Phoenix. For two simulated weeks people call for work;
    for each call you decide whether to take it and, if so, which technician, which day and which
    two-hour arrival window to offer. The customer accepts or declines your one offer. Technicians
    drive on the city's roads in its weather, jobs take as long as they take, an appointment not
    begun when its window closes is missed, and a missed or failed customer costs future calls.
    Between two calls the world runs by itself, cancellations are acknowledged and days close.

    ## Action space

    `MultiDiscrete([2, 4, 14, 6])`, int64:

    | entry | meaning | values |
    | --- | --- | --- |
    | 0 | accept: make an offer, or reject the call | 0 reject (the rest is ignored), 1 offer |
    | 1 | technician | 0 Marcus, 1 Diana, 2 Roberto, 3 Katherine |
    | 2 | days ahead | 0 today to 13 |
    | 3 | window | 0 07-09, 1 09-11, 2 11-13, 3 13-15, 4 15-17, 5 17-19 |

    An offer the company does not let out (a window already started, a technician off shift, an
    installation off-hours) counts as a rejected call, `info["error"]` says why as
    `{"code", "message", "field"}`, and nothing else changes; with `strict=True` it raises
    `ActionError` instead and the call stays on the line. Anything but four whole numbers raises in
    either mode. An unqualified technician and work the company does not do are let out: those
    visits fail.

    ## Observation space

    A `Dict` of flat arrays in natural units, each inside its declared bounds; sizes for the shipped
    scenario. Slots run technician x day ahead x window, skies day ahead x zone, the last fastest.

    | key | size | dtype | unit | meaning |
    | --- | --- | --- | --- | --- |
    | call | 5 | int32 | category | on the line (0/1), service, customer type, urgent (0/1), zone |
    | last_answer | 1 | int32 | category | 0 none or refused, 1 rejected, 2 declined, 3 accepted |
    | activity | 4 | int32 | category | per technician: 0 idle, 1 driving, 2 waiting, 3 working |
    | slot_jobs | 336 | int8 | jobs | open jobs in each slot; 127: or more |
    | weather | 80 | int8 | category | today and forecast, see `Condition` |
    | open_jobs | 1024 | int8 | mixed | open jobs, the next days first, eight columns (below) |
    | job_places | 256 | float32 | km | of `open_jobs`, east and north; 0 in unused rows |
    | today | 8 | int32 | calls, jobs | of today, in the order of `counts` |
    | counts | 8 | int32 | calls, jobs | so far: calls, booked, declined, rejected, done … (below) |
    | time | 4 | float32 | mixed | day of the run, hour of the day, weekday (Monday 0), days left |
    | cash | 1 | float32 | dollars | cash |
    | ledger | 8 | float32 | dollars | sum of the ledger by kind, see `Entry` |
    | call_place | 2 | float32 | km | the caller's place, east and north of the map's origin |
    | place | 8 | float32 | km | where each technician stands or set off from |
    | free_in | 4 | float32 | min | until a job in progress ends by plan, else 0 |
    | slot_minutes | 336 | float32 | min | planned time on site of the open jobs in each slot |
    | high | 80 | float32 | °F | high of today and of the seven days forecast |

    Services are 0 HVAC service, 1 HVAC installation, 2 plumbing, 3 electrical, from 4 on other
    work; customer types 0 residential, 1 apartment, 2 commercial. Columns of `open_jobs`: state
    (`CallState`; 0 in unused rows), technician, days ahead, window, service, customer type, urgent,
    zone. Columns of `counts` and `today`: calls, booked, declined, rejected,
    done, missed, failed, cancelled. Everything the company's dispatcher may know is there, nothing
    hidden; after the last step `call` begins with 0. `observation="planned"` adds the dispatcher's
    own plan of the call in each slot (A.8 of the report):

    | key | size | dtype | unit | meaning |
    | --- | --- | --- | --- | --- |
    | slot_slack | 336 | float32 | min | least time to spare on the route; -1440 where not legal |
    | slot_added | 336 | float32 | km | straight-line driving the call adds to it |

    ## Info and masks

    `info["action_mask"]` holds the legal offers, int8, shape (4, 14, 6); `action_masks()` gives the
    same for a flattened `Discrete` action in sb3-contrib's form (not for the MultiDiscrete).
    `info["run_seed"]` names the run, `info["answer"]` says what became of your last action,
    `info["results"]` sums up an ended run (whole numbers, money in cents; `bankrupt_on` only where
    the company is bankrupt).

    ## Rewards

    The change of cash since the last step, in dollars: a `float`. The rewards of an episode sum to
    the report's profit, to the cent.

    ## Episode end

    `terminated` when the last day has closed or the company is bankrupt; `truncated` never.

    ## Runs and seeds

    `reset(seed=n)` plays run n: the same run for the same n, everywhere. `reset()` draws the next
    run from `np_random`, numbered 10,000 or above. Runs 0 to 45 are the benchmark's: a trainer that
    seeds its environments 0, 1, 2 … (as `VecEnv.seed` and `make_vec` do) begins with them, so train
    with seeds of 10,000 and above. `options={"salt": s}` seals a run: nobody who knows only the
    seed can foresee it; the salt is for that one run, the next reset has its own.

    ## Arguments

    | argument | default | meaning |
    | --- | --- | --- |
    | scenario | "sunridge" | name of a shipped scenario, or path of your own TOML file |
    | map | "phoenix" | name of a shipped map, or path of your own |
    | days | the scenario's, 14 | 1 to 31 |
    | start_date | the scenario's, 2026-10-01 | a date, or text such as "2027-07-01" |
    | observation | "desk" | "desk" or "planned" |
    | strict | False | raise on an offer the company does not let out |
    | render_mode | None | "ansi" (text), "human" (a window, or the terminal), "rgb_array" (below) |

    With "rgb_array", `render()` draws the day board, map, weather and cash curve: uint8, shape
    (720, 1280, 3), as `RecordVideo` takes it. It and the window need the extra `[render]`; where
    there is no window, "human" says so and prints the board.

    ## Version history

    * v0: the report's company.
    """

    metadata = {"render_modes": ["ansi", "human", "rgb_array"], "render_fps": 4}  # noqa: RUF012 - Gymnasium declares it so

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
        check_choice("observation", observation, OBSERVATIONS)
        check_choice("strict", strict, (False, True))
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.render_mode = render_mode
        self.strict = strict
        business = open_business(scenario, map, days, start_date)
        self._simulation = Simulation(business=business)
        planned = observation == "planned"
        self._blocks = Blocks(shape_of(business), planned=planned)
        self.action_space = action_space(self._blocks.shape)
        self.observation_space = observation_space(business, planned=planned)
        self._loop = Loop()
        self._refused = Refused(business)
        self._showing = showing(business, render_mode, self.metadata["render_fps"])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Begin a run and play on to its first call; see the class for how runs are numbered.

        Days that pass before the first call are in the reward of the first step.

        Raises:
            StateError: a seed or salt that is no 64-bit number; nothing has changed.
            ActionError: an unknown option; nothing has changed.

        """
        salt = as_word(salt_of(options), "salt")
        if seed is not None:
            seed = int(as_word(seed, "seed"))
        super().reset(seed=seed)
        run = seed
        if run is None:
            run = int(self.np_random.integers(FIRST_OPEN_RUN, LAST_OPEN_RUN))
        self._simulation.restart(run, salt=int(salt))
        self._loop = Loop(run_seed=int(run))
        block = self._blocks.take()
        _, _, self._loop.carried = self._play(CONTINUE, block)
        self._loop.ready = True
        info = self._info(block)
        if self.render_mode == "human":
            self.render()
        return block.observation(), info

    def step(
        self, action: npt.NDArray[np.int64]
    ) -> tuple[dict[str, npt.NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Answer the call on the line and play on to the next one or to the end.

        Raises:
            ActionError: the run is over, or the action is not four whole numbers; with `strict`
                also an offer that the company does not let out. Nothing has changed then.

        """
        if not self._loop.ready:
            raise ActionError(
                "the run is over or was never begun: call reset() first", code="reset_needed"
            )
        chosen = as_action(action)
        if self.strict:
            self._refuse_if_wrong(chosen)
        block = self._blocks.take()
        answer, stop, cents = self._play(chosen, block)
        info = self._info(block)
        info["answer"] = ANSWERS[max(answer, REJECTED)]
        if answer < 0:
            info["error"] = self._refused.told(answer, chosen.tolist())
        if self._loop.carried:
            cents += self._loop.carried
            self._loop.carried = 0
        ended = stop == _ENDED
        if ended:
            self._loop.ready = False
            info["results"] = figures(results(self._simulation))
        if self.render_mode == "human":
            self.render()
        return block.observation(), cents / _CENTS, ended, False, info

    def render(self) -> Shown | None:
        """The board as text for "ansi", the picture as an array for "rgb_array"; None for "human",
        which has shown it.
        """
        if self._showing is None:
            gym.logger.warn(
                'render() does nothing without render_mode: make(..., render_mode="ansi")'
            )
            return None
        return self._showing.render(self._simulation.desk)

    def close(self) -> None:
        """Close the window, if "human" has opened one."""
        if self._showing is not None:
            self._showing.close()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions in sb3-contrib's form for the flattened action.

        Shape (1 + technicians x 14 x 6,), bool: entry 0 is "reject", then technician, days ahead
        and window with the window fastest. It is for `Discrete(1 + 4·14·6)` only: a mask of the
        MultiDiscrete action itself cannot say "this technician only on that day", so MaskablePPO
        cannot use it on the unwrapped environment.
        """
        legal = self._simulation.desk.legal(qualified=False)
        return np.concatenate(([True], legal.ravel().astype(np.bool_)))

    @property
    def business(self) -> Business:
        """What its runs are of."""
        return self._simulation.business

    @property
    def services(self) -> int:
        """The service the caller on the line asks for; -1 without one."""
        call = self._simulation.desk.call
        return -1 if call is None else int(call["service"])

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
        """The whole state, `np_random` included, as bytes.

        Raises:
            StateError: `np_random` was replaced by another kind of generator.

        """
        return pack(self._loop, self.np_random, self._simulation.get_state())

    def set_state(self, state: bytes) -> None:
        """Continue from saved bytes, bit for bit.

        Raises:
            StateError: bytes of other rules, another scenario or map, or damaged ones; nothing has
                changed.

        """
        loop, random, body = unpack(state)
        self._simulation.set_state(body)
        self.np_random = random
        self._loop = loop

    def observe(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """The present observation and info, as `reset` gives them: for use after `set_state`."""
        block = self._blocks.take()
        self._simulation.observe(self._loop.last, self._blocks.where, block.words)
        return block.observation(), self._info(block)

    def _play(self, chosen: npt.NDArray[np.int64], block: Block) -> tuple[int, int, int]:
        answer, stop, cents = self._simulation.step(
            chosen, REFUSED, self._blocks.where, block.words
        )
        self._loop.last = max(answer, REFUSED)
        return answer, stop, cents

    def _info(self, block: Block) -> dict[str, Any]:
        return {"run_seed": self._loop.run_seed, "action_mask": block.mask}

    def _refuse_if_wrong(self, chosen: npt.NDArray[np.int64]) -> None:
        if self._simulation.line is None or chosen[0] == 0:
            return
        wrong: TradesBenchError | None
        if chosen[0] != 1:
            wrong = unknown_answer(int(chosen[0]))
        else:
            wrong = self._simulation.refusal(*chosen[1:].tolist())
        if wrong is not None:
            raise ActionError(wrong.message, code=wrong.code, field=wrong.field)
