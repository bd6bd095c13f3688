"""The phone as a person answers it: prompts and replies of `TextWrapper`, for a run that is no
environment.

A run in memory and a run in a file are answered alike. What is no answer is an error with the same
sentence that a model gets; how often one may try again is the caller's matter.
"""

from __future__ import annotations

from tradesbench_gym.company.callers import caller_of
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.envs.wording import Office
from tradesbench_gym.policies.registry import Decision
from tradesbench_gym.wrappers.text_news import Shown, news, shown_of
from tradesbench_gym.wrappers.text_offers import refusal
from tradesbench_gym.wrappers.text_prompt import call_prompt, end_prompt
from tradesbench_gym.wrappers.text_reply import read_reply
from tradesbench_gym.wrappers.text_rules import rules_text
from tradesbench_gym.wrappers.text_terms import Terms

PERSONS_FORM = "book NAME YYYY-MM-DD HH:MM, or reject"
"""What an answer looks like to whoever types it."""


class Phone:
    """Prompts and answers of one run.

    Args:
        simulation: the run, to look at; it is given no command.

    Attributes:
        business: of the run.
        rules: what the company's handbook says.

    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.business = simulation.business
        self._terms = Terms(self.business)
        self._shown: Shown | None = None
        self.rules = rules_text(self.business)

    def ring(self) -> str:
        """The prompt of the call on the line, or of the end: what has happened since the last."""
        office = Office(self.business, self._simulation.desk)
        told = [] if self._shown is None else news(office, self._shown)
        self._shown = shown_of(office)
        line = self._simulation.line
        if line is None:
            return end_prompt(office, told)
        return call_prompt(office, caller_of(self._simulation, line), told)

    def read(self, reply: str) -> Decision | None:
        """The offer that a reply makes to the call on the line; None if it rejects the call.

        Raises:
            ReplyError: no answer, two of them, or one in words that mean nothing here.
            BookingError: an offer that the company does not let out.

        """
        offer = read_reply(reply, self._terms, self._simulation.day, PERSONS_FORM)
        if offer is not None:
            wrong = refusal(self._simulation, self._terms, offer)
            if wrong is not None:
                raise wrong
        return offer
