"""The map of the day: weather by zone, homes, routes driven and planned, jobs, the caller.

The ground is `city`'s; what moves on it is drawn here at twice the size and brought down, and words
are set last. One colour a technician, with his letters; a job has the sign of its state.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from tradesbench_gym.core.codes import CallState, Condition
from tradesbench_gym.envs.picture import lettering
from tradesbench_gym.envs.picture.city import FINE, Point, city_of
from tradesbench_gym.envs.picture.layout import spread
from tradesbench_gym.envs.picture.palette import BLACK, DIM, INK, PEOPLE, WHITE, YELLOW, Colour
from tradesbench_gym.envs.picture.people import initials
from tradesbench_gym.envs.picture.routes import Route, route_of
from tradesbench_gym.envs.picture.sheet import Box, Sheet
from tradesbench_gym.envs.wording import MARKS, Office
from tradesbench_gym.roads import RoadMap

_PAD: Final = 10
_TOP: Final = 28
_LEGEND: Final = 26
_JOB, _HOME, _BADGE, _CALLER = 8, 9, 10, 12
_SCALES: Final = (50_000, 20_000, 10_000, 5_000, 2_000, 1_000)
_LONGEST_SCALE: Final = 110
_LABEL: Final = 11
_HOME_COVERED, _MARK_COVERED, _LABEL_COVERED = 8.0, 30.0, 300.0
"""What a covered pixel of a mark or of another label costs, where one outside the zone costs 1."""


class _Mark(NamedTuple):
    """Something that stands on the map: a job, a home, a technician, the caller."""

    kind: str
    place: tuple[int, int]
    radius: int
    said: str
    fill: Colour
    ink: Colour
    edge: Colour


class CityMap:
    """The panel of the map, with what it keeps between frames.

    Args:
        roadmap: of the business.
        size: of the panel in pixels.

    """

    def __init__(self, roadmap: RoadMap, size: tuple[int, int]) -> None:
        self._inner = (size[0] - 2, size[1] - _TOP - _LEGEND)
        self._city = city_of(roadmap, self._inner)
        self._ground = self._city.labels
        self._fine = Image.new("RGB", (self._inner[0] * FINE, self._inner[1] * FINE))
        self._draw = ImageDraw.Draw(self._fine)

    def draw(self, sheet: Sheet, office: Office) -> None:
        """Fill the panel."""
        sheet.clear()
        people = range(len(office.names))
        routes = [route_of(office, technician) for technician in people]
        marks = _marks(office, routes)
        places = spread(
            [self._city.place(*mark.place) for mark in marks],
            [mark.radius + 0.5 for mark in marks],
            self._inner,
        ).tolist()
        zones = len(office.business.roadmap.zones)
        self._fine.paste(self._city.ground(office.desk["forecast"]["condition"][0, :zones]))
        at = {mark.place: (x, y) for mark, (x, y) in zip(marks, places, strict=True)}
        for technician, route in enumerate(routes):
            self._route(route, PEOPLE[technician].fill, at)
        for mark, (x, y) in zip(marks, places, strict=True):
            self._mark(mark, x, y)
        sheet.image.paste(self._fine.reduce(FINE), (1, _TOP))
        covered = [_around(mark, x, y) for mark, (x, y) in zip(marks, places, strict=True)]
        self._words(sheet, office, covered)
        for mark, (x, y) in zip(marks, places, strict=True):
            size = 12 if mark.kind == "caller" else 11
            sheet.text((x + 1.5, y + _TOP + 0.5), mark.said, size, mark.ink, bold=True, anchor="m")
        self._frame(sheet)

    def _route(self, route: Route, fill: Colour, at: dict[tuple[int, int], Point]) -> None:
        driven = [self._spot(place, at) for place in route.driven]
        planned = [self._spot(place, at) for place in route.planned]
        for start, end in pairwise(driven):
            self._draw.line((*start, *end), fill=WHITE, width=5 * FINE)
            self._draw.line((*start, *end), fill=fill, width=3 * FINE)
        for start, end in pairwise(planned):
            for first, last in _dashes(start, end):
                self._draw.line((*first, *last), fill=fill, width=2 * FINE)

    def _spot(self, place: tuple[int, int], at: dict[tuple[int, int], Point]) -> Point:
        x, y = at[place] if place in at else self._city.place(*place)
        return x * FINE, y * FINE

    def _mark(self, mark: _Mark, x: float, y: float) -> None:
        x, y, r = x * FINE, y * FINE, mark.radius * FINE
        if mark.kind == "home":
            roof = [(x - r, y - r * 0.2), (x, y - r), (x + r, y - r * 0.2)]
            walls = [(x + r * 0.8, y - r * 0.2), (x + r * 0.8, y + r * 0.85)]
            walls += [(x - r * 0.8, y + r * 0.85), (x - r * 0.8, y - r * 0.2)]
            self._draw.polygon([*roof, *walls], fill=mark.fill, outline=mark.edge, width=3)
            return
        box = (x - r, y - r, x + r, y + r)
        self._draw.ellipse(box, fill=mark.fill, outline=mark.edge, width=2 * FINE)

    def _words(self, sheet: Sheet, office: Office, covered: list[tuple[Box, float]]) -> None:
        """Each zone's name and weather, near its middle and clear of marks."""
        said = office.desk["forecast"]
        for zone in self._ground.smallest_first(len(office.business.roadmap.zones)):
            about = office.business.roadmap.zones[zone]
            sky = Condition(int(said["condition"][0, zone])).name.lower().replace("_", " ")
            lines = (about.name.partition("/")[0], f"{sky} {int(said['high'][0, zone])} °F")
            lines = (lettering.fitted(lines[0], 130, _LABEL, bold=True), lines[1])
            wide = max(
                lettering.width(lines[0], _LABEL, bold=True), lettering.width(lines[1], _LABEL)
            )
            box = self._ground.label(zone, self._city.centre(zone), (wide + 6, 28), covered)
            covered.append((box, _LABEL_COVERED))
            left, top = box[0] + 1, box[1] + _TOP
            middle = left + (wide + 6) / 2
            _veil(sheet, (left, top, left + wide + 6, top + 28))
            sheet.text((middle, top + 8), lines[0], _LABEL, INK, bold=True, anchor="m")
            sheet.text((middle, top + 21), lines[1], _LABEL, INK, anchor="m")

    def _frame(self, sheet: Sheet) -> None:
        sheet.text((_PAD, 15), "Map, weather of today", 14, bold=True)
        metres = next((m for m in _SCALES if m * self._city.scale <= _LONGEST_SCALE), _SCALES[-1])
        right, y = sheet.width - _PAD, 15
        left = right - round(metres * self._city.scale)
        sheet.line([(left, y), (right, y)], INK, 2)
        for x in (left, right):
            sheet.line([(x, y - 4), (x, y + 4)], INK, 2)
        x = left - 8
        sheet.text((x, y), f"{metres // 1000} km, north is up", 12, DIM, anchor="r")
        self._legend(sheet, sheet.height - _LEGEND / 2)

    def _legend(self, sheet: Sheet, y: float) -> None:
        x = _PAD
        sheet.line([(x, y), (x + 24, y)], INK, 3)
        x = sheet.text((x + 29, y), "driven", 12, INK) + 12
        for start in (0, 9, 18):
            sheet.line([(x + start, y), (x + start + 5, y)], INK, 2)
        x = sheet.text((x + 28, y), "planned, as the crow flies", 12, INK) + 12
        sheet.disc((x + 8, y), 7, PEOPLE[0])
        x = sheet.text((x + 20, y), "technician", 12, INK) + 12
        house = [
            (x, y - 1),
            (x + 7, y - 8),
            (x + 14, y - 1),
            (x + 14, y + 7),
            (x, y + 7),
            (x, y - 1),
        ]
        sheet.line(house, INK, 2)
        x = sheet.text((x + 19, y), "home", 12, INK) + 12
        sheet.text((x, y), "☎", 15, INK)
        sheet.text((x + 20, y), "caller", 12, INK)


def _marks(office: Office, routes: list[Route]) -> list[_Mark]:
    """Jobs first, so that what moves is drawn above them."""
    letters, marks = initials(office.names), []
    for technician, tone in enumerate(PEOPLE[: len(routes)]):
        for job in office.visits(office.today, technician):
            call = office.calls[job]
            sign = MARKS[CallState(int(call["state"]))].sign
            place = int(call["x"]), int(call["y"])
            marks.append(_Mark("job", place, _JOB, sign, WHITE, INK, tone.fill))
    for technician, (route, tone) in enumerate(zip(routes, PEOPLE, strict=False)):
        home = route.driven[0]
        marks.append(_Mark("home", home, _HOME, "", WHITE, INK, tone.fill))
        marks.append(
            _Mark("person", route.here, _BADGE, letters[technician], tone.fill, tone.ink, WHITE)
        )
    call = office.desk.call
    if call is not None:
        place = int(call["x"]), int(call["y"])
        marks.append(_Mark("caller", place, _CALLER, "☎", YELLOW, BLACK, BLACK))
    return marks


def _around(mark: _Mark, x: float, y: float) -> tuple[Box, float]:
    """What a mark takes, and how bad it is to cover a pixel of it."""
    r = mark.radius + 1
    box = math.floor(x - r), math.floor(y - r), math.ceil(x + r), math.ceil(y + r)
    return box, _MARK_COVERED if mark.said else _HOME_COVERED


def _dashes(start: Point, end: Point) -> list[tuple[Point, Point]]:
    far = math.dist(start, end)
    if far == 0:
        return []
    step = np.array([(end[0] - start[0]) / far, (end[1] - start[1]) / far])
    begins = np.arange(0, far, 7 * FINE)
    first = np.array(start) + begins[:, None] * step
    last = np.array(start) + np.minimum(begins + 4 * FINE, far)[:, None] * step
    return [
        ((a[0], a[1]), (b[0], b[1])) for a, b in zip(first.tolist(), last.tolist(), strict=True)
    ]


def _veil(sheet: Sheet, box: Box) -> None:
    """Lighten what lies under a label."""
    under = sheet.image.crop(box)
    white = Image.new("RGB", under.size, WHITE)
    sheet.image.paste(Image.blend(under, white, 0.72), box[:2])
