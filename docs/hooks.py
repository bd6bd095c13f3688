"""What the site's pages take from the code, so that no number or signature stands twice.

`{{ doc:tradesbench_gym.envs.TradesEnv }}` becomes that object's docstring, `{{ demand.gain }}` the
value of the shipped scenario. An unknown name stops the build.
"""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_MARK = re.compile(r"\{\{ ?(doc:)?([\w.]+) ?\}\}")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put every mark's value in its place; called by MkDocs for each page."""
    return _MARK.sub(lambda mark: docstring(mark[2]) if mark[1] else number(mark[2]), markdown)


def docstring(path: str) -> str:
    """The docstring of an object, as Markdown; its headings one level lower than the page's."""
    module, _, name = path.rpartition(".")
    text = inspect.getdoc(getattr(importlib.import_module(module), name))
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
