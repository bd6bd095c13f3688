"""The picture: a run as an image of 1280 x 720 pixels, and a window that shows it.

Like the board in the terminal it reads DESK and what is public of the business, and nothing of the
run behind them. It needs the extra `[render]` and no display. Modules that draw load Pillow, so
this one loads them when they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tradesbench_gym.envs.picture.needs import check_pillow

if TYPE_CHECKING:
    from tradesbench_gym.envs.picture.painter import HEIGHT, WIDTH, Painter

__all__ = ["HEIGHT", "WIDTH", "Painter", "check_pillow"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_pillow()
    from tradesbench_gym.envs.picture import painter

    return getattr(painter, name)
