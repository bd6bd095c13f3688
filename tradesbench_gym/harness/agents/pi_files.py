"""What pi is configured by: the files of its agent directory, its command line and environment.

pi reads its model from `models.json`, where the gateway stands as its only provider, with the
gateway's own token. Everything that would ask the network, load a file of the project or change the
four tools is turned off. This module knows no process.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tradesbench_gym.harness.manifest import LimitsPart, ModelPart

FOLDER, SESSIONS, SHELL = ".agent", "sessions", "shell"
PROVIDER = "gateway"
TOOLS = "read,bash,edit,write"
THINKING = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
LARGEST_FILE_KIB = 4 * 1024 * 1024
"""No process of the agent's writes a larger file: what a command prints without end is kept in one
by pi.
"""
_GRACE_SECONDS = 5
_READ_WRITE_RUN, _READ_WRITE = 0o700, 0o600


def files(
    model: ModelPart, limits: LimitsPart, gateway_port: int, token: str
) -> dict[str, tuple[bytes, int]]:
    """The files of pi's agent directory, with their modes."""
    return {
        "models.json": (_json(_models(model, gateway_port, token)), _READ_WRITE),
        "settings.json": (_json(_settings(limits)), _READ_WRITE),
        SHELL: (_shell(limits).encode(), _READ_WRITE_RUN),
    }


def _models(model: ModelPart, port: int, token: str) -> dict[str, Any]:
    known = {
        "id": model.name,
        "reasoning": True,
        "thinkingLevelMap": {level: level for level in THINKING if level != "off"},
        "input": ["text"],
        "contextWindow": model.context_tokens,
        "maxTokens": model.output_tokens,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        "compat": {
            "supportsStore": False,
            "supportsDeveloperRole": False,
            "supportsReasoningEffort": True,
            "thinkingFormat": "openai",
        },
    }
    return {
        "providers": {
            PROVIDER: {
                "baseUrl": f"http://127.0.0.1:{port}/v1",
                "apiKey": token,
                "api": "openai-completions",
                "models": [known],
            }
        }
    }


def _settings(limits: LimitsPart) -> dict[str, Any]:
    return {
        "quietStartup": True,
        "cacheWarming": "off",
        "enableInstallTelemetry": False,
        "enableAnalytics": False,
        "shellPath": f"{FOLDER}/{SHELL}",
        # The gateway knows how long a provider may be silent.
        "httpIdleTimeoutMs": "disabled",
        # What was cut off in the middle only pi can ask again; the gateway has asked the rest.
        "retry": {"enabled": True, "maxRetries": limits.repeats, "baseDelayMs": 500},
    }


def _shell(limits: LimitsPart) -> str:
    """The shell of the bash tool: no command outlives its time, with all that it started."""
    return f"""#!/bin/sh
exec timeout --kill-after={_GRACE_SECONDS} {limits.command_seconds:g} /bin/bash "$@"
"""


def command(
    node: Path, program: Path, folder: Path, model: str, thinking: str | None, day: int, system: str
) -> list[str]:
    """Pi's command line for the conversation of a day; one that is there is taken up again."""
    limited = ["/bin/sh", "-c", f'ulimit -f {LARGEST_FILE_KIB}; exec "$@"', "pi"]
    return [
        *limited,
        str(node),
        str(program),
        *("--mode", "rpc", "--provider", PROVIDER, "--model", model),
        *("--thinking", thinking or "off", "--tools", TOOLS),
        *("-ne", "-ns", "-np", "-nc", "-na", "--no-mcp", "--no-themes", "--offline"),
        *("--session-dir", str(folder / SESSIONS), "--session-id", conversation(day)),
        *("--system-prompt", system),
    ]


def conversation(day: int) -> str:
    """The name of a day's conversation."""
    return f"day-{day:02}"


def environment(folder: Path) -> dict[str, str]:
    """What pi finds in its environment, besides what every agent does."""
    return {
        "PI_CODING_AGENT_DIR": str(folder),
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
        "PI_SKIP_VERSION_CHECK": "1",
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()
