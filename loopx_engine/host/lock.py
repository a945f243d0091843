"""Kernel locks: a fair, bounded exclusive lock for writers, and the one-engine lock. Held by a live handle, never by a pid.

A lock ends with its process, whatever the file says: a truncated, empty or foreign lock file is no obstacle.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from loopx_engine.errors import Refused, TryAgain
from loopx_engine.host.files import NO_ROOM, no_room

if sys.platform == "win32":
    import msvcrt

    FAR = 1 << 30  # a locked byte cannot be read: lock one that lies behind what the file says

    def _try(handle: int) -> bool:
        try:
            os.lseek(handle, FAR, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _block(handle: int) -> None:
        while not _try(handle):
            time.sleep(0.002)

    def _free(handle: int) -> None:
        try:
            os.lseek(handle, FAR, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
        finally:
            os.close(handle)

else:
    import fcntl

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _block(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _free(handle: int) -> None:
        """Unlocks before it closes: a child between fork and exec may still hold a copy of the handle."""
        try:
            fcntl.flock(handle, fcntl.LOCK_UN)
        finally:
            os.close(handle)


@contextmanager
def exclusive(path: Path, timeout_s: float) -> Iterator[None]:
    """Holds the lock of `path`. Waiters are served in the order the kernel queued them.

    Raises `TryAgain` (`busy`) when others keep it for longer than `timeout_s` seconds, `Refused` (`no_lock`).
    """
    handle = _open(path)
    if not _try_or_close(handle, path):
        _wait(handle, path, timeout_s)
    try:
        yield
    finally:
        _free(handle)


class EngineLock:
    """The single-instance lock while it is held; `close()` or the process's end frees it."""

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    def close(self) -> None:
        """Frees the lock; a second call does nothing."""
        if self._handle is not None:
            _free(self._handle)
            self._handle = None

    def __enter__(self) -> EngineLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def single_instance(path: Path, *, claim: bool = True) -> EngineLock:
    """Holds the one-engine lock of a ledger, or raises `TryAgain` (`engine_running`) naming the holder's pid and start.

    `claim=False` looks only: it leaves what the file says about the last holder alone. Raises `Refused` (`no_lock`).
    """
    handle = _open(path)
    if not _try_or_close(handle, path):
        holder = _holder(handle)
        os.close(handle)
        raise TryAgain(
            f"an engine is running on this ledger already ({_said(holder)})",
            code="engine_running",
            next="loopx status, or end that process first",
            details=holder,
        )
    if claim:
        _sign(handle, path)
    return EngineLock(handle)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> Refused | TryAgain:
    if error.errno in NO_ROOM:
        return no_room(path)
    return Refused(
        f"{path} cannot be locked: {error.strerror}", code="no_lock", next="set LOOPX_HOME to a local folder"
    )


def _try_or_close(handle: int, path: Path) -> bool:
    try:
        return _try(handle)
    except OSError as error:
        os.close(handle)
        raise _unusable(path, error) from error


def _wait(handle: int, path: Path, timeout_s: float) -> None:
    """Blocks in the kernel's queue in a thread of its own, so that the wait is both fair and bounded.

    When it ends in any other way than served, the handle belongs to that thread, which lets go as soon as it can.
    """
    guard = threading.Lock()
    ended = threading.Event()
    left = threading.Event()
    failure: list[OSError] = []

    def block() -> None:
        try:
            _block(handle)
        except OSError as error:
            failure.append(error)
        with guard:
            if left.is_set():
                _free_quietly(handle)
            ended.set()

    threading.Thread(target=block, name=f"lock {path.name}", daemon=True).start()
    served = False
    try:
        ended.wait(timeout_s)
        served = ended.is_set() and not failure
    finally:
        if not served:
            with guard:
                left.set()
                if ended.is_set():
                    _free_quietly(handle)
    if failure:
        raise _unusable(path, failure[0]) from failure[0]
    if not served:
        raise TryAgain(
            f"another process has been writing for more than {timeout_s:g} s", code="busy", next="try again in a moment"
        )


def _free_quietly(handle: int) -> None:
    """Frees what nobody waits for any more; closing it is enough where the system cannot even unlock."""
    with suppress(OSError):
        _free(handle)


def _sign(handle: int, path: Path) -> None:
    """Says who holds it. A disk without room is no reason not to hold it."""
    said = json.dumps({"pid": os.getpid(), "started": int(time.time())}).encode()
    try:
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, said)
    except OSError as error:
        if error.errno not in NO_ROOM:
            _free(handle)
            raise _unusable(path, error) from error


def _holder(handle: int) -> dict[str, Any]:
    """The pid and the start (UTC seconds) that the holder wrote, or nothing."""
    try:
        os.lseek(handle, 0, os.SEEK_SET)
        said = json.loads(os.read(handle, 1000))
        holder = {"pid": int(said["pid"]), "started": int(said["started"])}
        time.gmtime(holder["started"])
    except (ValueError, KeyError, TypeError, OSError, OverflowError, RecursionError):
        return {}
    return holder


def _said(holder: dict[str, Any]) -> str:
    if not holder:
        return "its lock file does not say which"
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(holder["started"]))
    return f"pid {holder['pid']}, started {started}"
