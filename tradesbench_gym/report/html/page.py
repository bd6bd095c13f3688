"""The page itself: facts and figures laid into one HTML file that needs nothing else.

Jinja2 is loaded only here. Plotly's smallest official bundle, plotly.js-basic-dist-min, lies beside
this module as it is published, with its licence: a quarter of the whole, so that a page opens at
once. Everything from a file is escaped: by Jinja2 in the text, as JSON in the data; and the page's
own policy lets it fetch nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

from tradesbench_gym import __version__
from tradesbench_gym.errors import StateError
from tradesbench_gym.report.html import comparing, demand, money
from tradesbench_gym.report.html.calendar import day_figure
from tradesbench_gym.report.html.chains import chains_of
from tradesbench_gym.report.html.facts import Run
from tradesbench_gym.report.html.palette import (
    DOINGS,
    ENTRIES,
    FATES,
    STATES,
    TEMPLATES,
    legend_of,
    legend_of_symbols,
)
from tradesbench_gym.report.html.replaying import ground_of, looks_of_states, replay_of
from tradesbench_gym.report.html.tables import table_of_names, table_of_run
from tradesbench_gym.report.html.words import date_of, moment_of
from tradesbench_gym.report.html.words import money as dollars
from tradesbench_gym.report.statistics import METRICS

MOST_DETAILED = 10
"""Runs shown in full unless asked otherwise: each adds about half a megabyte."""
PLOTLY = "plotly-basic.min.js"


def render(runs: Sequence[Run], *, most: int = MOST_DETAILED) -> str:
    """The page about some runs, the first `most` of them in full.

    Raises:
        StateError: Jinja2 is not installed.

    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise StateError(
            "the page needs Jinja2: pip install 'tradesbench-gym[report]'",
            code="report_missing",
        ) from None
    detailed = runs[:most]
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page: str = environment.get_template("page.html.j2").render(
        title=_title(runs),
        heading=_title(runs) if len(runs) > 1 else runs[0].business.scenario.company,
        runs=[_about(run) for run in detailed],
        left_out=[f"{run.name}, seed {run.seed}" for run in runs[most:]],
        comparison=_comparison(runs) if len(runs) > 1 else None,
        attributions=sorted({run.business.roadmap.attribution for run in runs} - {"", "none"}),
        version=__version__,
        data=_data(runs, detailed),
        style=_text("page.css"),
        scripts=[_text(name) for name in ("page.js", "replay.js")],
        plotly=_text(PLOTLY),
        legends=_legends(runs),
    )
    return page


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _title(runs: Sequence[Run]) -> str:
    company = runs[0].business.scenario.company
    if len(runs) == 1:
        return f"{company}: {runs[0].name}, seed {runs[0].seed}"
    return f"{company}: {len(runs)} runs"


def _about(run: Run) -> dict[str, Any]:
    """What the template says of a run in words."""
    business = run.business
    return {
        "name": run.name,
        "seed": run.seed,
        "sealed": run.sealed,
        "file": "/".join(run.path.parts[-2:]),
        "company": business.scenario.company,
        "scenario": business.scenario.name,
        "map": business.roadmap.name,
        "length": business.days,
        "first": date_of(run, 0),
        "year": business.start_date.year,
        "digest": run.digest,
        "profit": dollars(run.results.profit, sign=True),
        "status": _status(run),
        "bankrupt": run.bankrupt,
        "ended": run.ended,
        "calls": len(run.calls),
        "offers": sum(call.offer is not None for call in run.calls),
        "days": [{"number": day.number, "text": _day_text(run, day.number)} for day in run.days],
        "table": table_of_run(run),
        "chains": chains_of(run),
    }  # fmt: skip


def _status(run: Run) -> str:
    if run.bankrupt:
        return f"Bankrupt on day {run.results.bankrupt_on} of {run.business.days}"
    if run.ended:
        return f"Ended after {run.business.days} days"
    if not run.days:
        return f"Not begun: day 1 of {run.business.days} has not opened"
    standing = f"Unfinished: it stands at {moment_of(run, run.clock)}, day {len(run.days)} of "
    return f"{standing}{run.business.days}" + (f"; {run.waiting}" if run.waiting else "")


def _day_text(run: Run, day: int) -> str:
    jobs = len(run.jobs_on(day))
    return f"{date_of(run, day)} · {jobs} {'job' if jobs == 1 else 'jobs'}"


def _comparison(runs: Sequence[Run]) -> dict[str, Any]:
    names = comparing.names_of(runs)
    return {
        "table": table_of_names(runs),
        "first": names[0],
        "labels": [METRICS[key].label for key in comparing.COMPARED],
        "pairs": comparing.pairs_of(runs) if len(names) > 1 else [],
        "over": sum(run.ended for run in runs),
        "unfinished": [f"{run.name}, seed {run.seed}" for run in runs if not run.ended],
        "runs": [
            {
                "name": run.name,
                "seed": run.seed,
                "status": _status(run),
                "profit": dollars(run.results.profit, sign=True),
                "completed": run.results.completed,
                "missed": run.results.missed,
                "calls": run.results.calls,
            }
            for run in runs
        ],
    }


def _legends(runs: Sequence[Run]) -> dict[str, Any]:
    states = list(STATES.values())
    finished = [STATES[state] for state in STATES if STATES[state].word not in
                ("on the way", "waits on site")]  # fmt: skip
    return {
        "names": comparing.legend_of_names(runs),
        "entries": legend_of(list(ENTRIES.values())),
        "fates": legend_of(list(FATES.values())),
        "calendar": legend_of([*DOINGS.values(), *finished]),
        "states": legend_of_symbols(states),
    }


def _data(runs: Sequence[Run], detailed: Sequence[Run]) -> dict[str, Any]:
    """What the page's scripts work with."""
    grounds = {run.business.roadmap.digest: run.business for run in detailed}
    return {
        "templates": TEMPLATES,
        "states": looks_of_states(),
        "grounds": {digest: ground_of(business) for digest, business in grounds.items()},
        "comparison": comparing.profit_figure(runs) if len(runs) > 1 else None,
        "runs": [
            {
                "ground": run.business.roadmap.digest,
                "figures": {
                    "cash": money.cash_figure(run),
                    "ledger": money.ledger_figure(run),
                    "demand": demand.demand_figure(run),
                    "routine": demand.routine_figure(run),
                    "urgent": demand.urgent_figure(run),
                },
                "days": [day_figure(run, day.number) for day in run.days],
                "replay": replay_of(run),
            }
            for run in detailed
        ],
    }
