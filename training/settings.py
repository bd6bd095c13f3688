"""The hyper-parameters: read from TOML, each with a type, none unknown."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.training.teacher import Rule

CHECKPOINT, BEST, LAST, CURVE = "checkpoint.zip", "best.npz", "last.npz", "curve.csv"
"""Files of a training's folder."""
SHIPPED = Path(__file__).parent / "settings.toml"
Table = TypeVar("Table")


class SettingsError(TradesBenchError):
    """A setting that is unknown or of another type."""


@dataclass(frozen=True)
class Environments:
    """How many runs at once, and the threads that step them."""

    count: int = 256
    threads: int = 1


@dataclass(frozen=True)
class NetworkSizes:
    """Units of the layers."""

    width: int = 96
    value_width: int = 128


@dataclass(frozen=True)
class Teacher(Rule):
    """Whom the warm start learns from: a rule, or a policy by name."""

    policy: str = ""
    spread: float = 0.0

    @property
    def rule(self) -> Rule:
        """The rule alone."""
        return Rule(**{name: getattr(self, name) for name in Rule.__annotations__})


@dataclass(frozen=True)
class Cloning:
    """How the warm start learns."""

    runs: int = 900
    epochs: int = 6
    batch_size: int = 512
    learning_rate: float = 1e-3


@dataclass(frozen=True)
class Ppo:
    """As MaskablePPO calls them."""

    learning_rate: float = 3e-4
    last_learning_rate: float = 5e-5
    n_steps: int = 256
    batch_size: int = 8192
    n_epochs: int = 2
    gamma: float = 1.0
    gae_lambda: float = 0.99
    clip_range: float = 0.2
    ent_coef: float = 0.002
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5


@dataclass(frozen=True)
class Schedule:
    """How long, and how often to look and to save."""

    steps: int = 786_432
    evaluate_every: int = 2
    checkpoint_every: int = 1
    evaluation_runs: int = 100


@dataclass(frozen=True)
class Settings:
    """All hyper-parameters."""

    environments: Environments = field(default_factory=Environments)
    network: NetworkSizes = field(default_factory=NetworkSizes)
    teacher: Teacher = field(default_factory=Teacher)
    cloning: Cloning = field(default_factory=Cloning)
    ppo: Ppo = field(default_factory=Ppo)
    training: Schedule = field(default_factory=Schedule)


_TABLES: dict[str, type[Any]] = {
    "environments": Environments,
    "network": NetworkSizes,
    "teacher": Teacher,
    "cloning": Cloning,
    "ppo": Ppo,
    "training": Schedule,
}


def load_settings(path: Path = SHIPPED) -> Settings:
    """The settings in a file; what it leaves out is as in the classes above.

    Raises:
        SettingsError: no such file, no TOML, or a table or setting that is unknown or of another
            type.

    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"cannot read the settings {path}: {error}", code="settings", field="settings"
        ) from error
    for name in content.keys() - _TABLES.keys():
        raise SettingsError(
            f"{path}: there is no table [{name}]; there are {', '.join(_TABLES)}",
            code="unknown_setting",
            field=name,
        )
    return Settings(**{name: _read(_TABLES[name], name, content[name]) for name in content})


def _read(kind: type[Table], name: str, table: Any) -> Table:
    known = {one.name: type(one.default) for one in fields(kind)}  # type: ignore[arg-type]
    values = {}
    for key, value in table.items():
        if key not in known:
            raise SettingsError(
                f"[{name}] has no setting {key!r}; it has {', '.join(known)}",
                code="unknown_setting",
                field=f"{name}.{key}",
            )
        wanted = known[key]
        given = float(value) if wanted is float and type(value) is int else value
        if type(given) is not wanted:
            raise SettingsError(
                f"[{name}] {key} is a {wanted.__name__}, not {value!r}",
                code="setting_type",
                field=f"{name}.{key}",
            )
        values[key] = given
    return kind(**values)
