"""A policy by what a person types: a registered name with its settings, or a function of his own.

    oracle:margin=20        a registered policy
    my_module:decide        the function `decide` of a module that Python finds, here first
    path/to/file.py:decide  the function `decide` of a file

Whatever a policy returns is looked at before the company is asked: rubbish is named as such.
This module knows policies, not runs.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import operator
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from tradesbench_gym.core.view import Desk
from tradesbench_gym.errors import PolicyError, TradesBenchError
from tradesbench_gym.policies.registry import Decision, Policy, make_policy, policy_names

_FILE = ".py"


def load_policy(spec: str, *, seed: int = 0) -> Policy:
    """The policy of a name or of a person's own function, fresh for one run, checked at each call.

    Args:
        spec: `oracle`, `oracle:margin=20`, `my_module:function` or `path/to/file.py:function`.
        seed: of the policy's own draws, for registered policies that have some.

    Raises:
        PolicyError: no such policy, module, file or function. The policy itself raises one if it
            returns anything but a decision, or fails.

    """
    place, colon, name = spec.rpartition(":")
    registered = spec.partition(":")[0] in policy_names()
    if not registered and spec.endswith(_FILE):
        raise PolicyError(
            f"policy {spec!r}: say which function of the file decides, as {spec}:decide",
            field="policy",
        )
    if registered or not (colon and place and name.isidentifier()):
        return checked(make_policy(spec, seed=seed), spec)
    return checked(_function(spec, place, name), spec)


def checked(policy: Callable[[Desk], Any], name: str) -> Policy:
    """The policy, with errors that say what it did wrong instead of failing somewhere below."""

    def decide(desk: Desk) -> Decision | None:
        try:
            given = policy(desk)
        except TradesBenchError:
            raise
        except (Exception, SystemExit) as error:
            raise PolicyError(
                f"policy {name!r} failed at {_when(desk)}: {_what(error)}", field="policy"
            ) from error
        return None if given is None else _decision(given, name, desk)

    return decide


def _decision(given: Any, name: str, desk: Desk) -> Decision:
    try:
        technician, ahead, window = (operator.index(number) for number in given)
    except (TypeError, ValueError):
        raise PolicyError(
            f"policy {name!r} returned {given!r:.80} at {_when(desk)}: a decision is None to "
            "reject, or three whole numbers: technician, days ahead, window",
            code="no_decision",
            field="policy",
        ) from None
    return Decision(technician, ahead, window)


def _when(desk: Desk) -> str:
    return f"call {int(desk['line']) + 1}"


def _what(error: BaseException) -> str:
    """An exception in one line, with the place where it was raised."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said} ({Path(last.filename).name}, line {last.lineno})"


def _function(spec: str, place: str, name: str) -> Callable[[Desk], Any]:
    module = _file_module(place) if place.endswith(_FILE) else _named_module(spec, place)
    function = getattr(module, name, None)
    if not callable(function):
        raise PolicyError(f"policy {spec!r}: {place} has no function {name!r}", field="policy")
    return function  # type: ignore[no-any-return]


def _file_module(place: str) -> ModuleType:
    path = Path(place).resolve()
    if not path.is_file():
        raise PolicyError(f"there is no file {place} to take a policy from", field="policy")
    # By the whole path: two files of one name are two modules, and one file is loaded once.
    name = f"_policy_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PolicyError(f"{place} is no Python file", field="policy")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _found_first(path.parent), _loading(place):
            spec.loader.exec_module(module)
    except PolicyError:
        del sys.modules[name]
        raise
    return module


def _named_module(spec: str, place: str) -> ModuleType:
    with _found_first(Path.cwd()):
        try:
            known = importlib.util.find_spec(place)
        except (ImportError, ValueError, AttributeError):
            known = None
        if known is None:
            raise PolicyError(
                f"there is no policy {spec!r}: no module {place!r}, and the registered ones are "
                f"{', '.join(policy_names())}",
                code="unknown_policy",
                field="policy",
            )
        with _loading(place):
            return importlib.import_module(place)


@contextmanager
def _found_first(folder: Path) -> Iterator[None]:
    """A person's own modules are found beside his file, as when Python runs it."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


@contextmanager
def _loading(place: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise PolicyError(f"{place} cannot be loaded: {_what(error)}", field="policy") from error
