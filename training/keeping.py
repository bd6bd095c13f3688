"""What happens between two updates of a training: look at the selection runs, save, tell."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from tradesbench_gym.policies.network import Network
from tradesbench_gym.training import checkpoints
from tradesbench_gym.training.evaluation import (
    Cents,
    compare,
    make_batch,
    play_network,
    play_policy,
)
from tradesbench_gym.training.seeds import SELECTION
from tradesbench_gym.training.settings import BEST, CHECKPOINT, CURVE, LAST, Schedule
from tradesbench_gym.training.slot_policy import save_weights, weights_of

_AGAINST = "oracle"


class Keeper(BaseCallback):  # type: ignore[misc]
    """Evaluates every few updates on selection runs against the oracle, keeps the best weights, and
    saves a checkpoint. Evaluating draws from no generator, so it changes nothing.

    Args:
        folder: that files go to.
        diary: of the training, continued here.
        schedule: how often.
        until: environment steps at which the training ends.
        console: to tell people.

    """

    def __init__(
        self,
        folder: Path,
        diary: checkpoints.Diary,
        schedule: Schedule,
        until: int,
        console: Console,
    ) -> None:
        super().__init__()
        self.folder, self.diary, self.schedule = folder, diary, schedule
        self._runs = list(SELECTION)[: schedule.evaluation_runs]
        self._batch = make_batch(len(self._runs))
        self._others: Cents | None = None
        self._console = console
        self._since = time.perf_counter()
        self._resumed = True
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]} steps/s"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[found]}"),
            console=console,
        )
        self._task = self._progress.add_task("training", total=until, speed="–", found="")

    def _on_training_start(self) -> None:
        self._resumed = self.diary.updates > 0
        self._begun = time.perf_counter(), self.num_timesteps
        if self._console.is_terminal:
            self._progress.start()

    def _on_training_end(self) -> None:
        self._progress.stop()

    def _on_step(self) -> bool:
        began, steps = self._begun
        speed = (self.num_timesteps - steps) / max(1e-9, time.perf_counter() - began)
        self._progress.update(self._task, completed=self.num_timesteps, speed=f"{speed:,.0f}")
        return True

    def _on_rollout_start(self) -> None:
        if self._resumed:  # this moment was looked at and saved before
            self._resumed = False
            return
        self.keep(self.model)
        self.diary.updates += 1

    def keep(self, model: MaskablePPO, *, last: bool = False) -> None:
        """Evaluate and save, if it is time for either."""
        now = time.perf_counter()
        self.diary.seconds += now - self._since
        self._since = now
        if last or self.diary.updates % self.schedule.evaluate_every == 0:
            self._evaluate(model)
        if last or self.diary.updates % self.schedule.checkpoint_every == 0:
            # The update that begins now is the next one.
            self.diary.updates += 1
            checkpoints.save(self.folder / CHECKPOINT, model, self.diary)
            self.diary.updates -= 1

    def _evaluate(self, model: MaskablePPO) -> None:
        if self._others is None:
            self._others, _ = play_policy(_AGAINST, self._runs)
        weights = weights_of(model.policy)
        found = play_network(Network(weights), self._batch, self._runs)
        bankrupt = int((found["lowest_cash"] < 0).sum())
        result = compare(found["profit"], self._others, bankrupt)
        row = {
            "seconds": round(self.diary.seconds, 1),
            "steps": model.num_timesteps,
            "profit": round(result.mean, 2),
            "difference": round(result.difference, 2),
            "low": round(result.low, 2),
            "high": round(result.high, 2),
            "completed": round(float(found["completed"].mean()), 2),
            "missed": round(float(found["missed"].mean()), 2),
            "installations": round(float(found["installations"].mean()), 2),
            "bankrupt": bankrupt,
        }
        best = max((one["difference"] for one in self.diary.rows), default=-np.inf)
        self.diary.rows.append(row)
        save_weights(self.folder / LAST, weights)
        if row["difference"] > best:
            save_weights(self.folder / BEST, weights)
        self._write_curve()
        for name in ("difference", "profit", "completed", "missed", "installations"):
            self.logger.record(f"selection/{name}", row[name])
        self._progress.update(self._task, found=f"{result.difference:+,.0f} on selection runs")
        line = f"{model.num_timesteps:>10,} steps: {result}"
        self._console.print(line, highlight=False, soft_wrap=True)

    def _write_curve(self) -> None:
        with (self.folder / CURVE).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.diary.rows[0].keys())
            writer.writeheader()
            writer.writerows(self.diary.rows)
