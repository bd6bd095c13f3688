"""`python -m tradesbench_gym.calibrate`: the calibration table as a program of its own.

Only the way in and out of `commands.calibrate`: it knows nothing of bands or runs.
"""

from __future__ import annotations

import sys

import typer

from tradesbench_gym.commands.calibrate import calibrate
from tradesbench_gym.errors import TradesBenchError


def main() -> None:
    """Run the command; a foreseen error is one sentence on stderr and status 2."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(calibrate)
    try:
        app(prog_name="python -m tradesbench_gym.calibrate")
    except TradesBenchError as error:
        typer.echo(f"error: {error.message}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
