"""A window on the desktop that shows pictures; pygame is loaded only here.

Whether there can be a window is found out by opening one. SDL, below pygame, would take a machine's
console or draw into nothing where there is no desktop, so it is asked only where there is one.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from tradesbench_gym.envs.picture.needs import EXTRA
from tradesbench_gym.errors import RenderError

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")


class Window:
    """One window, as large as its first picture.

    Args:
        title: what stands above it.
        rate: pictures a second that are shown at most; `show` waits for its turn.

    Raises:
        RenderError: there is no desktop here, or pygame is missing or cannot use it.

    """

    def __init__(self, title: str, rate: float) -> None:
        if not _has_desktop():
            raise RenderError("this computer has no display", code="no_display")
        if find_spec("pygame") is None:
            raise RenderError(f"pygame-ce is not installed: {EXTRA}", code="render_missing")
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        import pygame  # optional, and slow to load

        self._pygame: Any = pygame
        self._title, self._rate = title, rate
        self._clock = pygame.time.Clock()
        self._window: Any = None
        self._closed = False
        try:
            pygame.display.init()
        except pygame.error as error:
            raise RenderError(f"no window can be opened ({error})", code="no_display") from None

    def show(self, picture: npt.NDArray[np.uint8]) -> bool:
        """Show a picture: uint8, shape (height, width, 3), C-contiguous.

        Returns:
            whether the window is still there: whoever watches may close it, and it stays closed.

        Raises:
            RenderError: no window can be opened.

        """
        if self._closed:
            return False
        height, width = picture.shape[:2]
        if self._window is None:
            self._open((width, height))
        image = self._pygame.image.frombuffer(picture, (width, height), "RGB")
        self._window.get_surface().blit(image, (0, 0))
        self._window.flip()
        for event in self._pygame.event.get():
            closing = event.type == self._pygame.WINDOWCLOSE and event.window is self._window
            if closing or event.type == self._pygame.QUIT:
                self.close()
                return False
        self._clock.tick(self._rate)
        return True

    def close(self) -> None:
        """Close the window; a second time does nothing."""
        self._closed = True
        if self._window is not None:
            self._window.destroy()
            self._window = None

    def _open(self, size: tuple[int, int]) -> None:
        try:
            self._window = self._pygame.Window(self._title, size)
        except (self._pygame.error, AttributeError) as error:  # pygame before pygame-ce has none
            raise RenderError(f"no window can be opened ({error})", code="no_display") from None


def _has_desktop() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in _DISPLAYS)
