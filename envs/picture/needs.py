"""Whether what the picture is drawn with is installed; what to do if not, in one sentence."""

from __future__ import annotations

from importlib.util import find_spec

from tradesbench_gym.errors import RenderError

EXTRA = "pip install 'tradesbench-gym[render]'"


def check_pillow() -> None:
    """Raise RenderError without Pillow."""
    if find_spec("PIL") is None:
        raise RenderError(
            f"a picture is drawn with Pillow, which is not installed: {EXTRA}",
            code="render_missing",
            field="render_mode",
        )
