"""Area files for the real extracts, as a user would write them."""

from __future__ import annotations

from pathlib import Path

IMPERIAL = """
name = "imperial"
title = "Imperial County, California"
state = "CA"
anchors = 300

[[zone]]
name = "Calexico"
polygon = [[32.60, -115.75], [32.60, -115.30], [32.73, -115.30], [32.73, -115.75]]

[[zone]]
name = "Imperial Valley"
polygon = [[32.73, -115.75], [32.73, -115.30], [33.45, -115.30], [33.45, -115.75]]

[[zone]]
name = "West Desert"
polygon = [[32.60, -116.15], [32.60, -115.75], [33.45, -115.75], [33.45, -116.15]]

[[zone]]
name = "Colorado River"
polygon = [[32.60, -115.30], [32.60, -114.50], [33.45, -114.50], [33.45, -115.30]]
"""
# What a company can serve in a day: the two zones in the middle.
VALLEY = IMPERIAL[: IMPERIAL.index('[[zone]]\nname = "West Desert"')]
QUEENS = """
name = "queens_village"
title = "Queens Village, New York"
state = "NY"
city = "Queens Village"
anchors = 400

[[zone]]
name = "South"
polygon = [[40.60, -73.90], [40.60, -73.60], [40.717, -73.60], [40.717, -73.90]]

[[zone]]
name = "North"
polygon = [[40.717, -73.90], [40.717, -73.60], [40.80, -73.60], [40.80, -73.90]]
"""
TEMPE = """
name = "tempe"
state = "AZ"
anchors = 20

[[zone]]
name = "Tempe"
polygon = [[33.3, -112.0], [33.3, -111.8], [33.5, -111.8], [33.5, -112.0]]
"""
SCOTTSDALE = """
name = "scottsdale"
state = "AZ"
anchors = 20

[[zone]]
name = "Scottsdale"
polygon = [[33.5, -112.0], [33.5, -111.7], [33.8, -111.7], [33.8, -112.0]]
"""


def written(folder: Path, text: str) -> Path:
    """The text as an area file."""
    path = folder / "area.toml"
    path.write_text(text, encoding="utf-8")
    return path
