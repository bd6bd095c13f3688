"""The image: its files are linted, and its steps are run here, in mounts of the test's own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.cell.cells import NEEDS_ROOT
from tradesbench_gym.harness.cell.capabilities import NEEDED
from tradesbench_gym.harness.pi_install import PI_VERSION

ROOT = Path(__file__).resolve().parents[3]
DOCKERFILE = ROOT / "Dockerfile"
SCRIPTS = sorted((ROOT / "container").glob("*.sh"))

pytestmark = pytest.mark.skipif(
    not DOCKERFILE.exists(), reason="the image is built from a checkout"
)

# A machine of the test's own, as far as the scripts can tell: nothing of the host's is written.
MACHINE = """
set -eu
mkdir -p "$WORK/etc" "$WORK/source"
cp -a /etc/. "$WORK/etc"
mount --bind "$WORK/etc" /etc
mount -t tmpfs none /opt
mount -t tmpfs none /var/lib
cd "$ROOT"
cp -a container envs wrappers training tradesbench_gym pyproject.toml setup.cfg README.md LICENSE \
    "$WORK/source"
"$WORK/source/container/build.sh" users folders install pi > "$WORK/log" 2>&1 || {
    tail -3 "$WORK/log"
    exit 3
}
"$WORK/source/container/build.sh" users folders
stat -c '%U %a' /opt/tradesbench /var/lib/tradesbench
"$WORK/source/container/entry.sh" --help | grep -c Usage
printf '#!/bin/sh\\nexec /opt/tradesbench/venv/bin/python -c "$@"\\n' > "$WORK/tradesbench"
cat "$WORK/tradesbench" > /opt/tradesbench/venv/bin/tradesbench
"$WORK/source/container/entry.sh" "$PROGRAM"
"""
PROGRAM = """
import os, socket, threading
from pathlib import Path
from tradesbench_gym.harness.cell import Doors, Private, open_cell
from tradesbench_gym.harness.pi_install import check

def answer(server):
    while True:
        one, _ = server.accept()
        with one:
            if one.recv(4096):
                one.sendall(b"HTTP/1.1 401 Unauthorized\\r\\n\\r\\n")

server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=answer, args=(server,), daemon=True).start()
folder = Path("run").resolve()
(folder / "workspace").mkdir(mode=0o700, parents=True)
folder.chmod(0o700)
(folder / "world.sqlite").write_text("everything")
print(os.getuid(), os.getgroups(), Path.cwd())
pi = check()
with open_cell(folder / "workspace", Doors(server.getsockname()[1]), readable=(pi.folder,)) as cell:
    env = {"PATH": "/usr/bin:/bin", "HOME": cell.home}
    print(cell.popen([*pi.command, "--version"], env, stdout=-1).communicate()[0].decode().strip())
    probes = cell.preflight(Private(paths=(folder / "world.sqlite",)), env)
    print(all(one.held for one in probes), len(probes) >= 40)
"""


def linter(name: str) -> str:
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        pytest.skip(f"{name} comes with the extra dev")
    return found


def test_hadolint_has_nothing_to_say_about_the_dockerfile() -> None:
    done = subprocess.run(
        [linter("hadolint"), "--no-color", str(DOCKERFILE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_shellcheck_has_nothing_to_say_about_the_scripts() -> None:
    assert len(SCRIPTS) == 2
    done = subprocess.run(
        [linter("shellcheck"), *map(str, SCRIPTS)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_takes_only_steps_that_the_script_has() -> None:
    script = (ROOT / "container" / "build.sh").read_text(encoding="utf-8")
    steps = set(re.findall(r"^step_(\w+)\(\)", script, re.MULTILINE))
    taken = re.findall(r"^RUN \S+/build\.sh (.+)$", DOCKERFILE.read_text("utf-8"), re.MULTILINE)
    assert {step for line in taken for step in line.split()} == steps


def test_the_entry_leaves_the_engine_exactly_what_a_cell_takes() -> None:
    entry = (ROOT / "container" / "entry.sh").read_text(encoding="utf-8")
    (line,) = re.findall(r"^capabilities=(.+)$", entry, re.MULTILINE)
    assert sorted(line.split(",")) == sorted(f"+{name}" for name in NEEDED)


def test_an_unknown_step_is_refused() -> None:
    done = subprocess.run(
        [str(ROOT / "container" / "build.sh"), "nosuch"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no step nosuch" in done.stderr


@NEEDS_ROOT
@pytest.mark.slow
def test_the_steps_make_an_engine_whose_agents_are_kept_in(tmp_path: Path) -> None:
    """The image's own steps, all of them, then its entry: help, pi in a cell, the pre-flight."""
    done = subprocess.run(
        ["/usr/bin/unshare", "--mount", "--propagation", "private", "sh", "-c", MACHINE],
        capture_output=True,
        text=True,
        check=False,
        env={
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "WORK": str(tmp_path),
            "ROOT": str(ROOT),
            "PYTHON": sys.executable,
            "PROGRAM": PROGRAM,
        },
    )
    if done.returncode == 3 and re.search("reached|retries|[Cc]onnection|network", done.stdout):
        pytest.skip(f"without a network nothing is installed: {done.stdout.strip()[-200:]}")
    assert done.stdout.splitlines() == [
        "root 750",
        "tradesbench 700",
        "1",
        "60599 [] /var/lib/tradesbench",
        PI_VERSION,
        "True True",
    ], done.stderr
