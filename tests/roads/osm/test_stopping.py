"""A build that is stopped goes on; one that is killed leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("osmium", reason="needs the [map] extra")

from tradesbench_gym.roads import MapError
from tradesbench_gym.roads.layout import Int32Array, Int64Array
from tradesbench_gym.roads.osm import build as building
from tradesbench_gym.roads.osm.area import load_area
from tradesbench_gym.roads.osm.build import Order, build_map
from tradesbench_gym.roads.osm.osrm_tools import Tools
from tradesbench_gym.roads.osm.routes import Scipy
from tradesbench_gym.roads.osm.stages import Rows


class Halting(Scipy):
    """Gives two rows at a time and is stopped after the second pair."""

    asked: list[int] = []  # noqa: RUF012 - what the engine was asked for, for the test to see

    def metres(self, anchors: Int64Array, done: int) -> Iterator[Int32Array]:
        self.asked.append(done)
        rows = np.concatenate(list(super().metres(anchors, 0)))
        for low in range(done, len(rows), 2):
            if low == 4 and done == 0:
                raise KeyboardInterrupt
            yield rows[low : low + 2]


def test_a_stopped_build_goes_on_where_it_stopped(
    tmp_path: Path, plan: Path, area: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = build_map(Order(plan, load_area(area), tmp_path / "whole.tbmap", 9))
    monkeypatch.setattr(building, "Scipy", Halting)
    order = Order(plan, load_area(area), tmp_path / "out.tbmap", 9)
    with pytest.raises(KeyboardInterrupt):
        build_map(order)
    assert not order.output.exists()
    assert (tmp_path / ".out.tbmap.building" / "read.npz").exists()
    # Nothing is read again: the extract need not even be readable any more.
    monkeypatch.setattr(building, "read_extract", None)
    assert build_map(order).digest == whole.digest
    assert Halting.asked == [0, 4]
    assert not (tmp_path / ".out.tbmap.building").exists()


def test_what_was_kept_for_another_order_is_not_taken_up(
    tmp_path: Path, plan: Path, area: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "Scipy", Halting)
    with pytest.raises(KeyboardInterrupt):
        build_map(Order(plan, load_area(area), tmp_path / "out.tbmap", 9))
    monkeypatch.setattr(building, "Scipy", Scipy)
    area.write_text(area.read_text().replace('"plan"', '"another"'))
    built = build_map(Order(plan, load_area(area), tmp_path / "out.tbmap", 9))
    assert built.road_map.name == "another"


def test_a_torn_row_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    rows = Rows(path, 3)
    rows.add(np.arange(6, dtype=np.int32).reshape(2, 3))
    path.write_bytes(path.read_bytes()[:-5])
    again = Rows(path, 3)
    assert again.done == 1
    again.add(np.array([[7, 8, 9]], dtype=np.int32))
    assert again.matrix().tolist() == [[0, 1, 2], [7, 8, 9]]


def test_a_map_that_is_there_stays_until_the_new_one_stands(
    tmp_path: Path, plan: Path, area: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = Order(plan, load_area(area), tmp_path / "out.tbmap", 9)
    build_map(order)
    before = order.output.read_bytes()
    monkeypatch.setattr(building, "Scipy", Halting)
    with pytest.raises(KeyboardInterrupt):
        build_map(order)
    assert order.output.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_no_server_outlives_us(tmp_path: Path) -> None:
    # A stand-in for osrm-routed that notes its process and sleeps.
    noted = tmp_path / "pid"
    server = tmp_path / "osrm-routed"
    server.write_text(f"#!/bin/sh\necho $$ > {noted}\nexec sleep 600\n")
    server.chmod(0o755)
    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from tradesbench_gym.roads.osm.osrm_tools import Tools\n"
        "folder = Path(sys.argv[1])\n"
        "with Tools(folder, folder, '0').serve(folder / 'x', 1, 1, folder / 'log'):\n"
        "    time.sleep(600)\n"
    )
    ours = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
    pid = _soon(lambda: int(noted.read_text()) if noted.exists() and noted.read_text() else 0)
    ours.send_signal(signal.SIGKILL)
    ours.wait()
    assert _soon(lambda: not _alive(pid))


@pytest.mark.skipif(os.name == "nt", reason="a script as a program")
def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    program = tmp_path / "osrm-extract"
    program.write_text("#!/bin/sh\necho '[info] reading'\necho '[error] no roads'\nexit 3\n")
    program.chmod(0o755)
    tools = Tools(tmp_path, tmp_path, "0")
    with pytest.raises(MapError, match=r"failed \(exit status 3\): \[error\] no roads"):
        tools.run("osrm-extract", log=tmp_path / "log")


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def _soon(ask: object) -> int:
    assert callable(ask)
    for _ in range(200):
        answer = ask()
        if answer:
            return int(answer)
        time.sleep(0.1)
    raise AssertionError("it did not happen")
