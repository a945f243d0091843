"""tmux as a person's terminal: a server of its own in a folder of its own, ended with its test."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from terminal.screen import AROUND, WITHIN_S

LOOK_S = 0.05


class Tmux:
    """One window of `size` (columns, lines) cells in which a program runs, with a shell around it."""

    def __init__(self, argv: Sequence[str], environ: Mapping[str, str], *, folder: Path, size: tuple[int, int]) -> None:
        self._socket = folder / "tmux"
        self._environ = {name: value for name, value in environ.items() if name not in ("TERM", "COLORTERM")}
        columns, lines = map(str, size)
        self.run(
            "-f",
            "/dev/null",
            "-u",
            "new-session",
            "-d",
            "-x",
            columns,
            "-y",
            lines,
            "-c",
            str(folder),
            "/bin/sh",
            "-c",
            AROUND,
            "sh",
            *argv,
        )

    def run(self, *words: str) -> str:
        """What a tmux command said."""
        argv = ["tmux", "-S", str(self._socket), *words]
        return subprocess.run(
            argv, env=self._environ, check=True, capture_output=True, text=True, timeout=WITHIN_S
        ).stdout

    def text(self) -> str:
        """The window as it is shown."""
        return self.run("capture-pane", "-p")

    def asked(self, name: str) -> str:
        """A format of tmux's, such as `cursor_flag`."""
        return self.run("display-message", "-p", f"#{{{name}}}").strip()

    def until(self, true: Callable[[], Any], what: str) -> None:
        """Until a condition holds. Fails with the window after `WITHIN_S`."""
        end = time.monotonic() + WITHIN_S
        while not true():
            assert time.monotonic() < end, f"it never came: {what}\n{self.text()}"
            time.sleep(LOOK_S)

    def sees(self, *texts: str) -> None:
        """Until all of these are in the window."""

        def there() -> bool:
            text = self.text()
            return all(wanted in text for wanted in texts)

        self.until(there, f"{texts} in the window")

    def still(self) -> None:
        """Until the window looked the same for half a second."""
        since, before = time.monotonic(), ""

        def rests() -> bool:
            nonlocal since, before
            text = self.text()
            if text != before:
                since, before = time.monotonic(), text
            return time.monotonic() - since > 0.45

        self.until(rests, "rest")

    def press(self, *keys: str) -> None:
        """Presses keys by tmux's names, each once the window came to rest."""
        for key in keys:
            self.still()
            self.run("send-keys", key)
        self.still()

    def left(self) -> int:
        """Until the program ended and the shell goes on; the exit code."""
        self.sees("left with", "after ")
        found = re.search(r"^left with (\d+)", self.text(), re.MULTILINE)
        assert found
        return int(found[1])

    def clean(self) -> bool:
        """Whether main screen, cursor and mouse are as a shell expects them, and the line discipline as before."""
        flags = [
            self.asked(name)
            for name in ("alternate_on", "cursor_flag", "mouse_any_flag", "mouse_sgr_flag", "wrap_flag")
        ]
        before, after = (re.findall(rf"^{word} (\S+)", self.text(), re.MULTILINE) for word in ("before", "after"))
        return flags == ["0", "1", "0", "0", "1"] and before == after != []

    def end(self) -> None:
        """Ends this server and what runs in it."""
        subprocess.run(
            ["tmux", "-S", str(self._socket), "kill-server"],
            env=self._environ,
            capture_output=True,
            check=False,
            timeout=WITHIN_S,
        )
