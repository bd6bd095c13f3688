"""The totals and faults of a run, worked out from the record of its requests and from nothing else.

Whoever reads the same lines has the same totals: the gateway while it writes them, and the driver
of the run at any time afterwards. This module knows rows, and neither files nor a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tradesbench_gym.harness.faults import Fault, FaultKind
from tradesbench_gym.harness.gateway.settings import Prices
from tradesbench_gym.harness.gateway.usage import Tokens, Usage, most_it_cost


@dataclass
class Open:
    """A request that was let out and is not done: the tokens that it may use, at a guess."""

    guess: int
    tries: int = 1


class Tally:
    """Adds up rows.

    Attributes:
        open: the requests that are not done, by number.
        faults: all of them, in order.
        spent_cost: dollars for the limit, where an unreported token is guessed.

    """

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._counts = dict.fromkeys(
            ("requests", "retries", "input_tokens", "cached_tokens", "output_tokens"), 0
        )
        self._unreported = self._guessed = self._refused = 0
        self._cost: Decimal | None = Decimal(0)
        self.spent_cost = Decimal(0)
        self.open: dict[int, Open] = {}
        self.faults: list[Fault] = []
        self.last = 0

    @property
    def spent_tokens(self) -> int:
        """Tokens for the limit: those reported, and a guess of the others."""
        return self._counts["input_tokens"] + self._counts["output_tokens"] + self._guessed

    def usage(self, *, stopped: bool = False) -> Usage:
        """The totals so far.

        Args:
            stopped: nothing more can come of the requests that are open.

        """
        lost = len(self.open) if stopped else 0
        unreported = self._unreported + lost
        return Usage(
            **self._counts,
            unreported=unreported,
            cost=None if unreported else self._cost,
            cost_reported=self._cost,
            refused=self._refused,
            guessed_tokens=self._guessed,
        )

    def add(self, row: Mapping[str, Any]) -> None:
        """Add one row; of a kind that counts nothing, nothing happens."""
        kind, number = row["kind"], row.get("request")
        if row.get("fault"):
            self.faults.append(fault_from(row["fault"]))
        if kind == "refused":
            self._refused += 1
        elif kind == "request" and number is not None:
            self._counts["requests"] += 1
            self.open[number] = Open(row["guess"])
            self.last = max(self.last, number)
        elif kind == "retry":
            self._counts["retries"] += 1
            self._lose(row)
        elif kind in ("done", "unfinished") and number is not None:
            self._take(row)
            self._lose(row)
            self.open.pop(number, None)

    def _take(self, row: Mapping[str, Any]) -> None:
        used = row.get("usage")
        if used is None:
            return
        tokens = Tokens(used["input"], used["cached"], used["output"])
        self._counts["input_tokens"] += tokens.input
        self._counts["cached_tokens"] += tokens.cached
        self._counts["output_tokens"] += tokens.output
        cost = row.get("cost")
        unknown = cost is None or self._cost is None
        self._cost = None if unknown else (self._cost or Decimal(0)) + Decimal(str(cost))
        # By the prices of now, for a limit of now.
        self.spent_cost += most_it_cost(tokens, self._prices)

    def _lose(self, row: Mapping[str, Any]) -> None:
        if not row.get("unreported"):
            return
        self._unreported += 1
        guess = int(row.get("guess", 0))
        self._guessed += guess
        self.spent_cost += most_it_cost(Tokens(guess, 0, 0), self._prices)


def fault_row(fault: Fault) -> dict[str, Any]:
    """A fault as a row holds it."""
    return {
        "kind": fault.kind.value,
        "code": fault.code,
        "sentence": fault.sentence,
        "at": fault.at,
        "detail": dict(fault.detail),
    }


def fault_from(row: Mapping[str, Any]) -> Fault:
    """The fault that a row holds."""
    return Fault(
        FaultKind(row["kind"]), row["code"], row["sentence"], row["at"], dict(row["detail"])
    )
