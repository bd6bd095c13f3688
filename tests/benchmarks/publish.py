"""Measure everything in this folder and write it down with the machine it was measured on:

python tests/benchmarks/publish.py docs/benchmarks.md

A benchmark whose `extra_info` has `steps` is told in steps a second, all others as a time. Peers
that are not installed are left out, as their benchmarks are skipped.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COMMAND = "python tests/benchmarks/publish.py docs/benchmarks.md"
PACKAGES = (
    "tradesbench-gym",
    "numpy",
    "numba",
    "gymnasium",
    "stable-baselines3",
    "sb3-contrib",
    "torch",
    "minigrid",
    "highway-env",
    "jumanji",
    "rl4co",
)
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def duration(seconds: float) -> str:
    """A time with three figures: `1.23 ms`."""
    scale, unit = next(pair for pair in _UNITS if seconds >= pair[0] or pair is _UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"


def versions() -> str:
    """Python and every package of the comparison that is installed."""
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def page(measured: dict[str, Any]) -> str:
    """The report of pytest-benchmark as a page of tables, one for each group."""
    machine, when = measured["machine_info"], measured["datetime"][:10]
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in measured["benchmarks"]:
        groups[one["group"] or "other"].append(one)
    cpu = machine.get("cpu", {})
    place = f"{cpu.get('brand_raw', 'a processor')}, {cpu.get('count', '?')} cores"
    parts = [
        "# Benchmarks",
        f"Measured on {when} with `{COMMAND}`, all in one go.",
        f"{place}; {machine['system']} {machine['release']}; {versions()}.",
        "The best round and the median one; a busy machine shows in the distance of the two.",
    ]
    for name, members in sorted(groups.items()):
        parts += [f"## {name[:1].upper()}{name[1:]}", _table(members)]
    return "\n\n".join(parts) + "\n"


def _table(members: list[dict[str, Any]]) -> str:
    in_steps = any("steps" in one["extra_info"] for one in members)
    head = "steps/s, best | steps/s, median" if in_steps else "best | median"
    rows = [f"| what | {head} |", "| --- | ---: | ---: |"]
    for one in sorted(members, key=_label):
        stats, steps = one["stats"], one["extra_info"].get("steps")
        figures = [stats["min"], stats["median"]]
        told = [f"{steps / figure:,.0f}" if steps else duration(figure) for figure in figures]
        rows.append(f"| {_label(one)} | {' | '.join(told)} |")
        for name, (best, usual) in one["extra_info"].get("beside", {}).items():
            rows.append(f"| {name} | {(steps or 1) / best:,.0f} | {(steps or 1) / usual:,.0f} |")
    return "\n".join(rows)


def _label(one: dict[str, Any]) -> str:
    name, _, choices = str(one["name"]).partition("[")
    words = name.removeprefix("test_").replace("_", " ")
    return f"{words}: {choices.rstrip(']')}" if choices else words


def main() -> None:
    """Run every benchmark and write the page."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(f"publish writes one page, whose name it is given: {COMMAND}")
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "measured.json"
        options = ["-m", "bench", f"--benchmark-json={report}", "-q", "-p", "no:xdist"]
        subprocess.run([sys.executable, "-m", "pytest", str(HERE), *options], check=True)
        target.write_text(page(json.loads(report.read_text())), encoding="utf-8")


if __name__ == "__main__":
    main()
