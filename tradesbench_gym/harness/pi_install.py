"""What `tradesbench harness setup` does: the agent program pi and the Node.js that runs it, in a
folder of their own and proved to be what this package was written for.

Every package comes in the version and with the digest that `pi_lock.json` names, and none of them
may run anything while it is installed. A folder is complete or not there: it is filled under
another name, checked, and then given its own. This module knows no run and no cell.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from tradesbench_gym.errors import TradesBenchError

PI_PACKAGE, PI_VERSION = "@earendil-works/pi-coding-agent", "1.6.0"
LEAST_NODE = (22, 19)
FOLDER_VARIABLE = "TRADESBENCH_PI"
_APPLICATION = "tradesbench-gym"
_INSTALL_SECONDS, _RUN_SECONDS = 1200.0, 60.0
_ALL_READ, _ALL_RUN = 0o644, 0o755
_UNREACHABLE = (
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|"
    r"ERR_SOCKET_TIMEOUT|ENOTCACHED|network"
)
_PROBLEMS = (
    (r"EINTEGRITY", "a package is not the one that was pinned"),
    (r"E404|ETARGET|ENOVERSIONS", "the registry has not the version that was pinned"),
    (_UNREACHABLE, "the npm registry cannot be reached"),
    (r"ENOSPC", "the disk is full"),
    (r"EACCES|EPERM|EROFS", "the folder cannot be written"),
)


class SetupError(TradesBenchError):
    """pi or Node.js cannot be installed, or what is installed is not what it must be."""


@dataclass(frozen=True)
class PiInstall:
    """An installation that was checked.

    Attributes:
        folder: everything is in here; who may read it may run it.
        node: the program that runs pi.
        script: pi itself.
        node_version: as `node --version` says it, without the v.
        pi_version: as `pi --version` says it.

    """

    folder: Path
    node: Path
    script: Path
    node_version: str
    pi_version: str

    @property
    def command(self) -> tuple[str, str]:
        """The words with which a command line of pi's begins."""
        return str(self.node), str(self.script)


def default_folder() -> Path:
    """`$TRADESBENCH_PI`, else a folder of this version below the user's data. Nothing is made."""
    if told := os.environ.get(FOLDER_VARIABLE):
        return Path(told).expanduser().absolute()
    from platformdirs import user_data_path  # most starts of the package never look for it

    return user_data_path(_APPLICATION, appauthor=False) / f"pi-{PI_VERSION}"


def setup(folder: Path | None = None, say: Callable[[str], None] | None = None) -> PiInstall:
    """Install pi and Node.js, unless they are there already, and check both by running them.

    Args:
        folder: where to; `default_folder()` if not given.
        say: told in a sentence what is done.

    Raises:
        SetupError: npm is missing or fails, or what came is not what was pinned; nothing of the
            attempt is left, and an installation that was there is as it was.

    """
    target = default_folder() if folder is None else folder.absolute()
    tell = say or (lambda _: None)
    try:
        installed = check(target)
    except SetupError as error:
        tell(f"{error}; installing pi {PI_VERSION} and Node.js into {target}")
    else:
        tell(f"pi {installed.pi_version} and Node.js {installed.node_version} are in {target}")
        return installed
    npm = _npm()
    with _being_filled(target) as fresh:
        for name, kept in (
            ("package.json", "pi_package.json"),
            ("package-lock.json", "pi_lock.json"),
        ):
            text = files("tradesbench_gym.harness").joinpath(kept).read_text(encoding="utf-8")
            (fresh / name).write_text(text, encoding="utf-8")
        _install(npm, fresh)
        _open_to_readers(fresh)
        check(fresh)
        _put_in_place(fresh, target)
    installed = check(target)
    tell(f"pi {installed.pi_version} and Node.js {installed.node_version} are in {target}")
    return installed


def check(folder: Path | None = None) -> PiInstall:
    """What is installed, compared with what was pinned and run once.

    Raises SetupError if it is missing, incomplete, of another version, or can be changed by others.
    """
    target = default_folder() if folder is None else folder.absolute()
    modules = target / "node_modules"
    if not modules.is_dir():
        raise SetupError(f"pi is not installed in {target}", code="not_installed", field="folder")
    _compare_with_lock(modules)
    _require_only_ours(target)
    node, script = _node(modules), modules / PI_PACKAGE / "dist" / "bundle" / "cli.js"
    node_version = _version(target, [str(node), "--version"]).removeprefix("v")
    if _numbers(node_version)[:2] < LEAST_NODE:
        least = ".".join(map(str, LEAST_NODE))
        raise _other_version(target, f"Node.js {node_version}", f"{least} or later")
    pi_version = _version(target, [str(node), str(script), "--version"])
    if pi_version != PI_VERSION:
        raise _other_version(target, f"pi {pi_version}", PI_VERSION)
    return PiInstall(target, node, script, node_version, pi_version)


def _npm() -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise SetupError(
            "installing pi needs npm, which is not here: install Node.js with npm, of any version "
            "(pi runs on a Node.js of its own), and run setup again",
            code="no_npm",
        )
    return npm


@contextlib.contextmanager
def _being_filled(target: Path) -> Iterator[Path]:
    """A folder beside the target, which is gone afterwards unless it became the target."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise SetupError(
            f"{target.parent} cannot be written: {error.strerror}",
            code="unwritable",
            field="folder",
        ) from error
    try:
        yield fresh
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _install(npm: str, folder: Path) -> None:
    words = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    try:
        done = subprocess.run(  # noqa: S603 - npm as this user has it
            [npm, *words, "--fetch-retries=1"],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_INSTALL_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise SetupError("npm had not ended after 20 minutes", code="npm_failed") from None
    except OSError as error:
        raise SetupError(f"{npm} cannot be run: {error.strerror}", code="no_npm") from error
    if done.returncode != 0:
        raise SetupError(_why(done.stderr or done.stdout), code="npm_failed")


def _why(said: str) -> str:
    """The one sentence in what npm said."""
    lines = [line.split("error", 1)[-1].strip() for line in said.splitlines() if "error" in line]
    first = next(
        (line for line in lines if " " in line), lines[0] if lines else "it gave no reason"
    )
    told = f"npm said: {first[:200]}"
    for pattern, reason in _PROBLEMS:
        if re.search(pattern, said):
            return f"pi cannot be installed: {reason} ({told})"
    return f"pi cannot be installed ({told})"


def _open_to_readers(folder: Path) -> None:
    """The agent's user may read and run everything, whatever the umask; nobody else may write."""
    folder.chmod(_ALL_RUN)
    for path in folder.rglob("*"):
        if path.is_symlink():
            continue
        runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(_ALL_RUN if runs else _ALL_READ)


def _put_in_place(fresh: Path, target: Path) -> None:
    """Give the folder its name; what had it before is moved aside and removed."""
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-old-", dir=target.parent) as aside:
        with contextlib.suppress(FileNotFoundError):
            target.rename(Path(aside, "old"))
        try:
            fresh.rename(target)
        except OSError as error:  # somebody else was quicker: theirs will be checked
            if not target.is_dir():
                raise SetupError(f"{target} cannot be made: {error.strerror}") from error


def _compare_with_lock(modules: Path) -> None:
    """Raise SetupError unless every package that belongs here is, in the pinned version."""
    text = files("tradesbench_gym.harness").joinpath("pi_lock.json").read_text(encoding="utf-8")
    wanted: Mapping[str, Mapping[str, object]] = json.loads(text)["packages"]
    for place, package in wanted.items():
        if not place:
            continue
        found = _installed_version(modules.parent / place)
        if found is None and package.get("optional"):
            continue  # for another machine
        if found != package["version"]:
            name = place.rsplit("node_modules/", 1)[-1]
            have = "nothing" if found is None else found
            raise _other_version(modules.parent, f"{name} {have}", str(package["version"]))


def _installed_version(folder: Path) -> str | None:
    try:
        said = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        return str(said["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _require_only_ours(folder: Path) -> None:
    """Raise SetupError if somebody else could change what is run here."""
    for path in (folder, *(path for path in folder.rglob("*") if not path.is_symlink())):
        one = path.stat()
        if one.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise SetupError(
                f"{path} can be written by others, who could change what the agent runs: "
                f"remove {folder} and run setup again",
                code="writable",
                field="folder",
            )


def _node(modules: Path) -> Path:
    """The one Node.js that was made for this machine."""
    found = sorted(modules.glob("node-*/bin/node"))
    if not found:
        raise SetupError(
            "there is no Node.js for this machine among the pinned packages: they are for Linux on "
            "x64 and arm64, and macOS on x64",
            code="no_node",
        )
    return found[0]


def _version(folder: Path, command: list[str]) -> str:
    """The version a program says it has."""
    offline = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}
    try:
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(  # noqa: S603 - what was just compared with the lock
                command,
                cwd=home,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_RUN_SECONDS,
                check=True,
                stdin=subprocess.DEVNULL,
                env={"PATH": os.defpath, "HOME": home, "PI_CODING_AGENT_DIR": home, **offline},
            )
    except (OSError, subprocess.SubprocessError) as error:
        raise SetupError(
            f"{Path(command[-2]).name} in {folder} does not run ({type(error).__name__}): "
            f"remove the folder and run setup again",
            code="does_not_run",
            field="folder",
        ) from error
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return lines[-1] if lines else "of no version"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", version)[:3]) or (0,)


def _other_version(folder: Path, have: str, want: str) -> SetupError:
    return SetupError(
        f"{folder} has {have} where {want} is needed", code="other_version", field="folder"
    )
