"""The files an agent finds: a root of its own, in which only what is named here is there at all.

The system's programs are shown read-only, /etc as the few files that programs look up, /tmp,
/dev/shm and the home folder as memory that ends with the room, the workspace as itself. What the
engine must hide and what happens to lie inside a shown folder is covered. Everything stands at the
path it has on the host, so that one name serves both sides. All mounts belong to a mount namespace
and end with it; nothing is ever mounted on the host.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from . import kernel
from .spec import Room

_HOST = "/old"
_NEW = "/new"
_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = (
    "alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "debian_version",
    "gai.conf", "inputrc", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic",
    "mime.types", "os-release", "pki", "profile", "profile.d", "protocols", "python3",
    "python3.10", "python3.11", "python3.12", "python3.13", "services", "ssl", "terminfo",
    "timezone", "vim",
)  # fmt: skip
_WRITTEN = {
    "hosts": "127.0.0.1 localhost\n",
    "hostname": "office\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "resolv.conf": "",
}
_DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
_MASKED = (
    "config.gz", "kallsyms", "kcore", "key-users", "keys", "kmsg", "latency_stats", "sched_debug",
    "sysrq-trigger", "timer_list",
)  # fmt: skip
_MASKED_FOLDERS = ("acpi", "scsi")
_QUIET = kernel.NOSUID | kernel.NODEV


def furnish(room: Room) -> None:
    """Build the root of a room and move into it, in a mount namespace made for it."""
    os.umask(0o022)  # whatever our user's is: an agent must find its way
    kernel.mount("none", "/", None, kernel.REC | kernel.PRIVATE)
    if not room.walls.files:
        return
    _step_aside()
    kernel.mount("none", _NEW, "tmpfs", _QUIET, "mode=755,uid=0,gid=0,size=4m")
    _show_system()
    _write_etc(room)
    _place_devices()
    _give_room_to_write(room)
    _show_processes(room)
    _show_and_cover(room)
    _move_in()


def _show_and_cover(room: Room) -> None:
    """What is to be seen and what is not, the outer before the inner: the last word is the inner's.

    Of two words about one folder, the last is that it is covered.
    """
    told: list[tuple[str, int, Callable[[], None]]] = [
        (path, 0, partial(_show, path, path, kernel.RDONLY | _QUIET)) for path in room.readable
    ]
    if room.walls.covers:
        told += [(path, 1, partial(_cover, path)) for path in room.covered]
    told.append((room.workspace, 2, partial(_show, room.workspace, room.workspace, _QUIET)))
    for _, _, do in sorted(told, key=lambda one: (len(Path(one[0]).parts), one[1])):
        do()


def _step_aside() -> None:
    """Stand in an empty root, with the host's below it, and nothing of it in the way."""
    kernel.mount("none", "/tmp", "tmpfs", _QUIET, "mode=700")  # noqa: S108 - any folder that exists
    for name in (_NEW, _HOST):
        Path(f"/tmp{name}").mkdir()  # noqa: S108 - likewise
    kernel.pivot_root("/tmp", f"/tmp{_HOST}")  # noqa: S108 - likewise
    os.chdir("/")


def _move_in() -> None:
    _remount(_NEW, kernel.RDONLY | _QUIET)
    os.chdir(_NEW)
    kernel.pivot_root(".", ".")  # the host's root now lies on top of the new one ...
    kernel.unmount(".")  # ... and is gone
    os.chdir("/")


def _remount(path: str, flags: int) -> None:
    kernel.mount("none", path, None, kernel.REMOUNT | kernel.BIND | flags)


def _show(source: str, target: str, flags: int) -> None:
    """Let a file or folder of the host be seen; what is mounted inside it is not."""
    host, new = Path(_HOST + source), Path(_NEW + target)
    if host.is_dir():
        new.mkdir(parents=True, exist_ok=True)
    elif not new.exists():
        new.parent.mkdir(parents=True, exist_ok=True)
        new.touch()
    kernel.mount(str(host), str(new), None, kernel.BIND)
    _remount(str(new), flags)


def _show_system() -> None:
    for name in _SYSTEM:
        host = Path(_HOST, name)
        if host.is_symlink():
            Path(_NEW, name).symlink_to(host.readlink())
        elif host.is_dir():
            _show(f"/{name}", f"/{name}", kernel.RDONLY | _QUIET)
    for name in ("etc", "root", "run", "var"):
        Path(_NEW, name).mkdir()
    # An agent may go through it, to what may be shown further in: pi, where root has set it up.
    Path(_NEW, "root").chmod(0o711)


def _write_etc(room: Room) -> None:
    etc = Path(_NEW, "etc")
    for name in _ETC:
        host = Path(_HOST, "etc", name)
        if host.is_symlink():
            (etc / name).symlink_to(host.readlink())
        elif host.exists():
            _show(f"/etc/{name}", f"/etc/{name}", kernel.RDONLY | _QUIET)
    users = {"root": (0, "/root", "/usr/sbin/nologin"), "agent": (room.uid, room.home, "/bin/sh")}
    lines = [f"{name}:x:{uid}:{uid}::{home}:{shell}" for name, (uid, home, shell) in users.items()]
    written = {
        **_WRITTEN,
        "passwd": "\n".join(lines) + "\n",
        "group": "".join(f"{name}:x:{uid}:\n" for name, (uid, _, _) in users.items()),
    }
    for name, text in written.items():
        (etc / name).write_text(text, encoding="utf-8")


def _place_devices() -> None:
    dev = Path(_NEW, "dev")
    dev.mkdir()
    for name in _DEVICES:
        (dev / name).touch()
        kernel.mount(f"{_HOST}/dev/{name}", str(dev / name), None, kernel.BIND)
        _remount(str(dev / name), kernel.NOSUID | kernel.NOEXEC)
    for name, target in _LINKS.items():
        (dev / name).symlink_to(target)


def _give_room_to_write(room: Room) -> None:
    """Memory that ends with the room; without the wall, what the host's users share."""
    Path(_NEW, "var/tmp").symlink_to("/tmp")  # noqa: S108 - the room's own
    for path in ("/tmp", "/dev/shm"):  # noqa: S108 - likewise
        if not room.walls.private_tmp:
            _show(path, path, _QUIET)
            continue
        new = Path(_NEW + path)
        new.mkdir()
        size = f"mode=1777,uid=0,gid=0,size={room.limits.temporary_bytes},nr_inodes=100k"
        kernel.mount("none", str(new), "tmpfs", _QUIET, size)
    home = Path(_NEW + room.home)
    home.mkdir(parents=True, exist_ok=True)
    size = f"mode=700,uid={room.uid},gid={room.uid},size={room.limits.temporary_bytes}"
    kernel.mount("none", str(home), "tmpfs", _QUIET, size)


def _show_processes(room: Room) -> None:
    proc = Path(_NEW, "proc")
    proc.mkdir()
    if not room.walls.private_proc:
        kernel.mount(f"{_HOST}/proc", str(proc), None, kernel.BIND | kernel.REC)
        return
    # Whose processes are not the agent's are not listed for it, the room's first one included.
    kernel.mount("proc", str(proc), "proc", _QUIET | kernel.NOEXEC, "hidepid=2")
    for name in _MASKED:
        if (proc / name).exists():
            kernel.mount(f"{_NEW}/dev/null", str(proc / name), None, kernel.BIND)
            _remount(str(proc / name), kernel.RDONLY | kernel.NOSUID | kernel.NOEXEC)
    for name in _MASKED_FOLDERS:
        if (proc / name).is_dir():
            kernel.mount("none", str(proc / name), "tmpfs", _QUIET | kernel.RDONLY, "size=4k")
    sys = str(proc / "sys")
    kernel.mount(sys, sys, None, kernel.BIND)
    _remount(sys, kernel.RDONLY | _QUIET | kernel.NOEXEC)


def _cover(path: str) -> None:
    """Put nothing in the place of something, where it can be seen at all."""
    new = Path(_NEW + path)
    if new.is_dir():
        # Root's, so that an agent can only go through it, to what may be shown further in.
        kernel.mount("none", str(new), "tmpfs", _QUIET, "mode=711,uid=0,gid=0,size=64k")
    elif new.exists():
        kernel.mount(f"{_NEW}/dev/null", str(new), None, kernel.BIND)
        _remount(str(new), kernel.RDONLY | _QUIET | kernel.NOEXEC)
