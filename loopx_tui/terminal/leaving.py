"""Leaving cleanly: SIGTERM and SIGHUP end the workspace as `q` does, a crash leaves the terminal whole and one line of words."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping

from loopx_engine import home

MOST = 20_000


def on_signals(leave: Callable[[], None]) -> None:
    """Calls `leave` in the running loop when a signal asks this process to end."""
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None:
            continue
        try:
            loop.add_signal_handler(number, leave)
        except (NotImplementedError, RuntimeError, ValueError):
            return


def keep_crash(environ: Mapping[str, str], words: str) -> str:
    """Writes a traceback (code and lines, no values) beside the logs; says where, or that it could not."""
    folder = home(environ) / "logs"
    path = folder / "workspace-crash.txt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", errors="replace"
        ) as file:
            file.write(words[-MOST:])
    except OSError as error:
        return f"its traceback could not be kept ({error.strerror})"
    return f"its traceback is in {path}"
