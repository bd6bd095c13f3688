"""The painter: puts the panels together into one image, and draws again only what has changed.

A frame depends on the desk alone and never on the frames before it: what is kept between them is
either the ground, which is public and stands still, or a panel whose desk was the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from tradesbench_gym.company.business import Business
from tradesbench_gym.core.view import Desk
from tradesbench_gym.envs.picture.cash import draw_cash
from tradesbench_gym.envs.picture.city_map import CityMap
from tradesbench_gym.envs.picture.day_board import draw_day
from tradesbench_gym.envs.picture.palette import PAGE
from tradesbench_gym.envs.picture.panels import draw_counts, draw_head, draw_line, draw_sky
from tradesbench_gym.envs.picture.sheet import Box, Placed, Sheet
from tradesbench_gym.envs.wording import Office

WIDTH: Final = 1280
HEIGHT: Final = 720
_HEAD: Final = (0, 0, 1280, 46)
_LINE: Final = (10, 56, 736, 138)
_DAY: Final = (10, 148, 736, 518)
_CASH: Final = (10, 528, 436, 710)
_COUNTS: Final = (446, 528, 736, 710)
_MAP: Final = (746, 56, 1270, 594)
_SKY: Final = (746, 604, 1270, 710)
_SECOND: Final = 60


class _Panel(NamedTuple):
    box: Box
    draw: Callable[[Sheet, Office], None]
    key: Callable[[Office], Hashable]
    sheet: Sheet


class Painter:
    """Draws pictures of a business's runs.

    Args:
        business: of the runs.

    """

    def __init__(self, business: Business) -> None:
        self._business = business
        self._image = Image.new("RGB", (WIDTH, HEIGHT), PAGE)
        self._map = CityMap(business.roadmap, _size(_MAP))
        self._panels = [
            _panel(_HEAD, draw_head, _of_money),
            _panel(_LINE, draw_line, _of_the_line),
            _panel(_DAY, draw_day, _of_today),
            _panel(_CASH, draw_cash, _of_money),
            _panel(_COUNTS, draw_counts, _of_calls),
            _panel(_MAP, self._map.draw, _of_today),
            _panel(_SKY, draw_sky, _of_the_day),
        ]
        self._drawn: list[Hashable] = [None] * len(self._panels)

    def draw(self, desk: Desk) -> npt.NDArray[np.uint8]:
        """The picture of what a dispatcher may know now: uint8, shape (720, 1280, 3), its own
        memory.
        """
        office = Office(self._business, desk)
        for number, panel in enumerate(self._panels):
            key = panel.key(office)
            if key != self._drawn[number]:
                panel.draw(panel.sheet, office)
                self._image.paste(panel.sheet.image, panel.box[:2])
                self._drawn[number] = key
        return np.array(self._image)

    def words(self) -> list[Placed]:
        """Every word of the last picture and the area it takes, in pixels of the picture."""
        found = []
        for panel in self._panels:
            left, top = panel.box[:2]
            for said, box in panel.sheet.words:
                moved = (box[0] + left, box[1] + top, box[2] + left, box[3] + top)
                found.append(Placed(said, moved))
        return found

    def panels(self) -> list[Box]:
        """The area of each panel."""
        return [panel.box for panel in self._panels]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy draws for itself: images need not travel."""
        return Painter, (self._business,)


def _size(box: Box) -> tuple[int, int]:
    return box[2] - box[0], box[3] - box[1]


def _panel(
    box: Box, draw: Callable[[Sheet, Office], None], key: Callable[[Office], Hashable]
) -> _Panel:
    return _Panel(box, draw, key, Sheet(_size(box)))


def _of_money(office: Office) -> Hashable:
    desk = office.desk
    moment = office.clock // _SECOND
    return office.today, moment, int(desk["cash"]), int(desk["lowest"]), desk["days"].tobytes()


def _of_the_line(office: Office) -> Hashable:
    desk = office.desk
    line = int(desk["line"])
    call = office.calls[line].tobytes() if line >= 0 else b""
    state = int(desk["phoned"]), int(desk["phase"]), int(desk["bankrupt"]), int(desk["cash"])
    return line, call, state, office.today


def _of_calls(office: Office) -> Hashable:
    return office.today, office.clock // _SECOND, office.calls.tobytes()


def _of_today(office: Office) -> Hashable:
    people, sky = office.desk["technicians"].tobytes(), office.desk["forecast"].tobytes()
    return _of_calls(office), people, sky, int(office.desk["line"])


def _of_the_day(office: Office) -> Hashable:
    return office.today, office.desk["forecast"].tobytes()
