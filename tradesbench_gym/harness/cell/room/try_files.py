"""Attempts on files: the run's, the source's, other people's; to read, link, write and watch them.

Each leaves the room as it was. Only what the engine named is aimed at.
"""
# ruff: noqa: PTH116, PTH208 - the plain calls, whose errors are what is asked for

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from . import kernel
from .attempt import Attempt, Held, Targets, needed, ran, read, refused

_IN_ACCESS = 0x1
_OUTSIDE = (
    "/", "/etc", "/usr", "/usr/bin", "/usr/local", "/usr/lib", "/var", "/run", "/home", "/root",
    "/dev", "/opt", "/srv", "/mnt", "/boot", "/proc", "/sys", "/proc/sys/kernel",
)  # fmt: skip
_TO_CHANGE = (
    "/etc/passwd", "/etc/hosts", "/etc/resolv.conf", "/usr/bin/env",
    "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/hostname",
    "/proc/1/oom_score_adj",
)  # fmt: skip
_CRON = (
    "/var/spool/cron",
    "/var/spool/cron/crontabs",
    "/etc/cron.d",
    "/var/spool/at",
    "/etc/systemd",
)
_PYTHON = "import importlib.util as u; raise SystemExit(u.find_spec('tradesbench_gym') is None)"


def files(targets: Targets) -> Iterator[Attempt]:
    """Everything about files from inside."""
    yield from _must_work(targets)
    for path in targets.paths:
        yield Attempt("read a private file", f"open {path}", partial(read, path))
    for path in targets.shared:
        yield Attempt("read what all users of the host can", f"open {path}", partial(read, path))
    yield from _source(targets)
    yield from _around(targets)
    yield from _tricks(targets)
    for folder in (*_OUTSIDE, str(Path(targets.workspace).parent), *targets.readable):
        yield Attempt("write outside", f"make a file in {folder}", partial(_make_file, folder))
    for path in _TO_CHANGE:
        yield Attempt("change the system", f"open {path} to write", partial(_open_to_write, path))
    for path in _CRON:
        yield Attempt("leave work for a timer", f"make a file in {path}", partial(_make_file, path))
    yield Attempt("leave work for a timer", "crontab -", partial(refused, "crontab", "-"))
    yield Attempt("leave work for a timer", "at now", partial(refused, "at", "now", text="true\n"))


def files_outside(targets: Targets) -> Iterator[Attempt]:
    """What the files' own permissions must keep from the agent's user, had it no walls at all."""
    for path in (*targets.paths, *targets.sockets):
        what = f"open {path} among the host's files"
        yield Attempt("read a private file without walls", what, partial(_read_any, path))
    for path in (targets.workspace, str(Path(targets.workspace).parent)):
        what = f"look into {path} among the host's files"
        yield Attempt("look around without walls", what, partial(read, path))


def _must_work(targets: Targets) -> Iterator[Attempt]:
    def write_own() -> str:
        for folder in (targets.workspace, "/tmp", targets.home):  # noqa: S108 - the room's own
            path = Path(folder, ".cell-probe")
            path.write_text("mine", encoding="utf-8")
            path.unlink()
        return "it can"

    made = partial(needed, write_own)
    yield Attempt("the agent can work", "write in the workspace, /tmp and home", made)


def _source(targets: Targets) -> Iterator[Attempt]:
    for path in targets.source:
        yield Attempt("read the source", f"open {path}", partial(read, path))
    for path in targets.hidden:
        yield Attempt("look into the installation", f"list {path}", partial(_list, path))
    for python in ("python3", "python", "pypy3"):
        what = f"{python}: import tradesbench_gym"
        yield Attempt("import the package", what, partial(refused, python, "-c", _PYTHON))
    yield Attempt(
        "import the package", "tradesbench --help", partial(refused, "tradesbench", "--help")
    )


def _around(targets: Targets) -> Iterator[Attempt]:
    parent = Path(targets.workspace).parent
    for above in (parent, parent.parent):
        what = f"look for neighbours of the workspace in {above}"
        yield Attempt("read other workspaces", what, partial(_strangers, str(above), targets))
    for folder in (
        "/root",
        "/home",
        "/srv",
        "/mnt",
        "/media",
        "/var/lib",
        "/var/log",
        "/run",
        "/opt",
    ):
        yield Attempt("look around", f"list {folder}", partial(_strangers, folder, targets))


def _tricks(targets: Targets) -> Iterator[Attempt]:
    aims = [*targets.paths[:1], *targets.shared[:1], *targets.source[:1]]
    for aim in aims:
        for trick in (_through_symlink, _through_hard_link, _through_dots, _through_cwd, _watch):
            what = f"{(trick.__doc__ or '').rstrip('.')}: {aim}"
            yield Attempt("get around a wall", what, partial(trick, aim, targets))
    what = "make the device of the host's disk in the workspace, and open it"
    yield Attempt("make a device", what, partial(_make_device, targets))
    yield Attempt(
        "keep a set-uid program",
        "chown a copy of sh to root, mode 4755",
        partial(_set_uid, targets),
    )


def _list(path: str) -> str:
    names = os.listdir(path)
    if not names:
        raise Held("covered by an empty folder")
    return f"lists {len(names)} names"


def _read_any(path: str) -> str:
    if not os.path.lexists(path):
        raise Held("cannot be seen")
    os.close(os.open(path, os.O_PATH))  # a socket cannot be opened otherwise
    if os.access(path, os.R_OK) or os.access(path, os.W_OK):
        return "may be read or written"
    raise Held("may be neither read nor written")


def _strangers(folder: str, targets: Targets) -> str:
    shown = [Path(one) for one in (targets.workspace, targets.home, *targets.readable)]
    names = [
        name
        for name in os.listdir(folder)
        if not any(one.is_relative_to(Path(folder, name)) for one in shown)
        and Path(folder, name).lstat().st_uid != targets.uid
    ]
    if not names:
        raise Held("nothing is there")
    return f"sees {names[:5]}"


def _through_symlink(aim: str, targets: Targets) -> str:
    """Read through a symbolic link in the workspace."""
    link = Path(targets.workspace, ".cell-link")
    link.symlink_to(aim)
    try:
        return read(str(link))
    finally:
        link.unlink()


def _through_hard_link(aim: str, targets: Targets) -> str:
    """Make a hard link in the workspace."""
    link = Path(targets.workspace, ".cell-link")
    os.link(aim, link)
    link.unlink()
    return "linked"


def _through_dots(aim: str, _targets: Targets) -> str:
    """Climb above the root."""
    return read("/" + "../" * 40 + aim.lstrip("/"))


def _through_cwd(aim: str, _targets: Targets) -> str:
    """Go by the folders of processes in /proc."""
    for start in ("/proc/self/cwd", "/proc/self/root", "/proc/1/root", "/proc/1/cwd"):
        try:
            return read(f"{start}/{'../' * 40}{aim.lstrip('/')}")
        except OSError as error:
            last = error
    raise last


def _watch(aim: str, _targets: Targets) -> str:
    """Be told by inotify when it is used."""
    fd = kernel.syscall("inotify_init1", 0)
    kernel.syscall("inotify_add_watch", fd, os.fsencode(aim), _IN_ACCESS)
    return "is told"


def _make_file(folder: str) -> str:
    path = Path(folder, ".cell-probe")
    path.write_text("here", encoding="utf-8")
    path.unlink()
    return "made and removed a file"


def _open_to_write(path: str) -> str:
    os.close(os.open(path, os.O_WRONLY))
    return "opened"


def _make_device(targets: Targets) -> str:
    path = Path(targets.workspace, ".cell-device")
    disk = os.stat("/").st_dev
    os.mknod(path, 0o060600, disk)
    try:
        return read(str(path))
    finally:
        path.unlink()


def _set_uid(targets: Targets) -> str:
    copy = Path(targets.workspace, ".cell-sh")
    copy.write_bytes(Path("/bin/sh").read_bytes())
    try:
        os.chown(copy, 0, 0)
        copy.chmod(0o4755)
        return f"it is root's: {ran(str(copy), '-p', '-c', 'id -u').stdout}"
    finally:
        copy.unlink()
