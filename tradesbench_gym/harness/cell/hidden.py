"""What of this installation an agent must not find: the package, its caches, its Python.

The rules, the scenario and the map tell how callers decide; a run's draws follow from them and a
seed. This module only names places; the room covers those that it would show.
"""

from __future__ import annotations

import contextlib
import sys
import sysconfig
from importlib import import_module
from pathlib import Path

from tradesbench_gym.cachedir import CacheUnavailableError, cache_root

_OUTSIDE = ("envs", "wrappers", "training")


def source_folders() -> tuple[Path, ...]:
    """The folders that hold the package's source, resolved."""
    package = import_module("tradesbench_gym")
    home = Path(str(package.__file__)).resolve().parent
    folders = [home]
    folders += [path for name in _OUTSIDE if (path := (home / name).resolve()).is_dir()]
    return tuple(dict.fromkeys(folders))


def hidden_folders() -> tuple[Path, ...]:
    """Every folder in which something of this installation lies, resolved, outermost first."""
    folders = {*source_folders()}
    for folder in source_folders():
        if (folder.parent / "pyproject.toml").exists():
            folders.add(folder.parent)
    for kind in ("purelib", "platlib"):
        folders.add(Path(sysconfig.get_path(kind)).resolve())
    if sys.prefix != sys.base_prefix:
        folders.add(Path(sys.prefix).resolve())
    with contextlib.suppress(CacheUnavailableError):
        folders.add(cache_root().resolve())
    return tuple(sorted(folder for folder in folders if folder.is_dir()))


def tell_tale_names() -> tuple[str, ...]:
    """Names that only files of this package have, as regular expressions for whole names."""
    return (
        r"tradesbench.*",
        r"sunridge\.toml",
        r".*\.tbmap",
    )
