"""What an attempt is, what it is aimed at, and the few things that many attempts do.

This module attempts nothing itself.
"""
# ruff: noqa: PTH208 - the plain calls, whose errors are what is asked for

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

_SHOWN = 60


class Held(Exception):  # noqa: N818 - it is good news
    """The wall held, and this is how."""


@dataclass(frozen=True)
class Attempt:
    """One thing to try. `make` returns what it got, or raises OSError or Held."""

    name: str
    what: str
    make: Callable[[], str]


@dataclass(frozen=True)
class Targets:
    """What the attempts go for, as the engine knows it."""

    env: dict[str, str]
    uid: int
    workspace: str
    home: str
    readable: list[str]
    doors: list[int]
    paths: list[str]
    sockets: list[str]
    pids: list[int]
    values: list[str]
    """Secrets, in hexadecimal."""
    token: str | None
    source: list[str]
    hidden: list[str]
    names: list[str]
    files: list[list[int]]
    """Device and number of every file that must not be there under any name."""
    copies: dict[str, list[str]]
    """Lengths of source files, and the digests of those of that length."""
    application: int
    """What a world file says at byte 68."""
    host_ports: list[int]
    shared: list[str]
    """Files that the engine has just laid where all users of the host can read them."""
    abstract: str
    listening: int
    key: str
    segment: int
    extra: dict[str, str] = field(default_factory=dict)


def needed(work: Callable[[], str]) -> str:
    """Something that must be possible: here an OSError is what should not have come."""
    try:
        said = work()
    except OSError as error:
        return f"it cannot: {error.strerror or error}"
    raise Held(said)


def read(path: str) -> str:
    """Read the beginning of a file or the names in a folder."""
    if Path(path).is_dir():
        return f"lists {len(os.listdir(path))} names"
    with open(path, "rb") as file:  # noqa: PTH123 - as plain as an agent would
        return f"reads {len(file.read(_SHOWN))} bytes"


def ran(*argv: str, seconds: float = 10.0, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program as an agent's bash would; FileNotFoundError if there is none."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return subprocess.run(  # noqa: S603 - the attempts name the programs
        argv,
        input=text,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
        env={"PATH": path, "LC_ALL": "C"},
    )


def refused(*argv: str, text: str = "") -> str:
    """Run a program that should fail; what it gave if it did not."""
    try:
        done = ran(*argv, text=text)
    except FileNotFoundError:
        raise Held(f"no {argv[0]} here") from None
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())
        raise Held(said or f"ended with status {done.returncode}")
    return f"{' '.join(argv)} succeeded: {done.stdout.strip()[:100]}"
