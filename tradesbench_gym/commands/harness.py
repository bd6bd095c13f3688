"""`tradesbench harness`: an agent runs the company, day by day, through its API.

Reads the options and says what came of it. How a run is played stands in the package `harness`,
what is shown of it in `harness_watch`.
"""

from __future__ import annotations

import json
import platform
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tradesbench_gym import __version__
from tradesbench_gym.commands import harness_options as options
from tradesbench_gym.commands.options import JsonOption
from tradesbench_gym.commands.results import check_installed
from tradesbench_gym.errors import INTERRUPTED, TradesBenchError

if TYPE_CHECKING:
    from tradesbench_gym.harness.folder import RunFolder
    from tradesbench_gym.harness.manifest import (
        AgentPart,
        LimitsPart,
        Manifest,
        ModelPart,
    )

STOPPED = 3
_SAFE = re.compile(r"[^A-Za-z0-9.]+")

harness_app = typer.Typer(
    add_completion=False,
    name="harness",
    help="Let an agent run the company, shut in, day by day, and keep what came of it.",
    epilog="Example: tradesbench harness run --model qwen3 --base-url http://localhost:8000/v1",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

FolderArgument = Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)]


@harness_app.command()
def run(
    agent: options.AgentOption = "pi",
    program: options.ProgramOption = None,
    readable: options.ReadableOption = None,
    thinking: options.ThinkingOption = "high",
    pi: options.PiOption = None,
    isolation: options.IsolationOption = True,
    model: options.ModelOption = None,
    base_url: options.BaseUrlOption = None,
    key_variable: options.KeyVariableOption = None,
    input_price: options.InputPriceOption = None,
    cached_price: options.CachedPriceOption = None,
    output_price: options.OutputPriceOption = None,
    context_tokens: options.ContextTokensOption = 200_000,
    output_tokens: options.OutputTokensOption = 32_000,
    seed: options.SeedOption = 5,
    salt: options.SaltOption = options.RANDOM,
    days: options.DaysOption = None,
    scenario: options.ScenarioOption = "sunridge",
    map_name: options.MapNameOption = "phoenix",
    start_date: options.StartDateOption = None,
    out: options.OutOption = None,
    reminders: options.RemindersOption = 2,
    turn_seconds: options.TurnSecondsOption = 1800.0,
    command_seconds: options.CommandSecondsOption = 600.0,
    turn_characters: options.TurnCharactersOption = 4_000_000,
    request_seconds: options.RequestSecondsOption = 300.0,
    request_retries: options.RequestRetriesOption = 5,
    max_cost: options.MaxCostOption = None,
    max_tokens: options.MaxTokensOption = None,
    max_hours: options.MaxHoursOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an agent run the company from the first day to the last.

    Everything is kept in the run's folder as it happens. After Ctrl-C, a crash or a provider that
    is down, `tradesbench harness resume FOLDER` goes on at the same call; then the exit status is
    3, or 130 after Ctrl-C.

    Example: tradesbench harness run --model qwen3 --base-url http://localhost:8000/v1

    Example: tradesbench harness run --agent scripted --program "python3 $PWD/mine.py"
    --readable .
    """
    check_installed("harness")
    from tradesbench_gym.harness.folder import Plan
    from tradesbench_gym.harness.manifest import LimitsPart, ModelPart
    from tradesbench_gym.harness.parts import price

    who = options.agent_part(agent, program, readable or (), thinking, isolation=isolation)
    with_model = options.with_model(who, model, base_url)
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
    plan = Plan(seed, options.salt(salt), scenario, map_name, days, start_date)
    folder = _create(out, plan, who, known, limits, pi, isolation=isolation)
    _play(folder, pi, as_json=as_json)


@harness_app.command()
def resume(
    folder: FolderArgument,
    pi: options.PiOption = None,
    max_cost: options.MaxCostOption = None,
    max_tokens: options.MaxTokensOption = None,
    max_hours: options.MaxHoursOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go on with a run where it was left, however that was.

    A call that waits is put to the agent again, in the same conversation; nothing is answered
    twice. The key is read again from the variable that the run was begun with. A limit that is
    given takes the place of the run's own.

    Example: tradesbench harness resume my-run
    """
    check_installed("harness")
    from tradesbench_gym.harness.folder import Hold, RunFolder
    from tradesbench_gym.harness.house import check_prices
    from tradesbench_gym.harness.parts import price

    found = RunFolder(folder)
    given = {
        "max_cost": price(max_cost, "max-cost"),
        "max_tokens": max_tokens,
        "max_hours": max_hours,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    if changed:
        with Hold(found):
            manifest = found.read()
            limits = manifest.limits.model_copy(update=changed)
            check_prices(limits, manifest.model)
            found.write(manifest.changed(limits=limits))
    _play(found, pi, as_json=as_json)


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
    check_installed("harness")
    from tradesbench_gym.harness import pi_install

    found = pi_install.setup(folder, None if as_json else typer.echo)
    if as_json:
        said = {"folder": str(found.folder), "pi": found.pi_version, "node": found.node_version}
        typer.echo(json.dumps(said))


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
    check_prices(limits, model)
    pi = installed_pi(pi_folder) if who.name == "pi" else None
    place = out or _named(who, model)
    options.check_path(place, plan.seed)
    folder, part = RunFolder.create(place, plan)
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
