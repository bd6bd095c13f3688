"""Where a build keeps what it has finished, so that a stopped one goes on instead of starting over.

The folder stands beside the map to be and goes when the map is written. A key names everything the
stages follow from; a folder of another key is emptied. It knows arrays and words, not what they
mean.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.layout import Int32Array

KEY: Final = "key.json"
WORDS: Final = "words"


class Stages:
    """The finished stages of one build, in one folder."""

    def __init__(self, output: Path, key: Mapping[str, str]) -> None:
        self.folder = output.with_name(f".{output.name}.building")
        text = json.dumps(dict(key), sort_keys=True)
        try:
            if not self._is_of(text):
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder.mkdir()
                (self.folder / KEY).write_text(text, encoding="utf-8")
        except OSError as error:
            raise MapError(
                f"Cannot work in {self.folder.parent}: {error.strerror or error}.",
                code="map_unwritable",
            ) from error

    def _is_of(self, text: str) -> bool:
        try:
            return (self.folder / KEY).read_text(encoding="utf-8") == text
        except (OSError, UnicodeDecodeError):
            return False

    def remove(self) -> None:
        """Remove every trace of the build but its map."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def save(self, name: str, value: Any) -> None:
        """Keep a dataclass of arrays, words, numbers and dataclasses of such."""
        arrays: dict[str, Any] = {}
        words: dict[str, Any] = {}
        _flatten(value, "", arrays, words)
        text = np.frombuffer(json.dumps(words).encode(), dtype=np.uint8)
        path = self.folder / f"{name}.npz"
        temporary = path.with_suffix(".part")
        with temporary.open("wb") as stream:
            np.savez(stream, allow_pickle=False, **{WORDS: text}, **arrays)
        temporary.replace(path)

    def load(self, name: str, kind: type[Any]) -> Any | None:
        """What was kept under `name`, or None where it is missing or damaged."""
        try:
            with np.load(self.folder / f"{name}.npz", allow_pickle=False) as archive:
                arrays = {key: archive[key] for key in archive.files}
            words = json.loads(arrays.pop(WORDS).tobytes())
            return _restored(kind, "", arrays, words)
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile):
            return None

    def rows(self, width: int) -> Rows:
        """The rows of a matrix finished so far, and the way to add more."""
        return Rows(self.folder / "metres.rows", width)


class Rows:
    """A file that a matrix of int32 grows in, row by row; a torn last row is forgotten."""

    def __init__(self, path: Path, width: int) -> None:
        self._path, self._width = path, width
        size = path.stat().st_size if path.exists() else 0
        self.done = size // (4 * width)
        if size != self.done * 4 * width:
            os.truncate(path, self.done * 4 * width)

    def add(self, rows: Int32Array) -> None:
        """Append whole rows."""
        with self._path.open("ab") as stream:
            stream.write(np.ascontiguousarray(rows, dtype="<i4").tobytes())
        self.done += len(rows)

    def matrix(self) -> Int32Array:
        """All rows so far."""
        return np.fromfile(self._path, dtype="<i4").reshape(-1, self._width)


def _flatten(value: Any, prefix: str, arrays: dict[str, Any], words: dict[str, Any]) -> None:
    for field in fields(value):
        part, name = getattr(value, field.name), f"{prefix}{field.name}"
        if is_dataclass(part):
            _flatten(part, f"{name}.", arrays, words)
        elif isinstance(part, np.ndarray):
            arrays[name] = part
        else:
            words[name] = part


def _restored(kind: Any, prefix: str, arrays: dict[str, Any], words: dict[str, Any]) -> Any:
    from typing import get_type_hints

    values: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        key = f"{prefix}{name}"
        if is_dataclass(hint):
            values[name] = _restored(hint, f"{key}.", arrays, words)
        elif key in arrays:
            values[name] = arrays[key]
        else:
            part = words[key]
            values[name] = tuple(part) if isinstance(part, list) else part
    return kind(**values)
