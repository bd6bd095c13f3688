"""`tradesbench`, the command line: which commands there are, and what all of them have in common.

A command's module is imported when the command is called, so that `--help` comes at once. Errors
that the package foresaw leave here as one sentence and exit status 2, Ctrl-C as 130. This module
knows nothing of what a command does.
"""

from __future__ import annotations

import inspect
import os
import sys
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from tradesbench_gym import __version__
from tradesbench_gym.errors import INTERRUPTED, REFUSED, TradesBenchError


class Place(NamedTuple):
    """Where a command is written, and the line that `--help` shows of it."""

    module: str
    name: str
    line: str


COMMANDS = {
    "run": Place(
        "tradesbench_gym.commands.run",
        "run",
        "Play one run live in the terminal and print what came of it.",
    ),
    "bench": Place(
        "tradesbench_gym.commands.bench",
        "bench",
        "Play policies on many seeds and print the results beside the report's.",
    ),
    "llm": Place(
        "tradesbench_gym.commands.llm",
        "llm",
        "Let a model at an OpenAI-compatible endpoint play runs, and compare it with the oracle.",
    ),
    "play": Place(
        "tradesbench_gym.commands.play",
        "play",
        "Answer the phone yourself, and see what the oracle makes of the same run.",
    ),
    "resume": Place(
        "tradesbench_gym.commands.resume",
        "resume",
        "Play the run of a world file on to its end, whoever played it so far.",
    ),
    "replay": Place(
        "tradesbench_gym.commands.replay",
        "replay",
        "Step through the run of a world file.",
    ),
    "audit": Place(
        "tradesbench_gym.commands.audit",
        "audit",
        "Play the run of a world file again and prove every row of it.",
    ),
    "regret": Place(
        "tradesbench_gym.commands.regret",
        "regret",
        "Price each answer of a world file's run, or search the best run in hindsight.",
    ),
    "serve": Place(
        "tradesbench_gym.commands.serve",
        "serve",
        "Serve the run of a world file over HTTP: the company to an agent, the run to its driver.",
    ),
    "docs": Place(
        "tradesbench_gym.commands.docs",
        "docs",
        "Write docs/ into a folder: the reference of the company's API, and its HANDBOOK.md.",
    ),
    "diff": Place(
        "tradesbench_gym.commands.diff", "diff", "Name the first event in which two runs part."
    ),
    "explain": Place(
        "tradesbench_gym.commands.explain",
        "explain",
        "Show the draws behind one call: identity, words, threshold, outcome.",
    ),
    "report": Place(
        "tradesbench_gym.commands.report",
        "report",
        "Write one HTML page about one run or several.",
    ),
    "analyse": Place(
        "tradesbench_gym.commands.analyse",
        "analyse",
        "Show where the gap to the oracle comes from, who accepted, and what was risked.",
    ),
    "calibrate": Place(
        "tradesbench_gym.commands.calibrate",
        "calibrate",
        "Play the report's policies and compare their figures with the accepted bands.",
    ),
    "harness": Place(
        "tradesbench_gym.commands.harness",
        "harness_app",
        "Let an agent run the company, shut in, day by day, and keep what came of it.",
    ),
    "results": Place(
        "tradesbench_gym.commands.results",
        "results",
        "Print the results of every run given, with means and the difference to the oracle.",
    ),
    "verify": Place(
        "tradesbench_gym.commands.verify",
        "verify",
        "Replay the run of a folder and prove its score and everything that is told of it.",
    ),
    "map": Place("tradesbench_gym.roads.cli", "map_app", "Inspect, draw and build road maps."),
}


class _Commands(TyperGroup):
    """The group of `COMMANDS`: only their lines until one of them is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, place in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=place.line)

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = _load(args[0])
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except TradesBenchError as error:
            typer.echo(f"error: {error.message}", err=True)
            raise typer.Exit(REFUSED) from None
        except BrokenPipeError:  # whoever read along has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except OSError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(REFUSED) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None


def _load(name: str) -> Any:
    place = COMMANDS[name]
    found = getattr(import_module(place.module), place.name)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False)
        alone.command(name)(found)
        found = alone
    command = typer.main.get_command(found)
    for one in (command, *getattr(command, "commands", {}).values()):
        one.help = _flowing(one.help)
    return command


def _flowing(text: str | None) -> str | None:
    """Help whose paragraphs are a line each: the terminal's width breaks them, not the source's."""
    if text is None:
        return None
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


app = typer.Typer(
    name="tradesbench",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tradesbench {__version__}")
        raise typer.Exit


@app.callback(epilog="Example: tradesbench run --policy oracle --seed 5")
def about(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """A small service company to run: play it, compare policies, look into what happened."""
    del version  # its callback has answered already


def main() -> None:
    """Entry point of the `tradesbench` script."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a sign of the board, or a file whose name is no text, shows a
        # question mark, and no traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app(prog_name="tradesbench")
