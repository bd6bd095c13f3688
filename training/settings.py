"""The hyper-parameters: read from TOML, each with a type, none unknown. Their values stand in
`settings.toml` alone.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.training.teacher import Rule

CHECKPOINT, BEST, LAST, CURVE = "checkpoint.zip", "best.npz", "last.npz", "curve.csv"
"""Files of a training's folder."""
SHIPPED = Path(__file__).parent / "settings.toml"


class SettingsError(TradesBenchError):
    """A setting that is unknown or of another type."""


@dataclass(frozen=True)
class Environments:
    """How many runs at once, and the threads that step them."""

    count: int
    threads: int


@dataclass(frozen=True)
class NetworkSizes:
    """Units of the layers."""

    width: int
    value_width: int


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

    runs: int
    epochs: int
    batch_size: int
    learning_rate: float


@dataclass(frozen=True)
class Ppo:
    """As MaskablePPO calls them."""

    learning_rate: float
    last_learning_rate: float
    n_steps: int
    batch_size: int
    n_epochs: int
    gamma: float
    gae_lambda: float
    clip_range: float
    ent_coef: float
    vf_coef: float
    max_grad_norm: float


@dataclass(frozen=True)
class Schedule:
    """How long, and how often to look and to save."""

    steps: int
    evaluate_every: int
    checkpoint_every: int
    evaluation_runs: int


@dataclass(frozen=True)
class Settings:
    """All hyper-parameters."""

    environments: Environments
    network: NetworkSizes
    teacher: Teacher
    cloning: Cloning
    ppo: Ppo
    training: Schedule


_TABLES: dict[str, type[Any]] = {
    "environments": Environments,
    "network": NetworkSizes,
    "teacher": Teacher,
    "cloning": Cloning,
    "ppo": Ppo,
    "training": Schedule,
}
_KINDS = {int: "a whole number", float: "a number", str: "a text"}


def load_settings(path: Path = SHIPPED) -> Settings:
    """The settings in a file; what it leaves out is as in the one that ships.

    Raises:
        SettingsError: no such file, no TOML, or a table or setting that is unknown or of another
            type.

    """
    given, shipped = _content(path), _content(SHIPPED)
    for name in given.keys() - _TABLES.keys():
        raise SettingsError(
            f"{path}: there is no table [{name}]; there are {', '.join(_TABLES)}",
            code="unknown_setting",
            field=name,
        )
    return Settings(
        **{
            name: kind(**_read(kind, name, shipped[name]) | _read(kind, name, given.get(name, {})))
            for name, kind in _TABLES.items()
        }
    )


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        why = str(error)
    raise SettingsError(
        f"cannot read the settings {path}: {why}", code="settings", field="settings"
    )


def _read(kind: type[Any], name: str, table: Any) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise SettingsError(
            f"[{name}] is a table of settings, not {table!r}", code="setting_type", field=name
        )
    known, values = get_type_hints(kind), {}
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
                f"[{name}] {key} is {_KINDS[wanted]}, not {value!r}",
                code="setting_type",
                field=f"{name}.{key}",
            )
        values[key] = given
    return values
