"""The cell: a user, a root, a network and a table of processes of an agent's own.

One cell serves one run. Its room, everything in it that is not the workspace, is made anew after
each day: the kernel ends what ran there, whatever it did to stay, and /tmp, shared memory and
sockets end with it. This module knows no run and no agent.
"""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from tradesbench_gym.errors import shown
from tradesbench_gym.harness.cell import preflight, wall
from tradesbench_gym.harness.cell.capabilities import require_capabilities
from tradesbench_gym.harness.cell.hidden import hidden_folders
from tradesbench_gym.harness.cell.records import (
    CellError,
    Doors,
    Private,
    Probe,
    Stream,
    Survivor,
)
from tradesbench_gym.harness.cell.room.spec import Limits, Room, Walls
from tradesbench_gym.harness.cell.users import AgentUser, processes_of
from tradesbench_gym.harness.cell.workspace import give_to

HOME = "/home/agent"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_GONE_SECONDS = 10.0
_POLL_SECONDS = 0.02


class IsolatedCell:
    """A cell with all its walls.

    Attributes:
        workspace: the one folder that outlives the agent's processes, at the same path inside.
        isolated: True.
        uid: the agent's user and group; nobody else's while the cell is open.
        ports: the doors, which have the host's numbers inside as well.
        home: a folder that the agent may write and that is empty again after each `reap`.

    """

    isolated = True

    def __init__(
        self,
        workspace: Path,
        doors: Doors,
        *,
        readable: Sequence[Path] = (),
        limits: Limits | None = None,
        walls: Walls | None = None,
    ) -> None:
        require_capabilities()
        self.workspace = _checked(workspace)
        self.ports = doors
        self.home = HOME
        self._user = AgentUser()
        self._closed = False
        self.uid = self._user.uid
        self._secrets: tuple[bytes, ...] = ()
        self._keeper: wall.Keeper | None = None
        self.room = Room(
            uid=self.uid,
            workspace=str(self.workspace),
            home=HOME,
            readable=tuple(str(path.resolve()) for path in readable),
            covered=tuple(map(str, hidden_folders())),
            doors=doors.ports,
            walls=walls or Walls(),
            limits=limits or Limits(),
        )
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def popen(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
    ) -> subprocess.Popen[bytes]:
        """As `Cell.popen`; what a pre-flight was told to be secret is refused in argv and env."""
        self._check_secrets(argv, env)
        return wall.enter(
            self.room, self.first, argv, env, stdin=stdin, stdout=stdout, stderr=stderr
        )

    def preflight(
        self, private: Private, env: Mapping[str, str] | None = None
    ) -> tuple[Probe, ...]:
        """Try every wall as the agent's user, with the environment its agent will have.

        Raises CellError, code "not_isolated", with `probes` on it, if anything gave way.
        """
        self._secrets = private.values
        return preflight.preflight(self, private, env or {})

    def reap(self) -> tuple[Survivor, ...]:
        """End every process of the agent's, empty all but the workspace; who was still there."""
        survivors = tuple(processes_of(self.uid))
        self._end_room()
        self._build()
        return survivors

    def left(self) -> Iterator[Survivor]:
        """The agent's processes that are alive now."""
        return processes_of(self.uid)

    def close(self) -> None:
        """End the agent's processes; the workspace is ours again, and its user nobody's."""
        if self._closed:
            return
        self._closed = True
        try:
            self._end_room()
            give_to(os.geteuid(), os.getegid(), self.workspace)
        finally:
            self._user.release()

    @property
    def first(self) -> int:
        """The pidfd of the room's first process. Raises CellError if the room is gone."""
        if self._keeper is None or not self._keeper.stands:
            raise CellError("the agent's cell is closed or was ended from outside", code="closed")
        return self._keeper.first

    @property
    def keeper_pid(self) -> int:
        """The process that keeps the room, a child of this one."""
        return self._keeper.pid if self._keeper is not None else 0

    def _build(self) -> None:
        give_to(self.uid, self.uid, self.workspace)
        self._keeper = wall.Keeper(self.room)

    def _end_room(self) -> None:
        if self._keeper is not None:
            self._keeper.end()
            self._keeper = None
        # The kernel has seen to it already; only a cell without that wall needs this.
        deadline = time.monotonic() + _GONE_SECONDS
        while left := list(processes_of(self.uid)):
            if time.monotonic() > deadline:
                raise CellError(
                    f"process {left[0].pid} of the agent's ({left[0].command}) cannot be ended",
                    code="immortal",
                )
            for one in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.pid, 9)
            time.sleep(_POLL_SECONDS)

    def _check_secrets(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        for secret in self._secrets:
            for name, value in (*env.items(), *(("argv", word) for word in argv)):
                if secret and secret in os.fsencode(value):
                    raise CellError(
                        f"{name} would hand the agent a key or token that is not its own",
                        code="secret",
                        field=name,
                    )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checked(workspace: Path) -> Path:
    """A workspace that is there, and in whose parent nobody else can look around."""
    path = workspace.resolve()
    if not path.is_dir():
        raise CellError(
            f"the workspace {shown(str(workspace))} is no folder: make it first",
            code="no_workspace",
            field="workspace",
        )
    parent = path.parent.stat()
    if parent.st_mode & _OTHERS or parent.st_uid != os.geteuid():
        raise CellError(
            f"the folder {path.parent} around the workspace can be entered by others: "
            "it must be ours, with mode 0700",
            code="open_parent",
            field="workspace",
        )
    return path
