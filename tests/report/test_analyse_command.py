"""`tradesbench analyse` as people type it, on plain world files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tradesbench_gym.cli import app
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.world import World, play_on


def world(path: Path, policy: str, seed: int, days: int = 4, stops: int | None = None) -> Path:
    with World.create(path, seed, days=days) as made:
        for number, _ in enumerate(play_on(made, load_policy(policy, seed=seed))):
            if number == stops:
                break
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two finished runs and one that was left."""
    place = tmp_path_factory.mktemp("worlds")
    return [
        world(place / "all.sqlite", "accept-all", 5),
        world(place / "heavy.sqlite", "reject-heavy", 6),
        world(place / "left.sqlite", "accept-all", 7, stops=30),
    ]


def called(*words: object) -> tuple[int, str]:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["analyse", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def plain(*words: object) -> Any:
    status, said = called(*words, "--json")
    assert status == 0, said
    return json.loads(said)


def test_the_parts_add_up_to_the_difference_of_the_two_profits(files: list[Path]) -> None:
    for run in plain(*files[:2])["runs"]:
        parts = [part["difference_cents"] for part in run["gap"]["parts"].values()]
        assert sum(parts) == run["results"]["profit"] - run["against"]["profit"]


def test_every_part_is_defined(files: list[Path]) -> None:
    found = plain(files[0])
    assert set(found["definitions"]) == set(found["runs"][0]["gap"]["parts"])
    assert all(found["definitions"].values())


def test_the_tables_fit_80_columns_and_name_the_missed_jobs(files: list[Path]) -> None:
    status, said = called(*files)
    assert status == 0
    assert max(map(len, said.splitlines())) <= 80
    for title in ("Where the difference comes from", "Who accepted", "The risk taken"):
        assert title in said
    missed = plain(files[0])["runs"][0]["missed"]
    assert missed
    assert f"call {missed[0]['call']} " in said
    assert "which nobody who plays can see" in " ".join(said.split())


def test_a_run_that_was_left_has_no_gap_yet(files: list[Path]) -> None:
    (run,) = plain(files[2])["runs"]
    assert (run["finished"], run["gap"], run["against"]) == (False, None, None)
    assert run["acceptance"]
    _, said = called(files[2])
    assert "unfinished, at " in said


def test_several_runs_are_added_up(files: list[Path]) -> None:
    found = plain(*files)
    offers = [sum(one["offers"] for one in run["acceptance"]) for run in found["runs"]]
    assert sum(one["offers"] for one in found["acceptance"]) == sum(offers)
    made = [len(run["bookings"]) for run in found["runs"]]
    assert sum(one["bookings"] for one in found["risk"]) == sum(made)
    assert found["difference_cents"]["runs"] == 2
    _, said = called(*files)
    assert "means of the 2 finished runs" in said


def test_another_policy_takes_the_oracle_s_place(files: list[Path]) -> None:
    (run,) = plain(files[0], "--against", "accept-all")["runs"]
    assert run["gap"]["total"]["difference_cents"] == 0
    status, said = called(files[0], "--against", "nobody")
    assert status == 2
    assert "nobody" in said


def test_a_file_that_is_no_world_is_refused(tmp_path: Path) -> None:
    status, said = called(tmp_path / "none.sqlite")
    assert status == 2
    assert said.startswith("error: ")


def test_large_figures_are_shown_to_the_cent_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a long name of a file is cut, and is no figure
    file = world(Path("long.sqlite"), "accept-all", 5, days=14)
    (run,) = plain(file)["runs"]
    _, said = called(file)
    assert "…" not in said
    for part in (*run["gap"]["parts"].values(), run["gap"]["total"]):
        assert not part["calls"] or f"{abs(part['difference_cents']) / 100:,.2f}" in said
    assert max(map(len, said.splitlines())) <= 80
