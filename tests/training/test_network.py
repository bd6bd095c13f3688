"""The shipped way to decide: the same as in training, from a desk and plain arrays alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core import plan
from tradesbench_gym.core.codes import Stop
from tradesbench_gym.errors import PolicyError
from tradesbench_gym.policies.features import FIRST_FIT, Candidates
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.policies.network import DeskView, Network, load_network

pytestmark = pytest.mark.train


def random_policy(batch: Any, seed: int) -> Any:
    """A torch policy with random weights everywhere."""
    import torch

    from tradesbench_gym.training.slot_policy import SlotPolicy

    torch.manual_seed(seed)
    policy = SlotPolicy(
        batch.single_observation_space, batch.single_action_space, lambda _left: 1e-3
    )
    with torch.no_grad():
        for values in policy.parameters():
            values.copy_(torch.randn_like(values) * 0.3)
    return policy


def saved_network(folder: Path, seed: int) -> Path:
    from tradesbench_gym.training.evaluation import make_batch
    from tradesbench_gym.training.slot_policy import save_weights, weights_of

    save_weights(folder / "model.npz", weights_of(random_policy(make_batch(1), seed)))
    return folder / "model.npz"


def desks_of(simulation: Simulation, seed: int, count: int) -> Any:
    """Desks at the calls of a run in which the oracle answers."""
    simulation.restart(seed)
    oracle = load_policy("oracle")
    while count and simulation.next_call() == Stop.NEW_CALL:
        desk = simulation.desk
        yield desk
        decision = oracle(desk)
        if decision is None:
            simulation.reject()
        else:
            simulation.offer(*decision)
        count -= 1


def test_numpy_and_torch_decide_alike_in_200_states() -> None:
    import torch

    from tradesbench_gym.training.evaluation import make_batch
    from tradesbench_gym.training.slot_policy import weights_of

    batch = make_batch(4)
    batch.reset(seed=[15_000, 15_001, 15_002, 15_003])
    random, states = np.random.default_rng(0), 0
    for model in range(5):
        policy = random_policy(batch, model)
        network = Network(weights_of(policy))
        for _ in range(10):
            now = batch.now
            seen = {"offers": now.offers, "whole": now.whole}
            taken, _ = policy.predict(seen, action_masks=now.legal, deterministic=True)
            with torch.no_grad():
                scores, _ = policy.mlp_extractor(
                    (torch.as_tensor(now.offers), torch.as_tensor(now.whole))
                )
            ours = network.scores(now)
            there = now.legal
            assert np.allclose(scores.numpy()[there], ours[there], rtol=1e-4, atol=1e-4)
            assert np.array_equal(ours.argmax(1), taken)
            states += len(taken)
            batch.step(np.array([random.choice(np.flatnonzero(row)) for row in there]))
    assert states == 200


def test_a_desk_gives_the_features_that_the_batch_gives() -> None:
    from tradesbench_gym.training.evaluation import make_batch

    batch = make_batch(1)
    batch.reset(seed=[15_004])
    simulation = Simulation(business=open_business())
    view = None
    for desk in desks_of(simulation, 15_004, 60):
        view = view or DeskView(desk)
        ours, theirs = view.look(desk), batch.now
        for name in Candidates.__annotations__:
            assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
        decision = load_policy("oracle")(desk)
        flat = 0
        if decision is not None:
            flat = 1 + int(np.ravel_multi_index(tuple(decision), batch.shape))
        entries = np.flatnonzero(theirs.legal[0] & (theirs.flat[0] == flat))
        if not len(entries):  # the oracle books beyond the run as well
            return
        batch.step(entries[:1])


def test_candidates_are_offers_that_the_company_lets_out_and_somebody_can_do() -> None:
    simulation = Simulation(business=open_business())
    for desk in desks_of(simulation, 15_005, 100):
        now = DeskView(desk).look(desk)
        legal = desk.legal()
        assert now.legal[0, 0]
        for flat in now.flat[0, now.legal[0]][1:]:
            technician, day, window = np.unravel_index(flat - 1, legal.shape)
            assert legal[technician, day, window]
            assert int(desk["day"]) + day < int(desk["handbook"]["days"])


def test_the_first_fit_is_marked_as_the_oracle_finds_it() -> None:
    simulation = Simulation(business=open_business())
    met = 0
    for desk in desks_of(simulation, 15_006, 300):
        now = DeskView(desk).look(desk)
        marked = np.flatnonzero(now.offers[0, :, FIRST_FIT])
        plans = np.array([desk["plan"]])
        offer = tuple(int(number) for number in plan.earliest_fit(desk.array, 0, plans))
        if len(marked) and offer[1] + int(desk["day"]) < int(desk["handbook"]["days"]):
            flat = 1 + int(np.ravel_multi_index(offer, (4, 14, 6)))
            if flat in now.flat[0]:
                assert now.flat[0, marked].tolist() == [flat]
                met += 1
    assert met > 100


def test_the_policy_by_name_plays_what_the_batch_plays(tmp_path: Path) -> None:
    from tradesbench_gym.training.evaluation import make_batch, play_network

    path = saved_network(tmp_path, 1)
    assert path.stat().st_size < 5_000_000
    runs = [15_007, 15_008]
    found = play_network(load_network(path), make_batch(2), runs)
    simulation = Simulation(business=open_business())
    for run, profit in zip(runs, found["profit"], strict=True):
        simulation.restart(run)
        results = play(simulation, load_policy(f"ppo:weights={path}"))
        assert results.profit == profit
        assert results.failed == 0


def test_what_is_no_network_is_refused_in_one_sentence(tmp_path: Path) -> None:
    from tradesbench_gym.training.slot_policy import save_weights

    missing, rubbish = tmp_path / "none.npz", tmp_path / "rubbish.npz"
    rubbish.write_bytes(b"no zip at all")
    with pytest.raises(PolicyError, match="there is no network"):
        load_policy(f"ppo:weights={missing}")
    with pytest.raises(PolicyError, match="holds no network"):
        load_policy(f"ppo:weights={rubbish}")
    objects = tmp_path / "objects.npz"
    np.savez(objects, offer=np.array([{"a": 1}], object))
    with pytest.raises(PolicyError, match="holds no network"):
        load_policy(f"ppo:weights={objects}")  # a pickle inside is never read
    other = dict(load_network(saved_network(tmp_path, 2)).weights)
    other["offer"] = other["offer"][1:]
    save_weights(tmp_path / "older.npz", other)
    with pytest.raises(PolicyError, match="other features"):
        load_policy(f"ppo:weights={tmp_path / 'older.npz'}")


def test_a_company_of_another_size_is_refused(tmp_path: Path) -> None:
    path = saved_network(tmp_path, 3)
    weights = dict(load_network(path).weights)
    weights["company"] = weights["company"][:-4]
    simulation = Simulation(business=open_business(), seed=15_009)
    simulation.next_call()
    view = DeskView(simulation.desk)
    with pytest.raises(PolicyError, match="it plays the scenario it was trained on"):
        Network(weights).check(view.features)
