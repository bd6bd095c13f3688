"""Bearer tokens: where they come from, and whether a request carries the right one.

A token is compared in constant time and never shown: not in a log, not on the screen, not in an
error. This module knows no run.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tradesbench_gym.api.faults import RequestError
from tradesbench_gym.errors import TradesBenchError

AGENT_VARIABLE = "SUNRIDGE_API_TOKEN"
DRIVER_VARIABLE = "SUNRIDGE_DRIVER_TOKEN"
SHORTEST = 16
LONGEST = 512
_SCHEME = b"bearer"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class TokenError(TradesBenchError):
    """A token that cannot be used as it is; the sentence does not repeat it."""


@dataclass(frozen=True, slots=True)
class Token:
    """What a request must carry.

    Attributes:
        secret: the token itself.
        expires_at: when it ceases to be valid, as `time.time` counts; None never.
        origin: where it can be read, in words.

    """

    secret: bytes = field(repr=False)
    expires_at: float | None = None
    origin: str = ""

    def check(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Raise RequestError unless a request with these headers may be answered."""
        given = [value for name, value in headers if name.lower() == b"authorization"]
        scheme, _, credentials = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        if scheme.lower() != _SCHEME or not credentials.strip():
            raise RequestError(
                "send the token in one header, `Authorization: Bearer <token>`",
                code="token_missing",
            )
        if not hmac.compare_digest(credentials.strip(), self.secret):
            raise RequestError("this is not the token of this server", code="token_wrong")
        if self.expires_at is not None and time.time() >= self.expires_at:
            raise RequestError("this token has expired", code="token_expired")


def new_token(expires_at: float | None = None, folder: Path | None = None, name: str = "") -> Token:
    """A token drawn from the system's randomness, written into a file that only we can read if a
    folder is given.
    """
    secret = secrets.token_urlsafe(32).encode()
    if folder is None:
        return Token(secret, expires_at)
    path = folder / f"{name}.token"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(secret + b"\n")
    return Token(secret, expires_at, str(path))


def token_from_file(path: Path, expires_at: float | None = None) -> Token:
    """The token in a file.

    Raises:
        TokenError: a file that is not there, that others than its owner can read, or without a
            token in it.

    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _unusable(f"{path} is no file to keep a token in")
            if sys.platform != "win32" and status.st_mode & _OTHERS:
                raise _unusable(
                    f"{path} can be read or changed by others "
                    f"(its mode is {stat.S_IMODE(status.st_mode):04o}): chmod 600 {path}"
                )
            secret = file.read(LONGEST + 2).strip()
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise _unusable(f"cannot read a token from {path}: {reason}") from None
    return Token(_usable(secret, str(path)), expires_at, str(path))


def token_from_environment(variable: str, expires_at: float | None = None) -> Token | None:
    """The token in a variable of the environment; None if it is not set.

    Raises:
        TokenError: text that is no token.

    """
    if variable not in os.environ:
        return None
    secret = _usable(os.fsencode(os.environ[variable]), f"the variable {variable}")
    return Token(secret, expires_at, f"${variable}")


def check_different(agent: Token, driver: Token) -> None:
    """Raise TokenError if the agent could drive the run with his token."""
    if hmac.compare_digest(agent.secret, driver.secret):
        raise _unusable("the agent and the driver must have different tokens")


def _usable(secret: bytes, where: str) -> bytes:
    if not SHORTEST <= len(secret) <= LONGEST:
        raise _unusable(f"a token has {SHORTEST} to {LONGEST} characters, unlike that in {where}")
    if not all(0x21 <= sign <= 0x7E for sign in secret):
        raise _unusable(f"a token has only letters, digits and signs, unlike that in {where}")
    return secret


def _unusable(sentence: str) -> TokenError:
    return TokenError(sentence, code="token", field="token")
