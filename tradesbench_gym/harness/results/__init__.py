"""What folders of runs hold: every run's figures beside the oracle's, and the proof of a folder.

Nothing here plays on, starts or stops a run; a folder is read and never touched.
"""

from tradesbench_gym.harness.results.facts import RunFacts, read_facts
from tradesbench_gym.harness.results.groups import Group, grouped
from tradesbench_gym.harness.results.proof import Line, prove

__all__ = ["Group", "Line", "RunFacts", "grouped", "prove", "read_facts"]
