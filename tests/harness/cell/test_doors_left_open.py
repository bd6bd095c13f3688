"""The check is checked: with one wall left out, or one door left open, the pre-flight finds it.

Each case says which attempt must get through; with everything in place the same attempt is held.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.harness.cell.cells import NEEDS_ROOT, PATH, Site, company
from tradesbench_gym.harness.cell import (
    Doors,
    IsolatedCell,
    NotIsolatedError,
    Private,
    Probe,
    isolated,
    open_cell,
)
from tradesbench_gym.harness.cell import hidden as hidden_module
from tradesbench_gym.harness.cell.hidden import source_folders
from tradesbench_gym.harness.cell.room.spec import Walls

pytestmark = [NEEDS_ROOT, pytest.mark.slow]

KEY = b"sk-provider-0123456789"


def loose(
    cell: IsolatedCell, private: Private, env: Mapping[str, str] | None = None
) -> list[Probe]:
    """The attempts that got through."""
    try:
        cell.preflight(private, env)
    except NotIsolatedError as error:
        return [one for one in error.probes if not one.held]
    return []


def names(found: list[Probe]) -> set[str]:
    return {one.name for one in found}


@pytest.mark.parametrize(
    ("missing", "found_by"),
    [
        ("network", {"reach a server of the host", "reach a socket by name"}),
        ("pids", {"signal the engine"}),
        ("ipc", {"share memory with the host"}),
        ("names", {"learn of the host"}),
        ("files", {"read the source", "look into the installation"}),
        ("private_tmp", {"read what all users of the host can"}),
        ("private_proc", {"see other people's processes"}),
        ("calls", {"make any kernel call", "use another family of sockets"}),
        ("user", {"be who it should"}),
        ("capabilities", {"have capabilities"}),
        ("no_new_privileges", {"gain privileges"}),
        ("limits", {"take more than its share"}),
        ("descriptors", {"inherit open files"}),
        ("session", {"belong to the engine's session"}),
    ],
)
def test_a_wall_left_out_is_found(place: Site, missing: str, found_by: set[str]) -> None:
    walls = replace(Walls(), **{missing: False})
    with IsolatedCell(place.workspace, place.doors, walls=walls) as cell:
        assert found_by <= names(loose(cell, Private(paths=(place.private(),))))


def test_an_inherited_keyring_is_found_where_calls_are_not_filtered(place: Site) -> None:
    walls = Walls(keys=False, calls=False)
    with IsolatedCell(place.workspace, place.doors, walls=walls) as cell:
        assert "read the engine's keys" in names(loose(cell, Private()))


def test_a_keyring_of_its_own_is_empty_even_where_calls_are_not_filtered(place: Site) -> None:
    with IsolatedCell(place.workspace, place.doors, walls=Walls(calls=False)) as cell:
        assert "read the engine's keys" not in names(loose(cell, Private()))


def test_a_group_that_was_kept_is_found(place: Site) -> None:
    kept = os.getgroups()
    os.setgroups([0, 4])
    try:
        with IsolatedCell(place.workspace, place.doors, walls=Walls(groups=False)) as cell:
            assert "have groups" in names(loose(cell, Private()))
    finally:
        os.setgroups(kept)


def test_an_installation_in_a_folder_that_is_shown_is_covered(
    place: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the package lies below /usr: the folder is shown, the package in it is not."""
    shown, packages = tmp_path / "prefix", tmp_path / "prefix" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "sunridge.toml").write_text("[demand]\n", encoding="utf-8")
    everything = (*hidden_module.hidden_folders(), packages)
    monkeypatch.setattr(isolated, "hidden_folders", lambda: everything)
    for walls, expected in (
        (Walls(), set()),
        (Walls(covers=False), {"search all that can be seen"}),
    ):
        with IsolatedCell(place.workspace, place.doors, readable=(shown,), walls=walls) as cell:
            assert names(loose(cell, Private())) == expected


def world_for_everybody(place: Site, held: ExitStack) -> Private:
    """A world file that every user of the host may read, in a folder they may enter."""
    del place
    shared = Path(held.enter_context(tempfile.TemporaryDirectory()))
    shared.chmod(0o755)
    world = shared / "world.sqlite"
    world.write_text("everything", encoding="utf-8")
    world.chmod(0o644)
    return Private(paths=(world,))


def secret_in_workspace(place: Site, _held: ExitStack) -> Private:
    """The provider's key in a file of the workspace."""
    (place.workspace / "notes").write_bytes(b"key: " + KEY)
    return Private(values=(KEY,))


def hard_link_in_workspace(place: Site, _held: ExitStack) -> Private:
    """The world file under another name in the workspace."""
    world = place.private()
    (place.workspace / "innocent.txt").hardlink_to(world)
    return Private(paths=(world,))


def scenario_in_workspace(place: Site, _held: ExitStack) -> Private:
    """A copy of the scenario under an innocent name."""
    scenario = next(source_folders()[0].rglob("sunridge.toml"))
    (place.workspace / "prices.txt").write_bytes(scenario.read_bytes())
    return Private()


def world_in_workspace(place: Site, _held: ExitStack) -> Private:
    """The run's own folder, with its world, inside the workspace."""
    inside = place.workspace / "world.sqlite"
    inside.write_text("everything", encoding="utf-8")
    return Private(paths=(inside,))


def driver_in_workspace(place: Site, held: ExitStack) -> Private:
    """The driver's socket where the agent can reach it."""
    path = place.workspace / "driver.sock"
    driver = held.enter_context(socket.socket(socket.AF_UNIX))
    driver.bind(str(path))
    driver.listen()
    path.chmod(0o777)
    return Private(sockets=(path,))


@pytest.mark.parametrize(
    ("opening", "found_by"),
    [
        (world_for_everybody, "read a private file without walls"),
        (secret_in_workspace, "find a key or token"),
        (hard_link_in_workspace, "search all that can be seen"),
        (scenario_in_workspace, "search all that can be seen"),
        (world_in_workspace, "read a private file"),
        (driver_in_workspace, "reach the driver"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_door_left_open_is_found(
    place: Site, opening: Callable[[Site, ExitStack], Private], found_by: str
) -> None:
    with ExitStack() as held:
        private = opening(place, held)
        with open_cell(place.workspace, place.doors) as cell:
            assert found_by in names(loose(cell, private))


def test_a_key_in_the_environment_is_found_and_refused_ever_after(place: Site) -> None:
    env = {**PATH, "OPENAI_API_KEY": KEY.decode()}
    with open_cell(place.workspace, place.doors) as cell:
        found = loose(cell, Private(values=(KEY,)), env=env)
        assert names(found) == {"find a key or token"}
        with pytest.raises(Exception, match="OPENAI_API_KEY would hand the agent a key"):
            cell.popen(["true"], env)


def test_a_second_port_that_leads_out_is_found(place: Site) -> None:
    with company() as other, open_cell(place.workspace, Doors(place.port, other)) as cell:
        cell.ports = Doors(place.port)  # what the driver believes
        found = loose(cell, Private())
        assert names(found) == {"reach a server of the host"}
        assert str(other) in found[0].said


@pytest.mark.parametrize("shown", ["scenario", "site-packages", "other workspace"])
def test_a_folder_shown_by_mistake_is_found(place: Site, tmp_path: Path, shown: str) -> None:
    scenario = next(source_folders()[0].rglob("sunridge.toml"))
    other = tmp_path / "other" / "workspace"
    other.mkdir(parents=True)
    (other / "MEMORY.md").write_text("mine", encoding="utf-8")
    folders = {
        "scenario": scenario.parent,
        "site-packages": source_folders()[0].parent,
        "other workspace": other,
    }
    with open_cell(place.workspace, place.doors, readable=(folders[shown],)) as cell:
        found = names(loose(cell, Private(paths=(other,))))
    if shown == "other workspace":
        assert "read a private file" in found
    elif shown == "scenario":
        assert {"read the source", "search all that can be seen"} <= found
    else:
        # The very folder that holds the package is covered, however it was asked for.
        assert not found


def test_a_company_that_answers_strangers_is_found(place: Site) -> None:
    with (
        company(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") as careless,
        open_cell(place.workspace, Doors(careless)) as cell,
    ):
        assert names(loose(cell, Private(token="t" * 32))) == {"forge a token", "advance time"}


def test_a_door_that_does_not_open_stops_the_run(place: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed = int(taken.getsockname()[1])
    with open_cell(place.workspace, Doors(closed)) as cell:
        assert "the agent can work" in names(loose(cell, Private()))
