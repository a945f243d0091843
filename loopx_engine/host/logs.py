"""The engine's log: JSON lines in bounded files (5 x 2 MB), 0600 also after a roll-over, secrets masked.

It never writes to the terminal and never ends the work it tells about: a line that cannot be written is dropped.
"""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Collection, MutableMapping
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from loopx_engine.host.paths import private_folder
from loopx_engine.host.redaction import redact_value

NAME = "engine.jsonl"
FILES = 5
FILE_BYTES = 2_000_000
VALUE_CHARACTERS = 16_000


class PrivateHandler(RotatingFileHandler):
    """Opens its file 0600 whatever the umask, also the fresh one after a roll-over. `dropped` counts lost lines."""

    def __init__(self, path: Path) -> None:
        self.dropped = 0
        super().__init__(str(path), maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        self.dropped += 1

    def _open(self) -> io.TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.chmod(self.baseFilename, 0o600)
        return os.fdopen(handle, "a", encoding="utf-8", errors="replace")


class _MessageAlone(logging.Formatter):
    """The line as it was made; logging would put a traceback behind it that nobody masked."""

    def format(self, record: logging.LogRecord) -> str:
        return record.getMessage()


def open_log(folder: Path, *, known: Collection[str] = ()) -> Any:
    """A structlog logger that writes `engine.jsonl` in the folder, one object a line: `ts`, `level`, `event`, the fields.

    `known` are secret values to mask besides the known shapes. Raises as `private_folder`.
    """
    import structlog

    handler = PrivateHandler(private_folder(folder) / NAME)
    handler.setFormatter(_MessageAlone())
    stream = logging.Logger(f"loopx.engine.{folder}", logging.INFO)  # noqa: LOG001 - one of its own, without parents
    stream.addHandler(handler)

    def safe(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {key: _short(redact_value(value, known)) for key, value in event.items()}

    return structlog.wrap_logger(
        stream,
        processors=[
            structlog.processors.format_exc_info,
            safe,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _short(value: Any) -> Any:
    """A value that fits a line; a longer one as the start of its text."""
    text = value if isinstance(value, str) else repr(value)
    return value if len(text) <= VALUE_CHARACTERS else text[: VALUE_CHARACTERS - 1] + "…"
