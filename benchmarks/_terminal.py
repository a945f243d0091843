"""A program in a terminal of its own, as fast as the kernel hands it over: what it writes, when, and what it cost.

The terminal answers what the program asks of it (synchronised output), so that the end of each painted frame can be seen.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

ASKED, SUPPORTED = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
FRAME_END = b"\x1b[?2026l"
WITHIN_S = 30.0
CHUNK = 1 << 16


class NotShown(Exception):
    """What was waited for never came onto the terminal; the words are the last of what did."""


class Terminal:
    """A child on a pseudo terminal of `columns` x `lines`. `written` counts every byte it wrote."""

    def __init__(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, *, columns: int = 160, lines: int = 48
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        kept = {name: value for name, value in env.items() if name not in ("NO_COLOR", "TMUX", "LINES", "COLUMNS")}
        self.started = time.perf_counter()
        self.child = psutil.Popen(
            argv, env={**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}, cwd=cwd,
            stdin=slave, stdout=slave, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.written = 0
        self._held = b""

    def read(self, within: float) -> bytes:
        """What it writes next; empty where nothing comes in time or it has ended."""
        if not select.select([self._master], [], [], max(0.0, within))[0]:
            return b""
        try:
            found = os.read(self._master, CHUNK)
        except OSError:
            return b""
        self.written += len(found)
        if ASKED in self._held[-len(ASKED) :] + found:
            os.write(self._master, SUPPORTED)
        self._held = (self._held + found)[-CHUNK:]
        return found

    def until(self, text: bytes, within: float = WITHIN_S) -> float:
        """Until this was written since `press` or `forget`; the instant it was read. Raises `NotShown`."""
        end = time.perf_counter() + within
        while text not in self._held:
            left = end - time.perf_counter()
            if left <= 0 or self.child.poll() is not None:
                raise NotShown(f"{text!r} was not shown; last: {self._held[-300:]!r}")
            self.read(left)
        return time.perf_counter()

    def quiet(self, for_s: float = 0.3, within: float = WITHIN_S) -> None:
        """Until it wrote nothing for so long."""
        end = time.perf_counter() + within
        while self.read(for_s) and time.perf_counter() < end:
            pass

    def idle(self, for_s: float) -> int:
        """How many bytes it wrote in so many seconds."""
        end, before = time.perf_counter() + for_s, self.written
        while (left := end - time.perf_counter()) > 0:
            self.read(left)
        return self.written - before

    def forget(self) -> None:
        """What was written so far is not looked at again."""
        self._held = b""

    def press(self, keys: bytes) -> float:
        """Types keys; the instant they were handed over."""
        self.forget()
        at = time.perf_counter()
        os.write(self._master, keys)
        return at

    def cpu_s(self) -> float:
        """User and system time it used so far."""
        used = self.child.cpu_times()
        return float(used.user + used.system)

    def end(self) -> None:
        """Asks it to end, and kills it where it does not."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            end = time.perf_counter() + WITHIN_S / 3
            while self.child.poll() is None and time.perf_counter() < end:
                self.read(0.05)
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        os.close(self._master)
