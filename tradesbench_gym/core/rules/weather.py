"""The weather of every zone and day, and what is forecast of it (A.5 of the report).

Highs follow the season; the day-to-day anomaly, a part the region shares and a part of each zone,
tends back toward it. Storm, rain and wind come to the region by the month and reach each zone or
not. Nothing a company does changes it.
"""

from __future__ import annotations

import numpy as np

from tradesbench_gym.core import draws
from tradesbench_gym.core.draws import DAY_OFFSET, div_round, happens
from tradesbench_gym.core.jit import rule
from tradesbench_gym.core.layout import (
    BOOKING_DAYS,
    DAY_SECONDS,
    FORECAST_DAYS,
    LEAD_IN_DAYS,
    Condition,
    Int,
    Record,
    code,
)

_REGION = code(draws.Event.WEATHER_REGION)
_ZONE = code(draws.Event.WEATHER_ZONE)
_EVENT_REGION = code(draws.Event.EVENT_REGION)
_EVENT_ZONE = code(draws.Event.EVENT_ZONE)
_FORECAST = code(draws.Event.FORECAST)

CLEAR = code(Condition.CLEAR)
COOL = code(Condition.COOL)
HOT = code(Condition.HOT)
EXTREME_HEAT = code(Condition.EXTREME_HEAT)
WIND = code(Condition.WIND)
RAIN = code(Condition.RAIN)
STORM = code(Condition.STORM)
_HUNDREDTHS = np.int64(100)
_THOUSANDTHS = np.int64(1_000)


@rule
def _bell(run: Record, event: Int, a: Int, b: Int, spread: Int) -> np.int64:
    w0, w1, w2, _ = draws.block(run["seed"], run["salt"], event, a, b, draws.ZERO)
    return draws.bell(w0, w1, w2, spread)


@rule
def _sign(run: Record, p: Record, zone: Int, day: Int, lead: Int) -> np.int64:
    """Storm, rain, wind or none (CLEAR): the region has it, and it reaches the zone.

    Lead 0 is what happens; other leads are signs of the same climate that a forecast may mistake
    for it.
    """
    season = p["season"][day + LEAD_IN_DAYS]
    r0, r1, r2, _ = draws.block(
        run["seed"], run["salt"], _EVENT_REGION, day + DAY_OFFSET, lead, draws.ZERO
    )
    z0, z1, z2, _ = draws.block(run["seed"], run["salt"], _EVENT_ZONE, zone, day + DAY_OFFSET, lead)
    if happens(r0, season["storm"]) and happens(z0, p["zone_hit"][0]):
        return np.int64(STORM)
    if happens(r1, season["rain"]) and happens(z1, p["zone_hit"][1]):
        return np.int64(RAIN)
    if happens(r2, season["wind"]) and happens(z2, p["zone_hit"][2]):
        return np.int64(WIND)
    return np.int64(CLEAR)


@rule
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
    days = np.int64(p["handbook"]["days"]) + BOOKING_DAYS
    persistence = np.int64(p["persistence"])
    for zone in range(np.int64(p["handbook"]["zones"])):
        regional = np.int64(0)
        zonal = np.int64(0)
        for index in range(days + LEAD_IN_DAYS):
            day = np.int64(index) - LEAD_IN_DAYS
            season = p["season"][index]
            shared = _bell(run, _REGION, day + DAY_OFFSET, draws.ZERO, season["region_sd"])
            own = _bell(run, _ZONE, zone, day + DAY_OFFSET, season["zone_sd"])
            regional = div_round(regional * persistence, _THOUSANDTHS) + shared
            zonal = div_round(zonal * persistence, _THOUSANDTHS) + own
            if day >= 0:
                high = div_round(np.int64(season["normal"]) + regional + zonal, _HUNDREDTHS)
                sky = run["sky"][day, zone]
                sky["high"] = high
                sky["condition"] = _condition(p, _sign(run, p, zone, day, draws.ZERO), high)


@rule
def make_forecast(run: Record, p: Record) -> None:
    """Today's weather and the forecast of the seven days ahead, as they stand on the run's present
    day.

    Errors are nested: each day of lead adds its own to those of the shorter leads, so that
    yesterday's forecast holds nothing that today's does not, and no average of forecasts comes
    nearer to the truth than the latest one.
    """
    today = np.int64(run["day"])
    for zone in range(np.int64(p["handbook"]["zones"])):
        for ahead in range(FORECAST_DAYS + 1):
            day = today + ahead
            high = np.int64(run["sky"][day, zone]["high"])
            sign = np.int64(run["sky"][day, zone]["condition"])
            if sign < WIND:
                sign = np.int64(CLEAR)
            error = np.int64(0)
            for lead in range(1, ahead + 1):
                w0, w1, w2, w3 = draws.block(
                    run["seed"], run["salt"], _FORECAST, zone, day + DAY_OFFSET, lead
                )
                error += draws.bell(w0, w1, w2, p["forecast_sd"])
                if happens(w3, p["forecast_flip"]):
                    sign = _sign(run, p, zone, day, lead)
            high += div_round(error, _HUNDREDTHS)
            said = run["forecast"][ahead, zone]
            said["high"] = high
            said["condition"] = _condition(p, sign, high)


@rule
def weather_at(run: Record, zone: Int, moment: Int) -> np.int64:
    """The condition of a zone at a moment of the run."""
    return np.int64(run["sky"][moment // DAY_SECONDS, zone]["condition"])
