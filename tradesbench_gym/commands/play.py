"""`tradesbench play`: a person answers the phone in a terminal, and is compared with the oracle.

It carries lines between a person and a run and knows no rule: prompts and replies are
`wrappers.text_phone`'s matter, words to the person `play_words`'. In a file every answer is kept
before the next prompt is shown.
"""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType

from tradesbench_gym.commands import summary
from tradesbench_gym.commands.options import (
    DaysOption,
    JsonOption,
    StartOption,
    open_with,
    salt_number,
)
from tradesbench_gym.commands.play_words import (
    ASK,
    NO_UNDO,
    RULE,
    WHAT_TO_TYPE,
    Typed,
    compared,
    greeting,
    stands,
    typed,
)
from tradesbench_gym.company.play import play as play_out
from tradesbench_gym.company.play import results
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.envs.rendering import board
from tradesbench_gym.errors import INTERRUPTED, StateError, TradesBenchError
from tradesbench_gym.policies import Decision, make_policy
from tradesbench_gym.world import World
from tradesbench_gym.wrappers.text_phone import Phone

FIRST_SEED = 5
YOU = "you"
Run = Simulation | World


def play(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A world file to play on with.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help=f"Number of the run; {FIRST_SEED} if not given.")
    ] = None,
    days: DaysOption = None,
    scenario: Annotated[
        str | None, typer.Option(help="A scenario's name or file; sunridge if not given.")
    ] = None,
    map_name: Annotated[
        str | None, typer.Option("--map", help="A map's name or file; phoenix if not given.")
    ] = None,
    start_date: StartOption = None,
    salt: Annotated[
        str | None, typer.Option(help="The secret number of a sealed run, decimal or 0x....")
    ] = None,
    world: Annotated[
        Path | None, typer.Option(help="Keep the run in this new file, to be played on later.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Answer the phone yourself, and see what the oracle makes of the same run.

    Every call is shown in the words that a model gets, and answered in one line. With --json the
    conversation goes to standard error and money is in whole cents. Ctrl-C stops as quit does.

    Example: tradesbench play --seed 7 --world mine.sqlite

    Example: tradesbench play mine.sqlite
    """
    if file is not None:
        new = {"seed": seed, "days": days, "scenario": scenario, "start-date": start_date}
        _refuse_beside_file(file, {**new, "salt": salt, "world": world})
        opened: AbstractContextManager[Run] = World.open(file, map=map_name)
    else:
        business = open_with(scenario or "sunridge", map_name or "phoenix", days, start_date)
        begun = (FIRST_SEED if seed is None else seed, salt_number(salt or "0"))
        opened = _begun(world, business, *begun, map_name)
    with opened as run:
        quit_by = _answer(run, file or world, as_json=as_json)
    if quit_by == INTERRUPTED:
        raise typer.Exit(INTERRUPTED)


def _refuse_beside_file(file: Path, given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value is not None:
            raise StateError(
                f"{file} says which run it is of: leave --{name} out, or the file",
                code="run_named_twice",
                field=name,
            )


def _begun(
    world: Path | None, business: Any, seed: int, salt: int, map_name: str | None
) -> AbstractContextManager[Run]:
    if world is None:
        return nullcontext(Simulation(seed, salt=salt, business=business))
    return World.create(
        world,
        seed,
        salt=salt,
        scenario=business.scenario,
        map=map_name or "phoenix",
        days=business.days,
        start_date=business.start_date,
    )


class _Terminal:
    """Where the person sits: what is said goes to standard error if results are for a machine."""

    def __init__(self, *, for_machine: bool) -> None:
        self._error = for_machine
        self._typing = sys.stdin.isatty() and sys.stdout.isatty() and not for_machine
        if self._typing:
            with suppress(ImportError):  # arrow keys and history, where there are any
                import readline  # noqa: F401 - input() uses it once it is loaded

    def say(self, text: str) -> None:
        typer.echo(text, err=self._error)

    def show(self, picture: RenderableType) -> None:
        Console(markup=False, emoji=False, stderr=self._error).print(picture)

    def ask(self) -> str | None:
        """The next line; None at the end of what there is to read."""
        if self._typing:
            try:
                return input(ASK)
            except EOFError:
                self.say("")
                return None
        typer.echo(ASK, nl=False, err=self._error)
        line = sys.stdin.readline()
        self.say("")
        return line or None


def _answer(run: Run, file: Path | None, *, as_json: bool) -> int | None:
    """Let a person play the run; the exit status if the run was broken off."""
    terminal = _Terminal(for_machine=as_json)
    simulation, left_with = _simulation_of(run), None
    terminal.say(greeting(simulation.business, file))
    try:
        finished = _converse(run, Phone(simulation), terminal)
    except KeyboardInterrupt:
        finished, left_with = False, INTERRUPTED
        terminal.say("")
    if not finished:
        terminal.say(stands(simulation, file))
    _tell_results(simulation, finished=finished, as_json=as_json)
    return left_with


def _converse(run: Run, phone: Phone, terminal: _Terminal) -> bool:
    """Call after call; whether the run was played to its end."""
    if int(run.record["phoned"]) >= 0:  # left while a customer was cancelling
        run.acknowledge()
    if run.line is None and not run.ended:
        run.next_call()
    while run.line is not None:
        prompt = phone.ring()
        terminal.say(f"\n{RULE}\n{prompt}")
        if not _answer_one(run, phone, prompt, terminal):
            return False
        run.next_call()
    terminal.say(f"\n{RULE}\n{phone.ring()}")
    return True


def _answer_one(run: Run, phone: Phone, prompt: str, terminal: _Terminal) -> bool:
    """Ask until the call on the line has been answered; whether it was."""
    while (line := terminal.ask()) is not None:
        asked = typed(line)
        if asked is Typed.QUIT:
            return False
        if asked is None:
            try:
                _give(run, phone.read(line))
            except TradesBenchError as wrong:
                said = wrong.message.rstrip(".")
                terminal.say(f"{said[:1].upper()}{said[1:]}.")
                continue
            return True
        if asked is Typed.BOARD:
            terminal.show(board(phone.business, run.desk))
        else:
            words = {Typed.HELP: WHAT_TO_TYPE, Typed.RULES: phone.rules, Typed.UNDO: NO_UNDO}
            terminal.say(words.get(asked, prompt))
    return False


def _give(run: Run, offer: Decision | None) -> None:
    if offer is None:
        run.reject()
    else:
        run.offer(*offer)


def _simulation_of(run: Run) -> Simulation:
    return run.simulation if isinstance(run, World) else run


def _tell_results(simulation: Simulation, *, finished: bool, as_json: bool) -> None:
    yours, oracles = results(simulation), None
    if finished:
        same = simulation.record
        twin = Simulation(int(same["seed"]), salt=int(same["salt"]), business=simulation.business)
        oracles = play_out(twin, make_policy("oracle"))
    if as_json:
        found = summary.as_json(simulation, YOU, interrupted=not finished)
        found["oracle"] = None if oracles is None else oracles.as_dict()
        typer.echo(json.dumps(found, indent=2))
        return
    summary.print_summary(simulation, YOU, with_days=True)
    if oracles is not None:
        typer.echo(f"\n{compared(yours, oracles)}")
