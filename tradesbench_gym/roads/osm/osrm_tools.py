"""Finds OSRM's own programs (osrm-extract, osrm-contract, osrm-routed) and runs them.

They come with the package osrm-bindings, whose wheel asks for Python 3.12; its programs do not, so
that an older interpreter unpacks them from the wheel. The module knows programs and processes, no
map.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, NoReturn

from tradesbench_gym.errors import MapError

PROGRAMS: Final = ("osrm-extract", "osrm-contract", "osrm-routed")
PACKAGE: Final = "osrm"
WHEEL_PARTS: Final = ("osrm/bin/", "osrm/share/profiles/")
LARGEST_WHEEL: Final = 500_000_000
HOW: Final = (
    "With Python 3.12 or later: pip install osrm-bindings; otherwise: pip download --no-deps "
    "--python-version 3.12 --only-binary=:all: osrm-bindings, and --osrm with the wheel. The "
    "default engine, scipy, needs neither"
)
# Stands between us and a server: it ends the server when our end of the pipe closes, so that none
# is left behind whatever becomes of us.
KEEPER: Final = (
    "import subprocess, sys\n"
    "server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)\n"
    "sys.stdin.read()\n"
    "server.kill()\n"
    "server.wait()\n"
)


@dataclass(frozen=True, slots=True)
class Tools:
    """Where OSRM's programs and its car profile are, and their version."""

    programs: Path
    profile: Path
    version: str

    def run(self, program: str, *arguments: str, log: Path) -> None:
        """Run a program to its end; raises MapError with its last words when it fails."""
        command = [str(self.programs / program), *arguments]
        with log.open("wb") as stream:
            # A session of its own: Ctrl-C is ours to answer, and run() ends it then.
            outcome = subprocess.run(  # noqa: S603 - OSRM's own program and files of ours
                command,
                stdout=stream,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                check=False,
            )
        if outcome.returncode != 0:
            raise MapError(
                f"{program} failed ({_outcome(outcome.returncode)}): {_last_words(log)}",
                code="engine_failed",
            )

    @contextlib.contextmanager
    def serve(
        self, data: Path, port: int, most: int, log: Path
    ) -> Iterator[subprocess.Popen[bytes]]:
        """osrm-routed on the loopback interface while the block lasts."""
        arguments = ["-i", "127.0.0.1", "-p", str(port), "--max-table-size", str(most)]
        program = str(self.programs / "osrm-routed")
        with log.open("wb") as stream:
            keeper = subprocess.Popen(  # noqa: S603 - as above
                [sys.executable, "-I", "-c", KEEPER, program, *arguments, str(data)],
                stdin=subprocess.PIPE,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            yield keeper
        finally:
            if keeper.stdin is not None:
                keeper.stdin.close()
            keeper.wait()


def find_tools(given: Path | None, folder: Path) -> Tools:
    """OSRM's programs from `given` (a wheel or a folder), the installed package or the PATH.

    A wheel is unpacked into `folder`. Raises MapError saying how to get them where there are none.
    """
    if given is not None:
        return _given(given, folder)
    installed = importlib.util.find_spec(PACKAGE)  # found, not imported: it needs a newer Python
    if installed is not None and installed.submodule_search_locations:
        root = Path(next(iter(installed.submodule_search_locations)))
        if _complete(root / "bin"):
            return _tools(root / "bin", root / "share" / "profiles" / "car.lua")
    found = shutil.which(PROGRAMS[0])
    if found is not None and _complete(Path(found).parent):
        return _in_folder(Path(found).parent)
    raise MapError(f"OSRM's programs are not here. {HOW}.", code="engine_missing", field="engine")


def _given(given: Path, folder: Path) -> Tools:
    if given.is_dir():
        return _in_folder(given)
    if not given.is_file():
        raise MapError(
            f"There is no OSRM at {given}: give the wheel of osrm-bindings, or a folder with "
            f"{', '.join(PROGRAMS)}.",
            code="engine_missing",
            field="osrm",
        )
    try:
        _unpack(given, folder)
    except (zipfile.BadZipFile, OSError) as error:
        raise MapError(
            f"Cannot unpack the wheel {given}: {error}.", code="engine_missing", field="osrm"
        ) from error
    return _in_folder(folder)


def _unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        members = [m for m in archive.infolist() if m.filename.startswith(WHEEL_PARTS)]
        if sum(member.file_size for member in members) > LARGEST_WHEEL:
            raise OSError("it is larger than any wheel of osrm-bindings")
        for member in members:
            parts = PurePosixPath(member.filename).parts[1:]
            if member.is_dir() or ".." in parts:
                continue
            target = folder.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(member))
            if parts[0] == "bin":
                target.chmod(0o755)


def _in_folder(folder: Path) -> Tools:
    """The tools of an unpacked wheel, of the package's own folder, or of an installed OSRM."""
    for root in (folder, folder / PACKAGE):
        for programs in (root / "bin", root):
            profiles = (
                programs.parent / "share" / "profiles",
                programs.parent / "share" / "osrm" / "profiles",
                programs / "profiles",
            )
            profile = next((p / "car.lua" for p in profiles if (p / "car.lua").is_file()), None)
            if _complete(programs) and profile is not None:
                return _tools(programs, profile)
    raise MapError(
        f"{folder} has not {', '.join(PROGRAMS)} and profiles/car.lua. {HOW}.",
        code="engine_missing",
        field="osrm",
    )


def _complete(programs: Path) -> bool:
    return all((programs / name).is_file() for name in PROGRAMS)


def _tools(programs: Path, profile: Path) -> Tools:
    program = programs / PROGRAMS[0]
    try:
        answer = subprocess.run(  # noqa: S603 - the program the user named
            [str(program), "--version"], capture_output=True, text=True, check=True, timeout=60
        )
    except OSError as error:
        _unusable(program, error.strerror or str(error))
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = str(getattr(error, "stderr", "") or error).strip()
        _unusable(program, said.splitlines()[-1] if said else "no answer")
    return Tools(programs, profile, answer.stdout.strip().lstrip("v"))


def _unusable(program: Path, reason: str) -> NoReturn:
    raise MapError(
        f"{program} does not run here ({reason}): choose --engine scipy.",
        code="engine_missing",
        field="engine",
    ) from None


def _outcome(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _last_words(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "[error]" in line] or lines
    return errors[-1].strip() if errors else "it said nothing."
