"""What this process may do: whether it can build a cell at all, and the sentence if it cannot.

Root can; so can a user to whom the few capabilities named here were left, as the image's entry
does. This module tries nothing.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from tradesbench_gym.harness.cell.records import CellError

NEEDED = {
    "chown": 0,
    "dac_override": 1,
    "fowner": 3,
    "kill": 5,
    "setgid": 6,
    "setuid": 7,
    "setpcap": 8,
    "net_admin": 12,
    "sys_chroot": 18,
    "sys_admin": 21,
}
_WAY_OUT = "or give --no-isolation, which every result then says"


def require_capabilities() -> None:
    """Raise CellError with one sentence if this process cannot build a cell."""
    if sys.platform != "linux":
        raise CellError(
            f"an agent can be isolated on Linux only, and this is {platform.system()}: "
            f"run it in the image, {_WAY_OUT}",
            code="cannot_isolate",
        )
    held = effective_capabilities()
    missing = [name for name, bit in NEEDED.items() if not held >> bit & 1]
    if len(missing) == len(NEEDED):
        raise CellError(
            f"isolating an agent needs root: run the harness as root, {_WAY_OUT}",
            code="cannot_isolate",
        )
    if missing:
        raise CellError(
            f"isolating an agent needs the capabilities {', '.join(missing)}, which this process "
            f"lacks: give them to the container (--cap-add), {_WAY_OUT}",
            code="cannot_isolate",
        )


def cannot(said: str) -> CellError:
    """The error for a machine that denies what building a cell takes."""
    return CellError(
        f"an agent cannot be isolated here ({said}): allow it (a container needs "
        f"--cap-add SYS_ADMIN --cap-add NET_ADMIN and no seccomp or AppArmor profile against "
        f"mounts), {_WAY_OUT}",
        code="cannot_isolate",
    )


def effective_capabilities(status: Path = Path("/proc/self/status")) -> int:
    """The bits of what this process may do now."""
    for line in status.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0
