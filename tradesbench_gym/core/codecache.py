"""Compiled code of the rules, kept between starts. One folder holds the code of one state of the
sources: its name is a digest of every file of this package, of the Python, Numba, llvmlite and
NumPy versions, of the processor's features and of Numba's settings, so nothing stale can be found
in it. One file holds one function for one signature. Numba's own cache is not used: it checks only
the function's own file, and two processes that start cold share one index file without a lock.
This module knows nothing of the rules."""

import contextlib
import hashlib
import os
import pickle
import platform
import re
import shutil
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from tradesbench_gym.cachedir import (
    CacheUnavailableError,
    private_folder,
    read_private,
    write_private,
)

try:
    import fcntl
except ImportError:  # Windows: the workers of a cold start then all compile, each for itself.
    fcntl = None  # type: ignore[assignment]  # the module's absence is what the None says

QUIET = "TRADESBENCH_QUIET"
COMPILING_SECONDS = 25
_SOURCES = Path(__file__).resolve().parent
_LAYER = "compiled"
_FOLDER_NAME = re.compile(r"[0-9a-f]{32}")
_DIGEST_BYTES = 32
_FOLDERS_KEPT = 3
_RECENT_SECONDS = 24 * 3600
_LONGEST_WAIT_SECONDS = 600.0
_POLL_SECONDS = 0.05
# Settings of Numba that say how code is run, kept or reported, never what code is made.
_NOT_IN_THE_CODE = re.compile(
    r"(NUMBA_)?(DEFAULT_)?(NUM_THREADS|THREADING_LAYER.*|CACHE_.*|WARNINGS|DEBUG_CACHE)"
)


def _sources_digest() -> bytes:
    digest = hashlib.sha256()
    for path in sorted(_SOURCES.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_SOURCES).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.digest()


def _machine() -> tuple[str, ...]:
    return (
        sys.version,
        platform.machine(),
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        llvmlite.binding.get_host_cpu_name(),
        llvmlite.binding.get_host_cpu_features().flatten(),
    )


# Taken when the rules are imported: what is compiled later comes from these sources, whatever
# happens to the files in the meantime.
_IMPORTED_SOURCES = _sources_digest()
_MACHINE = _machine()


def _settings() -> list[str]:
    # The values in force rather than the environment: a .numba_config.yaml or an assignment to
    # numba.config changes the code as well.
    return [
        f"{name}={value!r}"
        for name, value in sorted(vars(numba.config).items())
        # What begins with an underscore tells what else is installed.
        if name.isupper()
        and not name.startswith("_")
        and not _NOT_IN_THE_CODE.fullmatch(name)
        and isinstance(value, (str, int, float, type(None)))
    ]


def folder_name() -> str:
    """The name of the folder for the imported sources on this machine, in Numba's settings now."""
    digest = hashlib.sha256(_IMPORTED_SOURCES)
    digest.update("\0".join((*_MACHINE, *_settings())).encode())
    return digest.hexdigest()[:32]


def covers(function: Callable[..., Any]) -> bool:
    """Whether a function stands in the sources that the digest reads; others are never kept."""
    return Path(function.__code__.co_filename).resolve().is_relative_to(_SOURCES)


@contextlib.contextmanager
def names_of_its_own() -> Iterator[None]:
    """Let what is compiled inside have symbols that no other process gives to anything.

    Numba tells functions apart by a number that each process counts from 1, and names a record
    type by another such number. Two processes so give one name to the same function for two record
    types; a third that loads both would run the one for the other, without a word. The caller
    holds Numba's compiler lock.
    """
    counted = FunctionIdentity._unique_ids
    FunctionIdentity._unique_ids = iter(lambda: uuid.uuid4().int, None)
    try:
        yield
    finally:
        FunctionIdentity._unique_ids = counted


def is_cold() -> bool:
    """Whether no compiled code is kept for these sources, or no folder can be used at all."""
    folder = _folder()
    try:
        return folder is None or not any(folder.glob("*.code"))
    except OSError:
        return True


class CodeCache:
    """The compiled forms of one function, as a Numba dispatcher asks for them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        place = Path(code.co_filename).resolve().relative_to(_SOURCES).as_posix()
        self._name = function.__qualname__
        self._identity = f"{place}:{code.co_firstlineno}:{function.__qualname__}"
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """The folder in use, None if nothing is kept."""
        folder = _folder() if self._enabled else None
        return None if folder is None else str(folder)

    def enable(self) -> None:
        """Read and write kept code (the initial state)."""
        self._enabled = True

    def disable(self) -> None:
        """Neither read nor write kept code."""
        self._enabled = False

    def flush(self) -> None:
        """Called by a dispatcher that is to compile afresh: stop using what is kept."""
        self.disable()

    @contextlib.contextmanager
    def turn(self, sig: Any) -> Iterator[None]:
        """Wait while another process compiles, unless this function is there by then.

        The kept code stays right without it: it only saves the workers of a cold start from all
        compiling the same.
        """
        entry = self._entry(sig)
        if entry is None or entry.exists():
            yield
        else:
            with _only_this_process(entry):
                yield

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kept `CompileResult` for a signature, or None, and then a person is told."""
        target_context.refresh()
        result = self._load(sig, target_context)
        if result is None:
            say_compiling()
        return result

    def _load(self, sig: Any, target_context: Any) -> Any:
        entry = self._entry(sig)
        if entry is None:
            return None
        try:
            content = read_private(entry)
        except CacheUnavailableError as error:
            _say(f"not reading compiled code: {error}")
            return None
        payload = None if content is None else _unwrap(content, self._key(sig))
        if payload is None:
            return None
        # Sound bytes, written by this user from these sources with these versions.
        result = CompileResult._rebuild(target_context, *pickle.loads(payload))  # noqa: S301
        return result if result.signature.args == normalize_signature(sig)[0] else None

    def save_overload(self, sig: Any, result: Any) -> None:
        """Keep a `CompileResult`; a folder that takes nothing more is no error."""
        entry = self._entry(sig)
        if entry is None:
            return
        if result.lifted or result.library.has_dynamic_globals:
            message = f"{self._name} compiles at every start: it holds a pointer or a large array"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
            return
        if _sources_digest() != _IMPORTED_SOURCES:
            # Somebody edits the rules while they run; which text was compiled is uncertain.
            return
        try:
            write_private(entry, _wrap(dumps(result._reduce()), self._key(sig)))
        except OSError as error:
            _say(f"compiled code is not kept: {error.strerror or error}")

    def _key(self, sig: Any) -> bytes:
        args, _ = normalize_signature(sig)
        return hashlib.sha256(f"{self._identity}\0{args!r}".encode()).digest()

    def _entry(self, sig: Any) -> Path | None:
        folder = _folder() if self._enabled else None
        if folder is None:
            return None
        readable = re.sub(r"\W", "_", self._name)[:60]
        return folder / f"{readable}-{self._key(sig).hex()[:24]}.code"


def _wrap(payload: bytes, key: bytes) -> bytes:
    return key + hashlib.sha256(payload).digest() + payload


def _unwrap(content: bytes, key: bytes) -> bytes | None:
    """The payload, unless the file is another function's or torn by a crash."""
    payload = content[2 * _DIGEST_BYTES :]
    return payload if content == _wrap(payload, key) else None


_folders: dict[str, Path | None] = {}


def _folder() -> Path | None:
    """The folder for compiled code, found and checked once a process; None if there is none."""
    name = folder_name()
    if name not in _folders:
        _folders[name] = _prepare(name)
    return _folders[name]


def _prepare(name: str) -> Path | None:
    try:
        folder = private_folder(_LAYER, name)
    except CacheUnavailableError as error:
        _say(f"compiled code is not kept: {error}")
        return None
    with contextlib.suppress(OSError):  # A folder that can be read only is still good to read.
        os.utime(folder)
        _prune(folder)
    return folder


def _prune(current: Path) -> None:
    """Remove folders of older sources, never one in use during the last day."""
    siblings = [path for path in current.parent.iterdir() if _FOLDER_NAME.fullmatch(path.name)]
    siblings.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in siblings[_FOLDERS_KEPT:]:
        if time.time() - path.stat().st_mtime > _RECENT_SECONDS:
            shutil.rmtree(path, ignore_errors=True)


_holding = False


@contextlib.contextmanager
def _only_this_process(entry: Path) -> Iterator[None]:
    global _holding  # noqa: PLW0603  # guarded by Numba's compiler lock, which the caller holds
    if _holding or fcntl is None:
        yield
        return
    try:
        lock = (entry.parent / "lock").open("ab")
    except OSError:
        yield
        return
    with lock:
        _wait_for(lock.fileno(), entry)
        _holding = True
        try:
            yield
        finally:
            _holding = False


def _wait_for(lock: int, entry: Path) -> None:
    """Take the lock, or come back without it when the entry is there or patience ends.

    The lock goes with the process, so a worker that was killed keeps nobody waiting.
    """
    deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
    while not entry.exists() and time.monotonic() < deadline:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_POLL_SECONDS)
        except OSError:  # A file system without locks.
            return
        else:
            return


_said: set[str] = set()


def say_compiling() -> None:
    """The line for a person who waits while the rules compile; once a process."""
    often = "once for each kind of work" if _folder() is not None else "at every start"
    _say(f"compiling the rules for this machine ({often}, up to {COMPILING_SECONDS} s) …")


def _say(line: str) -> None:
    if line not in _said and not os.environ.get(QUIET):
        _said.add(line)
        sys.stderr.write(f"tradesbench: {line}\n")
        sys.stderr.flush()
