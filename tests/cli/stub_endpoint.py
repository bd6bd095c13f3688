"""A small OpenAI-compatible endpoint of the tests' own: a thread that answers chat completions."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.play import answer
from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.policies import Decision, make_policy

Request = dict[str, Any]


@dataclass
class Reply:
    """What the endpoint answers: a status, and a body as bytes or to be written as JSON."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection instead of answering."""


@dataclass
class Seen:
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: Request


@dataclass
class Stub:
    """A running endpoint: where it is, and what it was asked."""

    url: str
    seen: list[Seen]


@contextmanager
def serving(reply: Callable[[Request], Reply]) -> Iterator[Stub]:
    """An endpoint whose every request is answered by a function."""
    seen: list[Seen] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet: in two, the second waits 40 ms for the first one's receipt

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(
                Seen(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            )
            made = reply(body)
            if made.drop:
                self.close_connection = True
                return
            raw = made.body if isinstance(made.body, bytes) else json.dumps(made.body).encode()
            self.send_response(made.status)
            for name, value in {"Content-Type": "application/json", **made.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield Stub(f"http://127.0.0.1:{server.server_address[1]}/v1", seen)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


USAGE = {
    "prompt_tokens": 700,
    "completion_tokens": 20,
    "total_tokens": 720,
    "prompt_tokens_details": {"cached_tokens": 500},
}


def completion(message: Mapping[str, Any], usage: Any = USAGE) -> Reply:
    """A chat completion with one message."""
    choice = {"index": 0, "message": dict(message), "finish_reason": "stop"}
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return Reply(body if usage is None else {**body, "usage": usage})


def said(text: Any, usage: Any = USAGE) -> Reply:
    """A chat completion of plain text."""
    return completion({"role": "assistant", "content": text}, usage)


def tool_call(name: str, arguments: str, identity: str = "call_1") -> dict[str, Any]:
    """A tool call as an endpoint writes it."""
    return {
        "id": identity,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


class Dispatcher:
    """Answers as a policy does, from a run of its own that it keeps level with the asker's.

    It never looks at a prompt, so that what it says is the policy's and what is done with it is the
    asker's.
    """

    def __init__(self, policy: str, seeds: list[int], days: int = 14) -> None:
        self._decide = make_policy(policy)
        self._business = open_business(days=days)
        self._seeds = iter(seeds)
        self._simulation: Simulation | None = None
        self._count = 0
        self.lock = threading.Lock()

    def next_decision(self) -> dict[str, str] | None:
        """What is offered to the next caller, in the words of an answer; None to reject."""
        if self._simulation is None or self._simulation.ended:
            self._simulation = Simulation(next(self._seeds), business=self._business)
            self._simulation.next_call()
        taken: list[Decision | None] = []

        def decide(desk: Any) -> Decision | None:
            taken.append(self._decide(desk))
            return taken[0]

        today = self._simulation.day
        answer(self._simulation, decide)
        self._simulation.next_call()
        return None if taken[0] is None else self._in_words(taken[0], today)

    def _in_words(self, offer: Decision, today: int) -> dict[str, str]:
        scenario = self._business.scenario
        return {
            "technician": scenario.technicians[offer.technician].key,
            "date": self._business.date_of(today + offer.ahead).isoformat(),
            "window": f"{scenario.windows[offer.window].opens // 3600:02}:00",
        }

    def as_text(self, _request: Request) -> Reply:
        """The decision as a JSON object in plain text."""
        with self.lock:
            offer = self.next_decision()
        found = {"answer": "reject"} if offer is None else {"answer": "book", **offer}
        return said(json.dumps(found))

    def as_tool(self, _request: Request) -> Reply:
        """The decision as a tool call."""
        with self.lock:
            offer = self.next_decision()
            self._count += 1
        name, arguments = ("reject_call", {}) if offer is None else ("book_job", offer)
        call = tool_call(name, json.dumps(arguments), f"call_{self._count}")
        return completion({"role": "assistant", "content": None, "tool_calls": [call]})
