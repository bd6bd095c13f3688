"""Policies by name: a policy is one function, what a dispatcher may know in, a decision out.

    @policies.register("polite")
    def polite(desk):
        return Decision(technician=0, ahead=1, window=2)

Names carry settings: `oracle:margin=20,quantile=0.8`. A policy sees a `Desk` and nothing else of
the run.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeAlias

from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import PolicyError


class Decision(NamedTuple):
    """An offer: technician's index, days ahead, window's index. To reject, a policy returns None
    instead.
    """

    technician: int
    ahead: int
    window: int


Policy: TypeAlias = Callable[[Desk], Decision | None]
Factory: TypeAlias = Callable[..., Policy]

_FACTORIES: dict[str, Factory] = {}


def register(name: str) -> Callable[[Policy], Policy]:
    """Register a function `DESK -> decision` under a name."""

    def enter(policy: Policy) -> Policy:
        def make() -> Policy:
            return policy

        make.__module__, make.__qualname__ = policy.__module__, policy.__qualname__
        register_factory(name)(make)
        return policy

    return enter


def register_factory(name: str) -> Callable[[Factory], Factory]:
    """Register a maker of policies: called once a run, with the settings of the name and, if it
    takes one, `seed`.
    """
    if not name or set(name) & set(":,= "):
        raise PolicyError(
            f"a policy's name holds no space, colon, comma or equals sign, as {name!r} does",
            field="policy",
        )

    def enter(factory: Factory) -> Factory:
        if name in _FACTORIES and _home(_FACTORIES[name]) != _home(factory):
            raise PolicyError(
                f"there is a policy {name!r} already: choose another name",
                code="policy_taken",
                field="policy",
            )
        _FACTORIES[name] = factory
        return factory

    return enter


def _home(factory: Factory) -> tuple[str, str]:
    # A module that is read again, as in a notebook, may register its own policy again.
    return factory.__module__, factory.__qualname__


def policy_names() -> list[str]:
    """The names there are."""
    return sorted(_FACTORIES)


def make_policy(name: str, *, seed: int = 0) -> Policy:
    """The policy of a name such as `oracle` or `oracle:margin=20`, fresh for one run.

    Raises:
        PolicyError: an unknown name or setting, or a setting that cannot be.

    """
    base, _, rest = name.partition(":")
    if base not in _FACTORIES:
        near = get_close_matches(base, _FACTORIES, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise PolicyError(
            f"there is no policy {base!r}{hint}; there are {', '.join(policy_names())}",
            code="unknown_policy",
            field="policy",
        )
    factory = _FACTORIES[base]
    taken = inspect.signature(factory).parameters
    settings: dict[str, Any] = _settings(name, rest, [key for key in taken if key != "seed"])
    if "seed" in taken:
        settings["seed"] = _own_seed(seed)
    return factory(**settings)


def _own_seed(seed: int) -> int:
    """A number for a policy's own draws that does not tell the number of the run."""
    return int.from_bytes(hashlib.sha256(f"policy of run {seed}".encode()).digest()[:8], "big")


def _settings(name: str, text: str, allowed: list[str]) -> dict[str, str]:
    settings = {}
    for piece in filter(None, text.split(",")):
        key, equals, value = piece.partition("=")
        if not equals or key.strip() not in allowed:
            there = ", ".join(allowed) or "none"
            raise PolicyError(
                f"policy {name!r}: {piece!r} is no setting=value; its settings: {there}",
                field="policy",
            )
        settings[key.strip()] = value.strip()
    return settings
