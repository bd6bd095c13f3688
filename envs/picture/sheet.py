"""A sheet to draw a panel on: areas, lines and words in pixels, and where each word was put.

It knows colours and letters and nothing of what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image, ImageDraw

from tradesbench_gym.envs.picture import lettering
from tradesbench_gym.envs.picture.palette import INK, RULE, WHITE, Colour, Tone

Box = tuple[int, int, int, int]
"""Left, top, right, bottom; right and bottom outside."""


class Placed(NamedTuple):
    """A word and the area it takes: what the tests hold the layout to."""

    text: str
    box: Box


def _fitting(said: str, room: int, size: int, least: int, *, bold: bool) -> int:
    """The largest size, from `least` to `size`, in which a text takes no more than its room."""
    while size > least and lettering.width(said, size, bold=bold) > room:
        size -= 1
    return size


class Sheet:
    """A panel's own image.

    Attributes:
        image: RGB.
        words: every word put since the sheet was cleared.

    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.width, self.height = size
        self.image = Image.new("RGB", size, WHITE)
        self._draw = ImageDraw.Draw(self.image)
        self.words: list[Placed] = []

    def clear(self, fill: Colour = WHITE, edge: Colour | None = RULE) -> None:
        """An empty sheet, with an edge if it has one."""
        self.words.clear()
        self._draw.rectangle((0, 0, self.width - 1, self.height - 1), fill=fill, outline=edge)

    def text(
        self,
        at: tuple[float, float],
        said: str,
        size: int = 12,
        fill: Colour = INK,
        *,
        bold: bool = False,
        anchor: str = "l",
        room: int | None = None,
        least: int | None = None,
    ) -> int:
        """Put a text with its capitals' middle at a height.

        Args:
            at: x and the height of the middle of capital letters.
            said: the text.
            size: in pixels.
            fill: colour.
            bold: or regular.
            anchor: whether x is the text's left end, middle or right end: "l", "m", "r".
            room: pixels it may take; a longer text is cut with an ellipsis.
            least: size down to which letters become smaller before anything is cut.

        Returns:
            x where the text ends.

        """
        if room is not None:
            size = _fitting(said, room, size, least or size, bold=bold)
            said = lettering.fitted(said, room, size, bold=bold)
        if not said:
            return round(at[0])
        word = lettering.word(said, size, bold=bold)
        x = round(at[0]) - {"l": 0, "m": word.advance // 2, "r": word.advance}[anchor]
        base = round(at[1] + lettering.rise(size, bold=bold) / 2)
        left, top = x + word.left, base + word.top
        self.image.paste(fill, (left, top), word.mask)
        self.words.append(Placed(said, (left, top, left + word.mask.width, top + word.mask.height)))
        return x + word.advance

    def area(self, box: Box, fill: Colour, edge: Colour | None = None) -> None:
        """A rectangle."""
        left, top, right, bottom = box
        if right > left and bottom > top:
            self._draw.rectangle((left, top, right - 1, bottom - 1), fill=fill, outline=edge)

    def line(self, points: Sequence[tuple[float, float]], fill: Colour, width: int = 1) -> None:
        """A line through points."""
        self._draw.line(points, fill=fill, width=width)

    def dashes(self, start: tuple[int, int], end: tuple[int, int], fill: Colour) -> None:
        """A level or upright line of dashes."""
        (x, y), (right, bottom) = start, end
        while x <= right and y <= bottom:
            if y == bottom:
                self._draw.line((x, y, min(x + 3, right), y), fill=fill)
                x += 7
            else:
                self._draw.line((x, y, x, min(y + 3, bottom)), fill=fill)
                y += 7

    def chip(self, box: Box, said: str, tone: Tone, size: int = 11) -> None:
        """A rounded area with a word in its middle."""
        left, top, right, bottom = box
        self._draw.rounded_rectangle(
            (left, top, right - 1, bottom - 1), 3, fill=tone.fill, outline=tone.edge
        )
        middle = ((left + right) / 2, (top + bottom - 1) / 2)
        self.text(middle, said, size, tone.ink, bold=True, anchor="m", room=right - left - 2)

    def disc(self, centre: tuple[float, float], radius: int, tone: Tone) -> None:
        """A filled circle."""
        x, y = centre
        self._draw.ellipse(
            (x - radius, y - radius, x + radius, y + radius), fill=tone.fill, outline=tone.edge
        )
