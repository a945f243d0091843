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
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from loopx_engine.errors import TryAgain

if sys.platform == "win32":
    import msvcrt

    def _try(handle: int) -> bool:
        try:
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _block(handle: int) -> None:
        while not _try(handle):
            time.sleep(0.002)

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


@contextmanager
def exclusive(path: Path, timeout_s: float) -> Iterator[None]:
    """Holds the lock of `path`. Waiters are served in the order the kernel queued them.

    Raises `TryAgain` (`busy`) when the holder keeps it longer than `timeout_s` seconds.
    """
    handle = _open(path)
    if not _try(handle):
        _wait(handle, path.name, timeout_s)
    try:
        yield
    finally:
        os.close(handle)


class EngineLock:
    """The single-instance lock while it is held; `close()` or the process's end frees it."""

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> EngineLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def single_instance(path: Path, *, claim: bool = True) -> EngineLock:
    """Holds the one-engine lock of a ledger, or raises `TryAgain` (`engine_running`) naming the holder's pid and start.

    `claim=False` looks only: it leaves what the file says about the last holder alone.
    """
    handle = _open(path)
    if not _try(handle):
        said = _holder(handle)
        os.close(handle)
        raise TryAgain(
            f"an engine is running on this ledger already ({said})",
            code="engine_running",
            next="loopx status, or end that process first",
        )
    if claim:
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, json.dumps({"pid": os.getpid(), "started": int(time.time())}).encode())
    return EngineLock(handle)


def _open(path: Path) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.set_inheritable(handle, False)
    return handle


def _wait(handle: int, name: str, timeout_s: float) -> None:
    """Blocks in the kernel's queue in a thread of its own, so that the wait is both fair and bounded.

    After the bound the handle belongs to that thread, which lets go as soon as it is served.
    """
    guard = threading.Lock()
    served = threading.Event()
    given_up = threading.Event()

    def block() -> None:
        _block(handle)
        with guard:
            if given_up.is_set():
                os.close(handle)
            served.set()

    threading.Thread(target=block, name=f"lock {name}", daemon=True).start()
    if served.wait(timeout_s):
        return
    with guard:
        if served.is_set():
            return
        given_up.set()
    raise TryAgain(
        f"another process has been writing for more than {timeout_s:g} s", code="busy", next="try again in a moment"
    )


def _holder(handle: int) -> str:
    try:
        said = json.loads(os.pread(handle, 1000, 0)) if hasattr(os, "pread") else {}
        started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(int(said["started"])))
        return f"pid {int(said['pid'])}, started {started}"
    except (ValueError, KeyError, TypeError, OSError, OverflowError):
        return "its lock file does not say which"
