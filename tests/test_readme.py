"""What the README shows is run as it stands there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tradesbench_gym.company.play import play
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.policies import policy_names
from tradesbench_gym.policies.load import load_policy

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text("utf-8")
SCRIPT, TRAINING, POLICY, CLIENT, WORDS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
AGENT_PORT, DRIVER_PORT = "8642", "8643"


def test_the_script_plays_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(SCRIPT, "README.md", "exec"), {})  # noqa: S102 - our own README
    assert re.fullmatch(r"-?\d+\n", capsys.readouterr().out)


def test_the_run_in_words_comes_to_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(WORDS, "README.md", "exec"), {})  # noqa: S102 - our own README
    assert re.fullmatch(r"-?\d+\n", capsys.readouterr().out)


def test_every_policy_that_ships_is_named() -> None:
    table = re.findall(r"^\| `([a-z-]+)` \|", TEXT.split("Policies that ship:")[1], re.MULTILINE)
    assert set(policy_names()) <= set(table)


@pytest.mark.parametrize("seed", range(3))
def test_the_policy_makes_legal_offers_to_the_end(tmp_path: Path, seed: int) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(POLICY, encoding="utf-8")
    simulation = Simulation(seed)
    play(simulation, load_policy(f"{mine}:decide"))
    assert simulation.ended


@pytest.mark.train
def test_the_training_learns() -> None:
    shorter = TRAINING.replace('"MultiInputPolicy", env)', '"MultiInputPolicy", env, n_steps=64)')
    assert "n_steps=64" in shorter
    learned = shorter.replace("model.learn(2_000)", "model.learn(64)")
    assert learned != shorter
    exec(compile(learned, "README.md", "exec"), {})  # noqa: S102 - our own README


def lines(start: str) -> list[str]:
    """The lines of the README that begin so, as they are typed."""
    return re.findall(rf"^{start} .*$", TEXT, re.MULTILINE)


@pytest.fixture
def ports() -> dict[str, str]:
    """Free ports in the place of the README's."""
    with ExitStack() as held:
        made = [held.enter_context(socket.socket()) for _ in range(2)]
        for one in made:
            one.bind(("127.0.0.1", 0))
        free = [str(one.getsockname()[1]) for one in made]
    return dict(zip((AGENT_PORT, DRIVER_PORT), free, strict=True))


@pytest.fixture
def served(
    tmp_path: Path, ports: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """What the section about HTTP starts, a day long; its ports."""
    (exported,) = lines("export")
    for name, value in re.findall(r"(\w+)=(\d+|\$\(.*?\))", exported):
        monkeypatch.setenv(name, ports.get(value, f"{name}-of-a-test"))
    monkeypatch.chdir(tmp_path)
    (docs,), (serve, *_) = lines("tradesbench docs"), lines("tradesbench serve")
    commands = []
    for line in (docs, serve.removesuffix(" &")):
        words = [ports.get(word, word) for word in shlex.split(line)[1:]]
        commands.append([sys.executable, "-m", "tradesbench_gym", *words, "--days", "1"])
    subprocess.run(commands[0], check=True, capture_output=True)
    with subprocess.Popen(commands[1], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("Serving served5.sqlite")
        yield ports
        server.terminate()
        server.stdout.read()
    assert server.returncode == 0


def test_the_company_is_served_and_its_phone_answered(
    served: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    for line in lines("curl") if shutil.which("curl") else ():
        command = re.sub(r":(\d{4})/", lambda found: f":{served[found[1]]}/", line)
        answer = subprocess.run(
            ["/bin/sh", "-c", command], check=True, capture_output=True, text=True, env=os.environ
        )
        assert answer.stdout.startswith("{")
        assert '"error"' not in answer.stdout
    exec(compile(CLIENT.replace(DRIVER_PORT, served[DRIVER_PORT]), "README.md", "exec"), {})  # noqa: S102 - our own README
    assert re.fullmatch(r"-?\d+\n", capsys.readouterr().out)
