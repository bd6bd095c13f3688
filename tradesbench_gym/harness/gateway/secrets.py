"""The provider's key taken out of whatever passes, wherever it stood and however it was cut up.

Some endpoints repeat the key they were sent. This module knows the key and nothing else.
"""

from __future__ import annotations

KEY_TAKEN_OUT = "[key]"


class Scrubber:
    """Takes a key out of texts.

    >>> Scrubber("sk-secret").text("you sent sk-secret.")
    'you sent [key].'
    """

    def __init__(self, key: str | None) -> None:
        self._forms: tuple[bytes, ...] = ()
        if key is not None:
            # As it is, and as JSON may spell a slash.
            self._forms = tuple({key.encode(), key.replace("/", "\\/").encode()})

    def raw(self, data: bytes) -> bytes:
        """Bytes without the key."""
        for form in self._forms:
            data = data.replace(form, KEY_TAKEN_OUT.encode())
        return data

    def text(self, text: str) -> str:
        """A text without the key."""
        return self.raw(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def tail(self, data: bytes) -> int:
        """How many bytes at the end may be the beginning of a key."""
        return max((_overlap(data, form) for form in self._forms), default=0)


class ScrubbedStream:
    """A stream of bytes without the key, also where it lies across two pieces.

    Only an end that could be the beginning of the key is held back, until it is known.
    """

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What may be passed on now that more has come."""
        data = self._scrubber.raw(self._held + data)
        kept = self._scrubber.tail(data)
        self._held = data[len(data) - kept :]
        return data[: len(data) - kept]

    def end(self) -> bytes:
        """What was held back, once nothing more comes."""
        held, self._held = self._held, b""
        return held


def _overlap(data: bytes, form: bytes) -> int:
    for length in range(min(len(data), len(form) - 1), 0, -1):
        if data.endswith(form[:length]):
            return length
    return 0
