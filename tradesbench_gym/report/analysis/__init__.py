"""Where a run's profit went: its gap to another run of the same world, who accepted what, and the
risk that each booking took.

Works on any world file and on policies played here; it knows no agent and no harness.
"""

from tradesbench_gym.report.analysis.acceptance import Bucket, acceptance
from tradesbench_gym.report.analysis.accounts import Account, played_account, read_account
from tradesbench_gym.report.analysis.bookings import Booking, Miss, SlackBucket, bookings, by_slack
from tradesbench_gym.report.analysis.bookings import misses as missed_jobs
from tradesbench_gym.report.analysis.gap import PARTS, Gap, Part, Row, gap

__all__ = [
    "PARTS",
    "Account",
    "Booking",
    "Bucket",
    "Gap",
    "Miss",
    "Part",
    "Row",
    "SlackBucket",
    "acceptance",
    "bookings",
    "by_slack",
    "gap",
    "missed_jobs",
    "played_account",
    "read_account",
]
