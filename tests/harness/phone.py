"""A scripted agent with nothing but Python's own library: `phone.py MANNER [WHEN]`.

Its manner says how it answers; from prompt WHEN on if given, before that it rejects and
acknowledges as it should.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import Any


def ask(operation: str, **arguments: Any) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{os.environ['SUNRIDGE_API_PORT']}/v1/{operation}",
        data=json.dumps(arguments).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['SUNRIDGE_API_TOKEN']}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
        return json.load(answer)


def say(**said: Any) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def take(prompt: dict[str, Any]) -> None:
    """Reject whoever asks, acknowledge whoever cancels, note the day."""
    current = ask("calls.current")
    if current["new_job"]:
        ask("calls.reject", call_id=current["new_job"]["call_id"])
    if current["cancellation"]:
        ask("calls.acknowledge", job_id=current["cancellation"]["job_id"])
    if prompt["about"] == "closing":
        with Path("MEMORY.md").open("a") as notes:
            notes.write(f"day {prompt['day']} is over\n")


def book(prompt: dict[str, Any], ahead: int = 0) -> None:
    """Offer everybody the first window that Marcus may take, some days ahead."""
    call = ask("calls.current")["new_job"]
    if call is None:
        return
    ask("customers.register", call_id=call["call_id"], name=call["name"], phone=call["phone"])
    ask("locations.register", call_id=call["call_id"], address=call["address"])
    today = ask("company.status")["date"]
    day = (date.fromisoformat(today) + timedelta(days=ahead)).isoformat()
    for window in ("07:00", "09:00", "11:00", "13:00", "15:00"):
        with suppress(urllib.error.HTTPError):
            ask(
                "jobs.book",
                call_id=call["call_id"],
                job_type=call["job_type"],
                service_date=day,
                window_start=window,
                technician="marcus",
            )
            return
    take(prompt)


def misbehave(manner: str, prompt: dict[str, Any]) -> None:
    if manner == "dies":
        sys.stderr.write("something broke\n")
        sys.exit(7)
    elif manner == "leaves":
        sys.exit(0)
    elif manner == "hangs":
        time.sleep(3600)
    elif manner == "babbles":
        while True:
            say(type="noise", text="x" * 1000)
    elif manner == "shouts":
        while True:
            sys.stdout.write("x" * 100_000)
    elif manner == "stays":
        subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True)
        take(prompt)
    elif manner == "links":
        notes = Path("MEMORY.md")
        notes.unlink(missing_ok=True)
        notes.symlink_to("../manifest.json")
        take(prompt)
    elif manner == "books":
        book(prompt, ahead=3)
    elif manner == "slowly":  # so that a kill finds it before, in and after its answer
        time.sleep(0.03)
        book(prompt)
        take(prompt)
        time.sleep(0.03)
    else:
        assert manner == "mute", manner


def main() -> None:
    manner, when = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for line in sys.stdin:
        prompt = json.loads(line)
        if manner == "answers" or prompt["id"] < when:
            take(prompt)
        elif manner == "once":
            take(prompt)
            return
        else:
            misbehave(manner, prompt)
        say(type="settled", id=prompt["id"])


if __name__ == "__main__":
    main()
