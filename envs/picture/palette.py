"""The colours of the picture, and what each of them means.

Okabe and Ito's palette, which colour-blind readers tell apart, in three vocabularies that never
stand in one panel without a legend: states of jobs, technicians, weather. Whatever a colour says, a
sign, a letter or a word beside it says too.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tradesbench_gym.core.codes import CallState, Condition

Colour = tuple[int, int, int]


def colour(code: str) -> Colour:
    """Red, green and blue, each 0 to 255.

    >>> colour("#0072b2")
    (0, 114, 178)
    """
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


BLACK: Final = colour("#000000")
ORANGE: Final = colour("#e69f00")
SKY_BLUE: Final = colour("#56b4e9")
GREEN: Final = colour("#009e73")
YELLOW: Final = colour("#f0e442")
BLUE: Final = colour("#0072b2")
VERMILLION: Final = colour("#d55e00")
PURPLE: Final = colour("#cc79a7")

WHITE: Final = colour("#ffffff")
PAGE: Final = colour("#e9edf1")
INK: Final = colour("#15191d")
DIM: Final = colour("#4f5963")
RULE: Final = colour("#cfd5db")
SHADE: Final = colour("#eff2f4")
HEAD: Final = colour("#14283c")
HEAD_DIM: Final = colour("#b9c7d5")
BAD: Final = colour("#a33f00")
GOOD: Final = colour("#00644a")
NOW: Final = BLUE
ROAD: Final = colour("#b8bfc6")
FREEWAY: Final = colour("#7d868f")
BORDER: Final = colour("#8f99a3")
WATER: Final = colour("#8fbfdf")
HILL: Final = colour("#d8d0bf")


class Tone(NamedTuple):
    """How a state is shown: area, text on it, and edge."""

    fill: Colour
    ink: Colour
    edge: Colour


STATES: Final[dict[CallState, Tone]] = {
    CallState.BOOKED: Tone(WHITE, INK, DIM),
    CallState.DRIVING: Tone(SKY_BLUE, BLACK, SKY_BLUE),
    CallState.WAITING: Tone(YELLOW, BLACK, YELLOW),
    CallState.WORKING: Tone(PURPLE, BLACK, PURPLE),
    CallState.DONE: Tone(GREEN, BLACK, GREEN),
    CallState.MISSED: Tone(VERMILLION, BLACK, VERMILLION),
    CallState.FAILED: Tone(BLACK, WHITE, BLACK),
    CallState.CANCELLED: Tone(colour("#dde2e7"), DIM, DIM),
}

PEOPLE: Final[tuple[Tone, ...]] = tuple(
    Tone(fill, ink, fill)
    for fill, ink in (
        (BLUE, WHITE),
        (VERMILLION, BLACK),
        (GREEN, BLACK),
        (PURPLE, BLACK),
        (ORANGE, BLACK),
        (SKY_BLUE, BLACK),
        (BLACK, WHITE),
        (colour("#7a4a12"), WHITE),
    )
)
"""One a technician, up to eight; each goes with the technician's letters."""

SKIES: Final[dict[Condition, Colour]] = {
    Condition.CLEAR: colour("#fbfaf3"),
    Condition.COOL: colour("#d7ecf7"),
    Condition.HOT: colour("#fbe6bd"),
    Condition.EXTREME_HEAT: colour("#f6c4a2"),
    Condition.WIND: colour("#d3e8de"),
    Condition.RAIN: colour("#a9cde6"),
    Condition.STORM: colour("#d9b3cd"),
}
