"""The way into a room: a process that enters it, gives up everything, and becomes the agent's.

The child it forks loses, in this order, the terminal, keys, the bounding set, groups and user,
capabilities and the right to gain any, then goes under the limits and the filter, closes whatever
it inherited, and runs the program with the environment it was told and no other. The process
itself stays outside: it passes signals on, and ends as the program ended. If it is killed, so is
the program.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from typing import Any, NoReturn

from . import kernel, seccomp
from .spec import Entry, Room, entry_from, read

_PASSED_ON = (
    signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
    signal.SIGCONT,
)  # fmt: skip
_NOT_STARTED = 127


def main() -> None:
    """Run what the descriptors on the command line tell of: entry, where to say what failed, and
    the pidfd of the room's first process; -1 is to stay among the host's files.
    """
    told, problems, first = (int(one) for one in sys.argv[1:4])
    entry = entry_from(read(told))
    attempts = _attempts(entry)
    outside = os.getppid()
    if first >= 0:
        try:
            kernel.setns(first, kernel.ALL_BUT_USERS)
        except OSError as error:
            _say(problems, error)
            raise SystemExit(_NOT_STARTED) from None
        if entry.room.walls.descriptors:
            os.close(first)
    # Signals that come before the child is there wait for it.
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    me = os.getpid()
    child = os.fork()
    if child == 0:
        _become(entry, attempts, problems, {me, 0}, entry.room.workspace if first >= 0 else "/")
    os.close(problems)
    if os.getppid() != outside:  # the engine has died meanwhile
        os.kill(child, signal.SIGKILL)
    _stand_by(child)


def _attempts(entry: Entry) -> Any:
    if entry.probes is None:
        return None
    from . import probing  # read now: inside there is no such file

    return probing


def _stand_by(child: int) -> NoReturn:
    kernel.prctl(kernel.DUMPABLE, 0)
    nowhere = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    os.closerange(3, 1 << 16)

    def pass_on(number: int, _frame: object) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(child, number)

    for number in _PASSED_ON:
        signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        ended_by = os.WTERMSIG(status)
        with contextlib.suppress(OSError):
            signal.signal(ended_by, signal.SIG_DFL)
        os.kill(os.getpid(), ended_by)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _become(entry: Entry, attempts: Any, problems: int, parents: set[int], folder: str) -> NoReturn:
    status = _NOT_STARTED
    try:
        _settle(entry.room, problems, parents)
        if attempts is not None:
            # With a wall missing, the way there may be closed: that is for the attempts to say.
            with contextlib.suppress(OSError):
                os.chdir(folder)
            os.close(problems)
            status = attempts.run(entry.probes, entry.env)
        else:
            os.chdir(folder)
            os.execvpe(entry.argv[0], entry.argv, entry.env)  # noqa: S606 - the agent's program
    except Exception as error:  # noqa: BLE001 - told, whatever it is: the engine makes it a sentence
        with contextlib.suppress(OSError):
            _say(problems, error)
    finally:
        os._exit(status)


def _settle(room: Room, problems: int, parents: set[int]) -> None:
    walls = room.walls
    _forget_the_caller()
    if walls.session:
        os.setsid()
    if walls.keys:
        kernel.forget_keys()
    if walls.limits:
        _limit(room)
    if walls.capabilities:
        kernel.drop_bounding_set()
    if walls.groups:
        os.setgroups([])
    if walls.user:
        os.setresgid(room.uid, room.uid, room.uid)
        os.setresuid(room.uid, room.uid, room.uid)
    if walls.capabilities:
        kernel.drop_capabilities()
    # Only now: a change of user takes it back.
    kernel.prctl(kernel.PDEATHSIG, signal.SIGKILL)
    if os.getppid() not in parents:
        os._exit(_NOT_STARTED)
    os.umask(0o077)
    if walls.descriptors:
        os.closerange(3, problems)
        os.closerange(problems + 1, 1 << 20)
    os.set_inheritable(problems, False)
    if walls.no_new_privileges:
        kernel.prctl(kernel.NO_NEW_PRIVS, 1)
        if walls.calls:
            seccomp.install()


def _forget_the_caller() -> None:
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _limit(room: Room) -> None:
    limits = room.limits
    for which, most in (
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        # Not the address space, of which a JavaScript engine reserves far more than it uses.
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 1 << 16),
        (resource.RLIMIT_MSGQUEUE, 1 << 16),
        (resource.RLIMIT_RTPRIO, 0),
        (resource.RLIMIT_NICE, 0),
    ):
        _, hard = resource.getrlimit(which)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (least, least))


def _say(problems: int, error: Exception) -> None:
    said = {"errno": getattr(error, "errno", None), "said": str(error)}
    os.write(problems, json.dumps(said).encode())
