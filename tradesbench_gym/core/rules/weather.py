"""The weather of every zone and day, and what is forecast of it (A.5 of the report).

Highs follow the season; the day-to-day anomaly, a part the region shares and a part of each zone,
tends back toward it. Storm, rain and wind come to the region by the month and reach each zone or
not. Nothing a company does changes it.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core import draws
from tradesbench_gym.core.codes import Condition, code
from tradesbench_gym.core.draws import DAY_OFFSET, div_round, happens
from tradesbench_gym.core.jit import inlined, rule
from tradesbench_gym.core.layout import (
    BOOKING_DAYS,
    DAY_SECONDS,
    FORECAST_DAYS,
    LEAD_IN_DAYS,
    MAX_ZONES,
    Int,
    Record,
)

_REGION = code(draws.Event.WEATHER_REGION)
_ZONE = code(draws.Event.WEATHER_ZONE)
_FORECAST = code(draws.Event.FORECAST)

CLEAR = code(Condition.CLEAR)
COOL = code(Condition.COOL)
HOT = code(Condition.HOT)
EXTREME_HEAT = code(Condition.EXTREME_HEAT)
WIND = code(Condition.WIND)
RAIN = code(Condition.RAIN)
STORM = code(Condition.STORM)
_STORM_BIT, _RAIN_BIT, _WIND_BIT = np.int64(1), np.int64(2), np.int64(4)
_SIGHT = FORECAST_DAYS + 1
_HUNDREDTHS = np.int64(100)
_THOUSANDTHS = np.int64(1_000)


@inlined
def _region(run: Record, p: Record, day: Int, lead: Int) -> tuple[np.int64, np.int64]:
    """What a day brings to the region: innovation of the anomaly in 1/100 °F, signs as bits.

    Lead 0 is what happens; other leads are signs of the same climate that a forecast may mistake
    for it.
    """
    season = p["season"][day + LEAD_IN_DAYS]
    w0, w1, w2, w3 = draws.block(
        run["seed"], run["salt"], _REGION, day + DAY_OFFSET, lead, draws.ZERO
    )
    signs = np.int64(happens(w1, season["storm"])) * _STORM_BIT
    signs += np.int64(happens(w2, season["rain"])) * _RAIN_BIT
    signs += np.int64(happens(w3, season["wind"])) * _WIND_BIT
    return draws.bell(w0, np.int64(season["region_sd"])), signs


@inlined
def _zone(
    run: Record, p: Record, zone: Int, day: Int, lead: Int, signs: Int
) -> tuple[np.int64, np.int64]:
    """What of it reaches a zone: the zone's own innovation, and storm, rain, wind or CLEAR."""
    season = p["season"][day + LEAD_IN_DAYS]
    w0, w1, w2, w3 = draws.block(run["seed"], run["salt"], _ZONE, zone, day + DAY_OFFSET, lead)
    own = draws.bell(w0, np.int64(season["zone_sd"]))
    if signs & _STORM_BIT != 0 and happens(w1, p["zone_hit"][0]):
        return own, np.int64(STORM)
    if signs & _RAIN_BIT != 0 and happens(w2, p["zone_hit"][1]):
        return own, np.int64(RAIN)
    if signs & _WIND_BIT != 0 and happens(w3, p["zone_hit"][2]):
        return own, np.int64(WIND)
    return own, np.int64(CLEAR)


@rule
def _false_sign(run: Record, p: Record, zone: Int, day: Int, lead: Int) -> np.int64:
    _, signs = _region(run, p, day, lead)
    return _zone(run, p, zone, day, lead, signs)[1]


@inlined
def _condition(p: Record, sign: Int, high: Int) -> np.int64:
    if sign != CLEAR:
        return np.int64(sign)
    if high >= p["extreme_from"]:
        return np.int64(EXTREME_HEAT)
    if high >= p["hot_from"]:
        return np.int64(HOT)
    if high < p["cool_below"]:
        return np.int64(COOL)
    return np.int64(CLEAR)


@rule
def make_sky(run: Record, p: Record) -> None:
    """Fill the true weather of every day on which something can happen, in all zones.

    The anomalies start at zero twenty days before day 0, by which time nothing of the start is
    left.
    """
    zones = np.int64(p["handbook"]["zones"])
    persistence = np.int64(p["persistence"])
    regional = np.int64(0)
    zonal = np.zeros(MAX_ZONES, np.int64)
    for index in range(np.int64(p["handbook"]["days"]) + BOOKING_DAYS + LEAD_IN_DAYS):
        day = np.int64(index) - LEAD_IN_DAYS
        shared, signs = _region(run, p, day, draws.ZERO)
        regional = div_round(regional * persistence, _THOUSANDTHS) + shared
        for zone in range(zones):
            own, sign = _zone(run, p, zone, day, draws.ZERO, signs)
            zonal[zone] = div_round(zonal[zone] * persistence, _THOUSANDTHS) + own
            if day >= 0:
                anomaly = regional + zonal[zone]
                high = div_round(np.int64(p["season"][index]["normal"]) + anomaly, _HUNDREDTHS)
                sky = run["sky"][day, zone]
                sky["high"] = high
                sky["condition"] = _condition(p, sign, high)


@inlined
def make_forecast(run: Record, p: Record) -> None:
    """Today's weather and the forecast of the seven days ahead, as they stand on the run's present
    day.

    Errors are nested: each day of lead adds its own to those of the shorter leads, so that
    yesterday's forecast of a zone and day holds nothing that today's does not. (They are each
    zone's own: the mean over zones does tell more of the part they share.)
    """
    today, zones = np.int64(run["day"]), np.int64(p["handbook"]["zones"])
    for zone in range(zones):
        # What a day's forecasts err by is drawn once, when it comes into sight.
        for ahead in range(np.int64(1) if today == 0 else np.int64(FORECAST_DAYS), _SIGHT):
            _make_doubt(run, p, np.int64(zone), today, np.int64(ahead))
    for ahead in range(_SIGHT):
        day = today + ahead
        for zone in range(zones):
            sky = run["sky"][day, zone]
            error, lost = _forecast_error(run["doubt"][day % FORECAST_DAYS, zone], np.int64(ahead))
            high = np.int64(sky["high"]) + div_round(error, _HUNDREDTHS)
            sign = np.int64(sky["condition"])
            if sign < WIND:
                sign = np.int64(CLEAR)
            if lost > 0:
                sign = _false_sign(run, p, np.int64(zone), day, lost)
            run["forecast"]["high"][ahead, zone] = high
            run["forecast"]["condition"][ahead, zone] = _condition(p, sign, high)


@inlined
def _make_doubt(run: Record, p: Record, zone: Int, today: Int, ahead: Int) -> None:
    """Draw what every day of lead until `ahead` adds to the errors of a zone and a day: a block for
    two of them.
    """
    day = today + ahead
    doubt = run["doubt"][day % FORECAST_DAYS, zone]
    spread, flip = np.int64(p["forecast_sd"]), p["forecast_flip"]
    error, lost = np.int64(0), np.int64(0)
    for pair in range((ahead + 1) // 2):
        w0, w1, w2, w3 = draws.block(
            run["seed"], run["salt"], _FORECAST, zone, day + DAY_OFFSET, np.int64(pair)
        )
        lead = np.int64(2 * pair + 1)
        error += draws.bell(w0, spread)
        lost = lead if happens(w1, flip) else lost
        doubt["error"][lead - 1], doubt["lost"][lead - 1] = error, lost
        if lead < ahead:
            error += draws.bell(w2, spread)
            lost = lead + np.int64(1) if happens(w3, flip) else lost
            doubt["error"][lead], doubt["lost"][lead] = error, lost


@inlined
def _forecast_error(doubt: Record, ahead: Int) -> tuple[np.int64, np.int64]:
    """Error of the high in 1/100 °F so many days ahead, and the longest lead until then at which
    the sign is lost (0: none).
    """
    if ahead == 0:
        return np.int64(0), np.int64(0)
    return np.int64(doubt["error"][ahead - 1]), np.int64(doubt["lost"][ahead - 1])


@inlined
def weather_at(run: Record, zone: Int, moment: Int) -> np.int64:
    """The condition of a zone at a moment of the run."""
    return np.int64(run["sky"][moment // DAY_SECONDS, zone]["condition"])
