"""Text in the picture: the fonts that ship, and words as masks that are drawn once and kept.

Rendering a word costs thirty times what pasting it does, and a board says the same words in every
frame. Fonts are those of this folder whatever a machine has, so that every frame has its letters
where the layout expects them.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import as_file, files
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

_FILES = {False: "DejaVuSans.ttf", True: "DejaVuSans-Bold.ttf"}
_CUT = "…"


class Word(NamedTuple):
    """A text as it is pasted: where its mask lies from the pen on the baseline, and its advance."""

    mask: Image.Image
    left: int
    top: int
    advance: int


@lru_cache(maxsize=64)
def font(size: int, *, bold: bool) -> ImageFont.FreeTypeFont:
    """The font of a size in pixels."""
    place = files(__package__) / "fonts" / _FILES[bold]
    with as_file(place) as path:
        return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=8192)
def word(text: str, size: int, *, bold: bool) -> Word:
    """A text drawn into a mask."""
    letters = font(size, bold=bold)
    left, top, right, bottom = (int(edge) for edge in letters.getbbox(text, anchor="ls"))
    mask = Image.new("L", (max(1, right - left), max(1, bottom - top)))
    ImageDraw.Draw(mask).text((-left, -top), text, font=letters, fill=255, anchor="ls")
    return Word(mask, left, top, round(letters.getlength(text)))


def width(text: str, size: int, *, bold: bool = False) -> int:
    """Pixels that a text takes."""
    return word(text, size, bold=bold).advance


@lru_cache(maxsize=4096)
def fitted(text: str, room: int, size: int, *, bold: bool = False) -> str:
    """A text that takes no more than so many pixels, with an ellipsis for what was cut."""
    letters = font(size, bold=bold)
    if letters.getlength(text) <= room:
        return text
    kept = text
    while kept and letters.getlength(kept.rstrip() + _CUT) > room:
        kept = kept[:-1]
    return kept.rstrip() + _CUT if kept else ""


@lru_cache(maxsize=64)
def rise(size: int, *, bold: bool = False) -> int:
    """Height of a capital letter."""
    return -int(font(size, bold=bold).getbbox("H", anchor="ls")[1])
