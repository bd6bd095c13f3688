"""One run in one SQLite file: journal, events and ledger; resume, replay and audit.

Everybody else needs `World`, and `audit`, `replay` and `reading` for a file at rest or being
played. Nothing here holds a rule: the run itself is `company.Simulation`.
"""

from tradesbench_gym.world.audit import AuditReport, Finding, audit
from tradesbench_gym.world.command import Command
from tradesbench_gym.world.errors import WorldError
from tradesbench_gym.world.files import reading
from tradesbench_gym.world.lock import Holder
from tradesbench_gym.world.playing import play_on
from tradesbench_gym.world.replaying import Step, replay
from tradesbench_gym.world.schema import WORLD_VERSION
from tradesbench_gym.world.world import World

__all__ = [
    "WORLD_VERSION",
    "AuditReport",
    "Command",
    "Finding",
    "Holder",
    "Step",
    "World",
    "WorldError",
    "audit",
    "play_on",
    "reading",
    "replay",
]
