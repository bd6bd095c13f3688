"""Playing policies × seeds on a Ray cluster, with the results of one process.

`bench --executor ray`. A run depends on its policy and seed alone, so Ray may play a piece of the
work again when its worker dies; what it came to is taken once, when it arrives, and put where it
belongs in the order. Ray is imported when it is used. What a run is stands in `report.runs`.
"""

from __future__ import annotations

import logging
import os
import pickle
import platform
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tradesbench_gym import __version__
from tradesbench_gym.company.business import Business
from tradesbench_gym.core.codecache import QUIET
from tradesbench_gym.errors import TradesBenchError, needs
from tradesbench_gym.report.runs import (
    CHUNKS_AHEAD,
    Played,
    Player,
    Ticket,
    chunked,
    deaf_to_interrupts,
    usable_cores,
)
from tradesbench_gym.training.ray_policies import Suitcase, pack

RETRIES = 4
"""How often runs are played again whose worker died."""
_HERE = "local"
_REACH_SECONDS = 10.0
_STORE_BYTES = 128 * 1024 * 1024
"""For what a cluster of this machine keeps in shared memory: nothing here is large."""


def play_on_ray(
    business: Business,
    policies: Sequence[str],
    seeds: Sequence[int],
    *,
    workers: int | None = None,
    done: Callable[[int], None] = lambda _count: None,
    address: str | None = None,
) -> list[Played]:
    """Play every policy on every seed, in order of policy, then seed, as `report.runs.play_all`.

    Uses the cluster that this process is connected to, if it is; else that of `address`; else that
    of RAY_ADDRESS; else starts one on this machine and ends it. Every machine needs this version of
    the package; files of policies travel (see `training.ray_policies`).

    Args:
        business: the company that all runs share.
        policies: names, with settings if any.
        seeds: numbers of runs.
        workers: the most pieces of work under way at once; as many as pay if not given.
        done: told how many more runs have been played, in this process.
        address: `host:port` of the cluster, or `auto`.

    Raises:
        PolicyError: an unknown policy or setting, found before anything is played; or a run that
            failed, named by policy and seed.
        TradesBenchError: no Ray, no cluster, one of another version, or runs that kill workers.

    """
    where = address or os.environ.get("RAY_ADDRESS") or _HERE
    ray = _ray(where)
    chunked(policies, seeds, 1)  # an unknown policy is found before a cluster is started
    order = _Order(
        __version__, tuple(business.identity.items()), pickle.dumps(business), pack(policies)
    )
    # Ray tells of dead workers on stdout, which is for results.
    with redirect_stdout(sys.stderr), _connected(ray, where, workers):
        chunks = chunked(policies, seeds, workers or _cores(ray))
        played = _play(ray, order, chunks, workers, done)
    return [run for chunk in played for run in chunk]


def _ray(where: str) -> Any:
    # Nobody is told that this package is used, and what Ray says is for files too.
    settings = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_COLOR_PREFIX": "0"}
    if where != _HERE:
        # Of some 45 s each, to reach a machine that listens and is no Ray cluster.
        settings["RAY_NUM_REDIS_GET_RETRIES"] = "1"
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise TradesBenchError(
            needs("--executor ray", error.name, "ray"),
            code="not_installed",
            field="executor",
        ) from error
    return ray


@contextmanager
def _connected(ray: Any, where: str, workers: int | None) -> Iterator[None]:
    if ray.is_initialized():
        yield
        return
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if where == _HERE:
        settings["num_cpus"] = workers or usable_cores()
        settings |= {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
    try:
        _check_listening(where)
        ray.init(where, **settings)
    except (OSError, RuntimeError, ValueError) as error:
        raise TradesBenchError(
            f"no Ray cluster at {where}: {_line(error)}", code="no_cluster", field="address"
        ) from error
    try:
        yield
    finally:
        with deaf_to_interrupts():
            ray.shutdown()


def _check_listening(where: str) -> None:
    """Raise OSError at once if nobody listens there: Ray would try for a quarter of an hour."""
    host, colon, port = where.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _REACH_SECONDS).close()


def _cores(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 0)))


# -- the process that asks --


def _play(
    ray: Any,
    order: _Order,
    chunks: Sequence[list[Ticket]],
    workers: int | None,
    done: Callable[[int], None],
) -> list[list[Played]]:
    task = ray.remote(max_retries=RETRIES, num_cpus=1)(_play_chunk)
    told = ray.put(order)
    waiting = deque(enumerate(chunks))
    played: dict[int, list[Played]] = {}
    busy: dict[Any, int] = {}
    try:
        while waiting or busy:
            # Asked each time: a cluster may grow.
            room = workers or _cores(ray) * CHUNKS_AHEAD
            while waiting and len(busy) < room:
                index, chunk = waiting.popleft()
                busy[task.remote(told, chunk)] = index
            for reference in _finished(ray, list(busy)):
                index = busy.pop(reference)
                played[index] = _got(ray, reference, chunks[index])
                done(len(played[index]))
    finally:
        for reference in busy:
            ray.cancel(reference)
    return [played[index] for index in range(len(chunks))]


def _finished(ray: Any, references: list[Any]) -> list[Any]:
    """Wait for one of them; all that are finished by then."""
    ray.wait(references, num_returns=1)
    finished: list[Any] = ray.wait(references, num_returns=len(references), timeout=0)[0]
    return finished


def _got(ray: Any, reference: Any, chunk: list[Ticket]) -> list[Played]:
    try:
        given: list[Played] | TradesBenchError = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise TradesBenchError(
            f"a worker of the cluster cannot play: {_line(error.cause)}",
            code="worker_failed",
            field="executor",
        ) from error
    except ray.exceptions.RayError as error:
        (policy, first), (_, last) = chunk[0], chunk[-1]
        raise TradesBenchError(
            f"{RETRIES + 1} workers died playing {policy} on seeds {first} to {last}: "
            f"{_line(error)}",
            code="worker_died",
            field="executor",
        ) from error
    if isinstance(given, TradesBenchError):
        raise given
    return given


def _line(error: BaseException) -> str:
    """The first line of what an error says."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__


# -- workers --


@dataclass(frozen=True)
class _Order:
    """What every worker is told: who asks, the company, the policies."""

    version: str
    identity: tuple[tuple[str, str | int], ...]
    business: bytes
    policies: Suitcase


def _play_chunk(order: _Order, chunk: list[Ticket]) -> list[Played] | TradesBenchError:
    """Play a piece of the work; what went wrong is given and not raised, for Ray dresses errors."""
    try:
        return _player(order).play(chunk)
    except TradesBenchError as error:
        return error


@lru_cache(maxsize=1)
def _player(order: _Order) -> Player:
    """The player of this worker, set up once for all its pieces of work."""
    os.environ[QUIET] = "1"
    load = order.policies.unpack()
    business: Business | None = None
    with suppress(AttributeError, ImportError, TypeError):  # of another version
        business = pickle.loads(order.business)  # noqa: S301 - by the process that this one works for
    same = business is not None and tuple(business.identity.items()) == order.identity
    if business is None or not same or order.version != __version__:
        raise TradesBenchError(
            f"{platform.node()} has another version of tradesbench-gym, or another map, than the "
            "process that asks: install the same on every machine of the cluster",
            code="other_version",
            field="executor",
        )
    return Player(business, load=load)
