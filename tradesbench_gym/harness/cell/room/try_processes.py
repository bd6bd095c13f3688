"""Attempts on processes: the engine's memory, files and signals, by number and through /proc."""
# ruff: noqa: PTH116, PTH208 - the plain calls, whose errors are what is asked for

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from . import kernel
from .attempt import Attempt, Held, Targets, ran

_OF_A_PROCESS = (
    "environ", "cmdline", "mem", "maps", "fd", "root", "cwd", "exe", "ns/net", "task", "auxv",
    "mountinfo", "stack", "io", "status",
)  # fmt: skip
_ATTACH, _SEIZE = 16, 0x4206
_LIST = "for f in /proc/[0-9]*; do echo ${f#/proc/} $(stat -c %u $f); done"


def processes(targets: Targets) -> Iterator[Attempt]:
    """Everything about processes that are not the agent's."""
    for pid in targets.pids:
        for name in _OF_A_PROCESS:
            made = partial(_look, pid, name, targets)
            yield Attempt("look into the engine's process", f"open /proc/{pid}/{name}", made)
        yield Attempt("signal the engine", f"kill -0 {pid}", partial(_signal, pid, targets))
        yield Attempt("trace the engine", f"ptrace attach to {pid}", partial(_trace, _ATTACH, pid))
        yield Attempt("trace the engine", f"ptrace seize {pid}", partial(_trace, _SEIZE, pid))
        yield Attempt("read the engine's memory", f"process_vm_readv {pid}", partial(_memory, pid))
        yield Attempt("take the engine's files", f"pidfd_getfd {pid}", partial(_take_file, pid))
    for name in ("environ", "mem", "root/", "cwd/", "fd"):
        yield Attempt("look into the first process", f"open /proc/1/{name}", partial(_first, name))
    yield Attempt(
        "see other people's processes", "list /proc by hand", partial(_strangers, targets)
    )
    yield Attempt(
        "see other people's processes", "stat all of /proc by sh", partial(_by_shell, targets)
    )
    yield Attempt("inherit open files", "list /proc/self/fd of a new program", _inherited)
    yield Attempt("use the engine's terminal", "open /dev/tty", _terminal)
    yield Attempt(
        "belong to the engine's session", "whose session this is", partial(_session, targets)
    )
    yield Attempt("leave a core for others", "the limit of core files", _core)


def _is_ours(pid: int, targets: Targets) -> bool:
    """Whether the number is, in this room, that of a process of the agent's own."""
    try:
        return os.stat(f"/proc/{pid}").st_uid == targets.uid
    except OSError:
        return False


def _look(pid: int, name: str, targets: Targets) -> str:
    path = f"/proc/{pid}/{name}"
    if _is_ours(pid, targets):
        raise Held("the number is one of the agent's own processes here")
    if Path(path).is_dir():
        return f"lists {os.listdir(path)[:3]}"
    with open(path, "rb") as file:  # noqa: PTH123 - as plain as an agent would
        return f"reads {len(file.read(64))} bytes"


def _signal(pid: int, targets: Targets) -> str:
    if _is_ours(pid, targets):
        raise Held("the number is one of the agent's own processes here")
    if pid == 1:
        raise Held("the number is that of the room's first process here")
    try:
        os.kill(pid, 0)
    except PermissionError:
        return "it takes none from us, and is there"
    os.kill(pid, signal.SIGCONT)
    return "it takes signals"


def _trace(request: int, pid: int) -> str:
    kernel.syscall("ptrace", request, pid, 0, 0)
    return "attached"


def _memory(pid: int) -> str:
    kernel.syscall("process_vm_readv", pid, None, 0, None, 0, 0)
    return "allowed"


def _take_file(pid: int) -> str:
    with os.fdopen(os.pidfd_open(pid)) as held:
        kernel.syscall("pidfd_getfd", held.fileno(), 3, 0)
    return "took one"


def _first(name: str) -> str:
    path = f"/proc/1/{name}"
    if Path(path).is_dir():
        return f"lists {os.listdir(path)[:3]}"
    with open(path, "rb") as file:  # noqa: PTH123 - as plain as an agent would
        return f"reads {len(file.read(64))} bytes"


def _strangers(targets: Targets) -> str:
    numbers = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    others = [one for one in numbers if not _is_ours(one, targets)]
    if not others:
        raise Held(f"all {len(numbers)} that are listed are the agent's own")
    return f"sees {others[:10]}"


def _by_shell(targets: Targets) -> str:
    lines = [line.split() for line in ran("sh", "-c", _LIST).stdout.splitlines()]
    others = [line for line in lines if len(line) == 2 and int(line[1]) != targets.uid]
    if not others:
        raise Held(f"all {len(lines)} that are listed are the agent's own")
    return f"sees {others[:10]}"


def _inherited() -> str:
    done = ran("sh", "-c", "ls /proc/self/fd")
    more = [int(one) for one in done.stdout.split() if int(one) > 3]  # 3 is the listing's own
    mine = [fd for fd in range(3, 256) if _is_open(fd)]
    own_pipe = 1
    if not more and len(mine) <= own_pipe:
        raise Held("none but standard input and output")
    return f"holds {more or mine}"


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _terminal() -> str:
    os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    return "opened"


def _session(targets: Targets) -> str:
    leader = os.getsid(0)
    if _is_ours(leader, targets):
        raise Held("the agent's own")
    return f"the session of process {leader}"


def _core() -> str:
    most = resource.getrlimit(resource.RLIMIT_CORE)
    if most == (0, 0):
        raise Held("0, and it cannot be raised")
    return f"cores of {most} bytes"
