"""What can go wrong around a run: one record for every mishap, and whose it was.

A fault is never a decision: a call that went unanswered because a provider was down is recorded as
the provider's fault, beside the call. This module knows no run, no agent and no network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class FaultKind(StrEnum):
    """Whose fault it was."""

    INFRASTRUCTURE = "infrastructure"
    """The machine's, the network's or the provider's: the run says nothing about the model."""
    AGENT = "agent"
    """The agent program's: it hung, died or broke its protocol."""
    MODEL = "model"
    """The model's own: no answer, endless output, a context that overflowed."""


@dataclass(frozen=True)
class Fault:
    """One mishap: whose, a stable code, a sentence, the wall time in ISO 8601, and particulars."""

    kind: FaultKind
    code: str
    sentence: str
    at: str
    detail: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
