"""Attempts to be somebody else: other users, groups, capabilities, set-uid programs, more room."""
# ruff: noqa: PTH208 - the plain calls, whose errors are what is asked for

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from .attempt import Attempt, Held, Targets, ran, refused

_COMPARED = (
    "Uid",
    "Gid",
    "Groups",
    "CapInh",
    "CapPrm",
    "CapEff",
    "CapBnd",
    "CapAmb",
    "NoNewPrivs",
    "Seccomp",
)
_NONE = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
_PROGRAMS = (
    ("su", "-c", "id -u"),
    ("sudo", "-n", "id", "-u"),
    ("doas", "-n", "id", "-u"),
    ("pkexec", "id", "-u"),
    ("runuser", "-u", "root", "id"),
    ("newgrp", "root"),
    ("mount", "-t", "tmpfs", "none", "/home"),
    ("umount", "/proc"),
    ("unshare", "--user", "--map-root-user", "id", "-u"),
    ("unshare", "--net", "true"),
    ("nsenter", "--target", "1", "--all", "id", "-u"),
    ("setpriv", "--reuid=0", "id", "-u"),
    ("chroot", "/", "id", "-u"),
    ("bwrap", "--ro-bind", "/", "/", "true"),
    ("fusermount", "-u", "/home"),
    ("systemd-run", "--wait", "true"),
    ("docker", "ps"),
    ("dmesg",),
    ("reboot", "--wtmp-only"),
)


def privileges(targets: Targets) -> Iterator[Attempt]:
    """Everything about whom the agent could become."""
    yield Attempt("be who it should", "the user of a new program", partial(_who, targets))
    yield Attempt("be what was tried", "credentials of the attempts and of a new program", _same)
    yield Attempt("have groups", "the supplementary groups of a new program", _groups)
    yield Attempt("have capabilities", "five sets of a new program", _capabilities)
    yield Attempt("gain privileges", "whether a new program may", _may_gain)
    yield Attempt("make any kernel call", "whether a filter is in force", _filtered)
    yield Attempt("learn of the host", "its name", partial(_host_name, targets))
    for name, made in (
        ("setuid 0", partial(_as_root, os.setuid)),
        ("setgid 0", partial(_as_root, os.setgid)),
        ("setgroups 0", _groups_of_root),
        ("setresuid of another agent", partial(_other_agent, targets)),
    ):
        yield Attempt("become somebody else", name, made)
    yield Attempt("become somebody else", "set-uid programs and no nosuid on their mount", _set_uid)
    for program in _PROGRAMS:
        yield Attempt("become somebody else", " ".join(program), partial(refused, *program))
    for name, made in (
        ("more processes", partial(_raise, resource.RLIMIT_NPROC)),
        ("larger files", partial(_raise, resource.RLIMIT_FSIZE)),
        ("more memory", partial(_raise, resource.RLIMIT_DATA)),
        ("more open files", partial(_raise, resource.RLIMIT_NOFILE)),
        ("core files", partial(_raise, resource.RLIMIT_CORE)),
        ("a higher priority", _nicer),
        ("the scheduler's real time", _real_time),
    ):
        yield Attempt("take more than its share", name, made)


def _status() -> dict[str, str]:
    said = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    return dict(line.split(":\t", 1) for line in said.splitlines() if ":\t" in line)


def _of_new_program() -> dict[str, str]:
    said = ran("cat", "/proc/self/status").stdout
    return dict(line.split(":\t", 1) for line in said.splitlines() if ":\t" in line)


def _same() -> str:
    mine, its = _status(), _of_new_program()
    different = [name for name in _COMPARED if mine[name].strip() != its[name].strip()]
    if not different:
        raise Held("all the same")
    return f"different: {different}"


def _who(targets: Targets) -> str:
    said = _of_new_program()
    numbers = {*said["Uid"].split(), *said["Gid"].split()}
    if numbers == {str(targets.uid)}:
        raise Held(f"user and group {targets.uid}")
    return f"users and groups {sorted(numbers)}"


def _groups() -> str:
    groups = _of_new_program()["Groups"].split()
    if not groups:
        raise Held("none")
    return f"has groups {groups}"


def _capabilities() -> str:
    said = _of_new_program()
    held = {name: said[name] for name in _NONE if int(said[name], 16)}
    if not held:
        raise Held("all empty")
    return f"has {held}"


def _may_gain() -> str:
    if _of_new_program()["NoNewPrivs"].strip() == "1":
        raise Held("never again")
    return "it may"


def _filtered() -> str:
    if _of_new_program()["Seccomp"].strip() == "2":
        raise Held("a filter is")
    return "no filter is in force"


def _as_root(call: Callable[[int], object]) -> str:
    call(0)
    return "done"


def _groups_of_root() -> str:
    os.setgroups([0])
    return "done"


def _other_agent(targets: Targets) -> str:
    other = targets.uid + 1
    os.setresuid(other, other, other)
    return "done"


def _set_uid() -> str:
    found = []
    for folder in ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/lib"):
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            path = Path(folder, name)
            try:
                bits = path.stat().st_mode & 0o6000
            except OSError:
                continue
            if bits and not os.statvfs(path).f_flag & os.ST_NOSUID:
                found.append(str(path))
    if not found:
        raise Held("none that the mount does not disarm")
    return f"found {found[:5]}"


def _raise(which: int) -> str:
    _, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY:
        return "there is no limit"
    try:
        resource.setrlimit(which, (hard + 1, hard + 1))
    except ValueError as error:
        raise Held(str(error)) from None
    return f"raised {hard}"


def _real_time() -> str:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return "done"


def _host_name(targets: Targets) -> str:
    name = os.uname().nodename
    if name == targets.extra["host"]:
        return f"it is called {name}"
    raise Held(f"calls itself {name}")


def _nicer() -> str:
    return f"nice {os.nice(-5)}"
