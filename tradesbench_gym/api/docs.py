"""What lies in an agent's workspace to be read: docs/, the reference of the API and HANDBOOK.md.

Everything is made from what it describes: pages from the list of operations and their models,
views.md from the table of the views, the handbook from the scenario. This module knows no run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tradesbench_gym.api import guard
from tradesbench_gym.api.handbook import handbook_text
from tradesbench_gym.api.listening import PORT_VARIABLE
from tradesbench_gym.api.markdown import table
from tradesbench_gym.api.operations import (
    AGENT_OPERATIONS,
    ASTRAY_FAULTS,
    BODY_LIMIT,
    COMMON_FAULTS,
    PREFIX,
)
from tradesbench_gym.api.reference import errors_table, operation_page
from tradesbench_gym.api.tokens import AGENT_VARIABLE
from tradesbench_gym.api.views import VIEWS, View
from tradesbench_gym.company.business import Business
from tradesbench_gym.errors import TradesBenchError

FOLDER, HANDBOOK, README, VIEWS_PAGE = "docs", "HANDBOOK.md", "README.md", "views.md"
_MIB, _KIB = 1024 * 1024, 1024
_FAULTS = sorted((*COMMON_FAULTS, *ASTRAY_FAULTS), key=lambda one: one.status)

QUERIES = {
    "Cash at the close of each day": """\
SELECT day, weekday, done, missed, cash_cents
FROM days
WHERE closed_at IS NOT NULL
ORDER BY day""",
    "What is still to be done": """\
SELECT service_date, technician, position, window_start, job_id, job_type, state, address
FROM schedule
WHERE state NOT IN ('done', 'missed', 'failed')
ORDER BY service_date, technician, position""",
    "What each kind of entry came to": """\
SELECT kind, count(*) AS entries, sum(amount_cents) AS cents
FROM ledger
GROUP BY kind""",
}
"""Questions that the page of the views shows."""


class DocsError(TradesBenchError):
    """A folder in which the documents cannot be written."""


def docs_texts(business: Business) -> dict[str, str]:
    """The pages of docs/ by their names."""
    scenario = business.scenario
    pages = {f"{operation.name}.md": operation_page(operation) for operation in AGENT_OPERATIONS}
    handbook = handbook_text(scenario, business.days, business.start_date)
    readme = _readme(scenario.company)
    return {README: readme, HANDBOOK: handbook, **pages, VIEWS_PAGE: _views()}


def write_docs(folder: str | Path, business: Business) -> list[Path]:
    """Write docs/ into a folder, each page whole or not at all; the files.

    Documents that were written before are replaced.

    Raises:
        DocsError: docs/ is there and holds something else, or nothing can be written.

    """
    place = Path(folder)
    pages = docs_texts(business)
    _check_ours(place / FOLDER, pages)
    try:
        place.mkdir(parents=True, exist_ok=True)
        _put_folder(place / FOLDER, pages)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise DocsError(
            f"documents cannot be written into {place}: {reason}", code="folder", field="folder"
        ) from error
    return [place / FOLDER / name for name in pages]


def _check_ours(docs: Path, pages: Mapping[str, str]) -> None:
    """Raise DocsError if anything would be lost or left over."""
    if not os.path.lexists(docs):
        return
    foreign = "no folder" if not docs.is_dir() or docs.is_symlink() else ""
    foreign = foreign or next((one.name for one in docs.iterdir() if one.name not in pages), "")
    if foreign:
        raise DocsError(
            f"{docs} is not ours to replace: there is {foreign}; name another folder",
            code="foreign_docs",
            field="folder",
        )


def _put_folder(docs: Path, pages: Mapping[str, str]) -> None:
    """A new folder appears whole; in one that is there page after page is replaced."""
    if docs.is_dir():
        for name, text in pages.items():
            _put(docs / name, text)
        return
    made = Path(tempfile.mkdtemp(prefix=".docs-", dir=docs.parent))
    try:
        for name, text in pages.items():
            (made / name).write_text(text, encoding="utf-8")
        made.chmod(0o755)
        made.rename(docs)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _put(path: Path, text: str) -> None:
    handle, made = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(made).chmod(0o644)
        Path(made).replace(path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise


def _readme(company: str) -> str:
    opening = f"""# {company}: the API

Everything the company can do for you is an operation of this API. What the company is and how it
works stands in [the handbook]({HANDBOOK})."""
    parts = (opening, _calling(), _operations(), _writing(), _refusals())
    return "\n\n".join(parts) + "\n"


def _calling() -> str:
    return f"""## Calling it

The server is at `http://127.0.0.1:${PORT_VARIABLE}`. Send each request as
`POST {PREFIX}<operation>` with a JSON object as its body, and with the bearer token that stands in
the environment variable `{AGENT_VARIABLE}`:

```sh
curl -sS "http://127.0.0.1:${PORT_VARIABLE}{PREFIX}company.status" \\
  -H "Authorization: Bearer ${AGENT_VARIABLE}" \\
  -H "Content-Type: application/json" \\
  -d '{{}}'
```

The same from Python, with nothing to install:

```python
import json, os, urllib.request

def ask(operation, **arguments):
    request = urllib.request.Request(
        f"http://127.0.0.1:{{os.environ['{PORT_VARIABLE}']}}{PREFIX}{{operation}}",
        data=json.dumps(arguments).encode(),
        headers={{
            "Authorization": f"Bearer {{os.environ['{AGENT_VARIABLE}']}}",
            "Content-Type": "application/json",
        }},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

print(ask("calls.current"))
```"""


def _operations() -> str:
    rows = [[f"[{one.name}]({one.name}.md)", one.summary] for one in AGENT_OPERATIONS]
    return f"""## Operations

{table(["operation", "what it does"], rows)}

Someone who asks for new work is answered in this order: `calls.current` says who it is,
`customers.register` and `locations.register` enter the caller and the address in the books,
`jobs.book` makes the offer. `calls.reject` turns the caller away instead. A customer who cancels is
answered with `calls.acknowledge`. For all other questions there is `query`, SQL over
[the views]({VIEWS_PAGE})."""


def _writing() -> str:
    return f"""## How things are written

- Moments are those of the company's clock, local time: `2026-10-01 09:05:00`. Days are written
  `2026-10-01`, times of day `09:00`.
- Money is in whole cents.
- Places are in whole metres east and north of one origin, on a flat plane.
- A call keeps its number: the job booked from it has the same.
- Other arguments than those of an operation are refused, and so is a number written as text.
- A body has at most {BODY_LIMIT // _KIB} KiB."""


def _refusals() -> str:
    return f"""## Errors of every request

A request that succeeds is answered with status 200 and a JSON object. Every other status comes with
`{{"error": {{"code", "message", "field"}}}}`, and nothing has changed then.

{errors_table(_FAULTS)}

What else can go wrong with an operation stands on its page."""


def _views() -> str:
    opening = (
        "What the [query](query.md) operation reads: one SELECT statement in SQLite's SQL over "
        f"these views. It is answered within {guard.SECONDS:g} seconds or not at all, with at most "
        f"{guard.MOST_ROWS:,} rows and {guard.MOST_ANSWER_BYTES // _MIB} MiB; `truncated` says "
        "whether there were more."
    )
    asked = "\n\n".join(f"{title}:\n\n```sql\n{sql}\n```" for title, sql in QUERIES.items())
    parts = [
        "# The public views",
        opening,
        table(["view", "a row is"], [[f"[{one.name}](#{one.name})", one.meaning] for one in VIEWS]),
        asked,
        *map(_view, VIEWS),
    ]
    return "\n\n".join(parts) + "\n"


def _view(view: View) -> str:
    rows = [
        [
            f"`{one.name}`",
            one.type,
            one.unit,
            one.meaning,
            f"NULL: {one.empty}" if one.empty else "",
        ]
        for one in view.columns
    ]
    key = ", ".join(f"`{name}`" for name in view.key)
    columns = table(["column", "type", "unit", "meaning", "may be empty"], rows)
    return f"## {view.name}\n\nA row is {view.meaning}, named by {key}.\n\n{columns}"
