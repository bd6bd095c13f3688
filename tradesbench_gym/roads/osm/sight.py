"""Where a road that leaves a junction is seen to lead: the point that its direction is judged by.

The method is that of OSRM 26.10, told anew: the first metres of a road are often drawn for the
picture's sake, so a service road is judged ten metres on and any other by its course over some
forty metres: straight, offset, a curve, or a line through it. It knows points and
OSRM's ruler, no network.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from tradesbench_gym.roads.osm.network import band, scales

Point = tuple[int, int]  # longitude and latitude in microdegrees
Line = Sequence[Point]

# Metres: the width of a lane, and the distances that are looked ahead.
LANE: Final = 3.25
NEAR: Final = 10.0
FAR: Final = 40.0
SKIPPED: Final = 2.0
# Microdegrees by which a fitted line goes on at either end.
MARGIN_E6: Final = 10
# Degrees by which a bend turns, and by which two bends differ.
NARROW: Final = 40.0
FUZZY: Final = 25.0


class Manner(NamedTuple):
    """How a road is looked at: `minor` for service roads and such, `circular` for roundabouts,
    `width` in metres of what meets at the junction.
    """

    minor: bool
    circular: bool
    width: float


def clear(manner: Manner, metres: float) -> bool:
    """Whether a first segment so long shows by itself where the road leads."""
    return not manner.minor and not manner.circular and metres > manner.width + NEAR


def seen(line: Line, manner: Manner) -> Point:
    """The point that a road of at least two points, the first of them the junction, leads to."""
    eye = _Eye(line[0][1])
    if len(line) == 2:
        return line[1]
    if manner.circular:
        return eye.at(line, SKIPPED)
    if manner.minor:
        return eye.trimmed(line, NEAR)[-1]
    if clear(manner, eye.metres(line[0], line[1])):
        return line[1]
    course, lengths = eye.course(line, FAR + manner.width)
    total = sum(lengths)
    if len(course) == 2 or total <= SKIPPED or eye.off(course, course[0], course[-1]) < LANE / 2:
        return course[-1]
    return eye.judged(course, lengths, total, manner.width)


class _Eye:
    """Metres and directions around one latitude."""

    def __init__(self, lat_e6: float) -> None:
        along, across = scales(band(np.array([lat_e6])))
        self._along, self._across = float(along[0]) / 1e6, float(across[0]) / 1e6

    def metres(self, start: Point, end: Point) -> float:
        return math.hypot((end[0] - start[0]) * self._across, (end[1] - start[1]) * self._along)

    def bearing(self, start: Point, end: Point) -> float:
        east, north = (end[0] - start[0]) * self._across, (end[1] - start[1]) * self._along
        return math.degrees(math.atan2(east, north)) % 360

    def trimmed(self, line: Line, length: float) -> list[Point]:
        """The line as far as `length` metres."""
        result, left = [line[0]], length
        for start, end in pairwise(line):
            step = self.metres(start, end)
            if step >= left:
                return [*result, _between(start, end, left / step if step else 1)]
            result.append(end)
            left -= step
        return result

    def at(self, line: Line, length: float) -> Point:
        return self.trimmed(line, length)[-1]

    def behind(self, line: Line, length: float) -> list[Point]:
        """The line from `length` metres on; nothing where it is shorter."""
        left = length
        for k, (start, end) in enumerate(pairwise(line)):
            step = self.metres(start, end)
            if step >= left:
                return [_between(start, end, left / step if step else 1), *line[k + 1 :]]
            left -= step
        return []

    def course(self, line: Line, length: float) -> tuple[list[Point], list[float]]:
        """The points up to the first one `length` metres on, a single segment beyond it cut, and
        the lengths of the segments, of the first point 0.
        """
        points, lengths, total = [line[0]], [0.0], 0.0
        for start, end in pairwise(line):
            step = self.metres(start, end)
            total += step
            points.append(end)
            lengths.append(step)
            if total >= length:
                break
        return self.cut(points, lengths, length), [*lengths[:-1], min(lengths[-1], length)]

    def cut(self, line: list[Point], lengths: list[float], length: float) -> list[Point]:
        """The line up to its first segment so long, that one cut; all of it where its last segment
        is shorter. Not by the way from its start: OSRM cuts thus wherever it knows the lengths.
        """
        if lengths[-1] < length:
            return line
        k = next(k for k, step in enumerate(lengths) if step >= length)
        part = (length - lengths[k - 1]) / (lengths[k] - lengths[k - 1])
        return [*line[:k], _between(line[k - 1], line[k], part)]

    def off(self, points: Line, start: Point, end: Point) -> float:
        """The most metres that one of the points lies off the line from start to end."""
        return max(self.metres(_foot(start, end, point), point) for point in points)

    def judged(self, line: list[Point], lengths: list[float], total: float, width: float) -> Point:
        """Where a road leads that is not straight from the start."""
        k, straight = 2, lengths[1]
        while k < len(line) and self.off(line[:k], line[0], line[k]) < LANE / 4:
            straight += lengths[k]
            k += 1
        if straight >= width + NEAR:
            return self.at(line, 5)
        fit = self.fit(line)
        if self.off(line, *fit) < 0.35 * LANE:
            return self.moved(line[0], _foot(*fit, line[0]), _foot(*fit, line[-1]))
        if self.is_offset(line, lengths, total, width, k - 1, straight):
            return self.moved(line[0], line[k - 1], line[k])
        if self.is_curve(line, lengths, total, width):
            head = self.cut(line, lengths, 3 * SKIPPED)
            lengths = [*lengths[: len(head) - 1], self.metres(*head[-2:])]
            return self.moved(line[0], self.cut(head, lengths, 2 * SKIPPED)[-1], head[-1])
        rest = self.behind(line, 0.64 * width)
        if len(rest) >= 2 and total >= 0.8 * width + 2:
            fit = self.fit(rest)
            if self.off(rest, *fit) < LANE / 2:
                return self.moved(line[0], *fit)
        return self.at(line, NEAR)

    def moved(self, junction: Point, base: Point, tip: Point) -> Point:
        """The tip, moved by most of what lies between the junction and the base."""
        if self.metres(base, tip) < SKIPPED:
            return tip
        return (
            tip[0] - int(90 * (base[0] - junction[0]) / 100),
            tip[1] - int(90 * (base[1] - junction[1]) / 100),
        )

    def fit(self, line: Line) -> tuple[Point, Point]:
        """The ends of the line of least squares through a point every metre of the first 40."""
        points = self._samples(line)
        if len(points) < 2:
            return line[0], line[-1]
        low = [min(p[axis] for p in points) for axis in (0, 1)]
        high = [max(p[axis] for p in points) for axis in (0, 1)]
        along = 1 if high[1] - low[1] > 2 * (high[0] - low[0]) else 0
        across = 1 - along
        ends = [points[0], points[-1]]
        if low[0] != high[0] and low[1] != high[1]:
            middle = [sum(p[axis] for p in points) / len(points) for axis in (0, 1)]
            square = sum((p[along] - middle[along]) ** 2 for p in points)
            slope = sum((p[along] - middle[along]) * (p[across] - middle[across]) for p in points)
            for k, at in enumerate((low[along] - MARGIN_E6, high[along] + MARGIN_E6)):
                other = round(middle[across] + slope / square * (at - middle[along]))
                ends[k] = (at, other) if along == 0 else (other, at)
        return _foot(ends[0], ends[1], line[0]), _foot(ends[0], ends[1], line[-1])

    def _samples(self, line: Line) -> list[Point]:
        result, carry, total = [line[0]], 0.0, 0.0
        for start, end in pairwise(line):
            if total > FAR:
                break
            step = self.metres(start, end)
            count = math.floor(min(FAR - total, step) + carry)
            if carry + step >= 1:
                result += [
                    _between(start, end, min(1, max(0, (1 - carry + k) / step)))
                    for k in range(count)
                ]
                carry -= count
            carry += step
            total += step
        return result

    def is_offset(
        self, line: Line, lengths: list[float], total: float, width: float, bend: int,
        straight: float,
    ) -> bool:  # fmt: skip
        """Whether a short piece only leads from the middle of the junction to the road itself."""
        if bend + 1 >= len(line) or total < 0.4 * FAR or total - straight < 0.1 * total:
            return False
        if sum(lengths[: bend + 1]) - int(width / LANE) * LANE / 2 >= LANE:
            return False
        long = next((k for k in range(bend, len(lengths)) if lengths[k] >= 30), len(lengths))
        rest = line[bend : long + 1]
        return self.off(rest, rest[0], rest[-1]) < LANE / 2

    def is_curve(self, line: Line, lengths: list[float], total: float, width: float) -> bool:
        """Whether the road bends evenly to one side."""
        first, last = self.bearing(line[0], line[1]), self.bearing(line[-2], line[-1])
        if turned(first, last) <= NARROW / 2 or total <= 2 * width:
            return False
        sides = {_left_of(line[0], line[-1], point) for point in line[1:-1]}
        if len(sides) > 1:
            return False
        off = [self.off([point], line[0], line[-1]) for point in line]
        top = 1
        while top + 1 < len(line) and off[top + 1] >= off[top]:
            top += 1
        if any(later > before for before, later in pairwise(off[top:])):
            return False
        small = off[top] < max(0.3 * width, LANE / 2)
        if (sum(lengths[: top + 1]) <= 0.35 * total or small) and total > NEAR:
            return False
        return self._even(line, lengths, total, width)

    def _even(self, line: Line, lengths: list[float], total: float, width: float) -> bool:
        """Whether no bend goes the other way and no part of the curve is straight for long."""
        angles = [
            (self.bearing(b, c) - self.bearing(b, a)) % 360
            for a, b, c in zip(line, line[1:], line[2:], strict=False)
        ]
        run, before_straight = max(0.0, lengths[1] - width), False
        for k, (before, angle) in enumerate(pairwise(angles), start=2):
            bends = turned(before, 180) > FUZZY and turned(angle, 180) > FUZZY
            if bends and (before > 180) == (angle < 180):
                return False
            is_straight = turned(angle, 180) < 5
            if is_straight:
                run += lengths[k]
            if run > 0.3 * total and (before_straight or not is_straight):
                return False
            if not is_straight:
                run = lengths[k]
            before_straight = is_straight
        return True


def turned(one: float, other: float) -> float:
    """Degrees between two directions, 0 to 180."""
    apart = abs(one - other) % 360
    return min(apart, 360 - apart)


def _between(start: Point, end: Point, part: float) -> Point:
    # Cut to whole microdegrees, as there: ten metres on, that is a tenth of a second of a turn.
    return int(start[0] + part * (end[0] - start[0])), int(start[1] + part * (end[1] - start[1]))


def _foot(start: Point, end: Point, point: Point) -> Point:
    x, y = end[0] - start[0], end[1] - start[1]
    square = x * x + y * y
    if not square:
        return start
    part = ((point[0] - start[0]) * x + (point[1] - start[1]) * y) / square
    part = min(1.0, max(0.0, part))
    # The nearest whole microdegrees: up to 7 cm, and that may tell a bent road from a straight one.
    return round(start[0] + part * x), round(start[1] + part * y)


def _left_of(start: Point, end: Point, point: Point) -> bool:
    x, y = end[0] - start[0], end[1] - start[1]
    return x * (point[1] - start[1]) - y * (point[0] - start[0]) > 0
