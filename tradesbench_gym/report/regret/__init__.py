"""The price of each decision of a run, and the best that hindsight finds for it.

    recorded = read_recorded("run5.sqlite")
    prices = price(recorded)
    prices.worst(10)

What is measured, and what it cannot say, stands in docs/regret.md.
"""

from tradesbench_gym.report.regret.kinds import KINDS, PARTS, Comparison, Kind, Part
from tradesbench_gym.report.regret.prices import Ask, Interrupted, Prices, Sample, price
from tradesbench_gym.report.regret.pricing import Price
from tradesbench_gym.report.regret.recorded import Recorded, read_recorded, record
from tradesbench_gym.report.regret.search import Budget, Found, search

__all__ = [
    "KINDS",
    "PARTS",
    "Ask",
    "Budget",
    "Comparison",
    "Found",
    "Interrupted",
    "Kind",
    "Part",
    "Price",
    "Prices",
    "Recorded",
    "Sample",
    "price",
    "read_recorded",
    "record",
    "search",
]
