"""`tradesbench serve`: a world file over HTTP, one server for the agent and one for the driver."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tradesbench_gym.api.listening import PORT_VARIABLE
from tradesbench_gym.commands.options import (
    DaysOption,
    JsonOption,
    SaltOption,
    ScenarioOption,
    SeedOption,
    StartOption,
    salt_number,
)
from tradesbench_gym.commands.world_options import FileArgument
from tradesbench_gym.errors import INTERRUPTED, StateError, needs
from tradesbench_gym.world import World

if TYPE_CHECKING:
    from tradesbench_gym.api.listening import Listener
    from tradesbench_gym.api.office import Office
    from tradesbench_gym.api.tokens import Token

_OF_A_NEW_RUN = ("seed", "days", "scenario", "start_date", "salt")
_MINUTE = 60


NewOption = Annotated[bool, typer.Option("--new", help="Begin a new run in this file.")]
OwnMapOption = Annotated[
    str | None, typer.Option("--map", help="A map's name or file; the run's own if not given.")
]
PortOption = Annotated[
    int,
    typer.Option(
        envvar=PORT_VARIABLE,
        min=0,
        max=65535,
        help="The agent's port on 127.0.0.1; 0: any that is free.",
    ),
]
SocketOption = Annotated[
    Path | None, typer.Option(help="A Unix socket for the agent, in place of the port.")
]
TokenOption = Annotated[
    Path | None,
    typer.Option(
        help="The agent's token, in a file of mode 0600; else $SUNRIDGE_API_TOKEN, else a new one."
    ),
]
ValidOption = Annotated[
    float | None,
    typer.Option("--valid", min=0, help="Minutes for which the agent's token is valid."),
]
DriverPortOption = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="A port for the driver, in place of its socket."),
]
DriverSocketOption = Annotated[
    Path | None,
    typer.Option(help="A Unix socket for the driver; in a private folder if not given."),
]
DriverTokenOption = Annotated[
    Path | None,
    typer.Option(help="The driver's token, likewise; else $SUNRIDGE_DRIVER_TOKEN, or new."),
]


def serve(
    context: typer.Context,
    file: FileArgument,
    new: NewOption = False,
    seed: SeedOption = 5,
    days: DaysOption = None,
    scenario: ScenarioOption = "sunridge",
    map_name: OwnMapOption = None,
    start_date: StartOption = None,
    salt: SaltOption = "0",
    port: PortOption = 8642,
    socket: SocketOption = None,
    token_file: TokenOption = None,
    valid_minutes: ValidOption = None,
    driver_port: DriverPortOption = None,
    driver_socket: DriverSocketOption = None,
    driver_token_file: DriverTokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Serve the run of a world file over HTTP: the company to an agent, the run to its driver.

    The agent's server answers POST /v1/<operation> and can do business and nothing else; the
    driver's, on a socket and with a token of its own, lets time pass. Only this computer is
    listened to. Every command is in the file when it is answered; Ctrl-C or SIGTERM leaves a run
    that can be served again.

    Example: tradesbench serve run5.sqlite --new --seed 5

    Example: tradesbench serve run5.sqlite --socket agent.sock --json
    """
    _check_installed()
    if new:
        _create(file, seed, days, scenario, map_name, start_date, salt)
    else:
        _check_old(context)
    _check_places(context)
    agent = _Side("agent", port if socket is None else None, socket, token_file, valid_minutes)
    driver = _Side("driver", driver_port, driver_socket, driver_token_file)
    stopped_by = _serve(file, None if new else map_name, agent, driver, as_json=as_json)
    if stopped_by == signal.SIGINT:
        raise typer.Exit(INTERRUPTED)


def _create(
    file: Path,
    seed: int,
    days: int | None,
    scenario: str,
    map_name: str | None,
    start_date: str | None,
    salt: str,
) -> None:
    World.create(
        file,
        seed,
        salt=salt_number(salt),
        scenario=scenario,
        map=map_name or "phoenix",
        days=days,
        start_date=start_date,
    ).close()


def _check_old(context: typer.Context) -> None:
    """Raise StateError if an option is given that a run in a file has already settled."""
    for name in _OF_A_NEW_RUN:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = name.replace("_", "-")
            raise StateError(
                f"--{option} is of a new run, and the file has one: give --new, or leave it out",
                code="old_run",
                field=name,
            )


def _check_places(context: typer.Context) -> None:
    """Raise StateError if a port and a socket are asked for one server."""
    for port, path in (("port", "socket"), ("driver_port", "driver_socket")):
        sources = [context.get_parameter_source(name) for name in (port, path)]
        if all(source is not None and source.name == "COMMANDLINE" for source in sources):
            names = [f"--{name.replace('_', '-')}" for name in (port, path)]
            raise StateError(
                f"{' and '.join(names)} name two places for one server: give one of them",
                code="two_places",
                field=port,
            )


@dataclass(frozen=True)
class _Side:
    """How one of the two parties reaches its server."""

    name: str
    port: int | None
    path: Path | None
    token_file: Path | None
    valid_minutes: float | None = None

    def token(self, folder: Path) -> Token:
        """Its token: from a file, from the environment, or a new one in the folder."""
        from tradesbench_gym.api import tokens

        expires_at = None
        if self.valid_minutes is not None:
            expires_at = time.time() + self.valid_minutes * _MINUTE
        if self.token_file is not None:
            return tokens.token_from_file(self.token_file, expires_at)
        variable = tokens.AGENT_VARIABLE if self.name == "agent" else tokens.DRIVER_VARIABLE
        found = tokens.token_from_environment(variable, expires_at)
        return found or tokens.new_token(expires_at, folder, self.name)

    def listener(self, folder: Path) -> Listener:
        """Its socket: a port, a file that was named, or one in the folder."""
        from tradesbench_gym.api import listening

        if self.port is not None:
            return listening.listen_on_port(self.port)
        # An agent is another user, as a rule; the folder of an unnamed one lets nobody else in.
        mode = listening.EVERYBODY if self.name == "agent" else listening.ONLY_US
        return listening.listen_on_file(self.path or folder / f"{self.name}.sock", mode)


def _serve(
    file: Path, map_name: str | None, agent: _Side, driver: _Side, *, as_json: bool
) -> signal.Signals | None:
    """Open everything, serve, and leave nothing behind; the signal that ended it."""
    from tradesbench_gym.api import app, listening, private, serving, tokens

    with _stoppable(), ExitStack() as held:
        private_folder = private.PrivateFolder("serve")
        held.callback(private_folder.remove)
        folder = private_folder.path
        world_tokens = agent.token(folder), driver.token(folder)
        tokens.check_different(*world_tokens)
        office = held.enter_context(_opened(file, map_name))
        served: list[tuple[Any, listening.Listener]] = []
        for side, token, make in zip(
            (agent, driver), world_tokens, (app.agent_app, app.driver_app), strict=True
        ):
            listener = side.listener(folder)
            held.callback(listener.close)
            served.append((make(office, token), listener))
        said = {
            side.name: {"address": listener.address, "token": token.origin}
            for side, token, (_, listener) in zip(
                (agent, driver), world_tokens, served, strict=True
            )
        }
        return serving.serve(
            served, lambda: _say(file, office, said, as_json=as_json), stopping=office.stop
        )


def _check_installed() -> None:
    try:
        import fastapi  # noqa: F401 - only whether it is there
        import uvicorn  # noqa: F401 - likewise
    except ModuleNotFoundError as error:
        raise StateError(needs("serve", error.name, "api"), code="not_installed") from None


@contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM while a long journal is played again leaves as little behind as later on."""

    def leave(_number: int, _frame: object) -> None:
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _opened(file: Path, map_name: str | None) -> Iterator[Office]:
    from tradesbench_gym.api.office import Office

    with World.open(file, map=map_name) as world:
        office = Office(world)
        try:
            yield office
        finally:
            office.close()


def _say(file: Path, office: Office, said: dict[str, dict[str, str]], *, as_json: bool) -> None:
    """Tell where everything is; a token itself is never told."""
    now = office.picture
    moment = now.business.clock_text(int(now.desk["clock"]))
    if as_json:
        typer.echo(json.dumps({"file": str(file), "pid": os.getpid(), "now": moment, **said}))
        return
    day = f"day {int(now.desk['day']) + 1} of {now.business.days}"
    typer.echo(f"Serving {file}: {now.business.scenario.company}, {moment}, {day}.")
    for name, where in said.items():
        typer.echo(f"  {name:<7}{where['address']}   token in {where['token']}")
    typer.echo(f"Ctrl-C or `kill {os.getpid()}` stops; the run stays in the file, to be resumed.")
