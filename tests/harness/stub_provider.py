"""A small OpenAI-compatible provider of the tests' own: it says what it is told to say, in one
piece or in events, fails as it is told to fail, and counts its tokens itself."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.harness.stub_answers import Body, Call, Reply, Tokens, conversation, count, events, whole

__all__ = ["Asked", "Call", "Reply", "Stub", "Tokens", "in_turn", "providing"]

_FILLER = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"word " * 800 + b'"}}]}\n\n'


@dataclass
class Asked:
    """One request: what was asked, and what was told about its tokens, once it was told whole."""

    path: str
    headers: Mapping[str, str]
    body: Body
    tokens: Tokens | None = None

    @property
    def last(self) -> str:
        """The last message's text."""
        turns = self.body.get("messages", self.body.get("input"))
        return str(turns[-1]["content"] if isinstance(turns, list) else turns)


@dataclass
class Stub:
    """A running provider.

    Attributes:
        base_url: with its `/v1`.
        asked: every request, in the order of their coming.
        reply: what is answered; may be replaced at any time.

    """

    base_url: str
    reply: Callable[[Asked], Reply]
    asked: list[Asked] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def answered(self) -> list[Asked]:
        """The requests whose tokens were told."""
        return [one for one in self.asked if one.tokens is not None]

    @property
    def total(self) -> Tokens:
        """The stub's own count of the tokens that it told."""
        told = [one.tokens for one in self.asked if one.tokens is not None]
        return Tokens(
            sum(one.input for one in told),
            sum(one.cached for one in told),
            sum(one.output for one in told),
        )


def in_turn(*replies: Reply) -> Callable[[Asked], Reply]:
    """These replies one after the other, and then the last one again and again."""
    left = list(replies)
    lock = threading.Lock()

    def reply(_asked: Asked) -> Reply:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return reply


@contextmanager
def providing(reply: Callable[[Asked], Reply] = lambda _asked: Reply()) -> Iterator[Stub]:
    """A provider whose every request is answered by a function, in a thread of its own each."""
    stub = Stub("", reply)

    class Handler(_Handler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.path, headers, body)
            with stub.lock:
                before = next(
                    (
                        conversation(one.body)
                        for one in reversed(stub.asked)
                        if one.path == asked.path
                    ),
                    "",
                )
                stub.asked.append(asked)
            made = stub.reply(asked)
            tokens = count(body, before, made)
            with suppress(OSError):
                if self.answer(asked, made, tokens, stub.stopped) and made.usage is True:
                    asked.tokens = tokens

    server = _Server(("127.0.0.1", 0), Handler)
    stub.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: who hangs up, hangs up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def answer(self, asked: Asked, reply: Reply, tokens: Tokens, stopped: threading.Event) -> bool:
        """Answer; whether the tokens were told and all of it was said."""
        stopped.wait(reply.silent)
        if reply.drop:
            self._break_off()
            return False
        if reply.body is not None or reply.status >= 300:
            self._whole(reply, reply.body or b"")
            return False
        if reply.endless:
            self._head(reply, "text/event-stream")
            return self._chunks(_endless(reply.endless), reply, stopped)
        if asked.body.get("stream"):
            self._head(reply, "text/event-stream")
            return self._chunks(events(asked.path, asked.body, reply, tokens), reply, stopped)
        raw = json.dumps(whole(asked.path, asked.body, reply, tokens)).encode()
        if reply.cut is not None:
            self._head(reply, "application/json")
            self._chunk(raw[: len(raw) // 2])
            self._break_off()
            return False
        self._whole(reply, raw)
        return True

    def _whole(self, reply: Reply, raw: bytes) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
        self.wfile.flush()

    def _head(self, reply: Reply, kind: str) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Type": kind, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunks(self, said: Iterable[bytes], reply: Reply, stopped: threading.Event) -> bool:
        for _ in range(reply.comments):
            self._chunk(b": still at it\n\n")
        for number, event in enumerate(said):
            if number == reply.cut:
                if reply.error is not None:
                    self._chunk(b"data: " + json.dumps({"error": reply.error}).encode() + b"\n\n")
                if reply.politely or reply.error is not None:
                    self._chunk(b"")
                else:
                    self._chunk(event[: len(event) // 2])
                    self._break_off()
                return False
            self._chunk(event)
            if stopped.wait(reply.pause):
                return False
        if reply.hang:
            stopped.wait(30)
        self._chunk(b"")
        return True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def _break_off(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        pass


def _endless(most: int) -> Iterator[bytes]:
    sent = 0
    while sent < most:
        yield _FILLER
        sent += len(_FILLER)


def wait_until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until something holds, and fail if it does not."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)
