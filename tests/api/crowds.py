"""Many who ask at once, from processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

_PROCESSES, _THREADS = 2, 25
_READING = """
import sys, threading
from http.client import HTTPConnection
port, operation, body, token, threads = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
counts = [0] * int(threads)
def read(place):
    connection = HTTPConnection("127.0.0.1", int(port))
    while True:
        connection.request("POST", f"/v1/{operation}", body.encode(), headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status in (200, 422), answer.status
        counts[place] += 1
        if place == 0 and counts[place] == 1:
            print("reading", flush=True)
for place in range(int(threads)):
    threading.Thread(target=read, args=(place,), daemon=True).start()
sys.stdin.read()
print(sum(counts))
"""


@contextmanager
def reading(
    port: int, token: str, operation: str, arguments: dict[str, Any]
) -> Iterator[list[int]]:
    """Fifty readers that ask again and again; at the end, how many answers each process had."""
    words = ("-c", _READING, str(port), operation, json.dumps(arguments), token, str(_THREADS))
    counts: list[int] = []
    with ExitStack() as held:
        readers = []
        for _ in range(_PROCESSES):
            reader = subprocess.Popen(
                [sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            readers.append(held.enter_context(reader))
            held.callback(reader.kill)
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "reading\n"
        yield counts
        counts += [int(reader.communicate("", timeout=60)[0]) for reader in readers]
