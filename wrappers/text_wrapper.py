"""The environment in words: a prompt for an observation, a reply for an action.

It keeps the conversation, sends back what is no answer, and hands what is one to the environment.
What a prompt says stands in `text_prompt`, `text_news` and `text_rules`, how a reply is read in
`text_reply` and `text_offers`.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.callers import caller_of
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.envs.wording import Office
from tradesbench_gym.errors import ActionError, TradesBenchError, shown
from tradesbench_gym.policies.registry import Decision
from tradesbench_gym.wrappers.flatten_action import slots_of
from tradesbench_gym.wrappers.text_chat import (
    Conversation,
    Message,
    reply_from_tool_call,
    reply_text,
    tool_calls_of,
    tools_of,
)
from tradesbench_gym.wrappers.text_news import Shown, answer_line, news, shown_of
from tradesbench_gym.wrappers.text_offers import refusal
from tradesbench_gym.wrappers.text_prompt import brief_prompt, call_prompt, end_prompt, wrapped
from tradesbench_gym.wrappers.text_reply import FORM, TOOL_FORM, read_reply
from tradesbench_gym.wrappers.text_rules import system_prompt
from tradesbench_gym.wrappers.text_terms import Terms

MOST_PROMPT = 20_000
"""Characters of a prompt, whatever the scenario; a usual one has about 2,500."""
_LONGEST_SAMPLE = 200
_REJECT = np.zeros(4, np.int64)
_Outcome = tuple[str, SupportsFloat, bool, bool, dict[str, Any]]


class TextWrapper(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A prompt for an observation, a reply for an action: for models that read and write.

    A prompt shows what a dispatcher may know, in the words of the office: what happened since the
    last call, who is on the line, today's routes, the calendar of the next days, the weather and
    its forecast, cash. `system_prompt` tells once what the company's handbook says. No prompt shows
    hidden state or the number of the run.

    A reply is one JSON object or one line:

        {"answer": "book", "technician": "diana", "date": "2026-10-05", "window": "09:00"}
        {"answer": "reject"}
        book diana 2026-10-05 09:00
        reject

    Prose and fences around it, capitals, full names, times such as 9 am and weekdays where only one
    day can be meant are understood. `step` also takes bytes, and a message of the assistant as a
    dictionary (`{"role", "content", "tool_calls"}`). Whatever comes, it neither raises nor loops: a
    reply that is no answer, or an offer that the company does not let out, gives a reminder as the
    next observation, with a reward of 0, and the clock stands still. After the last reminder the
    call counts as unanswered, which is the same as rejected: a call takes `reminders + 1` steps at
    most.

    As a chat: `messages()` is what to send to an endpoint, `tools()` the same answers as tools.
    What is kept of earlier calls is short (no calendar), for `memory_days` simulated days.

    Info has, beside the environment's own: `reminder` (how many this call has had; 0 when the clock
    has moved on), `error` (of the last reply: code, message, field), `action` (what the environment
    was handed, when it was), and as `answer` also "unanswered".

    Spaces are `Text`. A reply may be of any characters and any length; the action space is only
    what `sample()` draws from.

    Args:
        env: TradesBench-v0, under any wrappers that leave its action as it is.
        reminders: how often a reply that is no answer is sent back, 0 or more.
        memory_days: days that `messages()` keeps, today included; 0: only the call on the line,
            None: all.
        handbook: text that `system_prompt` tells in place of its own chapters on the company.

    Raises:
        TypeError: an environment of another kind.
        ActionError: an argument out of range.

    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        *,
        reminders: int = 2,
        memory_days: int | None = 0,
        handbook: str | None = None,
    ) -> None:
        RecordConstructorArgs.__init__(
            self, reminders=reminders, memory_days=memory_days, handbook=handbook
        )
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, TradesEnv):
            raise TypeError(f"TextWrapper is for TradesBench-v0, not {env.unwrapped}")
        slots_of(env.action_space)
        self._trades: TradesEnv = env.unwrapped
        self._business: Business = self._trades.simulation.business
        self._terms = Terms(self._business)
        self._most_reminders = _whole("reminders", reminders)
        if memory_days is not None:
            memory_days = _whole("memory_days", memory_days)
        self._memory_days = memory_days
        self.system_prompt = system_prompt(self._business, self._most_reminders, handbook)
        self._charset = _characters(self._business)
        self.observation_space = spaces.Text(MOST_PROMPT, charset=self._charset)
        self.action_space = spaces.Text(_LONGEST_SAMPLE, min_length=0, charset=self._charset)
        self._begin()

    def _begin(self) -> None:
        self._chat = Conversation(self.system_prompt, self._memory_days)
        self._info: dict[str, Any] = {}
        self._reminded = 0
        self._shown: Shown | None = None
        self._prompt = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin a run, as the environment does; the prompt of its first call."""
        _, info = self.env.reset(seed=seed, options=options)
        self._begin()
        self._info = deepcopy(info)
        return self._look(), {**info, "reminder": 0}

    def step(self, action: Any) -> _Outcome:
        """Take a reply: go on to the next call, or remind.

        Args:
            action: the reply as text, bytes, or an assistant's message.

        Raises:
            ActionError: the run is over, or has not begun.

        """
        if self._shown is None:
            raise ActionError("no run was begun: call reset() first", code="reset_needed")
        if self._trades.simulation.line is None:
            return self._carry_out(None)  # a run that ended before its first call has a step still
        message = _as_message(action)
        self._chat.reply(message)
        try:
            offer = self._read(message)
        except TradesBenchError as wrong:
            return self._not_an_answer(wrong)
        return self._carry_out(offer)

    def messages(self) -> list[Message]:
        """The chat so far, to be sent to a model for its next reply."""
        return self._chat.messages()

    def tools(self) -> list[Message]:
        """The two answers as tools, in the form of OpenAI's chat completions."""
        last = self._business.scenario.calendar.booking_days - 1
        return tools_of(self._terms.technicians, self._terms.starts, last)

    @staticmethod
    def reply_from_tool_call(name: str, arguments_json: str) -> str:
        """A call of one of the tools as a reply for `step`; never raises."""
        return reply_from_tool_call(name, arguments_json)

    def prompt(self) -> str:
        """The prompt of the call on the line, without reminders."""
        return self._prompt

    def look(self) -> str:
        """The prompt of the present moment with an empty memory: for use after `set_state`."""
        info = self._info
        self._begin()
        self._info = info
        return self._look()

    def forget(self) -> bool:
        """Drop the older half of what `messages()` keeps; whether there was anything."""
        return self._chat.forget()

    def _read(self, message: Mapping[str, Any]) -> Decision | None:
        form = TOOL_FORM if tool_calls_of(message) else FORM
        today = self._trades.simulation.day
        offer = read_reply(reply_text(message), self._terms, today, form)
        if offer is not None:
            wrong = refusal(self._trades.simulation, self._terms, offer)
            if wrong is not None:
                raise wrong
        return offer

    def _not_an_answer(self, wrong: TradesBenchError) -> _Outcome:
        error = {"code": wrong.code, "message": wrong.message, "field": wrong.field}
        if self._reminded >= self._most_reminders:
            return self._leave_unanswered(error)
        self._reminded += 1
        left = self._most_reminders - self._reminded
        text = self._plain(_reminder(wrong.message, self._trades.simulation.line, left))
        self._chat.tell(text)
        info = deepcopy(self._info)
        info.pop("answer", None)
        return text, 0.0, False, False, {**info, "error": error, "reminder": self._reminded}

    def _leave_unanswered(self, error: dict[str, Any]) -> _Outcome:
        # The environment knows only rejections; the run keeps apart who was never answered.
        self._trades.simulation.leave_unanswered()
        outcome = self._after(*self.env.step(_REJECT.copy()))
        outcome[-1].update(error=error, answer="unanswered")
        return outcome

    def _carry_out(self, offer: Decision | None) -> _Outcome:
        action = _REJECT.copy() if offer is None else np.array([1, *offer], np.int64)
        outcome = self._after(*self.env.step(action))
        outcome[-1]["action"] = action
        return outcome

    def _after(
        self, _observation: Any, reward: SupportsFloat, ended: bool, cut: bool, info: dict[str, Any]
    ) -> _Outcome:
        self._info = deepcopy(info)  # whoever is given it may change it
        self._reminded = 0
        return self._look(), reward, ended, cut, {**info, "reminder": 0}

    def _look(self) -> str:
        """The prompt of the present moment; the conversation goes on to it."""
        office = Office(self._business, self._trades.desk)
        before, self._shown = self._shown, shown_of(office)
        told: list[str] = []
        if before is not None:
            told = news(office, before)
            if before.line >= 0:
                self._chat.end(self._plain(answer_line(office, before.line)))
        line = self._trades.simulation.line
        if line is None:
            prompt = brief = end_prompt(office, told)
        else:
            caller = caller_of(self._trades.simulation, line)
            prompt, brief = (make(office, caller, told) for make in (call_prompt, brief_prompt))
        self._prompt = self._plain(prompt)
        self._chat.begin(office.today, self._prompt, self._plain(brief))
        return self._prompt

    def _plain(self, text: str) -> str:
        """Text of the observation space: a map's or a scenario's rarer signs become escapes."""
        if not text.isascii() and not self._charset.issuperset(text):
            text = "".join(
                sign if sign in self._charset else sign.encode("ascii", "backslashreplace").decode()
                for sign in text
            )
        return text[:MOST_PROMPT]


def _as_message(reply: Any) -> Mapping[str, Any]:
    """Any reply as an assistant's message."""
    if isinstance(reply, Mapping):
        return reply
    if isinstance(reply, bytes | bytearray):
        reply = bytes(reply).decode("utf-8", "replace")
    return {"role": "assistant", "content": reply if isinstance(reply, str) else ""}


def _reminder(wrong: str, call: int | None, left: int) -> str:
    more = {
        0: "This is the last reminder: without an answer now, the call counts as unanswered.",
        1: "One more reminder is left.",
    }.get(left, f"{left} more reminders are left.")
    said = wrong.rstrip(".")
    return "\n".join(
        (
            wrapped(f"{said[:1].upper()}{said[1:]}."),
            wrapped(f"Call {call} is still on the line. {more}"),
        )
    )


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ActionError(
            f"{name} must be a whole number of 0 or more, not {shown(value)}", code=name, field=name
        )
    return int(value)


def _characters(business: Business) -> frozenset[str]:
    """The characters prompts are written in: Latin letters, and those of the business's names."""
    scenario = business.scenario
    names = [scenario.company, *scenario.other_work]
    names += [service.label for service in scenario.services]
    names += [customer.label for customer in scenario.customers]
    names += [word for person in scenario.technicians for word in (person.key, person.name)]
    names += [zone.name for zone in business.roadmap.zones]
    latin = "".join(map(chr, range(0xA1, 0x250)))
    letters = string.digits + string.ascii_letters + string.punctuation + " \n" + latin
    return frozenset(letters + "".join(names).replace("\r", "").replace("\t", ""))
