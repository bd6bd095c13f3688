"""The warm start: learn to do what a teacher does, and what his states are worth.

Runs of seeds from 10,000 up are played by teachers, each run by a rule of its own drawn around the
one in the settings, so that what is learnt is not one answer but which answers are reasonable: that
is what PPO then tries. Or by a policy by name, the oracle or the planner, played on its own desk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from tradesbench_gym.company.play import answer
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.core.view import Desk
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.policies.network import DeskView
from tradesbench_gym.training.candidates import CandidateBatch
from tradesbench_gym.training.seeds import check_training, training_runs
from tradesbench_gym.training.slot_policy import SlotPolicy
from tradesbench_gym.training.teacher import Rule, choose

_THOUSAND_DOLLARS = 100_000.0
_NO_ENTRY = -1


@dataclass(frozen=True)
class Lessons:
    """What teachers did.

    Attributes:
        offers, whole, legal: features and entries, as in `Candidates`.
        chosen: the entry the teacher took.
        returns: thousands of dollars from here to the end of the run.

    """

    offers: npt.NDArray[np.float32]
    whole: npt.NDArray[np.float32]
    legal: npt.NDArray[np.bool_]
    chosen: npt.NDArray[np.int64]
    returns: npt.NDArray[np.float32]


def rules_around(rule: Rule, spread: float, count: int, random: np.random.Generator) -> list[Rule]:
    """Rules with each number scaled by its own factor from 1 - spread to 1 + spread."""
    names = [field.name for field in fields(Rule)]
    factors = random.uniform(1 - spread, 1 + spread, (count, len(names)))
    return [
        replace(rule, **{k: getattr(rule, k) * f for k, f in zip(names, row, strict=True)})
        for row in factors.tolist()
    ]


def record_rule(batch: CandidateBatch, rule: Rule, spread: float, seed: int) -> Lessons:
    """Play one run in every environment of the batch to its end, each by a rule of its own."""
    count = batch.num_envs
    rules = rules_around(rule, spread, count, np.random.default_rng(seed))
    batch.reset(seed=training_runs(seed, count))
    steps: list[tuple[npt.NDArray[Any], ...]] = []
    playing = np.ones(count, np.bool_)
    while playing.any():
        now = batch.now
        taken = choose(rules, batch.seen, now, batch.shape)
        _, reward, ended, _, _ = batch.step(taken)
        gain = np.where(playing, reward, 0.0)
        steps.append((now.offers, now.whole, now.legal, taken, gain, playing.copy()))
        playing &= ~ended
    offers, whole, legal, chosen, gains, there = (np.array(c) for c in zip(*steps, strict=True))
    returns = np.cumsum(gains[::-1], 0)[::-1].astype(np.float32)
    return Lessons(offers[there], whole[there], legal[there], chosen[there], returns[there])


def record_policy(
    simulation: Simulation,
    name: str,
    runs: list[int],
    done: Callable[[int], None] = lambda _played: None,
) -> Lessons:
    """Play runs with a policy by name; calls it answers with no candidate teach nothing."""
    check_training(runs)
    pieces = []
    for run in runs:
        pieces.append(_record_run(simulation, name, run))
        done(len(pieces))
    return Lessons(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


def _record_run(simulation: Simulation, name: str, run: int) -> tuple[Any, ...]:
    simulation.restart(run)
    view = DeskView(simulation.desk)
    decide: Callable[[Desk], Any] = load_policy(name, seed=run)
    rows, cash = [], []

    def watched(desk: Desk) -> Any:
        now = view.look(desk)
        decision = decide(desk)
        flat = 0
        if decision is not None:
            flat = 1 + int(np.ravel_multi_index(tuple(decision), view.shape))
        entries = np.flatnonzero(now.legal[0] & (now.flat[0] == flat))
        rows.append((now, int(entries[0]) if len(entries) else _NO_ENTRY))
        cash.append(simulation.cash_cents)
        return decision

    while simulation.next_call() == Stop.NEW_CALL:
        answer(simulation, watched)
    returns = (simulation.cash_cents - np.array(cash)) / _THOUSAND_DOLLARS
    kept = [i for i, (_, entry) in enumerate(rows) if entry != _NO_ENTRY]
    looks = [rows[i][0] for i in kept]
    return (
        np.concatenate([look.offers for look in looks]),
        np.concatenate([look.whole for look in looks]),
        np.concatenate([look.legal for look in looks]),
        np.array([rows[i][1] for i in kept], np.int64),
        returns[kept].astype(np.float32),
    )


def clone(
    policy: SlotPolicy,
    lessons: Lessons,
    *,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    seed: int,
    told: Callable[[int, float], None] = lambda _epoch, _agreement: None,
) -> float:
    """Fit scores to the choices and values to the returns; share of choices met at last."""
    random = np.random.default_rng(seed)
    optimizer = torch.optim.Adam(policy.parameters(), lr=learning_rate)
    count, agreement = len(lessons.chosen), 0.0
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * (1 - epoch / epochs)
        order = random.permutation(count)
        met = 0
        for start in range(0, count, batch_size):
            rows = order[start : start + batch_size]
            loss, right = _loss(policy, lessons, rows)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call,unused-ignore]  # untyped in torch
            optimizer.step()
            met += right
        agreement = met / count
        told(epoch + 1, agreement)
    return agreement


def _loss(
    policy: SlotPolicy, lessons: Lessons, rows: npt.NDArray[np.int64]
) -> tuple[torch.Tensor, int]:
    features = torch.as_tensor(lessons.offers[rows]), torch.as_tensor(lessons.whole[rows])
    chosen = torch.as_tensor(lessons.chosen[rows])
    scores, latent = policy.mlp_extractor(features)
    values = policy.value_net(latent).squeeze(1)
    fit = torch.nn.functional.cross_entropy(scores, chosen)
    worth = torch.nn.functional.mse_loss(values, torch.as_tensor(lessons.returns[rows]))
    return fit + 0.1 * worth, int((scores.argmax(1) == chosen).sum())
