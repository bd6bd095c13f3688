"""Checkpoints of a training: everything the next step depends on, in one file.

Model with optimizer, the batch with every run in the middle of its fortnight, and the generators of
Python, NumPy and torch: a training killed and started again goes on from its last checkpoint to the
bit. The file is replaced whole, so there is always one that can be read. It holds pickles: read
only checkpoints of your own.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.training.sb3 import BatchVecEnv

_MODEL, _BATCH, _RANDOM, _DIARY = "model.zip", "batch.pickle", "random.pickle", "diary.json"


class CheckpointError(TradesBenchError):
    """A checkpoint that cannot be read."""


@dataclass
class Diary:
    """What a training tells of itself.

    Attributes:
        settings: digest of the settings it goes by.
        updates: rollouts played and learnt from.
        seconds: it took, the warm start included.
        agreement: share of the teacher's choices met after the warm start.
        rows: evaluations, as in `curve.csv`.

    """

    settings: str = ""
    updates: int = 0
    seconds: float = 0.0
    agreement: float = 0.0
    rows: list[dict[str, float]] = field(default_factory=list)


def save(path: Path, model: MaskablePPO, diary: Diary) -> None:
    """Write a checkpoint in place of the last one. For the moment between learning and playing."""
    model_bytes = io.BytesIO()
    model.save(model_bytes)
    generators = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002 - SB3 draws from it
    part = path.with_suffix(".part")
    with part.open("wb") as raw:
        with zipfile.ZipFile(raw, "w") as file:
            file.writestr(_MODEL, model_bytes.getvalue())
            file.writestr(_BATCH, pickle.dumps(model.get_env()))
            file.writestr(_RANDOM, pickle.dumps(generators))
            file.writestr(_DIARY, json.dumps(vars(diary)))
        raw.flush()
        os.fsync(raw.fileno())
    part.replace(path)


def load(path: Path) -> tuple[MaskablePPO, Diary]:
    """The training at its last checkpoint, generators set.

    Raises:
        CheckpointError: a file that is no checkpoint, or one of another release.

    """
    try:
        with zipfile.ZipFile(path) as file:
            diary = Diary(**json.loads(file.read(_DIARY)))
            env: BatchVecEnv = pickle.loads(file.read(_BATCH))  # noqa: S301 - one of our own
            generators: Any = pickle.loads(file.read(_RANDOM))  # noqa: S301 - one of our own
            model = MaskablePPO.load(
                io.BytesIO(file.read(_MODEL)), env=env, device="cpu", force_reset=False
            )
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise CheckpointError(
            f"cannot go on from {path}: {error}; give another --out, or --fresh to begin anew",
            code="checkpoint",
            field="out",
        ) from error
    # Loading seeds the environments for a reset that does not come.
    env.forget_seeds()
    random.setstate(generators[0])
    np.random.set_state(generators[1])  # noqa: NPY002 - SB3 draws from it
    torch.set_rng_state(generators[2])
    return model, diary
