"""How a figure is written in a table: money in dollars, counts with a decimal where they are means.

Text only; what the figures mean and how a table is laid out is decided elsewhere.
"""

from __future__ import annotations

from tradesbench_gym.report.statistics import Unit

NONE = "–"
MINUS = "−"
_CENTS = 100


def exact(value: float | None, unit: Unit) -> str:
    """A figure of one run: whole dollars, or cents where there are any; a whole count.

    >>> exact(-2_679_000, Unit.CENTS), exact(3_028_956, Unit.CENTS), exact(147, Unit.COUNT)
    ('−$26,790', '$30,289.56', '147')
    """
    if value is None:
        return NONE
    if unit is Unit.COUNT:
        return signed(f"{abs(value):,.10g}", value)
    dollars = f"${abs(value) / _CENTS:,.2f}".removesuffix(".00")
    return signed(dollars, value)


def rounded(value: float | None, unit: Unit) -> str:
    """A mean, a deviation or an end of a range: whole dollars, or a count with one decimal.

    >>> rounded(2_640_049.5, Unit.CENTS), rounded(2.65, Unit.COUNT), rounded(None, Unit.COUNT)
    ('$26,400', '2.6', '–')
    """
    if value is None:
        return NONE
    if unit is Unit.COUNT:
        return signed(f"{abs(value):,.1f}", value)
    return signed(f"${abs(value) / _CENTS:,.0f}", value)


def signed(size: str, value: float) -> str:
    """A size with a minus where the value is negative and does not round to zero."""
    return MINUS + size if value < 0 and any(digit in size for digit in "123456789") else size


def ends(low: float | None, high: float | None, unit: Unit) -> str:
    """A range: `14,500…37,100`; one number when both ends are equal.

    >>> ends(10, 10, Unit.COUNT), ends(None, -1, Unit.CENTS), ends(8.5, 13, Unit.COUNT)
    ('10', 'below $0', '8.5…13')
    """
    if low is None and high is None:
        return NONE
    if low is None:
        return "below $0" if high == -1 else f"at most {_bare(high, unit)}"
    if high is None:
        return f"at least {_bare(low, unit)}"
    one = _bare(low, unit)
    return one if low == high else f"{one}…{_bare(high, unit)}"


def _bare(value: float | None, unit: Unit) -> str:
    if unit is Unit.COUNT or value is None:
        return exact(value, unit)
    return rounded(value, unit).replace("$", "")
