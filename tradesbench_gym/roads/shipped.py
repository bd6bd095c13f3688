"""Which maps ship with the package and the digest each is pinned to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

DATA: Final = Path(__file__).with_name("data")


@dataclass(frozen=True, slots=True)
class Shipped:
    """A map file of the package and the digest of its content."""

    path: Path
    digest: str | None


PHOENIX_DIGEST: Final = "040c72fb308ac82f21feab5b0d27673f0081840a7d5514f87f379a93074b39d9"
SHIPPED: Final = {"phoenix": Shipped(DATA / "phoenix.tbmap", PHOENIX_DIGEST)}
