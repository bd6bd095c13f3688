"""How the commands of this package say what went wrong: one sentence, exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from tradesbench_gym.errors import TradesBenchError


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn errors that the package foresaw into a sentence and exit code 2."""
    try:
        yield
    except TradesBenchError as error:
        typer.echo(f"Error: {error.message}", err=True)
        raise typer.Exit(2) from None
