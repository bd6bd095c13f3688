"""`python -m tradesbench_gym.calibrate`: whether our world reproduces the report's figures.

Reads the options, plays, prints the table of bands and says by the exit status whether all hold.
What a band is stands in `report.published`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

import typer
from rich.console import Console

from tradesbench_gym.company.business import Business, open_business
from tradesbench_gym.company.scenario import Scenario, load_scenario
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.report.published import BANDS, FRESH_SEEDS, POLICIES, TUNED_SEEDS
from tradesbench_gym.report.runs import play_all
from tradesbench_gym.report.selection import parse_policies, parse_seeds
from tradesbench_gym.report.statistics import Verdict, judge
from tradesbench_gym.report.table import CALIBRATION_NOTE, calibration_table

_TUNED = f"{TUNED_SEEDS.start}:{TUNED_SEEDS.stop}"
_FRESH = f"{FRESH_SEEDS.start}:{FRESH_SEEDS.stop}"


def calibrate(
    seeds: Annotated[str, typer.Option(help="Seeds the numbers were tuned on.")] = _TUNED,
    fresh: Annotated[
        str,
        typer.Option(metavar="SEEDS", help=f"Fresh seeds to look at as well, such as {_FRESH}."),
    ] = "",
    policies: Annotated[
        str, typer.Option(help="Play only these; the bands of the others are left out.")
    ] = ",".join(POLICIES),
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Try another number of the scenario; repeatable."
        ),
    ] = None,
    scenario: Annotated[str, typer.Option(help="A scenario's name or file.")] = "sunridge",
    map_name: Annotated[str, typer.Option("--map", help="A map's name or file.")] = "phoenix",
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Play the report's policies and compare their figures with the accepted bands.

    Exits 0 if every band holds and 1 otherwise.

    Example: python -m tradesbench_gym.calibrate --fresh 23:46 --set demand.gain=0.1
    """
    chosen = parse_policies(policies)
    wanted = {name: parse_seeds(text) for name, text in _sets(seeds, fresh).items()}
    changed = parse_changes(changes or [])
    business = open_business(load_scenario(scenario).replace(changed), map_name)
    judged = {name: verdicts(business, chosen, numbers) for name, numbers in wanted.items()}
    if as_json:
        typer.echo(json.dumps(_as_json(business, wanted, changed, judged), indent=2))
    else:
        _print(business, changed, judged)
    if any(verdict.holds is False for rows in judged.values() for verdict in rows):
        raise typer.Exit(1)


def verdicts(business: Business, policies: Sequence[str], seeds: Sequence[int]) -> list[Verdict]:
    """Play the policies on the seeds and judge every band that is about one of them."""
    played = play_all(business, policies, seeds)
    return [judge(band, played) for band in BANDS if band.policy in policies]


def parse_changes(texts: Sequence[str]) -> dict[str, Any]:
    """Numbers to change, from `key=value`; a value is written as in a scenario file, or bare.

    >>> parse_changes(["demand.gain=0.1", "calendar.calls_from=07:30"])
    {'demand.gain': Decimal('0.1'), 'calendar.calls_from': '07:30'}

    Raises:
        TradesBenchError: text without an equals sign.

    """
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise TradesBenchError(
                f"a change looks like demand.gain=0.1, and {text!r} does not",
                code="set",
                field="set",
            )
        found[key.strip()] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    try:
        read = tomllib.loads(f"value = {text}", parse_float=Decimal)
    except (ValueError, ArithmeticError):
        return text
    # A second line would smuggle in a second key.
    return read["value"] if list(read) == ["value"] and not _is_clock(read["value"]) else text


def _is_clock(value: object) -> bool:
    return not isinstance(value, bool | int | str | Decimal | list | dict)


def _sets(seeds: str, fresh: str) -> dict[str, str]:
    return {"tuned": seeds} | ({"fresh": fresh} if fresh else {})


def _print(
    business: Business, changed: Mapping[str, Any], judged: Mapping[str, list[Verdict]]
) -> None:
    console = Console(markup=False, emoji=False, highlight=False)
    scenario: Scenario = business.scenario
    console.print(f"Scenario {scenario.name}, map {business.roadmap.name}, {business.days} days")
    for key, value in changed.items():
        console.print(f"with {key} = {value}", markup=False)
    for name, rows in judged.items():
        runs = max((verdict.spread.count for verdict in rows), default=0)
        console.print()
        console.print(calibration_table(f"{name} seeds, {runs} runs a policy", rows, console))
    console.print(CALIBRATION_NOTE, style="dim")
    broken = sum(verdict.holds is False for rows in judged.values() for verdict in rows)
    total = sum(verdict.holds is not None for rows in judged.values() for verdict in rows)
    console.print(f"{total - broken} of {total} bands hold.")


def _as_json(
    business: Business,
    seeds: Mapping[str, list[int]],
    changed: Mapping[str, Any],
    judged: Mapping[str, list[Verdict]],
) -> dict[str, Any]:
    return {
        "business": business.identity,
        "changes": {key: str(value) for key, value in changed.items()},
        "money": "cents",
        "sets": [
            {
                "name": name,
                "seeds": seeds[name],
                "bands": [_band_as_json(verdict) for verdict in rows],
            }
            for name, rows in judged.items()
        ],
    }


def _band_as_json(verdict: Verdict) -> dict[str, Any]:
    band = verdict.band
    return {
        "policy": band.policy,
        "metric": band.metric,
        "report": band.report,
        "section": band.section,
        "judged": band.judged.value,
        "low": band.low,
        "high": band.high,
        **verdict.spread.as_dict(),
        "standard_error": verdict.spread.error,
        "holds": verdict.holds,
    }
