"""An unlock keeps an opened key for a set time, so that signing does not nag; and the passphrase's way in without a screen."""

from __future__ import annotations

import os
from collections.abc import Mapping

from loopx_engine.clock import Clock
from loopx_engine.consent.keys import Signer
from loopx_engine.errors import UsageError
from loopx_engine.model.defaults import UNLOCK_MS

VARIABLE = "LOOPX_PASSPHRASE_FD"
STRAY = "not open when this process started"
MOST_BYTES = 4096


class Unlock:
    """Holds a signer in memory for `UNLOCK_MS`; `forget()` ends it at once.

    It ends by whichever clock comes first: the monotonic one stands still while a laptop sleeps, the wall one can be set.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._signer: Signer | None = None
        self._until = 0.0
        self._until_wall = 0

    def keep(self, signer: Signer) -> None:
        """Holds this signer from now on."""
        self._signer = signer
        self._until = self._clock.monotonic() + UNLOCK_MS / 1000
        self._until_wall = self._clock.now() + UNLOCK_MS

    def signer(self) -> Signer | None:
        """The signer while the unlock lasts, else None."""
        if self._clock.monotonic() >= self._until or self._clock.now() >= self._until_wall:
            self.forget()
        return self._signer

    def forget(self) -> None:
        """Ends the unlock."""
        self._signer = None


def without_stray_descriptor(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment, with a passphrase descriptor that nobody handed to this process struck out.

    To be called before this process opens anything: a number that is free now is soon a file of its own, such as the
    ledger's, and reading and closing that would ruin it.
    """
    named = environ.get(VARIABLE, "")
    if not (named.isascii() and named.isdigit() and len(named) < 10):
        return environ
    try:
        os.fstat(int(named))
    except OSError:
        return {**environ, VARIABLE: STRAY}
    return environ


def read_passphrase_fd(environ: Mapping[str, str]) -> bytes | None:
    """One line from the descriptor `LOOPX_PASSPHRASE_FD` names, which is then closed; None where it is unset.

    Raises `UsageError`: `bad_descriptor` for what is no readable descriptor, `bad_passphrase` for an empty or endless line.
    """
    named = environ.get(VARIABLE)
    if not named:
        return None
    wrong = UsageError(
        f"{VARIABLE} must be the number of an open, readable descriptor: 0, or 3 and up",
        code="bad_descriptor",
        next=f"{VARIABLE}=3 loopx ... 3< FILE",
    )
    if not named.isascii() or not named.isdigit() or len(named) > 9 or int(named) in (1, 2):
        raise wrong
    try:
        line = _line(int(named))
    except OSError as error:
        raise wrong from error
    if not line or len(line) > MOST_BYTES:
        raise UsageError(
            f"{VARIABLE} must give one line with the passphrase, at most {MOST_BYTES} bytes",
            code="bad_passphrase",
            next=f"{VARIABLE}=3 loopx ... 3< FILE",
        )
    return line


def _line(handle: int) -> bytes:
    data = b""
    try:
        while b"\n" not in data and len(data) <= MOST_BYTES:
            more = os.read(handle, MOST_BYTES + 2 - len(data))
            if not more:
                break
            data += more
    finally:
        _close(handle)
    return data.split(b"\n", 1)[0].removesuffix(b"\r")


def _close(handle: int) -> None:
    """Closes it; the standard input becomes empty instead, so that no later file takes its number."""
    if handle == 0:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
    else:
        os.close(handle)
