"""What `tradesbench harness` can be told, and what of it goes together.

This module knows no run: it says what the options mean.
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tradesbench_gym.commands.options import salt_number
from tradesbench_gym.errors import StateError

if TYPE_CHECKING:
    from tradesbench_gym.harness.manifest import AgentPart

RANDOM = "random"
_RUN, _AGENT, _MODEL, _LIMITS = "The run", "The agent", "The model", "Limits"

PiOption = Annotated[
    Path | None,
    typer.Option(
        "--pi", help="Where pi is installed, if not where setup puts it.", rich_help_panel=_AGENT
    ),
]
AgentOption = Annotated[str, typer.Option(help="pi, scripted or oracle.", rich_help_panel=_AGENT)]
ProgramOption = Annotated[
    str | None,
    typer.Option(
        help="What a scripted agent is started with, as a shell would be told.",
        rich_help_panel=_AGENT,
    ),
]
ThinkingOption = Annotated[
    str,
    typer.Option(
        help="How hard pi's model is to think: off, minimal, low, medium, high, xhigh or max.",
        rich_help_panel=_AGENT,
    ),
]
ReadableOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="A folder that a scripted agent may read in its cell; may be given again.",
        rich_help_panel=_AGENT,
    ),
]
IsolationOption = Annotated[
    bool,
    typer.Option(
        help="Shut the agent in: needs root, and every wall is tried first.",
        rich_help_panel=_AGENT,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(help="The model, by its provider's name for it.", rich_help_panel=_MODEL),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        help="The provider, such as http://localhost:8000/v1.",
        rich_help_panel=_MODEL,
    ),
]
KeyVariableOption = Annotated[
    str | None,
    typer.Option(
        "--api-key-env",
        help="Environment variable that holds the key; no key is sent if not given.",
        rich_help_panel=_MODEL,
    ),
]
InputPriceOption = Annotated[
    str | None,
    typer.Option(
        help="Dollars per million input tokens; unknown if not given, and the cost with it.",
        rich_help_panel=_MODEL,
    ),
]
CachedPriceOption = Annotated[
    str | None,
    typer.Option(help="Likewise, of those read from a cache.", rich_help_panel=_MODEL),
]
OutputPriceOption = Annotated[
    str | None, typer.Option(help="Likewise, of output tokens.", rich_help_panel=_MODEL)
]
ContextTokensOption = Annotated[
    int,
    typer.Option(
        min=1_000, help="How long a conversation the model takes.", rich_help_panel=_MODEL
    ),
]
OutputTokensOption = Annotated[
    int,
    typer.Option(min=256, help="How long one answer of it may be.", rich_help_panel=_MODEL),
]
SeedOption = Annotated[int, typer.Option(help="Number of the run.", rich_help_panel=_RUN)]
SaltOption = Annotated[
    str,
    typer.Option(
        help="The secret number that seals the run: random, or a number; 0: an open run.",
        rich_help_panel=_RUN,
    ),
]
DaysOption = Annotated[
    int | None,
    typer.Option(help="Length of the run; the scenario's if not given.", rich_help_panel=_RUN),
]
ScenarioOption = Annotated[
    str, typer.Option(help="A scenario's name or file.", rich_help_panel=_RUN)
]
MapNameOption = Annotated[
    str, typer.Option("--map", help="A map's name or file.", rich_help_panel=_RUN)
]
StartDateOption = Annotated[
    str | None,
    typer.Option(
        "--start-date",
        help="Day 0, such as 2026-10-01; the scenario's if not given.",
        rich_help_panel=_RUN,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(help="New or empty folder for the run; named if not given.", rich_help_panel=_RUN),
]
RemindersOption = Annotated[
    int,
    typer.Option(
        min=0, help="How often an unanswered call is brought up again.", rich_help_panel=_LIMITS
    ),
]
TurnSecondsOption = Annotated[
    float,
    typer.Option(
        min=1, help="The longest that a turn of the agent's may take.", rich_help_panel=_LIMITS
    ),
]
CommandSecondsOption = Annotated[
    float,
    typer.Option(
        min=1, help="The longest that one command of pi's may take.", rich_help_panel=_LIMITS
    ),
]
TurnCharactersOption = Annotated[
    int,
    typer.Option(min=1_000, help="The most that may be said in one turn.", rich_help_panel=_LIMITS),
]
RequestSecondsOption = Annotated[
    float,
    typer.Option(min=1, help="How long the provider is waited for.", rich_help_panel=_LIMITS),
]
RequestRetriesOption = Annotated[
    int,
    typer.Option(min=0, help="How often a request to it is made again.", rich_help_panel=_LIMITS),
]
MaxCostOption = Annotated[
    str | None, typer.Option(help="Dollars the run may cost.", rich_help_panel=_LIMITS)
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option(min=1, help="Tokens the run may take, both ways.", rich_help_panel=_LIMITS),
]
MaxHoursOption = Annotated[
    float | None,
    typer.Option(min=0, help="Hours of wall time the run may take.", rich_help_panel=_LIMITS),
]


def agent_part(
    name: str,
    program: str | None,
    readable: Sequence[Path],
    thinking: str,
    *,
    isolation: bool,
) -> AgentPart:
    """Who plays.

    Raises:
        HarnessError: an agent that is none, or options that do not go together.

    """
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
    _check_folders(readable)
    return AgentPart(
        name=kind,
        program=words,
        readable=tuple(str(one.resolve()) for one in readable),
        thinking=thinking if kind == AgentName.PI else None,
    )


def _check_folders(readable: Sequence[Path]) -> None:
    for one in readable:
        if not one.is_dir():
            raise StateError(
                f"--readable names a folder, and {one} is none", code="readable", field="readable"
            )


def check_path(out: Path, seed: int) -> None:
    """Raise StateError if the path of a workspace tells the agent the number of the run."""
    if re.search(rf"seed\D?{seed}(?!\d)", str(out.resolve()), re.IGNORECASE):
        raise StateError(
            f"{out} has the seed in its name, which the agent would see: give another --out",
            code="seed_in_path",
            field="out",
        )


def with_model(who: AgentPart, model: str | None, base_url: str | None) -> bool:
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


def salt(text: str) -> int:
    """The salt as a number, drawn if it is to be random; StateError for text that is none."""
    if text != RANDOM:
        return salt_number(text)
    return secrets.randbits(63) + 1
