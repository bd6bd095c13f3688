"""Chooses the anchors: crossings spread so that each speaks for about as many houses as any other.

The demand is halved again and again along the longer side of its area until one anchor's worth is
left. The module knows points and weights only.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.roads.layout import Int32Array, Int64Array


def choose_anchors(x: Int64Array, y: Int64Array, weight: Int64Array, count: int) -> Int32Array:
    """`count` distinct indices of points with weight, neighbours in the result neighbours in space.

    x, y in whole metres; int32 of shape (count,).
    """
    candidates = np.flatnonzero(weight > 0)
    if len(candidates) < count:
        raise ValueError(f"{count} anchors asked for, {len(candidates)} places for them")
    chosen: list[int] = []
    pending = [(candidates, count)]
    while pending:
        points, wanted = pending.pop()
        if wanted == 1:
            chosen.append(_middle(points, x, y, weight))
            continue
        wide = np.ptp(x[points]) >= np.ptp(y[points])
        first, second = (x, y) if wide else (y, x)
        points = points[np.lexsort((points, second[points], first[points]))]
        left = wanted // 2
        reached = np.cumsum(weight[points])
        at = int(np.searchsorted(reached * wanted, reached[-1] * left))
        at = min(max(at, left), len(points) - (wanted - left))
        pending.append((points[at:], wanted - left))
        pending.append((points[:at], left))
    return np.array(chosen, dtype=np.int32)


def _middle(points: Int64Array, x: Int64Array, y: Int64Array, weight: Int64Array) -> int:
    """The point nearest to the centre of gravity; on a tie the lowest index."""
    share = weight[points]
    centre_x = int((x[points] * share).sum()) // int(share.sum())
    centre_y = int((y[points] * share).sum()) // int(share.sum())
    square = (x[points] - centre_x) ** 2 + (y[points] - centre_y) ** 2
    return int(points[np.lexsort((points, square))[0]])
