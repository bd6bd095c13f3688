"""The oracle as an agent of the harness: `python -m tradesbench_gym.harness.agents.oracle`.

It is the same function of a desk that plays in process, over HTTP, with an agent's token and the
handbook of its workspace; it shows what a scripted agent looks like. This module knows no run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tradesbench_gym.api.client import Agent
from tradesbench_gym.api.dispatcher import Dispatcher
from tradesbench_gym.policies.load import load_policy


def main() -> None:
    """Answer prompts until stdin ends."""
    handbook = Path("docs/HANDBOOK.md").read_text(encoding="utf-8")
    policy = load_policy(sys.argv[1] if len(sys.argv) > 1 else "oracle")
    with Agent.from_environment() as agent:
        dispatcher = Dispatcher(agent, handbook, policy)
        for line in sys.stdin:
            prompt = json.loads(line)
            if prompt["about"] in {"call", "cancellation"}:
                dispatcher.answer()
            print(json.dumps({"type": "settled", "id": prompt["id"]}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
