"""A policy that answers the company's phone over HTTP, and the loop that lets it.

The dispatcher has an agent's token and the handbook, and nothing else; what it decides from is the
desk in `remote_desk`. Time is somebody else's, the driver's. This module knows no run.
"""

from __future__ import annotations

from tradesbench_gym.api import driver_models, models
from tradesbench_gym.api.client import Agent, Driver
from tradesbench_gym.api.remote_desk import RemoteDesk
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.policies.registry import Decision, Policy

_CALLING = ("new_call", "cancellation")


class Dispatcher:
    """Answers whoever is on the line as a policy says.

    Args:
        agent: client of the operations.
        handbook: the text of docs/HANDBOOK.md.
        policy: from what a dispatcher may know to a decision.

    """

    def __init__(self, agent: Agent, handbook: str, policy: Policy) -> None:
        self._agent = agent
        self._desk = RemoteDesk(agent, handbook)
        self._policy = policy

    def answer(self) -> models.CurrentCall:
        """Answer the call on the line, if there is one; which it was.

        Raises:
            ApiError: the policy made an offer that the company does not let out.
            UnreachableError: the company cannot be reached.

        """
        current = self._agent.current_call()
        if current.cancellation is not None:
            self._agent.acknowledge(current.cancellation.job_id)
            self._desk.note(current.cancellation.job)
        if current.new_job is not None:
            self._take(current.new_job)
        return current

    def _take(self, call: models.NewJobCall) -> None:
        self._agent.register_customer(call.call_id, call.name, call.phone)
        location = self._agent.register_location(call.call_id, call.address)
        decision = self._policy(self._desk.look(call, location.location_id))
        if decision is None:
            self._agent.reject(call.call_id)
            self._desk.note_answer(call, CallState.REJECTED)
        else:
            self._offer(call, decision)

    def _offer(self, call: models.NewJobCall, decision: Decision) -> None:
        offered = self._desk.offer(decision)
        booking = self._agent.book(call.call_id, call.job_type, **offered)
        if booking.job is not None:
            self._desk.note(booking.job)
        else:
            self._desk.note_answer(call, CallState.DECLINED, **offered)


def play(driver: Driver, dispatcher: Dispatcher) -> driver_models.RunStatus:
    """Let a run play to its end, from wherever it stands; how it stands then."""
    dispatcher.answer()
    while (stop := driver.advance().stop) != "ended":
        if stop in _CALLING:
            dispatcher.answer()
    return driver.status()
