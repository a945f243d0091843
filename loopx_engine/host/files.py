"""Files that only this account may read: written whole or not at all, or bounded while they grow."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from loopx_engine.errors import TryAgain

NO_ROOM = (28, 122)


def write_private(path: Path, data: bytes) -> Path:
    """Replaces a file with mode 0600: temporary file, fsync, rename, fsync of the folder. Raises `TryAgain` (`disk_full`)."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if error.errno in NO_ROOM:
            raise TryAgain(f"no room for {path.name}", code="disk_full", next="make room and try again") from error
        raise
    return path


class BoundedFile:
    """A growing text file of at most `limit` bytes, 0600. Past it one marker line is written, the rest counted and dropped."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self.dropped = 0
        self._limit = limit
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = os.fstat(self._handle).st_size

    def write(self, text: str) -> None:
        """Appends text; a full disk drops it, as the limit does."""
        data = text.encode("utf-8", "replace")
        if self.dropped or self._size + len(data) > self._limit:
            if not self.dropped:
                self._append(b"[engine] the transcript is full; what follows is not kept\n")
            self.dropped += len(data)
            return
        if self._append(data):
            self._size += len(data)

    def close(self) -> None:
        os.close(self._handle)

    def _append(self, data: bytes) -> bool:
        try:
            os.write(self._handle, data)
        except OSError:
            self.dropped += len(data)
            return False
        return True


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
