"""`python -m tradesbench_gym.training.evaluate`: a model against another policy, run by run."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from tradesbench_gym.policies.network import SHIPPED, load_network
from tradesbench_gym.training.evaluation import (
    Cents,
    Comparison,
    compare,
    make_batch,
    play_network,
    play_policy,
)
from tradesbench_gym.training.seeds import BENCH, SeedError, parse_runs, write_look
from tradesbench_gym.training.settings import BEST
from tradesbench_gym.training.telling import one_sentence

_ROOM = 128
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def weights_path(model: str) -> Path | None:
    """The weights a model's name stands for: a file, a training's folder, or `ppo`; None for
    another policy.
    """
    path = Path(model)
    if model == "ppo":
        return SHIPPED
    if path.is_dir():
        return path / BEST
    return path if path.suffix == ".npz" else None


def evaluate(model: str, against: str, runs: list[int], look: str = "") -> Comparison:
    """Play the runs with both policies; a look at held-out runs is written down first.

    Raises:
        SeedError: runs of the bench, or held-out ones without a reason.
        PolicyError: no such model.

    """
    if set(runs) & set(BENCH):
        raise SeedError(
            "runs 0 to 45 are the bench's: tradesbench bench plays them", code="bench_run"
        )
    path = weights_path(model)
    network = None if path is None else load_network(path)
    content = model.encode() if path is None else path.read_bytes()
    write_look(model, hashlib.sha256(content).hexdigest()[:16], runs, look)
    others, _ = _play(against, runs)
    if network is None:
        profits, bankrupt = _play(model, runs)
    else:
        found = play_network(network, make_batch(min(len(runs), _ROOM)), runs)
        profits, bankrupt = found["profit"], int((found["lowest_cash"] < 0).sum())
    return compare(profits, others, bankrupt)


def _play(policy: str, runs: list[int]) -> tuple[Cents, int]:
    console = Console(stderr=True)
    if not console.is_terminal:
        return play_policy(policy, runs)
    ticks = iter(track(range(len(runs)), description=policy, console=console))

    def done(count: int) -> None:
        for _ in range(count):
            next(ticks, None)

    found = play_policy(policy, runs, done)
    next(ticks, None)
    return found


@app.command()
def main(
    model: Annotated[str, typer.Argument(help="A .npz, a training's folder, or a policy's name.")],
    seeds: Annotated[str, typer.Option(help="Runs, as 200:300 (the end left out).")] = "200:300",
    against: Annotated[str, typer.Option(help="The policy to compare with.")] = "oracle",
    look: Annotated[str, typer.Option(help="Why runs of 100 to 199 are looked at.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Mean profit of a model against another policy on the same runs, with a 95 % interval.

    Runs 200 to 299 are for choosing between models. Runs 100 to 199 are the held-out test: each
    look at them is written down in docs/looks.md, with the reason given by --look.

    Example: python -m tradesbench_gym.training.evaluate runs/ppo --seeds 200:300
    """
    with one_sentence():
        result = evaluate(model, against, parse_runs(seeds), look)
    if as_json:
        typer.echo(json.dumps(asdict(result)))
    else:
        typer.echo(f"{model} against {against}: {result}")


if __name__ == "__main__":
    app()
