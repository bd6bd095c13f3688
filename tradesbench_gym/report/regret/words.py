"""The words of a price: who called when and for what, what was answered, what became of it.

For tables and for machines alike, so that both say the same. It plays nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tradesbench_gym.company.refusals import window_text
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.layout import DAY_SECONDS
from tradesbench_gym.report.regret.kinds import Part
from tradesbench_gym.report.regret.prices import Prices
from tradesbench_gym.report.regret.pricing import Price
from tradesbench_gym.report.regret.recorded import Recorded, offer_of
from tradesbench_gym.report.regret.search import Found

_MINUTE = 60


@dataclass(frozen=True)
class Wording:
    """A run's calls in words."""

    recorded: Recorded

    def when(self, call: int) -> str:
        """Day of the run and time of a call, by index: `d02 10:41`."""
        at = int(self.recorded.states[call]["clock"])
        minute = at % DAY_SECONDS // _MINUTE
        return f"d{at // DAY_SECONDS + 1:02} {minute // 60:02}:{minute % 60:02}"

    def wanted(self, call: int) -> str:
        """What a caller asked for, and whether it is urgent."""
        number = int(self._caller(call)["service"])
        scenario = self.recorded.business.scenario
        ours = len(scenario.services)
        label = scenario.services[number].label if number < ours else "other work"
        return f"{label}, urgent" if self._caller(call)["urgent"] else label

    def answer(self, call: int, answer: int, became: CallState) -> str:
        """An answer and what became of it: `Diana d05 09-11 done`."""
        offer, state = offer_of(answer), became.name.lower()
        if offer is None:
            return state
        technician, ahead, window = offer
        business = self.recorded.business
        first_name = business.scenario.technicians[technician].name.split()[0]
        hours = window_text(business, window).replace(":00", "")
        if became < CallState.DONE and became != CallState.DECLINED:
            state = "open"  # booked beyond the last day, or the company was bankrupt by then
        return f"{first_name} d{self._day(call) + ahead + 1:02} {hours} {state}"

    def plain_answer(self, call: int, answer: int) -> dict[str, Any] | None:
        """An answer as plain values; None where the caller is turned away."""
        offer = offer_of(answer)
        if offer is None:
            return None
        technician, ahead, window = offer
        business = self.recorded.business
        return {
            "technician": business.scenario.technicians[technician].name,
            "date": str(business.date_of(self._day(call) + ahead)),
            "window": window_text(business, window),
            "offer": [technician, ahead, window],
        }

    def _caller(self, call: int) -> Any:
        return self.recorded.states[call]["calls"][call]

    def _day(self, call: int) -> int:
        return int(self.recorded.states[call]["day"])


def prices_as_dict(prices: Prices) -> dict[str, Any]:
    """Everything known of the prices of a run; money in whole cents, as the names say."""
    recorded, ask = prices.recorded, prices.ask
    return {
        **_of_run(recorded),
        "policy": ask.policy,
        "policy_profit_cents": prices.policy_profit,
        "sample": {
            "calls": ask.sample.calls,
            "answers": ask.sample.answers,
            "seed": ask.sample.seed,
        },
        "all_technicians": ask.all_technicians,
        "complete": prices.complete,
        "priced": len(prices.of),
        "branches": prices.branches,
        "seconds": round(prices.seconds[0], 3),
        "workers": prices.workers,
        "regret_cents": prices.regret,
        "kinds": {
            kind.value: {"calls": len(of), "regret_cents": sum(price.regret for price in of)}
            for kind, of in prices.by_kind().items()
        },
        "parts_cents": {part.value: cents for part, cents in prices.by_part().items()},
        "calls": [price_as_row(prices, price, flat=False) for price in prices.of],
    }


def price_as_row(prices: Prices, price: Price, *, flat: bool = True) -> dict[str, Any]:
    """One price as plain values by column; `flat` for a line of a table."""
    recorded, call = prices.recorded, price.call
    say = Wording(recorded)
    became, best_became = price.comparison.became
    row: dict[str, Any] = {
        "call": call + 1,
        "at": recorded.business.clock_text(int(recorded.states[call]["clock"])),
        "wanted": say.wanted(call),
        "outcome": recorded.outcome(call).name.lower(),
        "became": became.name.lower(),
        "best_outcome": price.best_outcome.name.lower(),
        "best_became": best_became.name.lower(),
        "value_cents": price.value,
        "best_value_cents": price.best_value,
        "regret_cents": price.regret,
        "own_continuation_cents": recorded.profit if recorded.finished else None,
        "rejecting_cents": price.rejecting,
        "policy_answer_cents": price.following,
        "against_policy_cents": price.against_policy,
        "tried": price.tried,
        "better": price.better,
        "kind": price.kind.value,
    }
    parts = {part.value: price.comparison.parts[part] for part in Part}
    for name, answer in (("answer", price.answer), ("best", price.best)):
        plain = say.plain_answer(call, answer)
        if flat:
            row |= {f"{name}_{key}": (plain or {}).get(key) for key in _ANSWER}
        else:
            row[name] = plain
    if flat:
        return {**row, **{f"{part}_cents": cents for part, cents in parts.items()}}
    return {**row, "parts_cents": parts}


_ANSWER = ("technician", "date", "window")


def found_as_dict(recorded: Recorded, found: Found) -> dict[str, Any]:
    """Everything known of the best run found; money in whole cents, as the names say."""
    return {
        **_of_run(recorded),
        "needs_hindsight": True,
        "best_profit_cents": found.profit,
        "headroom_cents": found.headroom,
        "recorded_profit_cents": found.recorded,
        "oracle_profit_cents": found.oracle,
        "branches": found.branches,
        "seconds": round(found.seconds[0], 3),
        "workers": found.workers,
        "settled": found.settled,
        "interrupted": found.interrupted,
        "gains": [
            {"branches": branches, "profit_cents": profit} for branches, profit in found.gains
        ],
        "answers": [offer_of(answer) for answer in found.answers.tolist()],
    }


def _of_run(recorded: Recorded) -> dict[str, Any]:
    business = recorded.business
    return {
        "run_seed": recorded.seed,
        "days": business.days,
        "scenario": business.scenario.name,
        "map": business.roadmap.name,
        "finished": recorded.finished,
        "profit_cents": recorded.profit,
        "calls_answered": len(recorded.answers),
    }
