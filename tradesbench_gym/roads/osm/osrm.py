"""Fastest routes between anchors with OSRM: extract, contract, then its Table over loopback HTTP.

The roads are cut from the extract first, so that OSRM sees the ways of the area and no more. The
module knows OSRM's files and answers; where its programs come from is `osrm_tools`' business.
"""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from tradesbench_gym.errors import MapError
from tradesbench_gym.roads.layout import MICRODEGREES, Int32Array, Int64Array
from tradesbench_gym.roads.osm.osrm_tools import Tools
from tradesbench_gym.roads.osm.reading import load_osmium, readable

BLOCK: Final = 64
START_SECONDS: Final = 120
ANSWER_SECONDS: Final = 600
LOCAL: Final = "127.0.0.1"


def cut_roads(extract: Path, ways: Int64Array, output: Path) -> None:
    """Write the chosen ways of an extract, their nodes and their turn restrictions to `output`."""
    osmium = load_osmium()
    chosen = set(ways.tolist())
    with (
        readable(extract),
        osmium.BackReferenceWriter(
            str(output), ref_src=str(extract), overwrite=True, remove_tags=False
        ) as writer,
    ):
        for way in osmium.FileProcessor(str(extract), osmium.osm.WAY).with_filter(
            osmium.filter.IdFilter(chosen)
        ):
            writer.add_way(way)
        restrictions = osmium.FileProcessor(str(extract), osmium.osm.RELATION).with_filter(
            osmium.filter.TagFilter(("type", "restriction"))
        )
        for relation in restrictions:
            if all(m.ref in chosen for m in relation.members if m.type == "w"):
                writer.add_relation(relation)


class Osrm:
    """OSRM as an engine; its files are made in `folder`, from the ways of an extract."""

    name = "osrm"

    def __init__(
        self, tools: Tools, extract: Path, ways: Int64Array, where: tuple[Int64Array, Int64Array],
        folder: Path, stage: Callable[[str, int, int], None] = lambda *_: None,
    ) -> None:  # fmt: skip
        self.version = tools.version
        self._tools, self._extract, self._ways = tools, extract, ways
        self._lat, self._lon = where
        self._folder, self._stage = folder, stage

    def metres(self, anchors: Int64Array, done: int) -> Iterator[Int32Array]:
        """Rows `done` … of the matrix, some at a time: metres of the fastest routes, rounded up.

        Raises MapError when an anchor cannot be reached or a program of OSRM's fails.
        """
        data = self._prepare()
        port = _free_port()
        log = self._folder / "osrm-routed.log"
        with self._tools.serve(data, port, len(anchors) + BLOCK, log) as server:
            table = _Table(port, self._lat[anchors], self._lon[anchors])
            table.wait(server, log)
            for low in range(done, len(anchors), BLOCK):
                yield table.rows(range(low, min(low + BLOCK, len(anchors))))

    def _prepare(self) -> Path:
        """Cut, extract and contract; what an earlier build finished is taken as it is."""
        data = self._folder / "roads.osrm"
        finished = self._folder / "contracted"
        if finished.is_file():
            return data
        cut = self._folder / "roads.osm.pbf"
        self._stage("osrm", 0, 3)
        cut_roads(self._extract, self._ways, cut)
        self._stage("osrm", 1, 3)
        profile = str(self._tools.profile)
        self._run("osrm-extract", "-p", profile, str(cut))
        self._stage("osrm", 2, 3)
        self._run("osrm-contract", str(data))
        self._stage("osrm", 3, 3)
        finished.touch()
        return data

    def _run(self, program: str, *arguments: str) -> None:
        self._tools.run(program, *arguments, log=self._folder / f"{program}.log")


class _Table:
    """OSRM's table service on one port, for one list of points."""

    def __init__(self, port: int, lat_e6: Int64Array, lon_e6: Int64Array) -> None:
        self._port = port
        self._points = ";".join(
            f"{lon / MICRODEGREES:.6f},{lat / MICRODEGREES:.6f}"
            for lat, lon in zip(lat_e6.tolist(), lon_e6.tolist(), strict=True)
        )

    def wait(self, server: subprocess.Popen[bytes], log: Path) -> None:
        """Until the server answers; raises MapError when it does not."""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            said = log.read_text(errors="replace")
            if "[error]" in said or server.poll() is not None:
                break
            try:
                with socket.create_connection((LOCAL, self._port), timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        last = said.strip().splitlines()[-1:] or ["it said nothing"]
        raise MapError(f"osrm-routed does not answer: {last[0]}", code="engine_failed")

    def rows(self, sources: range) -> Int32Array:
        """Metres from some of the points to all of them."""
        wanted = ";".join(map(str, sources))
        path = (
            f"/table/v1/driving/{self._points}?annotations=distance&generate_hints=false"
            f"&sources={wanted}"
        )
        answer = self._ask(path)
        distances = answer.get("distances")
        if answer.get("code") != "Ok" or not isinstance(distances, list):
            raise MapError(
                f"OSRM's table answered {answer.get('code')}: {answer.get('message', '')}",
                code="engine_failed",
            )
        if any(value is None for row in distances for value in row):
            raise MapError("An anchor cannot be reached by road.", code="map_disconnected")
        metres = np.ceil(np.array(distances, dtype=np.float64) - 1e-6).astype(np.int32)
        metres[np.arange(len(metres)), list(sources)] = 0
        return metres

    def _ask(self, path: str) -> dict[str, Any]:
        connection = http.client.HTTPConnection(LOCAL, self._port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", path)
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise MapError(
                f"osrm-routed gave no answer ({type(error).__name__}).", code="engine_failed"
            ) from error
        finally:
            connection.close()
        return answer


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOCAL, 0))
        return int(probe.getsockname()[1])
