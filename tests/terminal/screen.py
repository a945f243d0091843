"""A program in a terminal: a pty of its own driven through pexpect, its screen drawn by pyte, every byte it wrote kept.

A shell stands around the program, as around a person's: it says what the terminal was before and after, and how the
program ended. Nothing here waits for a time to pass: `sees`, `until` and `still` wait for conditions, with a deadline.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pexpect
import psutil
import pyte

WITHIN_S = 8.0
LOOK_S = 0.02
STILL_S = 0.45
SIZE = (120, 36)
AROUND = """
printf 'before %s\\n' "$(stty -g)"
"$@"
printf 'left with %s\\nafter %s\\n' "$?" "$(stty -g)"
read line
"""
POPPED = b"\x1b[<u"
"""The Kitty keyboard's end, which pyte would print as a letter."""
MODES = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
ALTERNATE, CURSOR, PASTES, FOCUS, WRAPS = 1049, 25, 2004, 1004, 7
MICE = (1000, 1002, 1003, 1005, 1006, 1015, 1016)
ENTER, ESCAPE, TAB, BACK = "\r", "\x1b", "\t", "\x1b[Z"


class Canvas(pyte.Screen):
    """pyte's screen, with the second one that full-screen programs draw on."""

    def __init__(self, columns: int, lines: int) -> None:
        self.main: list[str] | None = None
        super().__init__(columns, lines)

    def set_mode(self, *modes: int, **given: Any) -> None:
        super().set_mode(*modes, **given)
        if given.get("private") and ALTERNATE in modes and self.main is None:
            self.main = self.display
            self.erase_in_display(2)
            self.cursor_position()

    def reset_mode(self, *modes: int, **given: Any) -> None:
        super().reset_mode(*modes, **given)
        if given.get("private") and ALTERNATE in modes and self.main is not None:
            before, self.main = self.main, None
            self.reset()
            for text in (line.rstrip() for line in before):
                if text:
                    self.draw(text)
                    self.linefeed()
                    self.carriage_return()


class Terminal:
    """A program that runs in a terminal of `size` (columns, lines) cells. `end` must be called."""

    def __init__(
        self, argv: Sequence[str], environ: Mapping[str, str], *, folder: Path, size: tuple[int, int] = SIZE
    ) -> None:
        columns, lines = size
        self.canvas = Canvas(columns, lines)
        self.stream = pyte.ByteStream(self.canvas)
        self.written = bytearray()
        self._held = b""
        self.child = pexpect.spawn(
            "/bin/sh",
            ["-c", AROUND, "sh", *argv],
            env=dict(environ),
            cwd=str(folder),
            dimensions=(lines, columns),
            timeout=WITHIN_S,
        )
        self.child.delaybeforesend = None
        self.gone = False

    # -- what is there ----------------------------------------------------------------------------------------------------

    def lines(self) -> list[str]:
        """The screen, line by line."""
        return [line.rstrip() for line in self.canvas.display]

    def text(self) -> str:
        return "\n".join(self.lines())

    def row(self, text: str) -> int:
        """The number of the first line that has this text; -1 where none has."""
        return next((number for number, line in enumerate(self.lines()) if text in line), -1)

    @property
    def foot(self) -> str:
        """The last line."""
        return self.lines()[-1]

    def modes(self) -> dict[int, bool]:
        """The private modes that the program set or took back, as they stand."""
        found: dict[int, bool] = {}
        for names, way in MODES.findall(bytes(self.written)):
            found.update({int(name): way == b"h" for name in names.split(b";")})
        return found

    def program(self) -> psutil.Process:
        """The program in the shell."""
        self.until(lambda: psutil.Process(self.child.pid).children(), "the program's start")
        return psutil.Process(self.child.pid).children()[0]

    # -- waiting ----------------------------------------------------------------------------------------------------------

    def read(self, wait_s: float = LOOK_S) -> int:
        """Takes in what was written, waiting so long for the first of it; how many bytes."""
        try:
            found = self.child.read_nonblocking(1 << 16, wait_s)
        except pexpect.TIMEOUT:
            return 0
        except pexpect.EOF:
            self.gone = True
            return 0
        self.written += found
        self._draw(found)
        return len(found)

    def until(self, true: Callable[[], Any], what: str = "", within_s: float = WITHIN_S) -> None:
        """Until a condition holds. Fails with the screen after `within_s`."""
        end = time.monotonic() + within_s
        while not true():
            assert time.monotonic() < end, f"it never came: {what or true}\n{self.text()}"
            if self.gone:
                time.sleep(LOOK_S)  # nothing can be waited on any more but the clock
            self.read()

    def sees(self, *texts: str) -> None:
        """Until all of these are on the screen."""
        self.until(lambda: all(text in self.text() for text in texts), f"{texts} on the screen")

    def misses(self, text: str) -> None:
        """Until this is gone from the screen."""
        self.until(lambda: text not in self.text(), f"'{text}' gone from the screen")

    def still(self, for_s: float = STILL_S, within_s: float = WITHIN_S) -> None:
        """Until nothing was written for so long: what is on the screen was there before the next key."""
        end = time.monotonic() + within_s
        while self.read(for_s):
            assert time.monotonic() < end, f"it never came to rest\n{self.text()}"

    def left(self) -> int:
        """Until the program ended and the shell goes on; the exit code."""
        self.until(
            lambda: re.search(r"^left with \d+", self.text(), re.MULTILINE) and "after " in self.text(), "the end"
        )
        self.still(0.1)
        found = re.search(r"^left with (\d+)", self.text(), re.MULTILINE)
        assert found
        return int(found[1])

    # -- doing ------------------------------------------------------------------------------------------------------------

    def send(self, text: str | bytes) -> None:
        """Writes all of it, reading meanwhile, so that neither side waits for the other."""
        data = text.encode() if isinstance(text, str) else text
        for start in range(0, len(data), 512):
            self.child.send(data[start : start + 512])
            if len(data) > 512:
                self.read(0)

    def press(self, *keys: str) -> None:
        """Presses keys, each once the screen came to rest after the one before."""
        for key in keys:
            self.still()
            self.send(key)
        self.still()

    def paste(self, text: str) -> None:
        """A bracketed paste."""
        self.send(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, lines: int) -> None:
        """Another size, as a person pulls at the window."""
        self.canvas.resize(lines, columns)
        self.child.setwinsize(lines, columns)

    def end(self) -> None:
        """Ends everything that runs in here, by its id."""
        try:
            shell = psutil.Process(self.child.pid)
            inside = [*shell.children(recursive=True), shell]
        except psutil.NoSuchProcess:
            inside = []
        for process in inside:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self.child.close(force=True)

    # -- inside -----------------------------------------------------------------------------------------------------------

    def _draw(self, found: bytes) -> None:
        """Hands bytes to pyte, but for the one sequence it does not know; one that is cut waits for its rest."""
        data = self._held + found
        cut = next((size for size in range(len(POPPED) - 1, 0, -1) if data.endswith(POPPED[:size])), 0)
        self._held = data[len(data) - cut :] if cut else b""
        self.stream.feed(data[: len(data) - cut].replace(POPPED, b""))
