"""The filter of kernel calls an agent lives under: what no office work needs is refused.

New namespaces, mounts, keys, tracing, kernel programs and sockets of other families than the
internet's and Unix's are answered with an error, for a process, its children and for good. The
walls do not rest on it: it keeps an agent off the parts of a kernel in which holes are found.
This module knows calls and nothing of who makes them.
"""

from __future__ import annotations

import ctypes
import struct

from . import kernel

_DENIED = (
    "acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime",
    "delete_module", "fanotify_init", "finit_module", "fsconfig", "fsmount", "fsopen", "fspick",
    "init_module", "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl",
    "kcmp", "kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie", "mount", "mount_setattr",
    "move_mount", "name_to_handle_at", "open_by_handle_at", "open_tree", "perf_event_open",
    "pidfd_getfd", "pivot_root", "process_vm_readv", "process_vm_writev", "ptrace", "quotactl",
    "reboot", "request_key", "setns", "settimeofday", "swapoff", "swapon", "syslog", "umount2",
    "unshare", "userfaultfd",
)  # fmt: skip
_UNIX, _INET, _NETLINK, _INET6 = 1, 2, 16, 10
_FAMILIES = (_UNIX, _INET, _INET6, _NETLINK)  # the C library asks for addresses over netlink

_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_SET_FILTER = 2


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def _refuse(code: int) -> bytes:
    return _step(_RETURN, _ERROR | code)


def _number(call: str) -> int:
    found = kernel.number(call)
    if found is None:
        raise LookupError(call)
    return found


def program() -> bytes:
    """The filter as the kernel reads it, eight bytes a step."""
    steps = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_JUMP_EQUAL, _ARCHITECTURES[kernel.machine()], yes=1),
        _step(_RETURN, _KILL),  # calls of another machine's have other numbers
        _step(_LOAD, _NUMBER_AT),
        _step(_JUMP_AT_LEAST, _X32, no=1),
        _refuse(_ENOSYS),
        # Its flags stand in memory, where no filter can read; the C library then uses clone.
        _step(_JUMP_EQUAL, _number("clone3"), no=1),
        _refuse(_ENOSYS),
    ]
    for call in _DENIED:
        if (which := kernel.number(call)) is not None:
            steps += [_step(_JUMP_EQUAL, which, no=1), _refuse(_EPERM)]
    steps += [
        _step(_JUMP_EQUAL, _number("clone"), no=4),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
        _step(_JUMP_ANY_BIT, kernel.ALL_NAMESPACES, no=1),
        _refuse(_EPERM),
        _step(_RETURN, _ALLOW),
        _step(_JUMP_EQUAL, _number("socket"), yes=1),
        _step(_RETURN, _ALLOW),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
    ]
    for family in _FAMILIES:
        steps += [_step(_JUMP_EQUAL, family, no=1), _step(_RETURN, _ALLOW)]
    return b"".join([*steps, _refuse(_EAFNOSUPPORT)])


def install() -> None:
    """Put this process and all its children under the filter; it needs no_new_privs before."""
    filters = program()
    held = ctypes.create_string_buffer(filters, len(filters))
    head = struct.pack("HxxxxxxQ", len(filters) // 8, ctypes.addressof(held))
    held_head = ctypes.create_string_buffer(head, len(head))
    kernel.prctl(kernel.SECCOMP, _SET_FILTER, ctypes.addressof(held_head))
