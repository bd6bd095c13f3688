"""A run whose file's name is no text, as some systems allow, has its page like any other."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.worlds import tiny_business, tiny_map
from tradesbench_gym.commands.report import report
from tradesbench_gym.policies.load import load_policy
from tradesbench_gym.roads import write_map
from tradesbench_gym.world import World, play_on


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_a_page_is_written_about_a_file_whose_name_is_no_text(tmp_path: Path) -> None:
    map_file, page = tmp_path / "tiny.tbmap", tmp_path / "page.html"
    write_map(map_file, tiny_map())
    path = tmp_path / os.fsdecode(b"na\xffme.sqlite")
    with World.create(path, 7, business=tiny_business(days=1)) as world:
        for _stop in play_on(world, load_policy("oracle")):
            pass
    report([str(path)], output=page, map_name=str(map_file), as_json=True, detailed=1)
    assert "na?me" in page.read_text(encoding="utf-8")
