"""The proof of a run's folder: one check after the other, each a line that says what it proves.

Every check is made, also after one that fails; the first that fails is what the folder is charged
with. A folder that was rewritten whole, every part of it alike, is the folder of another run: only
a digest that was published elsewhere tells, and may be given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.harness.results import checks_folder, checks_run, checks_transcript
from tradesbench_gym.harness.results.evidence import Evidence
from tradesbench_gym.world import WorldError
from tradesbench_gym.world.identity import MapLike

CHECKS: Final[tuple[Callable[[Evidence], str], ...]] = (
    checks_run.manifest,
    checks_run.world,
    checks_run.run,
    checks_run.salt,
    checks_run.score,
    checks_transcript.prompts,
    checks_transcript.answers,
    checks_transcript.time,
    checks_transcript.turns,
    checks_transcript.faults,
    checks_folder.tokens,
    checks_folder.memory,
    checks_run.isolation,
)
_ELSEWHERE: Final = frozenset({"map", "rules", "layout"})
_DAMAGED: Final = (ValidationError, ValueError, KeyError, TypeError, AttributeError, OSError)


@dataclass(frozen=True)
class Line:
    """One check.

    Attributes:
        name: in one word.
        proves: what it proves if it holds.
        holds: whether it does.
        found: what was found, or what is wrong.

    """

    name: str
    proves: str
    holds: bool
    found: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def prove(
    path: Path, *, known_map: MapLike | None = None, digest: str | None = None
) -> Iterator[Line]:
    """The lines of a folder's proof, each as soon as it is made; the folder is not touched.

    Args:
        path: the folder.
        known_map: the map, where the manifest's own name for it is not that of a map here.
        digest: the final digest of the world as it was published elsewhere.

    Raises:
        HarnessError: no folder of a run.
        WorldError: a run that cannot be played here: its map is not, or it has other rules.

    """
    seen = Evidence(path, known_map, digest)
    seen.manifest  # noqa: B018 - a folder without one is no run's
    with suppress(*_DAMAGED):
        _check_playable(seen)
    for check in CHECKS:
        yield _made(check, seen)


def _check_playable(seen: Evidence) -> None:
    """Raise WorldError where nothing can be said of a run here; what was changed the checks say."""
    try:
        seen.audit  # noqa: B018 - it is kept
    except WorldError as error:
        if error.code in _ELSEWHERE:
            raise
    except TradesBenchError:
        return


def _made(check: Callable[[Evidence], str], seen: Evidence) -> Line:
    proves = (check.__doc__ or "").strip().removesuffix(".")
    try:
        found = check(seen)
    except TradesBenchError as error:
        return Line(check.__name__, proves, False, error.message)
    except _DAMAGED as error:  # what should be there is not, or is of another kind
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        return Line(check.__name__, proves, False, f"a part that it needs is damaged: {said:.160}")
    return Line(check.__name__, proves, True, found)
