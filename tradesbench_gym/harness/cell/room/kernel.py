"""The kernel's calls that Python 3.11 has no words for: namespaces, mounts, capabilities, keys.

Every call raises OSError as `os` would, with the path it was about. Numbers are given for the two
machines a cell can stand on; another one is refused by name. This module decides nothing.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
ALL_BUT_USERS = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWPID | NEWNET
ALL_NAMESPACES = ALL_BUT_USERS | NEWUSER

RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT = 0x1, 0x2, 0x4, 0x8, 0x20
BIND, REC, PRIVATE = 0x1000, 0x4000, 0x40000
DETACH = 2

PDEATHSIG, NO_NEW_PRIVS, CAPBSET_DROP, DUMPABLE, AMBIENT, SECCOMP = 1, 38, 24, 4, 47, 22
_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522
_JOIN_SESSION_KEYRING = 1

# (x86_64, aarch64); None: that machine has no such call.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "capset": (126, 91),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "inotify_add_watch": (254, 27),
    "inotify_init1": (294, 26),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "socket": (41, 198),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
_MACHINES = {"x86_64": 0, "aarch64": 1}

# None on systems without it: this module can be imported everywhere, and used on Linux.
_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


def machine() -> str:
    """The machine's name as the numbers know it; OSError where it is another one."""
    name = platform.machine()
    if name not in _MACHINES:
        raise OSError(f"a cell needs one of {', '.join(_MACHINES)}, and this machine is a {name}")
    return name


def number(call: str) -> int | None:
    """A call's number on this machine; None where it has no such call."""
    return _NUMBERS[call][_MACHINES[machine()]]


def syscall(call: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a call by its name; its result, or OSError."""
    which = number(call)
    if which is None:
        raise OSError(38, f"no {call} on this machine")
    passed = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return _checked(_c().syscall(ctypes.c_long(which), *passed), call)


def unshare(flags: int) -> None:
    """Leave the namespaces named by the flags for new ones."""
    _checked(_c().unshare(ctypes.c_int(flags)), "unshare")


def setns(fd: int, flags: int) -> None:
    """Enter namespaces: of a process by its pidfd, or one by its own descriptor."""
    _checked(_c().setns(ctypes.c_int(fd), ctypes.c_int(flags)), "setns")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Put a file system, or a part of one, where a folder or file is."""
    kind_bytes = None if kind is None else kind.encode()
    words = os.fsencode(source), os.fsencode(target), kind_bytes
    result = _c().mount(*words, ctypes.c_ulong(flags), data.encode() or None)
    _checked(result, f"mount on {target}")


def unmount(target: str) -> None:
    """Take a mount away, at once for everybody who is not in it."""
    _checked(_c().umount2(os.fsencode(target), ctypes.c_int(DETACH)), f"unmount of {target}")


def pivot_root(new: str, old: str) -> None:
    """Make a mount the root, and put the former root elsewhere."""
    syscall("pivot_root", os.fsencode(new), os.fsencode(old))


def sethostname(name: str) -> None:
    """The name of this machine in its own UTS namespace."""
    _checked(_c().sethostname(name.encode(), ctypes.c_size_t(len(name))), "sethostname")


def prctl(option: int, *values: int) -> int:
    """Change how the kernel treats this process; numbers only."""
    padded = [ctypes.c_ulong(one) for one in (*values, 0, 0, 0, 0)[:4]]
    return _checked(_c().prctl(ctypes.c_int(option), *padded), f"prctl {option}")


def drop_bounding_set() -> None:
    """No program started from here can ever have a capability again."""
    for capability in range(64):
        try:
            prctl(CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == 22:  # there are no more
                return
            raise


def drop_capabilities() -> None:
    """Give up all that are left, and hand none on."""
    prctl(AMBIENT, _AMBIENT_CLEAR_ALL)
    head = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    syscall("capset", head, bytes(24))


def forget_keys() -> None:
    """A new, empty session keyring in place of the one inherited; nothing where there are none."""
    try:
        syscall("keyctl", _JOIN_SESSION_KEYRING, None)
    except OSError as error:
        if error.errno not in {
            1,
            38,
        }:  # not permitted, or not built in: then there is nothing to read
            raise


def _c() -> ctypes.CDLL:
    if _libc is None:
        raise OSError("a cell needs Linux")
    return _libc


def _checked(result: int, what: str) -> int:
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result
