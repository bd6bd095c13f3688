"""Folders of runs for the tests of what is made of them: played once, copied, and tampered with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx

from tests.harness.doubles import parts
from tests.harness.runs import begin, play
from tests.harness.stub_provider import Reply, in_turn, providing
from tradesbench_gym.harness.folder import RunFolder
from tradesbench_gym.harness.gateway import Gateway, GatewaySettings
from tradesbench_gym.harness.manifest import Manifest, ModelPart
from tradesbench_gym.harness.results import Line, prove
from tradesbench_gym.harness.results.facts import prices_of

PRICES: dict[str, Any] = {
    "input_price": Decimal(1),
    "cached_price": Decimal("0.1"),
    "output_price": Decimal(3),
}
TOO_MANY = Reply(status=429, body=b'{"error": {"message": "slow down"}}')
ANSWERS = (Reply("One two three."), TOO_MANY, Reply("Four."), Reply("Five six."))
Plain = dict[str, Any]
Tamper = Callable[[RunFolder], None]


class Talking(Gateway):
    """A gateway that is asked as soon as it runs: in one piece, with a retry, and in events."""

    def start(self) -> None:
        super().start()
        for stream in (False, False, True):
            asked: Plain = {"model": "stub-1", "messages": [{"role": "user", "content": "Hello"}]}
            if stream:
                asked |= {"stream": True, "stream_options": {"include_usage": True}}
            httpx.post(
                f"http://127.0.0.1:{self.port}/v1/chat/completions",
                json=asked,
                headers={"Authorization": f"Bearer {self.token}"},
                timeout=30,
            )


def model_run(
    path: Path, map_file: Path, *replies: Reply, seed: int = 5, **prices: Decimal | None
) -> RunFolder:
    """A run of one day, played to its end by an agent whose model is a stub."""
    with providing(in_turn(*(replies or ANSWERS))) as stub:
        model = ModelPart(name="stub-1", base_url=stub.base_url, **{**PRICES, **prices})
        folder = begin(path, map_file, "answers", seed=seed, model=model)

        def made(manifest: Manifest, run: RunFolder, _left: float | None) -> Gateway:
            assert manifest.model is not None
            settings = GatewaySettings(
                base_url=stub.base_url,
                key="sk-of-the-tests",
                model="stub-1",
                prices=prices_of(manifest.model),
                max_cost=None,
                max_tokens=None,
                deadline=None,
                request_seconds=10.0,
                retries=3,
            )
            return Talking(settings, run.path)

        play(folder, parts(model=made))
    return folder


def copied(folder: RunFolder, place: Path) -> RunFolder:
    """The same folder somewhere else."""
    shutil.copytree(folder.path, place)
    return RunFolder(place)


def change_manifest(folder: RunFolder, change: Callable[[Plain], None]) -> None:
    """Change the manifest, as anybody with an editor can."""
    said = json.loads(folder.manifest_file.read_text(encoding="utf-8"))
    change(said)
    folder.manifest_file.write_text(json.dumps(said), encoding="utf-8")


def put(folder: RunFolder, where: str, value: Any) -> None:
    """Change one value of the manifest, named as `run.seed`."""
    *way, last = where.split(".")

    def change(said: Any) -> None:
        for name in way:
            said = said[int(name)] if isinstance(said, list) else said[name]
        said[last] = value

    change_manifest(folder, change)


def change_lines(file: Path, change: Callable[[list[Plain]], None]) -> None:
    """Change the lines of a file of JSON lines, in place."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    change(lines)
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    file.write_text(text, encoding="utf-8")


def first(lines: list[Plain], kind: str, **more: Any) -> Plain:
    """The first line of a kind, with some values if given."""
    return next(
        line
        for line in lines
        if line["kind"] == kind and all(line.get(key) == value for key, value in more.items())
    )


def failing(folder: RunFolder, **more: Any) -> list[Line]:
    """The checks of a folder that fail."""
    return [line for line in prove(folder.path, **more) if not line.holds]


def value(where: str, what: Any) -> Tamper:
    return lambda folder: put(folder, where, what)


def assert_found(folder: RunFolder, check: str, words: str = "") -> None:
    found = failing(folder)
    assert found, "nothing was found"
    assert found[0].name == check, found
    assert words in found[0].found
    assert found[0].found.isprintable()
