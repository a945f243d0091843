"""An unlock keeps an opened key for a set time, so that signing does not nag; and the passphrase's way in without a screen."""

from __future__ import annotations

import os
from collections.abc import Mapping

from loopx_engine.clock import Clock
from loopx_engine.consent.keys import Signer
from loopx_engine.errors import UsageError
from loopx_engine.model.defaults import UNLOCK_MS

VARIABLE = "LOOPX_PASSPHRASE_FD"
MOST_BYTES = 4096


class Unlock:
    """Holds a signer in memory for `UNLOCK_MS` by the monotonic clock; `forget()` ends it at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._signer: Signer | None = None
        self._until = 0.0

    def keep(self, signer: Signer) -> None:
        self._signer = signer
        self._until = self._clock.monotonic() + UNLOCK_MS / 1000

    def signer(self) -> Signer | None:
        """The signer while the unlock lasts, else None."""
        if self._signer is not None and self._clock.monotonic() >= self._until:
            self.forget()
        return self._signer

    def forget(self) -> None:
        self._signer = None


def read_passphrase_fd(environ: Mapping[str, str]) -> bytes | None:
    """One line from the descriptor `LOOPX_PASSPHRASE_FD` names, which is then closed; None where it is unset."""
    named = environ.get(VARIABLE)
    if not named:
        return None
    wrong = UsageError(f"{VARIABLE} must be the number of an open descriptor", code="bad_descriptor", next="exec 3<FILE")
    if not named.isascii() or not named.isdigit() or len(named) > 9 or int(named) < 3:
        raise wrong
    try:
        with os.fdopen(int(named), "rb", buffering=0) as stream:
            data = b""
            while b"\n" not in data and len(data) < MOST_BYTES:
                more = stream.read(MOST_BYTES - len(data))
                if not more:
                    break
                data += more
    except OSError as error:
        raise wrong from error
    return data.split(b"\n", 1)[0].rstrip(b"\r")
