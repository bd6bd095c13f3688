"""The transcript outlives a kill, keeps no secret and takes any text."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from tradesbench_gym.harness.gateway import GatewayError, Prices, read_record
from tradesbench_gym.harness.manifest import HarnessError, read_manifest, salt_digest
from tradesbench_gym.harness.transcript import (
    LONGEST_TEXT,
    History,
    Occasion,
    Record,
    Transcript,
    read_transcript,
    seconds_spent,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "transcript.jsonl"


def test_a_line_that_was_cut_short_is_taken_off_and_the_rest_stands(path: Path) -> None:
    with Transcript(path) as transcript:
        transcript.write("one", text="é")
        transcript.write("two")
    whole = path.read_bytes()
    for cut in range(len(whole.splitlines(keepends=True)[1]) - 1):
        path.write_bytes(whole[: len(whole) - 1 - cut])
        with Transcript(path) as transcript:
            assert [one.kind for one in transcript.past] == ["one"]
            transcript.write("three")
        assert [one.kind for one in read_transcript(path)] == ["one", "three"]


def test_a_disk_that_is_full_leaves_no_half_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, write = 100, os.write

    def small_disk(handle: int, data: bytes) -> int:
        """As on a disk with so many bytes left: what fits is written, and then nothing is."""
        nonlocal room
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(handle, data[:room])
        room -= written
        return written

    with Transcript(path) as transcript:
        transcript.write("one")
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", small_disk)
            with pytest.raises(HarnessError, match="no space left"):
                transcript.write("two", text="x" * 1000)
        transcript.write("three")
    assert [one.kind for one in read_transcript(path)] == ["one", "three"]


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "turn", "at": "2026-01-01T00:00:00+00:00"}',
        '{"kind": "fault", "at": "2026-01-01T00:00:00+00:00", "fault": 3}',
        '{"kind": "prompt", "at": "2026-01-01T00:00:00+00:00", "attempt": "x"}',
        '{"kind": "night", "at": "yesterday"}',
        '{"kind": "night", "at": "2026-01-01"}',
        '{"kind": "night", "at": 5}',
        "[" * 5000,
    ],
)
def test_a_line_that_lacks_what_its_readers_need_is_named(path: Path, line: str) -> None:
    path.write_text(f"{line}\n")
    for read in (lambda: list(read_transcript(path)), lambda: Transcript(path).close()):
        with pytest.raises(HarnessError, match="line 1 is no record"):
            read()


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    for read in (lambda: list(read_transcript(path)), lambda: Transcript(path).close()):
        with pytest.raises(HarnessError, match="not a regular file"):
            read()
    with pytest.raises(HarnessError, match="not a regular file"):
        read_manifest(path)
    os.mkfifo(path.with_name("requests.jsonl"))
    with pytest.raises(GatewayError, match="not a regular file"):
        read_record(path.parent, Prices())


def test_a_damaged_line_in_the_middle_is_named(path: Path) -> None:
    path.write_bytes(b'{"kind": "one", "at": "2026-11-30T12:00:00+00:00"}\nnonsense\n')
    with pytest.raises(HarnessError, match="line 2 is no record"):
        Transcript(path)


@pytest.mark.parametrize("line", [b"[]\n", b"{}\n", b'{"kind": "one"}\n', b"null\n", b"\xff\n"])
def test_what_is_no_record_is_refused(path: Path, line: bytes) -> None:
    path.write_bytes(line)
    with pytest.raises(HarnessError):
        Transcript(path)


def test_secrets_are_struck_out_wherever_they_stand(path: Path) -> None:
    with Transcript(path, ["t0ken", ""]) as transcript:
        transcript.write("said", said={"env": {"t0ken": ["Bearer t0ken"]}})
    assert b"t0ken" not in path.read_bytes()
    assert path.read_bytes().count(b"[secret]") == 2


@pytest.mark.parametrize("text", ["\ud800", "\x00", "\u2028", '"\\', "☎" * 3])
def test_any_text_is_kept_on_one_line(path: Path, text: str) -> None:
    with Transcript(path) as transcript:
        transcript.write("said", text=text)
    assert len(path.read_bytes().splitlines()) == 1
    (found,) = read_transcript(path)
    if text != "\ud800":
        assert found.said["text"] == text


def test_long_texts_are_cut_and_say_so(path: Path) -> None:
    with Transcript(path) as transcript:
        transcript.write("said", text="x" * 1_000_000)
    (found,) = read_transcript(path)
    assert len(found.said["text"]) < LONGEST_TEXT + 50
    assert found.said["text"].endswith("(1,000,000 characters)")


def record(kind: str, second: int, **said: object) -> Record:
    return Record(kind, f"2026-11-30T12:00:{second:02}+00:00", said)


def test_the_seconds_between_two_sittings_count_for_nothing() -> None:
    lines = [
        *(record("sitting", 0), record("prompt", 4), record("turn", 10)),
        *(record("sitting", 40), record("advance", 41)),
    ]
    assert seconds_spent(lines) == 11
    assert seconds_spent([]) == 0


def test_history_knows_what_was_said_what_counted_and_what_is_over() -> None:
    said = {"about": "call", "number": 3}
    turn = {**said, "seconds": 2.0, "end": "settled"}
    lines = [
        record("prompt", 0, **said, attempt=0),
        record("turn", 1, **turn, counts=False),
        record("prompt", 2, **said, attempt=0),
        record("turn", 3, **turn, counts=True),
        record("prompt", 4, **said, attempt=1),
    ]
    history, third = History(lines), Occasion("call", 3)
    assert history.attempts(third) == 1
    assert history.left_open() == [third]
    assert not history.is_over(third)
    assert (history.turns, history.reminders, history.seconds) == (2, 1, 4.0)
    history.add("outcome", {**said, "outcome": "unanswered"})
    assert history.is_over(third)
    assert history.left_open() == []
    assert history.unanswered == 1


def test_a_manifest_of_another_shape_is_refused_by_the_field_at_fault(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    with pytest.raises(HarnessError, match="is no folder of a run"):
        read_manifest(path)
    path.write_text(json.dumps({"format": 2}))
    with pytest.raises(HarnessError, match="format"):
        read_manifest(path)
    path.write_bytes(b"\xff")
    with pytest.raises(HarnessError, match="the whole"):
        read_manifest(path)


def test_the_digest_of_a_salt_is_that_of_its_decimal_digits() -> None:
    # echo -n 0 | sha256sum
    assert salt_digest(0) == "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"
