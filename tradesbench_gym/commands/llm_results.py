"""What a model's runs came to, beside the oracle's on the same seeds: for people and for machines.

Every run is shown, finished or not; means and the difference to the oracle are of finished ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tradesbench_gym.commands.llm_run import LlmRun, Tokens
from tradesbench_gym.company.business import Business
from tradesbench_gym.report import writing
from tradesbench_gym.report.published import DAYS, ORACLE
from tradesbench_gym.report.runs import Played, play_all
from tradesbench_gym.report.statistics import Spread, Unit, spread, spreads
from tradesbench_gym.report.table import published_notes, results_tables

_MINUTE = 60


def finished(runs: Sequence[LlmRun]) -> list[LlmRun]:
    """The runs that were played to their end."""
    return [run for run in runs if run.unfinished is None and run.results is not None]


def oracle_runs(business: Business, runs: Sequence[LlmRun]) -> list[Played]:
    """The oracle on the seeds of the finished runs, in their order."""
    seeds = [run.seed for run in finished(runs)]
    return play_all(business, [ORACLE], seeds, workers=1) if seeds else []


def difference(runs: Sequence[LlmRun], oracle: Sequence[Played]) -> Spread:
    """Profit of the model less that of the oracle, seed by seed, in cents."""
    mine = [run.results.profit for run in finished(runs) if run.results is not None]
    pairs = zip(mine, oracle, strict=True)
    return spread(profit - played.results.profit for profit, played in pairs)


def as_json(
    business: Business, about: dict[str, Any], runs: Sequence[LlmRun], oracle: Sequence[Played]
) -> dict[str, Any]:
    """Everything that `print_results` shows; money in whole cents, tokens null if unknown."""
    return {
        **about,
        "business": business.identity,
        "runs": [run.as_dict() for run in runs],
        "oracle": [played.results.as_dict() for played in oracle],
        "profit_less_oracle": difference(runs, oracle).as_dict(),
        "tokens": total(runs).as_dict(),
    }


def total(runs: Sequence[LlmRun]) -> Tokens:
    """Tokens of all runs."""
    every = [run.tokens for run in runs]
    names = ("prompt", "completion", "cached", "reported", "replies")
    return Tokens(**{name: sum(getattr(tokens, name) for tokens in every) for name in names})


def print_results(
    business: Business,
    model: str,
    runs: Sequence[LlmRun],
    oracle: Sequence[Played],
    console: Console,
) -> None:
    """Tables of every run, and of the model's finished runs beside the oracle's."""
    console.print(_runs_table(model, runs, oracle))
    for run in runs:
        if run.unfinished is not None:
            where = f" at {run.moment}" if run.moment else ""
            console.print(f"seed {run.seed} is unfinished{where}: {run.unfinished}", markup=False)
    console.print(tokens_line(total(runs)))
    done = finished(runs)
    if not done:
        console.print("No run was finished, so there is nothing to compare with the oracle.")
        return
    played = [
        Played(model, run.results, run.fixed_costs) for run in done if run.results is not None
    ]
    comparable = business.days == DAYS
    columns = {escape(model): spreads(played), f"{ORACLE} ": spreads(oracle)}
    for table in results_tables(columns, console, published=comparable):
        console.print()
        console.print(table)
    console.print()
    console.print(_difference_line(difference(runs, oracle)))
    for note in published_notes() if comparable else ():
        console.print(note, style="dim", markup=False)


def tokens_line(tokens: Tokens) -> str:
    """How many tokens were used, as far as the endpoint said."""
    if tokens.replies == 0:
        return "Tokens: no reply came, so none were reported."
    if tokens.reported == 0:
        return "Tokens: the endpoint reported none, so they are unknown."
    part = (
        ""
        if tokens.reported == tokens.replies
        else f" (reported for {tokens.reported:,} of {tokens.replies:,} replies)"
    )
    return (
        f"Tokens: {tokens.prompt:,} of prompts, {tokens.cached:,} of them cached, "
        f"{tokens.completion:,} of replies{part}."
    )


def _runs_table(model: str, runs: Sequence[LlmRun], oracle: Sequence[Played]) -> Table:
    table = Table(
        title=escape(model), box=box.SIMPLE_HEAD, title_justify="left", show_edge=False, padding=0
    )
    heads = ("seed", "profit", "oracle", "calls", "done", "missed", "reminders", "unanswered")
    for head in (*heads, "minutes"):
        table.add_column(head, justify="right", no_wrap=True)
    base = {played.results.seed: played.results.profit for played in oracle}
    for run in runs:
        came_to = run.results
        star = "" if run.unfinished is None else "*"
        table.add_row(
            f"{run.seed}{star}",
            writing.exact(None if came_to is None else came_to.profit, Unit.CENTS),
            writing.exact(base.get(run.seed), Unit.CENTS),
            *(
                writing.exact(None if came_to is None else getattr(came_to, name), Unit.COUNT)
                for name in ("calls", "completed", "missed")
            ),
            str(run.reminders),
            str(run.unanswered),
            f"{run.seconds / _MINUTE:.1f}",
        )
    if any(run.unfinished is not None for run in runs):
        table.caption, table.caption_justify = "* unfinished: as far as it came", "left"
    return table


def _difference_line(less: Spread) -> str:
    mean = writing.rounded(less.mean, Unit.CENTS)
    error = "" if less.error is None else f" ± {writing.rounded(less.error, Unit.CENTS)} (s.e.)"
    seeds = "1 seed" if less.count == 1 else f"{less.count} seeds"
    return f"Profit less the oracle's on the same seed: {mean}{error}, mean of {seeds}."
