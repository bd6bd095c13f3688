"""`python -m tradesbench_gym.training.train`: train a model, or go on where it stopped."""

from __future__ import annotations

import hashlib
import random
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.errors import INTERRUPTED, needs

try:
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.logger import configure
    from stable_baselines3.common.utils import LinearSchedule
except ModuleNotFoundError as missing:
    if __name__ != "__main__":
        raise
    typer.echo(f"Error: {needs('training.train', missing.name, 'train')}", err=True)
    raise SystemExit(2) from None

from tradesbench_gym.training import checkpoints, cloning
from tradesbench_gym.training.evaluation import make_batch
from tradesbench_gym.training.keeping import Keeper
from tradesbench_gym.training.sb3 import BatchVecEnv
from tradesbench_gym.training.seeds import training_runs
from tradesbench_gym.training.settings import (
    BEST,
    CHECKPOINT,
    CURVE,
    SHIPPED,
    Settings,
    SettingsError,
    load_settings,
)
from tradesbench_gym.training.slot_policy import SlotPolicy
from tradesbench_gym.training.telling import one_sentence

ALGORITHMS = ("maskable-ppo",)
_TENSORBOARD = "tensorboard"
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def make_model(settings: Settings, seed: int) -> MaskablePPO:
    """An untrained model on a batch of training runs."""
    ppo = settings.ppo
    batch = make_batch(settings.environments.count, threads=settings.environments.threads)
    return MaskablePPO(
        SlotPolicy,
        BatchVecEnv(batch),
        learning_rate=LinearSchedule(ppo.learning_rate, ppo.last_learning_rate, 1.0),
        n_steps=ppo.n_steps,
        batch_size=ppo.batch_size,
        n_epochs=ppo.n_epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.ent_coef,
        vf_coef=ppo.vf_coef,
        max_grad_norm=ppo.max_grad_norm,
        policy_kwargs={
            "width": settings.network.width,
            "value_width": settings.network.value_width,
        },
        seed=seed,
        device="cpu",
    )


def warm_start(model: MaskablePPO, settings: Settings, seed: int, console: Console) -> float:
    """Let the model learn from its teacher; share of his choices it meets then."""
    teacher, how = settings.teacher, settings.cloning
    if teacher.policy:
        simulation = Simulation(business=open_business())
        runs = training_runs(seed, how.runs)
        console.print(f"{teacher.policy} plays {how.runs} runs to learn from; nothing is saved yet")
        with console.status("") as status:

            def played(count: int) -> None:
                status.update(f"{teacher.policy} plays run {count} of {how.runs}")

            lessons = cloning.record_policy(simulation, teacher.policy, runs, played)
    else:
        batch = make_batch(how.runs, threads=settings.environments.threads)
        lessons = cloning.record_rule(batch, teacher.rule, teacher.spread, seed)
    console.print(f"{len(lessons.chosen):,} answers of the teacher in {how.runs} runs")

    def told(epoch: int, agreement: float) -> None:
        console.print(f"epoch {epoch}: {agreement:.1%} of them met")

    return cloning.clone(
        model.policy,
        lessons,
        epochs=how.epochs,
        batch_size=how.batch_size,
        learning_rate=how.learning_rate,
        seed=seed,
        told=told,
    )


def train(folder: Path, settings: Settings, seed: int, steps: int, console: Console) -> Path:
    """Train until so many steps; go on from the folder's checkpoint if there is one.

    Raises:
        CheckpointError: one that cannot be read, or of other settings.

    """
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    began = time.perf_counter()
    # How long it trains, and how often it looks and saves, may change on the way; nothing else.
    parts = settings.environments, settings.network, settings.teacher, settings.cloning
    own = hashlib.sha256(f"{(*parts, settings.ppo, seed)}".encode()).hexdigest()
    if (folder / CHECKPOINT).exists():
        model, diary = checkpoints.load(folder / CHECKPOINT)
        if diary.settings != own:
            raise checkpoints.CheckpointError(
                f"{folder} was trained with other settings or another --seed: give those, another "
                "--out, or --fresh",
                code="other_settings",
                field="settings",
            )
        console.print(f"going on from {model.num_timesteps:,} steps in {folder}")
    else:
        random.seed(seed)
        model, diary = make_model(settings, seed), checkpoints.Diary(settings=own)
        if settings.cloning.runs:
            diary.agreement = warm_start(model, settings, seed, console)
            diary.seconds = time.perf_counter() - began
    if model.num_timesteps >= steps:
        console.print(f"already trained for {model.num_timesteps:,} steps: give more --steps")
        return folder / BEST
    _learn(model, Keeper(folder, diary, settings.training, steps, console), steps)
    return folder / BEST


def _learn(model: MaskablePPO, keeper: Keeper, steps: int) -> None:
    fresh = keeper.diary.updates == 0  # a checkpoint's runs have begun
    model.set_logger(configure(str(keeper.folder / _TENSORBOARD), ["tensorboard"]))
    model.learn(steps - model.num_timesteps, callback=keeper, reset_num_timesteps=fresh)
    keeper.keep(model, last=True)
    model.logger.close()


def _settings(algorithm: str, path: Path) -> Settings:
    if algorithm not in ALGORITHMS:
        raise SettingsError(
            f"--algo is {' or '.join(ALGORITHMS)}, not {algorithm!r}", code="algo", field="algo"
        )
    return load_settings(path)


@app.command()
def main(
    out: Annotated[Path, typer.Option(help="Folder for checkpoints, curve, weights.")] = Path(
        "runs/ppo"
    ),
    algo: Annotated[str, typer.Option(help="maskable-ppo.")] = ALGORITHMS[0],
    settings: Annotated[Path, typer.Option(help="Hyper-parameters, a TOML file.")] = SHIPPED,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Environment steps; the settings' if not given.")
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, max=2**32 - 1, help="Of the training; its runs start at 10,000."),
    ] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what is in the folder.")] = False,
) -> None:
    """Train a model, or go on from the last checkpoint in the folder.

    Killed, the same command goes on from the last checkpoint.

    The first is written when the warm start is over.

    Example: python -m tradesbench_gym.training.train --algo maskable-ppo --out runs/ppo --seed 1
    """
    console = Console()
    try:
        with one_sentence():
            chosen = _settings(algo, settings)
            if fresh:
                for name in (CHECKPOINT, CURVE, BEST):
                    (out / name).unlink(missing_ok=True)
            best = train(out, chosen, seed, steps or chosen.training.steps, console)
    except KeyboardInterrupt:
        console.print("\nstopped: the same command goes on from the last checkpoint")
        raise typer.Exit(INTERRUPTED) from None
    console.print(f"best weights: {best}\nnext: python -m tradesbench_gym.training.evaluate {best}")


if __name__ == "__main__":
    app()
