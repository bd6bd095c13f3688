"""Where no cell can be built: one sentence that says what to do, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.cell.cells import NEEDS_ROOT, Site
from tradesbench_gym.harness.cell import CellError, Doors, capabilities, open_cell
from tradesbench_gym.harness.cell.room.spec import Walls


def refused(monkeypatch: pytest.MonkeyPatch, held: int) -> str:
    monkeypatch.setattr(capabilities, "effective_capabilities", lambda: held)
    with pytest.raises(CellError) as caught:
        capabilities.require_capabilities()
    assert caught.value.code == "cannot_isolate"
    assert "--no-isolation" in str(caught.value)
    return str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is another sentence")
def test_without_root_it_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "needs root" in refused(monkeypatch, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is another sentence")
def test_a_container_that_lacks_capabilities_is_told_which(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = (1 << 41) - 1
    without = everything & ~(1 << 21) & ~(1 << 12)
    assert "the capabilities net_admin, sys_admin, which" in refused(monkeypatch, without)


def test_another_system_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "on Linux only" in refused(monkeypatch, (1 << 41) - 1)


@NEEDS_ROOT
def test_a_user_without_root_gets_the_sentence_from_the_real_thing(place: Site) -> None:
    """The same call in a process that has given up root, which can read this Python."""
    program = (
        "import os,sys; from pathlib import Path\n"
        "from tradesbench_gym.harness.cell import open_cell, Doors, CellError\n"
        "os.setgroups([]); os.setresgid(65534,65534,65534); os.setresuid(65534,65534,65534)\n"
        "try: open_cell(Path(sys.argv[1]), Doors(9))\n"
        "except CellError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(place.workspace)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.stderr
    assert done.stdout == (
        "isolating an agent needs root: run the harness as root, or give --no-isolation, "
        "which every result then says\n"
    )


@NEEDS_ROOT
def test_a_machine_that_denies_namespaces_says_so_and_nothing_is_left(place: Site) -> None:
    """A filter like a container's refuses unshare to this process and its children."""
    program = (
        "import sys; from pathlib import Path\n"
        "from tradesbench_gym.harness.cell import open_cell, Doors, CellError\n"
        "from tradesbench_gym.harness.cell.room import kernel, seccomp\n"
        "seccomp._DENIED = ('unshare',)\n"
        "seccomp.install()\n"
        "try: open_cell(Path(sys.argv[1]), Doors(9))\n"
        "except CellError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(place.workspace)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(
        "an agent cannot be isolated here ([Errno 1] unshare: Operation not permitted): "
    )
    assert "--no-isolation" in done.stdout
    assert done.stdout.count("\n") == 1
    assert place.workspace.stat().st_uid == os.geteuid()


@NEEDS_ROOT
def test_a_workspace_that_others_could_enter_is_refused(place: Site) -> None:
    place.folder.chmod(0o755)
    with pytest.raises(CellError, match="can be entered by others") as caught:
        open_cell(place.workspace, place.doors)
    assert caught.value.field == "workspace"


@NEEDS_ROOT
def test_a_workspace_that_is_not_there_is_refused(place: Site) -> None:
    with pytest.raises(CellError, match="is no folder"):
        open_cell(place.folder / "nosuch", place.doors)


@NEEDS_ROOT
def test_a_room_that_cannot_be_furnished_leaves_nothing(place: Site, tmp_path: Path) -> None:
    missing = tmp_path / "nosuch"
    with pytest.raises(CellError, match="cannot be isolated here"):
        open_cell(place.workspace, Doors(9), readable=(missing,))
    assert place.workspace.stat().st_uid == os.geteuid()


@NEEDS_ROOT
def test_a_cell_stands_for_a_user_with_the_few_capabilities_only(place: Site) -> None:
    """As in the image: an engine that is not root, and was left what it needs."""
    engine = 60_599
    for path in (place.folder, place.workspace):
        os.chown(path, engine, engine)
    caps = "-all" + "".join(f",+{name}" for name in capabilities.NEEDED)
    reader = ",+dac_read_search"  # this Python may lie in root's home
    program = (
        "import sys, subprocess; from pathlib import Path\n"
        "from tradesbench_gym.harness.cell import open_cell, Doors, Private\n"
        "with open_cell(Path(sys.argv[1]), Doors(int(sys.argv[2]))) as cell:\n"
        "    probes = cell.preflight(Private())\n"
        "    print(len(probes) >= 40, all(one.held for one in probes))\n"
    )
    done = subprocess.run(
        ["/usr/bin/setpriv", f"--reuid={engine}", f"--regid={engine}", "--clear-groups",
         f"--inh-caps={caps}{reader}", f"--ambient-caps={caps}{reader}",
         f"--bounding-set={caps}{reader}", "env", "HOME=/nonexistent",
         sys.executable, "-c", program, str(place.workspace), str(place.port)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "True True\n", done.stderr
    assert place.workspace.stat().st_uid == engine


def test_every_wall_stands_unless_a_test_says_otherwise() -> None:
    assert all(vars(Walls()).values())
