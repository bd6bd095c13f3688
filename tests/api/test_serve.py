"""`tradesbench serve` as a process of its own: real sockets, real signals, a run that is kept."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
from typer.testing import CliRunner

from tests.api.companies import Party, problem
from tests.world.runs import create, play_to_the_end, resume
from tradesbench_gym.api.listening import listen_on_port
from tradesbench_gym.api.tokens import Token
from tradesbench_gym.commands.serve import serve
from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.world import World

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sockets have no files here")
GIVEN = "a-token-that-was-given"


@dataclass
class Server:
    """A running `tradesbench serve`."""

    process: subprocess.Popen[str]
    said: dict[str, Any]
    agent: Party
    driver: Party

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)


def command(*words: object, **environment: str) -> subprocess.Popen[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("SUNRIDGE_")}
    return subprocess.Popen(
        [sys.executable, "-m", "tradesbench_gym", "serve", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**kept, "TRADESBENCH_QUIET": "1", **environment},
    )


def refused(*words: object, **environment: str) -> str:
    """The sentence with which a server does not start."""
    with command(*words, **environment) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 2, err
    assert not out
    assert err.startswith("error: "), err
    assert err.count("\n") == 1
    return err


def party(where: dict[str, str], token: str) -> Party:
    kind, _, path = where["address"].partition(":")
    transport = httpx.HTTPTransport(uds=path) if kind == "unix" else None
    base = "http://company" if kind == "unix" else where["address"]
    client = httpx.Client(base_url=base, transport=transport, timeout=120)
    return Party(client, Token(token.encode()))


@contextmanager
def running(*words: object, **environment: str) -> Iterator[Server]:
    process = command(*words, "--json", **environment)
    assert process.stdout is not None
    with process, ExitStack() as held:
        try:
            line = process.stdout.readline()
            if not line:
                raise AssertionError(process.communicate()[1])
            said = json.loads(line)
            parties = []
            for name in ("agent", "driver"):
                origin = said[name]["token"]
                known = origin.startswith("$")
                token = GIVEN if known else Path(origin).read_text(encoding="utf-8").strip()
                parties.append(party(said[name], token))
                held.enter_context(parties[-1].client)
            yield Server(process, said, *parties)
        finally:
            if process.poll() is None:
                process.kill()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.sqlite"
    create(path).close()
    return path


@pytest.fixture
def serving(file: Path, map_file: Path) -> Callable[..., Any]:
    """A maker of servers of one run."""
    return lambda *words, **more: running(file, "--map", map_file, *words, **more)


def played(server: Server) -> dict[str, Any]:
    """Play to the first call and book it; where the run stands then."""
    while server.driver("advance")["stop"] != "new_call":
        pass
    caller = server.agent("calls.current")["new_job"]
    who = {key: caller[key] for key in ("call_id", "name", "phone")}
    server.agent("customers.register", **who)
    server.agent("locations.register", call_id=caller["call_id"], address=caller["address"])
    server.agent(
        "jobs.book",
        call_id=caller["call_id"],
        job_type=caller["job_type"],
        service_date="2026-10-02",
        window_start="09:00",
        technician="marcus",
    )
    assert server.agent("query", sql="SELECT count(*) FROM calls")["rows"] == [[1]]
    status: dict[str, Any] = server.driver("status")
    return status


def test_a_run_is_served_on_a_port_and_its_driver_on_a_private_socket(
    serving: Callable[..., Any], file: Path
) -> None:
    with serving("--port", 0) as server:
        assert server.said["agent"]["address"].startswith("http://127.0.0.1:")
        path = Path(server.said["driver"]["address"].removeprefix("unix:"))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        for name in ("agent", "driver"):
            token = Path(server.said[name]["token"])
            assert stat.S_IMODE(token.stat().st_mode) == 0o600
        status = played(server)
        assert server.stop(signal.SIGTERM) == 0
        assert not path.parent.exists()
        assert server.process.stderr is not None
        assert server.process.stderr.read() == ""
    assert not file.with_name("run.sqlite.lock").exists()
    assert not file.with_name("run.sqlite-wal").exists()
    with resume(file) as world:
        assert world.digest() == status["digest"]
        assert world.commands == status["commands"]


def test_both_may_have_unix_sockets_of_their_own_and_tokens_from_the_environment(
    serving: Callable[..., Any], file: Path
) -> None:
    with tempfile.TemporaryDirectory(prefix="tb-") as folder:
        agent, driver = Path(folder) / "agent.sock", Path(folder) / "driver.sock"
        words = ("--socket", agent, "--driver-socket", driver)
        with serving(*words, SUNRIDGE_API_TOKEN=GIVEN) as server:
            assert server.said["agent"] == {
                "address": f"unix:{agent}",
                "token": "$SUNRIDGE_API_TOKEN",
            }
            assert stat.S_IMODE(agent.stat().st_mode) == 0o666
            assert stat.S_IMODE(driver.stat().st_mode) == 0o600
            played(server)
            with httpx.Client(
                transport=httpx.HTTPTransport(uds=str(driver)), base_url="http://company"
            ) as intruder:
                other = Party(intruder, Token(GIVEN.encode()))
                assert other.refused("advance") == (401, "token_wrong")
            assert server.agent.refused("advance") == (404, "unknown_operation")
            assert server.stop(signal.SIGINT) == 130
        assert not agent.exists()
        assert not driver.exists()
    with resume(file) as world:
        assert world.desk["n_calls"] == 1


def test_the_driver_may_have_a_port_and_the_token_a_time(
    serving: Callable[..., Any],
) -> None:
    with serving("--port", 0, "--driver-port", 0, "--valid", 0) as server:
        addresses = [server.said[name]["address"] for name in ("agent", "driver")]
        assert len(set(addresses)) == 2
        assert all(one.startswith("http://127.0.0.1:") for one in addresses)
        assert server.agent.refused("company.status") == (401, "token_expired")
        assert server.driver("advance")["stop"] == "day_opened"
        assert server.stop() == 0


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A short path, for sockets have short names, to a place for temporary files of its own."""
    with tempfile.TemporaryDirectory(prefix="tb-") as folder:
        yield Path(folder)


def test_a_killed_server_leaves_a_run_that_is_served_again_and_nothing_else_for_long(
    serving: Callable[..., Any], temporary: Path
) -> None:
    with serving("--port", 0, TMPDIR=str(temporary)) as server:
        before = played(server)
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
    left = list(temporary.iterdir())
    assert len(left) == 2  # tokens and sockets, and the public database
    for path in (*temporary.glob("*/held.lock"), *left):
        os.utime(path, (0, 0))
    with serving("--port", 0, TMPDIR=str(temporary)) as server:
        assert not [folder for folder in left if folder.exists()]
        assert server.driver("status") == before
        assert server.agent("query", sql="SELECT count(*) FROM calls")["rows"] == [[1]]
        assert server.stop() == 0
    assert not list(temporary.iterdir())


def test_a_server_that_is_stopped_while_it_opens_a_long_run_leaves_nothing(
    file: Path, map_file: Path, temporary: Path
) -> None:
    file.unlink()
    with create(file, days=7) as world:
        play_to_the_end(world)
        digest = world.digest()
    lock = file.with_name(f"{file.name}.lock")
    for wanted in (lock.exists, lambda: list(temporary.glob("*public*/*.sqlite"))):
        words = (file, "--map", map_file, "--port", 0, "--json")
        with command(*words, TMPDIR=str(temporary)) as process:
            while not wanted():
                assert process.poll() is None
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        # A signal may fall between the making of this file and its maker's knowing of it; the text
        # says nothing without the lock, as the opening below shows.
        assert not lock.exists() or wanted == lock.exists
        assert not list(temporary.iterdir())
    with resume(file) as again:
        assert again.digest() == digest


def test_queries_that_wait_when_the_server_is_stopped_are_told_so(
    serving: Callable[..., Any],
) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

    def ask(party: Party) -> tuple[int, str]:
        return problem(party.ask("query", sql=f"{endless} WHERE i < 0"))

    with serving("--port", 0) as server, ThreadPoolExecutor(12) as pool:
        server.agent.client.timeout = 60
        asked = [pool.submit(ask, server.agent) for _ in range(12)]
        time.sleep(1)
        server.process.send_signal(signal.SIGTERM)
        told = Counter(one.result() for one in asked)
        assert server.process.wait(30) == 0
        assert server.process.stderr is not None
        assert server.process.stderr.read() == ""
    assert set(told) == {(422, "sql_time"), (503, "closed")}, told
    assert told[422, "sql_time"] <= 4 * 2


def test_the_second_server_of_a_run_is_told_who_has_it(
    serving: Callable[..., Any], file: Path, map_file: Path
) -> None:
    with serving("--port", 0) as server:
        said = refused(file, "--map", map_file, "--port", 0)
        assert f"is held by process {server.process.pid}" in said
        server.agent("company.status")
        assert server.stop() == 0


def test_a_port_that_is_taken_is_one_sentence_and_the_file_is_free_again(
    file: Path, map_file: Path
) -> None:
    with closing(listen_on_port(0)) as taken:
        port = taken.socket.getsockname()[1]
        said = refused(file, "--map", map_file, "--port", port)
        assert f"cannot listen on port {port}: somebody else listens there" in said
    resume(file).close()


def test_what_cannot_be_served_is_one_sentence(
    file: Path, map_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = typer.Typer()
    app.command()(serve)

    def refused_here(*words: object, **environment: str) -> str:
        """As the command line says it, in a process that has everything compiled."""
        with monkeypatch.context() as here:
            for name, value in environment.items():
                here.setenv(name, value)
            done = CliRunner().invoke(app, [str(word) for word in words])
        assert isinstance(done.exception, TradesBenchError), done.output
        return done.exception.message

    open_file = tmp_path / "token"
    open_file.write_text(GIVEN, encoding="utf-8")
    open_file.chmod(0o644)
    words = (file, "--map", map_file, "--port", 0)
    assert "chmod 600" in refused_here(*words, "--token-file", open_file)
    short = {"SUNRIDGE_API_TOKEN": "short"}
    assert "16 to 512 characters" in refused_here(*words, **short)
    both = {"SUNRIDGE_API_TOKEN": GIVEN, "SUNRIDGE_DRIVER_TOKEN": GIVEN}
    assert "different tokens" in refused_here(*words, **both)
    assert "--seed is of a new run" in refused_here(*words, "--seed", 5)
    two_places = refused_here(*words, "--socket", tmp_path / "agent.sock")
    assert "--port and --socket name two places" in two_places
    assert "there is no file" in refused_here(tmp_path / "none.sqlite")
    assert "is there already" in refused_here(file, "--new")
    assert not list(tmp_path.glob("*.lock"))


def test_a_person_is_told_what_is_served_where_and_how_to_stop(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    words = ("--new", "--seed", 3, "--days", 2, "--port", 0)
    with command(path, *words, SUNRIDGE_DRIVER_TOKEN=GIVEN) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(4)]
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert told[0] == f"Serving {path}: Sunridge Services, 2026-10-01 00:00, day 1 of 2.\n"
    assert told[1].split()[:2] == ["agent", told[1].split()[1]]
    assert "http://127.0.0.1:" in told[1]
    assert "driver.sock" in told[2]
    assert "$SUNRIDGE_DRIVER_TOKEN" in told[2]
    assert f"kill {process.pid}" in told[3]
    assert GIVEN not in "".join(told) + rest + errors
    with World.open(path) as world:
        assert int(world.record["seed"]) == 3
        assert world.business.days == 2
