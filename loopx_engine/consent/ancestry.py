"""Whether this process descends from a turn, check or set-up: a person's command is not taken from there (MODEL.md 6).

Best effort, and called so: it reads the environment every ancestor was started with, and recorded pids with start times.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

TAG_NAME = "LOOPX_TAG"
MOST_ANCESTORS = 100_000
LINUX: bool = sys.platform == "linux"
NOTHING: Mapping[int, str] = MappingProxyType({})


def turn_ancestor(recorded: Mapping[int, str] = NOTHING) -> str | None:
    """The tag (or `process N`) of the turn this process runs inside, or None.

    `recorded` maps the pids of live turns to their `started_of`. A child that unset the variable does not help itself: its
    own first environment and those of its ancestors are read; a recorded process also owns the session it began.
    """
    own = os.environ.get(TAG_NAME)
    if own:
        return own
    for pid in _line():
        tag = tag_of(pid)
        if tag:
            return tag
        if pid in recorded and recorded[pid] == started_of(pid):
            return f"process {pid}"
    return _session_owner(recorded)


def started_of(pid: int) -> str:
    """What tells a process from a later one with its pid: start counter and boot; "" where there is no such process."""
    if LINUX:
        return started_in(stat_fields(pid))
    import psutil

    try:
        return f"{psutil.Process(pid).create_time():.2f}"
    except psutil.Error:
        return ""


def tag_of(pid: int) -> str:
    """The tag in the environment a process was started with; "" where it has none or may not be read."""
    if LINUX:
        mark = b"\0" + TAG_NAME.encode() + b"="
        _, found, rest = (b"\0" + environ_bytes(pid)).partition(mark)
        return rest.partition(b"\0")[0].decode("utf-8", "replace") if found else ""
    import psutil

    try:
        return str(psutil.Process(pid).environ().get(TAG_NAME, ""))
    except (psutil.Error, OSError):
        return ""


def stat_fields(pid: int) -> list[str]:
    """Linux: the words of `/proc/PID/stat` after the name: state, parent, group, session, ... (empty: no such process)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].decode("ascii").split()
    except OSError:
        return []


def started_in(fields: list[str]) -> str:
    """Linux: `started_of` from the words of `stat_fields`; the counter does not move when the clock is set."""
    return f"{fields[19]}/{boot()}" if len(fields) > 19 else ""


def environ_bytes(pid: int) -> bytes:
    """Linux: the environment a process was started with, `NAME=value` ended by NUL each; empty where it may not be read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            return environ.read()
    except OSError:
        return b""


@cache
def boot() -> str:
    """Linux: the first eight digits of this boot's id."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as found:
            return found.read().strip()[:8]
    except OSError:
        return ""


def _line() -> Iterator[int]:
    """This process and its ancestors, nearest first."""
    if not LINUX:
        import psutil

        yield os.getpid()
        yield from (parent.pid for parent in psutil.Process().parents())
        return
    pid = os.getpid()
    for _ in range(MOST_ANCESTORS):
        yield pid
        fields = stat_fields(pid)
        pid = int(fields[1]) if len(fields) > 1 else 0
        if pid <= 0:
            return


def _session_owner(recorded: Mapping[int, str]) -> str | None:
    """A recorded process whose session this one still is in, though its parents are gone."""
    if not recorded or sys.platform == "win32":
        return None
    session = os.getsid(0)
    mine = session in recorded and started_of(session) in (recorded[session], "")
    return f"process {session}" if mine else None
