"""`python -m tradesbench_gym.training.enjoy`: watch a model answer the phone."""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np
import typer

from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.training.evaluate import weights_path
from tradesbench_gym.training.telling import one_sentence

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_REJECT = np.zeros(4, np.int64)


def enjoy(model: str, run: int, *, pause: float, board: bool, days: int | None = None) -> float:
    """Play a run with a model, on the board if wanted; its profit in dollars."""
    path = weights_path(model)
    decide = load_policy(model if path is None else f"ppo:weights={path}", seed=run)
    env = TradesEnv(render_mode="human" if board else None, days=days)
    _, info = env.reset(seed=run)
    ended = False
    while not ended:
        decision = decide(env.desk)
        action = _REJECT if decision is None else np.array([1, *decision], np.int64)
        _, _, ended, _, info = env.step(action)
        time.sleep(pause)
    env.close()
    return float(info["results"]["profit"]) / 100.0


@app.command()
def main(
    model: Annotated[
        str, typer.Argument(help="A .npz, a training's folder, or a policy's name.")
    ] = "ppo",
    seed: Annotated[int, typer.Option(help="Number of the run.")] = 10_000,
    pause: Annotated[float, typer.Option(help="Seconds between two calls.")] = 0.1,
    no_board: Annotated[bool, typer.Option("--no-board", help="Only the profit.")] = False,
    days: Annotated[int | None, typer.Option(help="Length of the run.")] = None,
) -> None:
    """Play one run live with a model and say what it earned.

    Example: python -m tradesbench_gym.training.enjoy runs/ppo --seed 10007
    """
    with one_sentence():
        profit = enjoy(model, seed, pause=pause, board=not no_board, days=days)
    typer.echo(f"run {seed}: {profit:,.2f} dollars")


if __name__ == "__main__":
    app()
