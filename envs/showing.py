"""What `render` gives in each mode: the board as text, the picture as an array, or a window.

It knows which mode needs what, and where there is no window says so once and prints the board. What
board and picture show is `rendering`'s and `picture`'s matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.company.business import Business
from tradesbench_gym.core.view import Desk
from tradesbench_gym.envs.picture.needs import check_pillow
from tradesbench_gym.errors import RenderError

if TYPE_CHECKING:
    from tradesbench_gym.envs.picture import Painter
    from tradesbench_gym.envs.picture.window import Window

Shown = str | npt.NDArray[np.uint8]


def showing(business: Business, mode: str | None, rate: float) -> Showing | None:
    """What renders an environment, None without a mode.

    Raises:
        RenderError: pictures are asked for and Pillow is missing.

    """
    if mode == "rgb_array":
        check_pillow()
    return None if mode is None else Showing(business, mode, rate)


class Showing:
    """Shows the runs of a business in one mode.

    Args:
        business: of the runs.
        mode: "ansi", "human" or "rgb_array".
        rate: pictures a second in a window.

    """

    def __init__(self, business: Business, mode: str, rate: float) -> None:
        self._business, self._mode, self._rate = business, mode, rate
        self._painter: Painter | None = None
        self._window: Window | None = None
        self._looked_for_window = False

    def render(self, desk: Desk) -> Shown | None:
        """Text with ANSI colours, a picture of shape (720, 1280, 3), or None after showing it to a
        person.
        """
        if self._mode == "ansi":
            return self._board(desk)
        if self._mode == "rgb_array":
            return self._picture(desk)
        if not self._looked_for_window:
            self._look_for_window()
        if self._window is None:
            self._board(desk)
        else:
            self._into(self._window, desk)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()

    def _picture(self, desk: Desk) -> npt.NDArray[np.uint8]:
        if self._painter is None:
            from tradesbench_gym.envs.picture import Painter

            self._painter = Painter(self._business)
        return self._painter.draw(desk)

    def _look_for_window(self) -> None:
        from tradesbench_gym.envs.picture.window import Window

        self._looked_for_window = True
        try:
            check_pillow()
            self._window = Window(self._business.scenario.company, self._rate)
        except RenderError as wrong:
            self._do_without(wrong)

    def _into(self, window: Window, desk: Desk) -> None:
        try:
            window.show(self._picture(desk))
        except RenderError as wrong:
            self._window = None
            self._do_without(wrong)
            self._board(desk)

    def _board(self, desk: Desk) -> str | None:
        from tradesbench_gym.envs.rendering import show  # rich takes a while to load

        return show(self._business, desk, self._mode)

    @staticmethod
    def _do_without(wrong: RenderError) -> None:
        from rich.console import Console

        said = f"No window: {wrong.message}. The board is printed here instead."
        Console(highlight=False).print(said, markup=False, soft_wrap=True)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy of an environment has no window until it is asked to show something."""
        return Showing, (self._business, self._mode, self._rate)
