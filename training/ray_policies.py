"""Policies that are functions of a person's own, on machines that may not have his files.

A worker that finds the same file at the same place uses it there, with whatever data it reads;
another lays down what travelled: the file and the `.py` files beside it. Knows policies by what a
person types, and neither runs nor Ray.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.policies.registry import Policy, policy_names

_FILE = ".py"


@dataclass(frozen=True)
class PolicyFile:
    """The file of a policy and those beside it, as they are on the machine that asks.

    Attributes:
        path: of the file, absolute.
        function: the function of the file that decides.
        texts: name and content of each file that travels, its own among them.

    """

    path: Path
    function: str
    texts: tuple[tuple[str, bytes], ...]

    def is_here(self) -> bool:
        """Whether this machine has the same file at the same place."""
        with suppress(OSError):
            return self.path.read_bytes() == dict(self.texts)[self.path.name]
        return False

    def lay_down(self, folder: Path) -> str:
        """Write what travelled into a folder; the policy's name there."""
        folder.mkdir()
        for name, text in self.texts:
            (folder / name).write_bytes(text)
        return f"{folder / self.path.name}:{self.function}"


@dataclass(frozen=True)
class Suitcase:
    """What workers need to load the policies of this process.

    Attributes:
        folder: in which this process works.
        files: of the policies that are functions of a file, by what the person typed.

    """

    folder: Path
    files: tuple[tuple[str, PolicyFile], ...]

    def unpack(self) -> Unpacked:
        """The policies on this machine; works in the folder of the first process if it is here."""
        moved = False
        with suppress(OSError):
            os.chdir(self.folder)
            moved = True
        return Unpacked(
            {policy: file for policy, file in self.files if not (moved and file.is_here())}
        )


class Unpacked:
    """`load_policy` on a worker, by the names that the person typed.

    Args:
        absent: files that have to be laid down here.

    """

    def __init__(self, absent: dict[str, PolicyFile]) -> None:
        self._specs: dict[str, str] = {}
        if absent:
            room = Path(tempfile.mkdtemp(prefix="tradesbench-policies-"))
            # A worker that is killed leaves it to whoever clears the machine's temporary files.
            weakref.finalize(self, shutil.rmtree, room, ignore_errors=True)
        for number, (policy, file) in enumerate(absent.items()):
            self._specs[policy] = file.lay_down(room / str(number))

    def __call__(self, spec: str, *, seed: int = 0) -> Policy:
        """The policy, fresh for one run; raises what `load_policy` raises."""
        return load_policy(self._specs.get(spec, spec), seed=seed)


def pack(policies: Iterable[str]) -> Suitcase:
    """The files of the policies that have some; raises OSError if one cannot be read."""
    found = ((policy, _file_of(policy)) for policy in policies)
    return Suitcase(Path.cwd(), tuple((policy, file) for policy, file in found if file is not None))


def _file_of(policy: str) -> PolicyFile | None:
    place, _, function = policy.rpartition(":")
    if policy.partition(":")[0] in policy_names():
        return None
    path = Path(place if place.endswith(_FILE) else f"{place}{_FILE}").resolve()
    if not path.is_file():
        return None  # of a package or an installed module: workers find it as this process did
    texts = {}
    for beside in sorted(path.parent.glob(f"*{_FILE}")):
        with suppress(OSError):
            texts[beside.name] = beside.read_bytes()
    texts[path.name] = path.read_bytes()
    return PolicyFile(path, function, tuple(texts.items()))
