"""What a cell is made of, as the engine tells the programs at its wall: plain records in JSON.

A specification travels in a file that has no name, never on a command line, where every user of
the machine could read an agent's token. This module checks nothing; the engine has.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class Walls:
    """Each wall of a cell. All stand, always; a test leaves one out to see that it is missed."""

    network: bool = True
    pids: bool = True
    ipc: bool = True
    names: bool = True
    files: bool = True
    """Only the allowed folders are there, under a root of its own."""
    private_tmp: bool = True
    private_proc: bool = True
    covers: bool = True
    """What lies hidden inside an allowed folder is covered."""
    calls: bool = True
    """The filter of kernel calls."""
    user: bool = True
    groups: bool = True
    capabilities: bool = True
    no_new_privileges: bool = True
    keys: bool = True
    limits: bool = True
    descriptors: bool = True
    session: bool = True


@dataclass(frozen=True)
class Limits:
    """What one agent may use up: processes in all; bytes for a file, of memory for a process, in
    /tmp; open files for a process.
    """

    processes: int = 512
    file_bytes: int = 1 << 30
    memory_bytes: int = 4 << 30
    temporary_bytes: int = 1 << 29
    open_files: int = 4096


@dataclass(frozen=True)
class Room:
    """One cell: whose, where, what is in it, and where its doors lead on the host's 127.0.0.1."""

    uid: int
    workspace: str
    home: str
    readable: tuple[str, ...]
    covered: tuple[str, ...]
    doors: tuple[int, ...]
    walls: Walls = field(default_factory=Walls)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Entry:
    """What is to run in a cell: a program, or (`probes`) attempts to break out, told as JSON."""

    room: Room
    argv: tuple[str, ...]
    env: dict[str, str]
    probes: dict[str, Any] | None = None


def to_memory(told: Room | Entry) -> int:
    """A descriptor from which the specification can be read once; the caller closes it."""
    fd = os.memfd_create("cell")
    with os.fdopen(os.dup(fd), "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(asdict(told), file)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def room_from(said: dict[str, Any]) -> Room:
    """The room that was written."""
    plain = {one.name: said[one.name] for one in fields(Room)}
    plain["walls"] = Walls(**plain["walls"])
    plain["limits"] = Limits(**plain["limits"])
    for name in ("readable", "covered", "doors"):
        plain[name] = tuple(plain[name])
    return Room(**plain)


def read(fd: int) -> dict[str, Any]:
    """What a descriptor holds; it is closed."""
    with os.fdopen(fd, encoding="utf-8", errors="surrogateescape") as file:
        said: dict[str, Any] = json.load(file)
    return said


def entry_from(said: dict[str, Any]) -> Entry:
    """The entry that was written."""
    return Entry(room_from(said["room"]), tuple(said["argv"]), said["env"], said["probes"])
