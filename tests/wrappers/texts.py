"""What the tests of the text wrapper share: environments, moments of a run, answers in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from tradesbench_gym.company.business import Business
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.policies import Decision, make_policy
from tradesbench_gym.wrappers import TextWrapper


def text_env(days: int = 14, **arguments: Any) -> TextWrapper:
    return TextWrapper(TradesEnv(days=days), **arguments)


def trades(env: TextWrapper) -> TradesEnv:
    return cast("TradesEnv", env.unwrapped)


def business(env: TextWrapper) -> Business:
    return trades(env).simulation.business


def slot_words(env: TextWrapper, offer: Decision) -> tuple[str, str, str]:
    """Technician, date and window of an offer, as answers write them."""
    company, today = business(env), trades(env).simulation.day
    return (
        company.scenario.technicians[offer.technician].key,
        company.date_of(today + offer.ahead).isoformat(),
        f"{company.scenario.windows[offer.window].opens // 3600:02}:00",
    )


def oracle_line(env: TextWrapper) -> str:
    """What the oracle would answer now, as one line."""
    offer = make_policy("oracle")(trades(env).desk)
    return "reject" if offer is None else " ".join(["book", *slot_words(env, offer)])


def played(env: TextWrapper, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Prompt and info at each call of the oracle's run, and at its end."""
    prompt, info = env.reset(seed=seed)
    ended = False
    while not ended:
        yield prompt, info
        prompt, _, ended, _, info = env.step(oracle_line(env))
    yield prompt, info
