"""`tradesbench harness`: an agent runs the company, day by day, through its API.

Reads the options and says what came of it. How a run is played stands in the package `harness`,
what is shown of it in `harness_watch`.
"""

from __future__ import annotations

import json
import platform
import re
import secrets
import shlex
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tradesbench_gym import __version__
from tradesbench_gym.commands.options import (
    DaysOption,
    JsonOption,
    MapOption,
    ScenarioOption,
    StartOption,
    salt_number,
)
from tradesbench_gym.errors import StateError, TradesBenchError

if TYPE_CHECKING:
    from tradesbench_gym.harness.folder import RunFolder
    from tradesbench_gym.harness.manifest import (
        AgentPart,
        LimitsPart,
        Manifest,
        ModelPart,
    )

STOPPED, INTERRUPTED = 3, 130
RANDOM = "random"
_SAFE = re.compile(r"[^A-Za-z0-9.]+")
_RUN, _AGENT, _MODEL, _LIMITS = "The run", "The agent", "The model", "Limits"

harness_app = typer.Typer(
    add_completion=False,
    name="harness",
    help="Let an agent run the company, shut in, day by day, and keep what came of it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

FolderArgument = Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)]
PiOption = Annotated[
    Path | None,
    typer.Option(
        "--pi", help="Where pi is installed, if not where setup puts it.", rich_help_panel=_AGENT
    ),
]


@harness_app.command()
def run(
    agent: Annotated[
        str, typer.Option(help="pi, scripted or oracle.", rich_help_panel=_AGENT)
    ] = "pi",
    program: Annotated[
        str | None,
        typer.Option(
            help="What a scripted agent is started with, as a shell would be told.",
            rich_help_panel=_AGENT,
        ),
    ] = None,
    thinking: Annotated[
        str,
        typer.Option(
            help="How hard pi's model is to think: off, minimal, low, medium, high, xhigh or max.",
            rich_help_panel=_AGENT,
        ),
    ] = "high",
    pi: PiOption = None,
    isolation: Annotated[
        bool,
        typer.Option(
            help="Shut the agent in: needs root, and every wall is tried first.",
            rich_help_panel=_AGENT,
        ),
    ] = True,
    model: Annotated[
        str | None,
        typer.Option(help="The model, by its provider's name for it.", rich_help_panel=_MODEL),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            help="The provider, such as http://localhost:8000/v1.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    key_variable: Annotated[
        str | None,
        typer.Option(
            "--api-key-env",
            help="Environment variable that holds the key; no key is sent if not given.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    input_price: Annotated[
        str | None,
        typer.Option(
            help="Dollars per million input tokens; unknown if not given, and the cost with it.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    cached_price: Annotated[
        str | None,
        typer.Option(help="Likewise, of those read from a cache.", rich_help_panel=_MODEL),
    ] = None,
    output_price: Annotated[
        str | None, typer.Option(help="Likewise, of output tokens.", rich_help_panel=_MODEL)
    ] = None,
    context_tokens: Annotated[
        int,
        typer.Option(
            min=1_000, help="How long a conversation the model takes.", rich_help_panel=_MODEL
        ),
    ] = 200_000,
    output_tokens: Annotated[
        int,
        typer.Option(min=256, help="How long one answer of it may be.", rich_help_panel=_MODEL),
    ] = 32_000,
    seed: Annotated[int, typer.Option(help="Number of the run.", rich_help_panel=_RUN)] = 5,
    salt: Annotated[
        str,
        typer.Option(
            help="The secret number that seals the run: random, or a number; 0: an open run.",
            rich_help_panel=_RUN,
        ),
    ] = RANDOM,
    days: DaysOption = None,
    scenario: ScenarioOption = "sunridge",
    map_name: MapOption = "phoenix",
    start_date: StartOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="New or empty folder for the run; named if not given.", rich_help_panel=_RUN
        ),
    ] = None,
    reminders: Annotated[
        int,
        typer.Option(
            min=0, help="How often an unanswered call is brought up again.", rich_help_panel=_LIMITS
        ),
    ] = 2,
    turn_seconds: Annotated[
        float,
        typer.Option(
            min=1, help="The longest that a turn of the agent's may take.", rich_help_panel=_LIMITS
        ),
    ] = 1800.0,
    command_seconds: Annotated[
        float,
        typer.Option(
            min=1, help="The longest that one command of pi's may take.", rich_help_panel=_LIMITS
        ),
    ] = 600.0,
    turn_characters: Annotated[
        int,
        typer.Option(
            min=1_000, help="The most that may be said in one turn.", rich_help_panel=_LIMITS
        ),
    ] = 4_000_000,
    request_seconds: Annotated[
        float,
        typer.Option(min=1, help="How long the provider is waited for.", rich_help_panel=_LIMITS),
    ] = 300.0,
    request_retries: Annotated[
        int,
        typer.Option(
            min=0, help="How often a request to it is made again.", rich_help_panel=_LIMITS
        ),
    ] = 5,
    max_cost: Annotated[
        str | None, typer.Option(help="Dollars the run may cost.", rich_help_panel=_LIMITS)
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Tokens the run may take, both ways.", rich_help_panel=_LIMITS),
    ] = None,
    max_hours: Annotated[
        float | None,
        typer.Option(min=0, help="Hours of wall time the run may take.", rich_help_panel=_LIMITS),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Let an agent run the company from the first day to the last.

    Everything is kept in the run's folder as it happens. After Ctrl-C, a crash or a provider that
    is down, `tradesbench harness resume FOLDER` goes on at the same call; then the exit status is
    3, or 130 after Ctrl-C.

    Example: tradesbench harness run --model qwen3 --base-url http://localhost:8000/v1

    Example: tradesbench harness run --agent scripted --program "python3 mine.py" --no-isolation
    """
    _check_installed()
    from tradesbench_gym.harness.folder import Plan
    from tradesbench_gym.harness.manifest import LimitsPart, ModelPart
    from tradesbench_gym.harness.parts import price

    who = _agent(agent, program, thinking, isolation=isolation)
    with_model = _with_model(who, model, base_url)
    known = None
    if with_model and model is not None and base_url is not None:
        known = ModelPart(
            name=model,
            base_url=base_url,
            key_variable=key_variable,
            input_price=price(input_price, "input-price"),
            cached_price=price(cached_price, "cached-price"),
            output_price=price(output_price, "output-price"),
            context_tokens=context_tokens,
            output_tokens=output_tokens,
        )
    limits = LimitsPart(
        reminders=reminders,
        turn_seconds=turn_seconds,
        command_seconds=command_seconds,
        turn_characters=turn_characters,
        request_seconds=request_seconds,
        request_retries=request_retries,
        max_cost=price(max_cost, "max-cost"),
        max_tokens=max_tokens,
        max_hours=max_hours,
    )
    plan = Plan(seed, _salt(salt), scenario, map_name, days, start_date)
    folder = _create(out, plan, who, known, limits, pi, isolation=isolation)
    _play(folder, pi, as_json=as_json)


@harness_app.command()
def resume(folder: FolderArgument, pi: PiOption = None, as_json: JsonOption = False) -> None:
    """Go on with a run where it was left, however that was.

    A call that waits is put to the agent again, in the same conversation; nothing is answered
    twice. The key is read again from the variable that the run was begun with.

    Example: tradesbench harness resume my-run
    """
    _check_installed()
    from tradesbench_gym.harness.folder import RunFolder

    _play(RunFolder(folder), pi, as_json=as_json)


@harness_app.command()
def setup(
    folder: Annotated[
        Path | None,
        typer.Option("--into", help="The folder to install into; one of its own if not given."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Install pi and the Node it needs into a folder of their own, and check both.

    Example: tradesbench harness setup
    """
    _check_installed()
    from tradesbench_gym.harness import pi_install

    found = pi_install.setup(folder, None if as_json else typer.echo)
    if as_json:
        said = {"folder": str(found.folder), "pi": found.pi_version, "node": found.node_version}
        typer.echo(json.dumps(said))


def _check_installed() -> None:
    try:
        import fastapi  # noqa: F401 - only whether it is there
        import httpx  # noqa: F401 - likewise
        import uvicorn  # noqa: F401 - likewise
    except ModuleNotFoundError as error:
        raise StateError(
            f"harness needs {error.name}: pip install 'tradesbench-gym[harness]'",
            code="not_installed",
        ) from None


def _agent(name: str, program: str | None, thinking: str, *, isolation: bool) -> AgentPart:
    from tradesbench_gym.harness.agents.pi_files import THINKING
    from tradesbench_gym.harness.manifest import AgentName, AgentPart, HarnessError

    if name not in {one.value for one in AgentName}:
        names = ", ".join(one.value for one in AgentName)
        raise HarnessError(
            f"there is no agent {name!r}: there are {names}", code="agent", field="agent"
        )
    kind = AgentName(name)
    if thinking not in THINKING:
        raise HarnessError(
            f"--thinking is one of {', '.join(THINKING)}, not {thinking!r}",
            code="thinking",
            field="thinking",
        )
    try:
        words = tuple(shlex.split(program or ""))
    except ValueError as error:
        raise HarnessError(
            f"--program cannot be read: {error}", code="program", field="program"
        ) from None
    if (kind == AgentName.SCRIPTED) != bool(words):
        raise HarnessError(
            "--agent scripted and --program go together: the program is what is started",
            code="program",
            field="program",
        )
    if kind == AgentName.ORACLE and isolation:
        raise HarnessError(
            "the oracle is a part of this package, which an isolated agent cannot read: give "
            "--no-isolation",
            code="isolation",
            field="agent",
        )
    return AgentPart(name=kind, program=words, thinking=thinking if kind == AgentName.PI else None)


def _with_model(who: AgentPart, model: str | None, base_url: str | None) -> bool:
    """Whether there is a model; StateError if it is half named, or missing where it is needed."""
    if (model is None) != (base_url is None):
        raise StateError(
            "--model and --base-url go together: one names the model, the other its provider",
            code="model",
            field="model",
        )
    if who.name == "pi" and model is None:
        raise StateError("pi needs --model and --base-url", code="model", field="model")
    return model is not None


def _salt(text: str) -> int:
    if text != RANDOM:
        return salt_number(text)
    return secrets.randbits(63) + 1


def _create(
    out: Path | None,
    plan: Any,
    who: AgentPart,
    model: ModelPart | None,
    limits: LimitsPart,
    pi_folder: Path | None,
    *,
    isolation: bool,
) -> RunFolder:
    """A new run's folder, with everything in it but what is played."""
    from tradesbench_gym.core.layout import RULES_VERSION
    from tradesbench_gym.harness.folder import RunFolder
    from tradesbench_gym.harness.house import check_prices
    from tradesbench_gym.harness.manifest import Manifest, Status, VersionsPart, now
    from tradesbench_gym.harness.parts import installed_pi, provider_key
    from tradesbench_gym.world import WORLD_VERSION

    provider_key(model)  # before anything is made
    check_prices(limits, () if model is None else (model.input_price, model.output_price))
    pi = installed_pi(pi_folder) if who.name == "pi" else None
    folder, part = RunFolder.create(out or _named(who, model), plan)
    versions = VersionsPart(
        tradesbench_gym=__version__,
        rules=RULES_VERSION,
        world=WORLD_VERSION,
        python=platform.python_version(),
        platform=platform.platform(),
        agent=None if pi is None else pi.version,
        node=None if pi is None else pi.node_version,
    )
    manifest = Manifest(
        status=Status.STOPPED,
        run=part,
        agent=who,
        model=model,
        limits=limits,
        versions=versions,
        isolated=isolation,
        created_at=now(),
    )
    folder.write(manifest)
    return folder


def _named(who: AgentPart, model: ModelPart | None) -> Path:
    """A folder named after who plays and when, never after the run's number."""
    name = _SAFE.sub("-", who.name if model is None else f"{who.name}-{model.name}").strip("-.")
    return Path(f"harness-{name[:60]}-{time.strftime('%Y%m%d-%H%M%S')}")


def _play(folder: RunFolder, pi: Path | None, *, as_json: bool) -> None:
    from tradesbench_gym.commands.harness_watch import Onlooker, print_summary
    from tradesbench_gym.harness.agents.agent import AgentFailedError
    from tradesbench_gym.harness.days import RunStoppedError
    from tradesbench_gym.harness.parts import parts_of
    from tradesbench_gym.harness.sitting import Sitting

    manifest = folder.read()
    stopped: TradesBenchError | KeyboardInterrupt | None = None
    sitting = None
    with Onlooker(manifest, quiet=as_json) as onlooker, _stoppable():
        try:
            sitting = Sitting(folder, parts_of(manifest, pi), onlooker.watch)
            sitting.play()
        except (RunStoppedError, AgentFailedError, KeyboardInterrupt) as error:
            stopped = error
    manifest = folder.read()
    if as_json:
        typer.echo(json.dumps({"folder": str(folder.path), **_told(manifest)}, indent=2))
    else:
        print_summary(folder.path, manifest)
    if stopped is None:
        return
    why = stopped.message if isinstance(stopped, TradesBenchError) else "interrupted"
    typer.echo(f"{why}; `tradesbench harness resume {folder.path}` goes on", err=True)
    raise typer.Exit(STOPPED if isinstance(stopped, TradesBenchError) else INTERRUPTED)


def _told(manifest: Manifest) -> dict[str, Any]:
    found: dict[str, Any] = manifest.model_dump(mode="json")
    return found


@contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM leaves a run as Ctrl-C does."""

    def leave(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
