"""The map file: what is written is read back, and whatever is wrong with a file is said."""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.roads.towns import make_town
from tradesbench_gym.roads import About, MapError, RoadMap, coding, open_map, write_map
from tradesbench_gym.roads.cache import arrays_of


@pytest.fixture
def file(tmp_path: Path, town: RoadMap, cache: Path) -> Path:  # noqa: ARG001 - sets the cache folder
    path = tmp_path / "town.tbmap"
    write_map(path, town)
    return path


def test_what_is_written_is_read_back(file: Path, town: RoadMap) -> None:
    opened = open_map(file)
    mine, theirs = arrays_of(opened._unpacked), arrays_of(town._unpacked)
    for name, array in mine.items():
        assert array.dtype == theirs[name].dtype, name
        assert np.array_equal(array, theirs[name]), name
    assert opened.digest == town.digest
    assert opened.zones == town.zones
    assert opened.landmarks == town.landmarks
    assert [opened.address(i) for i in range(200)] == [town.address(i) for i in range(200)]


def test_the_same_map_gives_the_same_bytes(file: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.tbmap"
    write_map(again, make_town())
    assert again.read_bytes() == file.read_bytes()


def test_source_and_licence_are_in_the_file(tmp_path: Path) -> None:
    about = About("q", "Queens", "NY", "an extract", "ODbL 1.0", "© contributors")
    write_map(tmp_path / "q.tbmap", make_town(about))
    with zipfile.ZipFile(tmp_path / "q.tbmap") as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["format"] == "tradesbench-map"
    assert manifest["version"] == 1
    assert manifest["source"] == "an extract"
    assert manifest["licence"] == "ODbL 1.0"
    assert manifest["attribution"] == "© contributors"


def test_the_digest_changes_with_anything_the_map_says(town: RoadMap) -> None:
    about = About("town", "town", "AZ", "made in memory", "another licence", "none")
    assert make_town(about).digest != town.digest


def _rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest)
    members["manifest.json"] = json.dumps(manifest).encode()
    result = path.with_name("changed.tbmap")
    with zipfile.ZipFile(result, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return result


def test_another_format_version_is_refused_by_number(file: Path) -> None:
    changed = _rewritten(file, lambda manifest: manifest.update(version=2))
    with pytest.raises(MapError, match="map format 2, this program reads format 1"):
        open_map(changed)


def test_a_changed_licence_is_noticed(file: Path) -> None:
    changed = _rewritten(file, lambda manifest: manifest.update(licence="mine"))
    with pytest.raises(MapError, match="digest"):
        open_map(changed)


@pytest.mark.parametrize("digest", ["", "../../elsewhere", "0" * 63, 7])
def test_a_digest_that_is_none_is_refused(file: Path, digest: object) -> None:
    changed = _rewritten(file, lambda manifest: manifest.update(digest=digest))
    with pytest.raises(MapError, match="carries no digest"):
        open_map(changed)


def test_names_come_with_the_arrays_they_were_unpacked_with(file: Path, town: RoadMap) -> None:
    open_map(file)
    changed = _rewritten(file, lambda manifest: manifest["tables"].update(streets=["A", "B"]))
    assert open_map(changed).address(0) == town.address(0)


def test_a_changed_part_is_noticed_by_name(file: Path) -> None:
    def swap(manifest: dict[str, Any]) -> None:
        manifest["parts"]["place.leg"]["sha256"] = "0" * 64

    with pytest.raises(MapError, match=r"'place\.leg'"):
        open_map(_rewritten(file, swap))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.999])
def test_a_truncated_file_is_one_sentence_and_leaves_no_cache(
    file: Path, cache: Path, share: float
) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(MapError, match="truncated or is not a TradesBench map"):
        open_map(file)
    assert not list(cache.rglob("*.npy"))


def test_a_flipped_byte_anywhere_is_noticed_or_harmless(file: Path, town: RoadMap) -> None:
    whole = bytearray(file.read_bytes())
    for position in range(0, len(whole), 97):
        damaged = bytearray(whole)
        damaged[position] ^= 0x40
        path = file.with_name(f"damaged{position}.tbmap")
        path.write_bytes(damaged)
        with contextlib.suppress(MapError):
            assert open_map(path).digest == town.digest


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"{}" * 500])
def test_a_foreign_file_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "foreign.tbmap"
    path.write_bytes(content)
    with pytest.raises(MapError, match="not a TradesBench map") as caught:
        open_map(path)
    assert caught.value.code == "map_foreign"


def test_a_foreign_archive_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "foreign.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", '{"format": "something else"}')
    with pytest.raises(MapError, match="is not a TradesBench map"):
        open_map(path)


def test_an_unknown_name_names_the_maps_there_are() -> None:
    with pytest.raises(MapError, match=r"'atlantis': name phoenix or a \.tbmap file"):
        open_map("atlantis")


def test_a_map_is_not_written_over_half(tmp_path: Path, town: RoadMap) -> None:
    with pytest.raises(MapError, match="Cannot write the map"):
        write_map(tmp_path / "missing" / "town.tbmap", town)
    assert list(tmp_path.iterdir()) == []


@given(
    hnp.arrays(
        st.sampled_from([np.int8, np.int16, np.int32]),
        st.integers(0, 60),
        elements=st.integers(-128, 127),
    ),
    st.sampled_from(coding.LAG_CHOICES),
)
def test_a_column_survives_every_coding(values: Any, lags: tuple[int, ...]) -> None:
    data = coding.encode_column(values, lags)
    decoded = coding.decode_column(data, values.dtype.str, len(values), lags)
    assert decoded.dtype == values.dtype
    assert np.array_equal(decoded, values)


@given(hnp.arrays(np.int32, st.integers(1, 40).map(lambda n: (n, n))))
def test_a_square_survives_its_coding_whatever_stands_in_it(matrix: Any) -> None:
    triangle, skew = coding.encode_square(matrix)
    assert np.array_equal(coding.decode_square(triangle, skew, len(matrix)), matrix)


def test_a_symmetric_square_stores_one_triangle() -> None:
    half = np.arange(300 * 300, dtype=np.int32).reshape(300, 300)
    matrix = half + half.T
    triangle, skew = coding.encode_square(matrix)
    assert skew == b""
    assert np.array_equal(coding.decode_square(triangle, skew, 300), matrix)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and devices of POSIX")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_or_a_device_is_refused_and_not_waited_for(tmp_path: Path, kind: str) -> None:
    path = Path("/dev/zero")
    if kind == "pipe":
        path = tmp_path / "pipe.tbmap"
        os.mkfifo(path)
    with pytest.raises(MapError, match="is not a regular file"):
        open_map(path)
