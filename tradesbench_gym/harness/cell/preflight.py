"""The check before a run: every wall is tried as the agent's user, and one that gives way stops it.

What is tried stands in `room/try_*.py`; here it is aimed, run and judged. The last attempt is a
daemon that is told to outlive the day. This module knows no run; the driver names what is private.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tradesbench_gym.harness.cell import wall
from tradesbench_gym.harness.cell.canaries import Canaries, canaries
from tradesbench_gym.harness.cell.hidden import hidden_folders, source_folders, tell_tale_names
from tradesbench_gym.harness.cell.records import CellError, Private, Probe
from tradesbench_gym.world.schema import APPLICATION_ID

if TYPE_CHECKING:
    from tradesbench_gym.harness.cell.isolated import IsolatedCell

FEWEST = 40
_SECONDS = 300.0
_DAEMON = "trap '' HUP TERM INT; (setsid nohup sh -c 'trap \"\" HUP TERM; sleep 600' &) ; echo left"
_LISTEN = "0A"
_COMPANIONS = ("-wal", "-shm", "-journal", ".lock")


class NotIsolatedError(CellError):
    """A wall gave way; `probes` are all attempts, those that got something among them."""

    def __init__(self, message: str, probes: tuple[Probe, ...]) -> None:
        super().__init__(message, code="not_isolated")
        self.probes = probes


def preflight(cell: IsolatedCell, private: Private, env: Mapping[str, str]) -> tuple[Probe, ...]:
    """Try every wall of a cell; the attempts, all of which were held.

    Raises NotIsolatedError if one was not, or if there were fewer attempts than there must be.
    """
    with canaries() as laid:
        targets = _targets(cell, private, laid)
        probes = [
            *_run(cell, "inside", cell.first, targets, env),
            *_run(cell, "outside", wall.OUTSIDE, targets, env),
            _daemon(cell),
        ]
    found = tuple(probes)
    loose = [one for one in found if not one.held]
    if loose:
        one = loose[0]
        more = f", and {len(loose) - 1} more" if len(loose) > 1 else ""
        raise NotIsolatedError(
            f"the agent's user is not kept in: {one.name} ({one.what}): {one.said}{more}", found
        )
    if len(found) < FEWEST:
        raise NotIsolatedError(f"only {len(found)} attempts were made of {FEWEST}", found)
    return found


def _run(
    cell: IsolatedCell,
    suite: str,
    first: int,
    targets: Mapping[str, object],
    env: Mapping[str, str],
) -> list[Probe]:
    told: dict[str, object] = {"suite": suite, "targets": dict(targets)}
    process = wall.enter(
        cell.room, first, ("attempts",), env, probes=told,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        out, problem = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise CellError("the attempts took more than five minutes", code="not_isolated") from None
    probes = [Probe(**json.loads(line)) for line in out.splitlines()]
    if process.returncode != 0:
        lines = problem.decode(errors="replace").strip().splitlines() or ["without a word"]
        said = f"ended with status {process.returncode}: {lines[-1]}"
        probes.append(Probe("make every attempt", f"all of {suite}", held=False, said=said))
    return probes


def _targets(cell: IsolatedCell, private: Private, laid: Canaries) -> dict[str, object]:
    paths = [*_with_companions(private.paths)]
    source = _telling_sources()
    return {
        "uid": cell.uid,
        "workspace": str(cell.workspace),
        "home": cell.home,
        "readable": list(cell.room.readable),
        "doors": list(cell.ports.ports),
        "paths": paths,
        "sockets": [str(path) for path in private.sockets],
        "pids": sorted({os.getpid(), cell.keeper_pid, *private.pids}),
        "values": [value.hex() for value in private.values],
        "token": private.token,
        "source": [str(path) for path in source],
        "hidden": [str(path) for path in hidden_folders()],
        "names": list(tell_tale_names()),
        "files": [list(one) for one in sorted(_numbers(paths))],
        "application": APPLICATION_ID,
        "host_ports": _listening_ports(),
        "shared": list(laid.shared),
        "abstract": laid.abstract,
        "listening": laid.listening,
        "key": laid.key,
        "segment": laid.segment,
        "extra": {"addresses": " ".join(_own_addresses()), "host": platform.node()},
        "copies": _digests(source),
    }


def _with_companions(paths: Iterable[Path]) -> list[str]:
    """Each path, and what SQLite keeps beside it."""
    found: list[str] = []
    for path in paths:
        found.append(str(path))
        found += [f"{path}{end}" for end in _COMPANIONS if Path(f"{path}{end}").exists()]
    return found


def _telling_sources() -> list[Path]:
    """The files that would tell an agent most."""
    telling = [
        path
        for folder in source_folders()
        for pattern in ("*.toml", "rules/demand.py", "rules/calls.py", "draws.py", "world.py")
        for path in folder.rglob(pattern)
    ]
    return sorted(set(telling))


def _digests(source: Iterable[Path]) -> dict[str, list[str]]:
    """The lengths of files that tell most, and what those of that length digest to."""
    digests: dict[str, list[str]] = {}
    for path in source:
        content = path.read_bytes()
        digests.setdefault(str(len(content)), []).append(hashlib.sha256(content).hexdigest())
    return digests


def _numbers(paths: Iterable[str]) -> set[tuple[int, int]]:
    """Device and number of private files and of every file of the package."""
    files = [Path(path) for path in paths]
    for folder in source_folders():
        files += [path for path in folder.rglob("*") if path.suffix in {".py", ".toml", ".tbmap"}]
    numbers = set()
    for path in files:
        with contextlib.suppress(OSError):
            one = path.stat()
            # Every installation has empty files; links may share them, and they tell nothing.
            if one.st_size or not path.is_file():
                numbers.add((one.st_dev, one.st_ino))
    return numbers


def _listening_ports() -> list[int]:
    """The TCP ports of 127.0.0.1 and ::1 on which somebody listens."""
    ports = set()
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            lines = Path("/proc/net", name).read_text(encoding="utf-8").splitlines()[1:]
            fields = [line.split() for line in lines]
            ports |= {int(one[1].rsplit(":", 1)[1], 16) for one in fields if one[3] == _LISTEN}
    return sorted(ports)


def _own_addresses() -> list[str]:
    """The host's own addresses besides loopback."""
    addresses = []
    with contextlib.suppress(OSError):
        lines = Path("/proc/net/fib_trie").read_text(encoding="utf-8").splitlines()
        for before, line in itertools.pairwise(lines):
            if "/32 host LOCAL" in line and (address := before.split()[-1])[:4] != "127.":
                addresses.append(address)
    return sorted(set(addresses))


def _daemon(cell: IsolatedCell) -> Probe:
    """Leave a daemon behind, end the day, and look for it."""
    what = "setsid nohup sh, deaf to signals and orphaned, over the end of the day"
    name = "keep a daemon alive"
    try:
        with cell.popen(["sh", "-c", _DAEMON], {"PATH": "/usr/bin:/bin"}) as process:
            process.wait(30)
    except CellError as error:
        return Probe(name, what, held=False, said=f"the attempt itself failed: {error}")
    survivors = cell.reap()
    left = [one for one in survivors if "sleep 600" in one.command]
    after = list(cell.left())
    if after:
        return Probe(name, what, held=False, said=f"process {after[0].pid} is still there")
    if not left:
        return Probe(name, what, held=False, said="the attempt itself failed: no daemon was seen")
    return Probe(name, what, held=True, said=f"{len(survivors)} processes were found and ended")
