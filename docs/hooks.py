"""What the site's pages take from the code, so that no number or signature stands twice.

`{{ doc:tradesbench_gym.envs.TradesEnv }}` becomes that object's docstring, `{{ members:… }}` those
of a class's members, `{{ fields:call }}` a table of what a dispatcher sees of a record and
`{{ demand.gain }}` the value of the shipped scenario. An unknown name stops the build.
"""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from tradesbench_gym.core.layout import FIELDS

_MARK = re.compile(r"\{\{ ?(?:(\w+):)?([\w.]+) ?\}\}")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put every mark's value in its place; called by MkDocs for each page."""
    makers = {"doc": docstring, "members": members, "fields": fields, None: number}
    return _MARK.sub(lambda mark: makers[mark[1]](mark[2]), markdown)


def members(path: str) -> str:
    """The public methods and properties of a class with their docstrings, as Markdown."""
    own = ((name, one) for name, one in vars(_object(path)).items() if not name.startswith("_"))
    return "\n\n".join(
        f"### `{name}{_arguments(one)}`\n\n{docstring(f'{path}.{name}')}"
        for name, one in own
        if isinstance(one, property) or inspect.isfunction(one)
    )


def _arguments(member: Any) -> str:
    """How a method is called, without its own object; nothing for a property."""
    if isinstance(member, property):
        return ""
    said = inspect.signature(member)
    return str(said.replace(parameters=list(said.parameters.values())[1:])).replace("'", "")


def fields(record: str) -> str:
    """What a dispatcher sees of a record, as a table."""
    lines = ["| field | unit | meaning |", "| --- | --- | --- |"]
    for field in FIELDS[record]:
        if field.seen != "hidden":
            late = " (once the job is done)" if field.seen == "done" else ""
            lines.append(f"| `{field.name}` | {field.unit} | {field.meaning}{late} |")
    return "\n".join(lines)


def _object(path: str) -> Any:
    """A module's object, or a member of its class."""
    module, _, name = path.rpartition(".")
    if module.rpartition(".")[2][:1].isupper():
        return inspect.getattr_static(_object(module), name)
    return getattr(importlib.import_module(module), name)


def docstring(path: str) -> str:
    """The docstring of an object, as Markdown; its headings one level lower than the page's."""
    text = inspect.getdoc(_object(path))
    if not text:
        raise ValueError(f"{path} has no docstring")
    return re.sub(r"^(#+ )", r"#\1", text, flags=re.MULTILINE)


def number(path: str) -> str:
    """A value of the shipped scenario: `pay.overhead` is 1250; items of a list by their index."""
    value: Any = _scenario()
    for key in path.split("."):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise KeyError(f"the shipped scenario has no {path}")
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _scenario() -> dict[str, Any]:
    return tomllib.loads(files("tradesbench_gym.company").joinpath("sunridge.toml").read_text())
