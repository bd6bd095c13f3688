"""The parts that a sitting is made of outside of tests: the gateway, the cell, pi where it is
installed.

Which of them a run needs its manifest says; the provider's key is asked for anew at every sitting
and kept nowhere. This module knows no day and no prompt.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from tradesbench_gym.harness import pi_install
from tradesbench_gym.harness.agents.pi import PiProgram
from tradesbench_gym.harness.cell import (
    Cell,
    Doors,
    IsolatedCell,
    Private,
    Probe,
    open_bare,
    open_cell,
)
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.house import Model
from tradesbench_gym.harness.manifest import AgentName, HarnessError, Manifest, ModelPart
from tradesbench_gym.harness.sitting import Parts


def parts_of(manifest: Manifest, pi_folder: Path | None = None) -> Parts:
    """What a sitting of a run is made of.

    Args:
        manifest: of the run.
        pi_folder: where pi is installed, if not where `tradesbench harness setup` puts it.

    Raises:
        HarnessError: the key is not there, or pi is not installed.

    """
    key = provider_key(manifest.model)
    return Parts(
        model=None if manifest.model is None else lambda *wanted: gateway(*wanted, key=key),
        room=_cell if manifest.isolated else _bare,
        preflight=lambda room, private, env: _tried(room, private, env, key),
        pi=installed_pi(pi_folder) if manifest.agent.name == AgentName.PI else None,
    )


def provider_key(model: ModelPart | None) -> str | None:
    """The provider's key, from the variable that the manifest names; None if it names none.

    Raises:
        HarnessError: the variable is not set.

    """
    if model is None or model.key_variable is None:
        return None
    key = os.environ.get(model.key_variable, "").strip()
    if not key:
        raise HarnessError(
            f"--api-key-env names the variable that holds the key, and {model.key_variable!r} is "
            "not set",
            code="key",
            field="api-key-env",
        )
    return key


def installed_pi(folder: Path | None) -> PiProgram:
    """Pi where `tradesbench harness setup` has put it, checked.

    Raises:
        SetupError: it is not there, or not what it must be.

    """
    found = pi_install.check(folder)
    return PiProgram(found.folder, found.node, found.script, found.pi_version, found.node_version)


def gateway(
    manifest: Manifest, folder: RunFolder, seconds_left: float | None, *, key: str | None
) -> Model:
    """The gateway of a run, not started yet.

    Raises:
        HarnessError: the run has no model.
        GatewayError: a setting that cannot be.

    """
    from tradesbench_gym.harness.gateway import Gateway, GatewaySettings, Prices

    model, limits = manifest.model, manifest.limits
    if model is None:
        raise HarnessError("the run has no model", code="no_model")
    settings = GatewaySettings(
        base_url=model.base_url,
        key=key,
        model=model.name,
        prices=Prices(model.input_price, model.cached_price, model.output_price),
        max_cost=limits.max_cost,
        max_tokens=limits.max_tokens,
        # A deadline that is over is no deadline to the gateway's settings: it lets nothing out.
        deadline=None if seconds_left is None else time.time() + seconds_left,
        request_seconds=limits.request_seconds,
        retries=limits.request_retries,
    )
    return Gateway(settings, folder.path)


def _cell(workspace: Path, api: int, gateway: int | None, readable: Sequence[Path]) -> Cell:
    return open_cell(workspace, Doors(api, gateway), readable=readable)


def _bare(workspace: Path, api: int, gateway: int | None, readable: Sequence[Path]) -> Cell:
    del readable  # there are no walls
    return open_bare(workspace, Doors(api, gateway))


def _tried(
    room: Cell, private: Private, env: Mapping[str, str], key: str | None
) -> Sequence[Probe]:
    if not isinstance(room, IsolatedCell):
        return ()
    values = private.values if key is None else (*private.values, key.encode())
    return room.preflight(replace(private, values=values), env)


def price(text: str | None, name: str) -> Decimal | None:
    """A price in dollars; HarnessError for text that is none."""
    if text is None:
        return None
    try:
        found = Decimal(text)
    except ArithmeticError:
        found = Decimal(-1)
    if not found.is_finite() or found < 0:
        raise HarnessError(
            f"--{name} must be a number of dollars, 0 or more, not {text!r}",
            code="price",
            field=name,
        )
    return found
