"""Golden digests: what a few runs come to, byte for byte, under each released version of the rules.

A change of behaviour cannot pass unnoticed: whoever means one raises `RULES_VERSION`, runs

python -m tests.core.golden

and commits the new digests with the change that made them. The runs labelled "frozen" are played on
the tiny map with a copy of the scenario that stands beside this file, so that calibration leaves
them alone; those labelled "shipped" use the scenario and the map that ship, and change with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.worlds import tiny_map
from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core.layout import RULES_VERSION
from tradesbench_gym.core.plan import why_refused
from tradesbench_gym.policies import Decision, make_policy

HERE = Path(__file__).parent
DIGESTS = HERE / "golden.json"
SCENARIO = HERE / "golden.toml"
Run = Callable[[], Simulation]


def _frozen() -> Business:
    return open_business(SCENARIO, tiny_map(), 14, None)


def _run(business: Business, policy: Callable[[Any], Any], seed: int, salt: int = 0) -> Simulation:
    simulation = Simulation(seed, salt=salt, business=business)
    play(simulation, policy)
    return simulation


def careless(desk: Any) -> Decision | None:
    """Anybody, some day soon, at any hour the company lets out: misses, fails and works late."""
    number = int(desk["line"])
    technician, ahead, window = number % 4, number * 7 % 3, number * 5 % 6
    if why_refused(desk.array, 0, technician, ahead, window) != 0:
        return None
    return Decision(technician, ahead, window)


RUNS: dict[str, Run] = {
    "frozen oracle 0": lambda: _run(_frozen(), make_policy("oracle"), 0),
    "frozen oracle 1 sealed": lambda: _run(_frozen(), make_policy("oracle"), 1, salt=12_345),
    "frozen accept-all 2": lambda: _run(_frozen(), make_policy("accept-all"), 2),
    "frozen careless 3": lambda: _run(_frozen(), careless, 3),
    "shipped oracle 5": lambda: _run(open_business(), make_policy("oracle"), 5),
}


def digests() -> dict[str, str]:
    """The digest of the last state of each run."""
    return {name: run().digest() for name, run in RUNS.items()}


def known() -> dict[str, dict[str, str]]:
    """Digests on record, by version of the rules."""
    found: dict[str, dict[str, str]] = json.loads(DIGESTS.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Write the digests of the present version, and leave those of others as they are."""
    table = known() if DIGESTS.exists() else {}
    table[str(RULES_VERSION)] = digests()
    DIGESTS.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
