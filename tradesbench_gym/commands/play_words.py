"""What is said to a person who answers the phone: greeting, help, refusals, the comparison.

Words only; what is typed is told apart here, and `play` does it.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from tradesbench_gym.company.business import Business
from tradesbench_gym.company.play import Results
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.envs.wording import dollars
from tradesbench_gym.wrappers.text_prompt import WIDTH, wrapped

ASK = "> "
RULE = "-" * WIDTH
WHAT_TO_TYPE = """\
book NAME YYYY-MM-DD HH:MM  offer the caller a technician, a day and a window
reject                      turn the caller away
again                       show this call once more
board                       show the whole board
rules                       read what the company's handbook says
help                        this list
quit                        stop here"""
NO_UNDO = (
    "An answer cannot be taken back: the caller has heard it, and what is booked stays as it is."
)
_COUNTS = (
    ("completed", "jobs completed"),
    ("missed", "appointments missed"),
    ("failed", "failed visits"),
    ("cancelled", "cancelled"),
    ("calls", "calls"),
    ("declined", "offers declined"),
    ("rejected", "calls rejected"),
)


class Typed(Enum):
    """What a line means that is no answer to the call."""

    HELP = ("help", "h", "?", "")
    RULES = ("rules", "handbook")
    AGAIN = ("again", "show")
    BOARD = ("board",)
    UNDO = ("undo", "back", "take back", "unbook", "cancel")
    QUIT = ("quit", "q", "exit", "stop")


def typed(line: str) -> Typed | None:
    """What a line means; None if it is to be read as an answer.

    >>> typed(" Undo ")
    <Typed.UNDO: ('undo', 'back', 'take back', 'unbook', 'cancel')>
    >>> typed("reject") is None
    True
    """
    said = " ".join(line.lower().split())
    return next((kind for kind in Typed if said in kind.value), None)


def greeting(business: Business, file: Path | None) -> str:
    """The first lines."""
    first = business.date_of(0)
    last = business.date_of(business.days - 1)
    kept = f"Every answer is kept in {file}."
    if file is None:
        kept = "Nothing is kept once you quit: --world FILE would keep every answer."
    head = f"You answer the phone of {business.scenario.company} from {first} to {last}. {kept}"
    return f"{wrapped(head)}\n\n{WHAT_TO_TYPE}"


def stands(simulation: Simulation, file: Path | None) -> str:
    """Where a run was left, and how to go on."""
    moment = simulation.business.clock_text(int(simulation.record["clock"]))
    line = simulation.line
    waiting = "" if line is None else f" with call {line} on the line"
    if file is None:
        return f"You stopped at {moment}{waiting}; nothing was kept."
    return f"You stopped at {moment}{waiting}; to play on: tradesbench play {file}"


def compared(yours: Results, oracles: Results) -> str:
    """Your results beside those of the oracle on the same run."""
    rows = [("", "you", "oracle"), _money("profit", yours.profit, oracles.profit)]
    rows += [(said, f"{getattr(yours, n)}", f"{getattr(oracles, n)}") for n, said in _COUNTS]
    rows.append(_money("lowest cash", yours.lowest_cash, oracles.lowest_cash))
    if yours.bankrupt_on or oracles.bankrupt_on:
        days = (yours.bankrupt_on or "no", oracles.bankrupt_on or "no")
        rows.append(("bankrupt on day", f"{days[0]}", f"{days[1]}"))
    table = "\n".join(f"{name:<22}{one:>14}{other:>14}".rstrip() for name, one, other in rows)
    return f"{table}\n\n{_verdict(yours.profit - oracles.profit)}"


def _money(name: str, yours: int, oracles: int) -> tuple[str, str, str]:
    return name, dollars(yours), dollars(oracles)


def _verdict(cents: int) -> str:
    if cents == 0:
        return "You earned what the oracle did, to the cent."
    word = "more" if cents > 0 else "less"
    return f"You earned {dollars(abs(cents))} {word} than the oracle did on the same run."
