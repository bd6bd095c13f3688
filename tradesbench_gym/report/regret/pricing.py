"""The price of one answer: every distinct answer to its call is played on, and the best held
against the chosen one.

One call at a time, so that whoever has a core free can take the next; which calls and answers are
tried, and what the prices of a run add up to, is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tradesbench_gym.core.branching import REJECT
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.report.regret.kinds import Comparison, Kind, Part, compare
from tradesbench_gym.report.regret.outcomes import Choice
from tradesbench_gym.report.regret.playing import Player

_REJECTED = int(REJECT)
_NOTHING = dict.fromkeys(Part, 0)


@dataclass(frozen=True)
class Task:
    """One call to be priced.

    Attributes:
        choice: its distinct answers.
        answers: those of them that are tried: the chosen one, turning the caller away, others.

    """

    choice: Choice
    answers: tuple[int, ...]


@dataclass(frozen=True)
class Price:
    """One answer and what it lost. Values are profits at the end of the run, in cents.

    Attributes:
        call: index in the recording.
        answer, outcome: what was chosen, and what it came to at once.
        best, best_outcome: the best answer among those tried, and what that comes to at once.
        value, best_value: with the chosen and the best answer.
        rejecting: with the caller turned away.
        following: with the policy's own answer.
        tried: how many distinct answers were played.
        better: how many of them earn more than the chosen one.
        comparison: the two branches held side by side.

    """

    call: int
    answer: int
    outcome: CallState
    best: int
    best_outcome: CallState
    value: int
    best_value: int
    rejecting: int
    following: int
    tried: int
    better: int
    comparison: Comparison

    @property
    def regret(self) -> int:
        """What the chosen answer lost against the best, in cents; never negative."""
        return self.best_value - self.value

    @property
    def against_policy(self) -> int:
        """What the chosen answer earned more than the policy's own would have, in cents."""
        return self.value - self.following

    @property
    def kind(self) -> Kind:
        """Why it lost."""
        return self.comparison.kind


def price_call(player: Player, book: np.void, task: Task) -> Price:
    """Price the answer to one call.

    Args:
        player: plays the branches.
        book: the handbook.
        task: the call, and the answers to try; the policy's own is tried as well.

    Raises:
        PolicyError: the policy failed in a branch.

    """
    choice, starting_cash = task.choice, int(book["starting_cash"])
    own = choice.represented(player.own_answer(choice.call))
    answers = task.answers if own in task.answers else (*task.answers, own)
    profits = [cash - starting_cash for cash in player.cash(choice.call, answers)]
    value_of = dict(zip(answers, profits, strict=True))
    value = value_of[choice.chosen]
    # The chosen one if none is better, else the first of the best.
    best = max(answers, key=lambda answer: (value_of[answer], answer == choice.chosen))
    return Price(
        call=choice.call,
        answer=choice.chosen,
        outcome=choice.outcome(choice.chosen),
        best=best,
        best_outcome=choice.outcome(best),
        value=value,
        best_value=value_of[best],
        rejecting=value_of[_REJECTED],
        following=value_of[own],
        tried=len(answers),
        better=sum(other > value for other in profits),
        comparison=_held_together(player, book, choice, best),
    )


def _held_together(player: Player, book: np.void, choice: Choice, best: int) -> Comparison:
    chosen = player.ending(choice.call, choice.chosen)
    if best == choice.chosen:
        state = CallState(int(chosen.run[0]["calls"][choice.call]["state"]))
        return Comparison(Kind.NONE, dict(_NOTHING), (state, state))
    return compare(book, choice.call, chosen, player.ending(choice.call, best))
