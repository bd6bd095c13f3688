"""The one family of errors. An error carries a stable code, a sentence for people, and the field
at fault, the same three wherever it surfaces: `info`, HTTP, the SQL harness, the command line.
This module imports nothing of the package, so that every layer may raise from it."""

REFUSED = 2
"""Exit status of a command that was given what cannot be."""
INTERRUPTED = 130
"""Exit status of a command after Ctrl-C."""


class TradesBenchError(Exception):
    """A refusal or failure the package foresaw.

    `code` is stable and lower_snake_case, `message` one sentence, `field` the name of the
    argument or key at fault where there is one.

    >>> error = TradesBenchError("No window 7.", code="unknown_window", field="window")
    >>> str(error), error.code, error.field
    ('No window 7.', 'unknown_window', 'window')
    """

    def __init__(self, message: str, *, code: str = "error", field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.field = field

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # Exception pickles by positional arguments alone, which would lose code and field on the
        # way out of a worker process.
        return _rebuild, (type(self), self.message, self.code, self.field)


def shown(value: object, most: int = 60) -> str:
    """A value as a sentence quotes it: short and on one line, whatever it is."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - a number of 5,000 digits, or a repr that fails: still a sentence
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= most else text[: most - 1] + "…"


def needs(what: str, missing: str | None, extra: str) -> str:
    """The sentence for a package that is not installed, and the extra that brings it.

    >>> needs("serve", "uvicorn", "api")
    "serve needs uvicorn: pip install 'tradesbench-gym[api]'"
    """
    return f"{what} needs {missing}: pip install 'tradesbench-gym[{extra}]'"


class ScenarioError(TradesBenchError):
    """The scenario file is missing a number, has one too many, or numbers that cannot work."""


class MapError(TradesBenchError):
    """The road map cannot be found, read or used."""


class BookingError(TradesBenchError):
    """The company refused an offer; nothing has changed."""


class StateError(TradesBenchError):
    """A seed or salt that is none, or saved state of other rules, scenario or map, or damaged."""


class PolicyError(TradesBenchError):
    """A policy is unknown or gave something that is no decision."""


class ActionError(TradesBenchError):
    """An action, option or argument that the environment cannot carry out."""


class RenderError(TradesBenchError):
    """A picture or window that cannot be made here."""


def _rebuild(
    kind: type[TradesBenchError], message: str, code: str, field: str | None
) -> TradesBenchError:
    # Not by the subclass's own __init__, which may take other arguments.
    error = kind.__new__(kind, message)
    TradesBenchError.__init__(error, message, code=code, field=field)
    return error
