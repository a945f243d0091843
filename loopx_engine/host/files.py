"""Files that only this account may read: written whole or not at all, or bounded while they grow."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from pathlib import Path

from loopx_engine.errors import TryAgain

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
FULL = b"[engine] the transcript is full; what follows is not kept\n"
LOST = "[engine] {count} bytes are missing here; the disk was full\n"
BUSY_WINDOWS = frozenset({5, 32, 33})
REPLACE_WAIT_S = 2.5


def write_private(path: Path, data: bytes, *, replace: bool = True) -> Path:
    """Writes a file with mode 0600: temporary file, fsync, rename, fsync of the folder. What was there stays whole until then.

    Raises `TryAgain` (`disk_full`), `FileExistsError` with `replace=False`, `OSError`.
    """
    import secrets

    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        _put(temporary, path) if replace else _put_new(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise no_room(path) from error
        raise
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return path


def no_room(path: Path) -> TryAgain:
    """The error of a full disk."""
    return TryAgain(f"no room for {path.name}", code="disk_full", next="make room and try again")


class BoundedFile:
    """A growing text file of at most `limit_bytes`, 0600. Past it one marker line is written, the rest counted and dropped.

    A full disk never ends the work that is written down: what is lost is counted in `dropped` and said once there is room.
    """

    def __init__(self, path: Path, limit_bytes: int) -> None:
        self.path = path
        self.dropped = 0
        self._room_for_text = max(0, limit_bytes - len(FULL))
        self._lost = 0
        self._guard = threading.Lock()
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = os.fstat(self._handle).st_size
        self._full = self._size >= len(FULL) and self._tail() == FULL

    def write(self, text: str) -> None:
        """Appends text as UTF-8; the last piece that fits ends with a whole line."""
        data = text.encode("utf-8", "replace")
        with self._guard:
            if self._handle < 0:
                raise ValueError(f"{self.path.name} is closed")
            if self._full:
                self.dropped += len(data)
                return
            self._say_lost()
            if self._size + len(data) <= self._room_for_text:
                self._append_or_lose(data)
                return
            kept = _whole_lines(data, self._room_for_text - self._size)
            self._append_or_lose(kept)
            self.dropped += len(data) - len(kept)
            self._full = self._append(FULL)

    def close(self) -> None:
        """Closes the file; a second call does nothing. Writing afterwards raises `ValueError`."""
        with self._guard:
            if self._handle >= 0:
                os.close(self._handle)
            self._handle = -1

    def _tail(self) -> bytes:
        """What the end of the file says, so that a file opened again does not get a second marker."""
        os.lseek(self._handle, -len(FULL), os.SEEK_END)
        return os.read(self._handle, len(FULL))

    def _append_or_lose(self, data: bytes) -> None:
        if not self._append(data):
            self.dropped += len(data)
            self._lost += len(data)

    def _say_lost(self) -> None:
        said = LOST.format(count=self._lost).encode()
        if self._lost and self._size + len(said) <= self._room_for_text and self._append(said):
            self._lost = 0

    def _append(self, data: bytes) -> bool:
        """All of it or, where the disk takes no more, none."""
        try:
            _write_all(self._handle, data)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self._size)
            return False
        self._size += len(data)
        return True


def _whole_lines(data: bytes, room: int) -> bytes:
    return data[: data.rfind(b"\n", 0, max(0, room)) + 1]


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _put(temporary: Path, path: Path) -> None:
    """Renames; on Windows a reader may hold the old file for a moment, which is waited for within `REPLACE_WAIT_S`."""
    ends = time.monotonic() + REPLACE_WAIT_S
    while True:
        try:
            os.replace(temporary, path)
            return
        except PermissionError as error:
            if getattr(error, "winerror", None) not in BUSY_WINDOWS or time.monotonic() >= ends:
                raise
        time.sleep(0.02)


def _put_new(temporary: Path, path: Path) -> None:
    """Renames only where nothing has this name yet, whoever else tries at the same moment."""
    if os.name == "nt":
        os.rename(temporary, path)
    else:
        os.link(temporary, path)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
