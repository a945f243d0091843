"""The engine's log: JSON lines in bounded files (5 x 2 MB), 0600 also after a roll-over; no agent's text goes in."""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from loopx_engine.host.paths import private_folder

FILES = 5
FILE_BYTES = 2_000_000


class PrivateHandler(RotatingFileHandler):
    """Opens its file 0600 whatever the umask, also the fresh one after a roll-over."""

    def _open(self) -> Any:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(handle, "a", encoding="utf-8", errors="replace")


def open_log(folder: Path) -> Any:
    """A structlog logger that writes `engine.jsonl` in the folder."""
    import structlog

    handler = PrivateHandler(
        str(private_folder(folder) / "engine.jsonl"), maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8"
    )
    handler.setFormatter(logging.Formatter("%(message)s"))
    stream = logging.getLogger(f"loopx.engine.{folder}")
    stream.setLevel(logging.INFO)
    stream.propagate = False
    for old in list(stream.handlers):
        stream.removeHandler(old)
        old.close()
    stream.addHandler(handler)
    return structlog.wrap_logger(
        stream,
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
