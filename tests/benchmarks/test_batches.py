"""Steps a second of whole batches, ours beside batches people know, in one run.

A row's time is that of one step of the batch, resets included; `steps` says how many steps of
environments that is, and each row prints what it comes to a second. Actions are random, drawn
beforehand; "legal" ones are drawn from the masks while the clock stands.
"""

import importlib
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from statistics import median
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import tradesbench_gym  # noqa: F401  # registers the environment
from tradesbench_gym.envs import TradesVectorEnv

GROUP = "a step of a batch"
WIDTHS = (1, 64, 1024)
WARM = 150
TURN = 100
ROUND_SECONDS = 0.1
SCANNED = 32
"""Steps that jumanji makes in one compiled call."""

# What others warn of is not ours to judge.
pytestmark = [pytest.mark.benchmark(group=GROUP), pytest.mark.filterwarnings("default")]

OURS: dict[str, tuple[int, dict[str, Any]]] = {
    "1024, one thread": (1024, {"threads": 1}),
    "1024, one thread, copy=False": (1024, {"threads": 1, "copy": False}),
    "1024, two threads, copy=False": (1024, {"threads": 2, "copy": False}),
    "1024, one thread, planned": (1024, {"threads": 1, "observation": "planned"}),
    "1024, two threads, planned": (1024, {"threads": 2, "observation": "planned"}),
    "1024, one thread, SAME_STEP": (1024, {"threads": 1, "autoreset_mode": "SameStep"}),
    "64": (64, {}),
    "1": (1, {}),
}


@pytest.fixture
def told(
    benchmark: Any, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> Iterator[Callable[[int], None]]:
    """Says how many steps a call is; in the end prints what it comes to a second."""

    def tell(steps: int) -> None:
        benchmark.extra_info["steps"] = steps

    yield tell
    stats = getattr(benchmark.stats, "stats", None)
    if stats is not None:
        steps = benchmark.extra_info["steps"]
        best, usual = (round(steps / seconds) for seconds in (stats.min, stats.median))
        with capsys.disabled():
            print(f"\n{request.node.name}: {usual:,} steps/s, at best {best:,}")  # noqa: T201 - as asked


def needed(package: str) -> Any:
    """A package of the comparison; the row is left out without it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        pytest.skip(f"{package} is not installed")


def measure(benchmark: Any, batch: Any) -> None:
    """Time random steps after a run's length of them, when runs end at any time."""
    batch.action_space.seed(0)
    actions = cycle([batch.action_space.sample() for _ in range(32)])
    batch.reset(seed=10_000)
    begun = time.perf_counter()
    for _ in range(WARM):
        batch.step(next(actions))
    calls = int(WARM * ROUND_SECONDS / (time.perf_counter() - begun)) + 1
    benchmark.pedantic(lambda: batch.step(next(actions)), rounds=12, iterations=calls)
    batch.close()


@pytest.mark.parametrize("name", OURS)
def test_steps_of_tradesbench(benchmark: Any, told: Callable[[int], None], name: str) -> None:
    count, arguments = OURS[name]
    told(count)
    measure(benchmark, gym.make_vec("TradesBench-v0", num_envs=count, **arguments))


def test_steps_of_tradesbench_with_two_threads(benchmark: Any, told: Callable[[int], None]) -> None:
    """Two threads, and one in turn with them: a busy moment then slows down both."""
    told(TURN * 1024)
    one, two = (gym.make_vec("TradesBench-v0", num_envs=1024, threads=n) for n in (1, 2))
    two.action_space.seed(0)
    actions = [two.action_space.sample() for _ in range(TURN)]
    alone: list[float] = []

    def play(batch: Any) -> None:
        for chosen in actions:
            batch.step(chosen)

    def play_with_one() -> None:
        begun = time.perf_counter()
        play(one)
        alone.append(time.perf_counter() - begun)

    for batch in (one, two):
        batch.reset(seed=10_000)
        for _ in range(2):
            play(batch)
    benchmark.pedantic(play, args=(two,), setup=play_with_one, rounds=20)
    figures = min(alone), median(alone)
    benchmark.extra_info["beside"] = {"one thread in turn with them": figures}
    for batch in (one, two):
        batch.close()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("observation", ["desk", "planned"])
def test_legal_steps_of_tradesbench(
    benchmark: Any, told: Callable[[int], None], observation: str, threads: int
) -> None:
    batch = TradesVectorEnv(1024, observation=observation, threads=threads)
    random = np.random.default_rng(0)
    batch.reset(seed=10_000)
    told(1024)

    def draw() -> tuple[tuple[Any], dict[str, Any]]:
        masks = batch.action_masks()
        flat = (random.random(masks.shape, np.float32) * masks).argmax(1)
        slot = np.stack(np.unravel_index(np.maximum(flat - 1, 0), (4, 14, 6)), 1)
        return (np.column_stack((flat > 0, slot)),), {}

    benchmark.pedantic(batch.step, setup=draw, rounds=300, warmup_rounds=WARM)
    batch.close()


@pytest.mark.parametrize("count", [1, 64])
def test_steps_of_tradesbench_one_by_one(
    benchmark: Any, told: Callable[[int], None], count: int
) -> None:
    """Single environments in a loop, as Gymnasium makes a batch of them."""
    told(count)
    measure(benchmark, gym.make_vec("TradesBench-v0", count, vectorization_mode="sync"))


@pytest.mark.parametrize("count", WIDTHS)
def test_steps_of_cartpole(benchmark: Any, told: Callable[[int], None], count: int) -> None:
    """Gymnasium's native batch, four numbers an observation."""
    told(count)
    mode = "vector_entry_point"
    measure(benchmark, gym.make_vec("CartPole-v1", count, vectorization_mode=mode))


@pytest.mark.parametrize("count", [1, 64])
def test_steps_of_minigrid(benchmark: Any, told: Callable[[int], None], count: int) -> None:
    """It has no native batch: single environments in a loop."""
    needed("minigrid")
    told(count)
    measure(benchmark, gym.make_vec("MiniGrid-Empty-8x8-v0", count, vectorization_mode="sync"))


@pytest.mark.parametrize("count", WIDTHS)
def test_steps_of_jumanji_cvrp(benchmark: Any, told: Callable[[int], None], count: int) -> None:
    """Twenty customers; on the processor; many steps with random legal actions a compiled call."""
    jumanji, jax = needed("jumanji"), needed("jax")
    wrappers = importlib.import_module("jumanji.wrappers")
    env = wrappers.VmapAutoResetWrapper(jumanji.make("CVRP-v1"))

    def one(carried: Any, _: Any) -> Any:
        key, state, mask = carried
        key, own = jax.random.split(key)
        logits = jax.numpy.where(mask, 0.0, -1e9)
        state, shown = env.step(state, jax.random.categorical(own, logits))
        return (key, state, shown.observation.action_mask), shown.reward

    many = jax.jit(lambda carried: jax.lax.scan(one, carried, None, SCANNED))
    state, shown = env.reset(jax.random.split(jax.random.PRNGKey(0), count))
    held = [(jax.random.PRNGKey(1), state, shown.observation.action_mask)]
    told(count * SCANNED)

    def step() -> None:
        held[0], rewards = many(held[0])
        jax.block_until_ready(rewards)

    benchmark.pedantic(step, rounds=20, warmup_rounds=3)


@pytest.mark.parametrize("count", WIDTHS)
def test_steps_of_rl4co_cvrptw(benchmark: Any, told: Callable[[int], None], count: int) -> None:
    """Twenty customers; on the processor; random legal actions, a reset when all have ended."""
    envs, torch = needed("rl4co.envs"), needed("torch")
    torch.manual_seed(0)
    env = envs.CVRPTWEnv(generator_params={"num_loc": 20}, check_solution=False)
    held = [env.reset(batch_size=[count])]
    told(count)

    def step() -> None:
        now = held[0]
        mask = now["action_mask"].float()
        now.set("action", torch.multinomial(mask, 1).squeeze(-1))
        after = env.step(now)["next"]
        held[0] = env.reset(batch_size=[count]) if after["done"].all() else after

    benchmark.pedantic(step, rounds=10, iterations=30, warmup_rounds=1)
