"""Whether this process descends from a turn, check or set-up: a person's command is not taken from there.

Best effort, and called so: it reads the environment each ancestor was started with, and recorded pids with start times.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

TAG_NAME = "LOOPX_TAG"
MOST_ANCESTORS = 256


def turn_ancestor(recorded: Mapping[int, str] | None = None) -> str | None:
    """The tag of the turn this process runs inside, or None. Unsetting the variable in a child does not help it."""
    own = os.environ.get(TAG_NAME)
    if own:
        return own
    if os.path.isdir("/proc/self"):
        return _by_proc(recorded or {})
    return _by_psutil(recorded or {})


def _by_proc(recorded: Mapping[int, str]) -> str | None:
    pid = os.getpid()
    for _ in range(MOST_ANCESTORS):
        tag = _tag(pid)
        if tag:
            return tag
        parent, started = _stat(pid)
        if recorded and recorded.get(pid, "").split("/")[0] == started and started:
            return f"process {pid}"
        if parent <= 1:
            return None
        pid = parent
    return None


def _tag(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            data = environ.read()
    except OSError:
        return ""
    mark = TAG_NAME.encode() + b"="
    found = next((item for item in data.split(b"\0") if item.startswith(mark)), b"")
    return found[len(mark) :].decode("utf-8", "replace")


def _stat(pid: int) -> tuple[int, str]:
    """(parent pid, start ticks) of a process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return int(fields[1]), fields[19]
    except (OSError, IndexError, ValueError):
        return 0, ""


def _by_psutil(recorded: Mapping[int, str]) -> str | None:
    import psutil

    for process in psutil.Process().parents():
        try:
            tag = process.environ().get(TAG_NAME)
        except psutil.Error:
            continue
        if tag or process.pid in recorded:
            return str(tag or f"process {process.pid}")
    return None
