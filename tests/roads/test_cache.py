"""Unpacking: once, atomically, shared by all processes, and never in the way of a map's use."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.roads.towns import make_town
from tradesbench_gym.roads import About, RoadMap, open_map, write_map
from tradesbench_gym.roads.cache import arrays_of, load

posix = pytest.mark.skipif(os.name == "nt", reason="modes and owners of POSIX")
unprivileged = pytest.mark.skipif(
    hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere"
)


@pytest.fixture
def file(tmp_path: Path, cache: Path) -> Path:  # noqa: ARG001 - sets the cache folder
    path = tmp_path / "town.tbmap"
    write_map(path, make_town())
    return path


def _entry(cache: Path) -> Path:
    (entry,) = (cache / "maps").iterdir()
    return entry


def test_an_entry_is_named_by_the_digest_and_nothing_else_is_left(file: Path, cache: Path) -> None:
    unpacked = load(file)
    assert _entry(cache).name == unpacked.digest


@posix
def test_the_cache_is_the_users_alone(file: Path, cache: Path) -> None:
    load(file)
    assert (cache / "maps").stat().st_mode & 0o777 == 0o700


def test_every_array_is_mapped_read_only_and_contiguous(file: Path) -> None:
    for name, array in arrays_of(load(file)).items():
        assert type(array) is np.ndarray, name
        assert not array.flags.writeable, name
        assert not array.flags.owndata, name
        assert array.flags.c_contiguous, name


def test_a_map_in_memory_is_read_only_too(town: RoadMap) -> None:
    for name, array in arrays_of(town._unpacked).items():
        assert not array.flags.writeable, name


def test_the_second_opening_reads_no_column_of_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(file)
    monkeypatch.setattr("tradesbench_gym.roads.cache.read_content", None)
    assert load(file).digest == make_town().digest


@pytest.mark.parametrize("damage", ["short", "long", "missing", "no_record", "bad_record", "old"])
def test_a_damaged_entry_is_noticed_and_made_anew(file: Path, cache: Path, damage: str) -> None:
    load(file)
    entry = _entry(cache)
    metres, record = entry / "metres.npy", entry / "entry.json"
    if damage == "short":
        metres.write_bytes(metres.read_bytes()[:-4])
    elif damage == "long":
        metres.write_bytes(metres.read_bytes() + b"more")
    elif damage == "missing":
        metres.unlink()
    elif damage == "no_record":
        record.unlink()
    elif damage == "bad_record":
        record.write_text("{")
    else:
        record.write_text(json.dumps({**json.loads(record.read_text()), "layout": 0}))
    again = load(file)
    assert np.array_equal(again.content.metres, make_town().metres)
    assert _entry(cache).name == again.digest
    assert (_entry(cache) / "metres.npy").stat().st_size == 12 * 12 * 4 + 128


def test_many_processes_may_open_a_map_for_the_first_time_at_once(file: Path, cache: Path) -> None:
    program = (
        "import sys; from tradesbench_gym.roads import open_map; "
        "m = open_map(sys.argv[1]); print(m.digest, int(m.metres.sum()))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(file)], stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    answers = {process.communicate(timeout=60)[0] for process in started}
    town = make_town()
    assert answers == {f"{town.digest} {int(town.metres.sum())}\n".encode()}
    assert [path.name for path in (cache / "maps").iterdir()] == [town.digest]


def test_without_a_home_folder_the_map_stays_in_memory_and_says_so(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocker = tmp_path / "a file"
    blocker.write_text("where the folder should be")
    monkeypatch.setenv("TRADESBENCH_CACHE", str(blocker))
    with pytest.warns(RuntimeWarning, match="unpacked into memory, for this process alone: "):
        unpacked = load(file)
    assert unpacked.digest == make_town().digest
    assert not unpacked.content.metres.flags.writeable


@posix
@unprivileged
def test_with_a_read_only_cache_the_map_stays_in_memory(file: Path, cache: Path) -> None:
    (cache / "maps").mkdir(parents=True, mode=0o700)
    (cache / "maps").chmod(0o500)
    with pytest.warns(RuntimeWarning, match="cannot write to"):
        assert load(file).digest == make_town().digest


def test_a_full_disk_leaves_no_half_entry(
    file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", fail)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        assert load(file).digest == make_town().digest
    assert list((cache / "maps").iterdir()) == []


@posix
def test_a_cache_that_others_may_write_is_not_used(file: Path, cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="can be written by other users"):
        load(file)
    assert list(cache.iterdir()) == []


def test_a_process_opens_a_map_once(file: Path) -> None:
    assert open_map(file) is open_map(str(file))


def test_a_file_written_anew_is_opened_anew(file: Path) -> None:
    first = open_map(file)
    write_map(file, make_town(About("b", "b", "AZ", "s", "l", "a")))
    os.utime(file, ns=(1, 1))
    assert open_map(file).digest != first.digest


def test_a_pickled_map_is_a_recipe_not_megabytes(file: Path) -> None:
    opened = open_map(file)
    data = pickle.dumps(opened)
    assert len(data) < 300
    assert pickle.loads(data) is opened  # noqa: S301 - our own bytes


def test_a_pickled_map_in_memory_is_complete(town: RoadMap) -> None:
    copy = pickle.loads(pickle.dumps(town))  # noqa: S301 - our own bytes
    assert copy.digest == town.digest
    assert np.array_equal(copy.metres, town.metres)


def test_what_a_killed_process_left_half_unpacked_is_cleared_away(file: Path, cache: Path) -> None:
    program = (
        "import os, signal, sys, numpy as np\n"
        "from tradesbench_gym.roads import open_map\n"
        "save, count = np.save, []\n"
        "def dying(*args, **more):\n"
        "    count.append(1)\n"
        "    if len(count) == 4:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    save(*args, **more)\n"
        "np.save = dying\n"
        "open_map(sys.argv[1])\n"
    )
    if not hasattr(os, "fork"):
        pytest.skip("signals and locks of POSIX")
    killed = subprocess.run([sys.executable, "-c", program, str(file)], check=False)
    assert killed.returncode == -9
    assert [path.name[:11] for path in (cache / "maps").iterdir()] == [".unpacking-"]
    digest = load(file).digest
    assert [path.name for path in (cache / "maps").iterdir()] == [digest]
