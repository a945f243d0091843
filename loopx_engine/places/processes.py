"""Process trees: started in a session of their own under a tag, and ended whole, also after the starter was killed.

A process belongs to a tree when its environment carries the tag, when it descends from a recorded root, or is in a session
or group that a process of the tree leads. Best effort where a program hides from all three; a box closes that gap.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from loopx_engine.consent.ancestry import LINUX, boot, started_in, started_of, stat_fields, tag_of
from loopx_engine.places.environment import TAG_NAME

POLL_S = 0.02
QUIET_SCANS = 3
BOX_NAME = "bwrap"


@dataclass(frozen=True, slots=True)
class Root:
    """A process by pid and `started_of` it: a recycled pid is another process."""

    pid: int
    started: str


def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    tag: str,
    stdin: int | IO[bytes] | None = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = subprocess.DEVNULL,
    stderr: int | IO[bytes] | None = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Starts a program in a session of its own, tagged, its files private. Raises `OSError` where it cannot be started.

    A boxed program is killed when the *thread* that called this ends, not only its process: let it outlive the program.
    """
    return subprocess.Popen(
        list(argv),
        cwd=cwd,
        env={**environment, TAG_NAME: tag},
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        close_fds=True,
        pass_fds=pass_fds,
        umask=0o077 if os.name != "nt" else -1,
    )


def root_of(pid: int) -> Root:
    """The identity of a process; one that is gone gets a start nobody has."""
    return Root(pid, started_of(pid) or "gone")


def alive(root: Root) -> bool:
    """Whether exactly this process still runs; a zombie does not."""
    return _runs(root.pid, root.started)


def covers(tag: str, other: str) -> bool:
    """Whether a tag is the other or one above it: `a/b` covers `a/b` and `a/b/c`, not `a/bc`."""
    return other == tag or other.startswith(f"{tag}/")


def members(tag: str, roots: Iterable[Root] = ()) -> list[psutil.Process]:
    """Every running process of a tree now; never this process or one of its ancestors."""
    found = []
    for row in _Tree(tag, roots).scan():
        try:
            found.append(psutil.Process(row.pid))
        except psutil.Error:
            continue
    return found


def end_tree(tag: str, roots: Iterable[Root] = (), *, grace_s: float = 5.0, deadline_s: float = 8.0) -> tuple[int, ...]:
    """Asks all to end, kills what is left after the grace, looks again until nothing is found several times running.

    Returns the pids that are left at the deadline (seconds from now): none, unless the kernel or another account holds one.
    """
    tree = _Tree(tag, roots)
    until = time.monotonic() + deadline_s
    asked = tree.scan()
    for row in asked:
        if not _is_box(row.pid):  # a box that is asked takes what is inside with it at once, without a grace
            _send(row, signal.SIGTERM)
    _wait_gone(asked, min(time.monotonic() + grace_s, until))
    quiet = 0
    left: list[_Row] = []
    while True:
        before, left = left, tree.scan(_kill)
        quiet = 0 if left else quiet + 1
        if quiet == QUIET_SCANS:
            return ()
        if time.monotonic() >= until:
            return tuple(sorted(row.pid for row in left))
        if left == before:
            _wait_gone(left, min(time.monotonic() + POLL_S, until))


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of the process table."""

    pid: int
    parent: int
    group: int
    session: int
    started: str
    zombie: bool


class _Tree:
    """What is known of a tree from scan to scan: every process once seen in it keeps its session and group in it."""

    def __init__(self, tag: str, roots: Iterable[Root]) -> None:
        self._tag = tag
        self._known: dict[int, str] = {root.pid: root.started for root in roots}
        self._seen: set[int] = set()
        self._ours = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}

    def scan(self, on_found: Callable[[_Row], None] | None = None) -> list[_Row]:
        """The running processes of the tree. `on_found` is called the moment one is found, as some do not live long."""
        leads = {pid for pid, started in self._known.items() if self._holds(pid, started)}
        found: dict[int, _Row] = {}
        children: dict[int, list[_Row]] = {}
        for row in _table():
            if row.pid in self._ours:
                continue
            children.setdefault(row.parent, []).append(row)
            if self._owns(row, leads):
                self._found(row, found, on_found)
        line = list(found.values())
        for parent in line:
            for row in children.get(parent.pid, ()):
                if row.pid not in found:
                    self._found(row, found, on_found)
                    line.append(row)
        return [row for row in found.values() if not row.zombie]

    def _found(self, row: _Row, found: dict[int, _Row], on_found: Callable[[_Row], None] | None) -> None:
        found[row.pid] = row
        self._known[row.pid] = row.started
        self._seen.add(row.pid)
        if on_found is not None and not row.zombie:
            on_found(row)

    def _owns(self, row: _Row, leads: set[int]) -> bool:
        if self._known.get(row.pid) == row.started or row.session in leads or row.group in leads:
            return True
        return bool(self._tag) and covers(self._tag, tag_of(row.pid))

    def _holds(self, pid: int, started: str) -> bool:
        """Whether a session or group of this number can only be this process's.

        A number in use is not given out again. So it is while the process is there, if only as a zombie; once it is gone,
        only if it was seen by an earlier scan or no number can have come round since the boot.
        """
        now = started_of(pid)
        if now:
            return now == started
        return pid in self._seen or (started.endswith(f"/{boot()}") and _numbers_never_came_round())


def _numbers_never_came_round() -> bool:
    """Linux: fewer processes were started since the boot than there are numbers."""
    try:
        with open("/proc/sys/kernel/pid_max", encoding="ascii") as most, open("/proc/stat", encoding="ascii") as stat:
            forks = next(line for line in stat if line.startswith("processes "))
            return int(forks.split()[1]) < int(most.read())
    except (OSError, StopIteration, ValueError):
        return False


def _table() -> Iterator[_Row]:
    """The processes of this machine, the youngest first: what forks and leaves at once is met while it is there."""
    if LINUX and (row := _row(_youngest())) is not None:
        yield row
    for pid in sorted(psutil.pids(), reverse=True):
        if (row := _row(pid)) is not None:
            yield row


def _youngest() -> int:
    """Linux: the number that was given out last, known without looking at every process; 0 where it is not told."""
    try:
        with open("/proc/loadavg", encoding="ascii") as load:
            return int(load.read().split()[-1])
    except (OSError, ValueError):
        return 0


def _row(pid: int) -> _Row | None:
    if LINUX:
        words = stat_fields(pid)
        if len(words) <= 19:
            return None
        return _Row(pid, int(words[1]), int(words[2]), int(words[3]), started_in(words), words[0] in "ZX")
    try:
        process = psutil.Process(pid)
        zombie = process.status() == psutil.STATUS_ZOMBIE
        group, session = (os.getpgid(pid), os.getsid(pid)) if os.name != "nt" else (pid, pid)
        return _Row(pid, process.ppid(), group, session, started_of(pid), zombie)
    except (psutil.Error, OSError):
        return None


def _is_box(pid: int) -> bool:
    try:
        return psutil.Process(pid).name() == BOX_NAME
    except psutil.Error:
        return False


def _runs(pid: int, started: str) -> bool:
    row = _row(pid)
    return row is not None and row.started == started and not row.zombie


def _wait_gone(rows: Sequence[_Row], until: float) -> None:
    """Waits without reaping: whoever started a process must still learn how it ended."""
    left = list(rows)
    while (left := [row for row in left if _runs(row.pid, row.started)]) and time.monotonic() < until:
        time.sleep(POLL_S / 2)


def _kill(row: _Row) -> None:
    _send(row, signal.SIGKILL if os.name != "nt" else signal.SIGTERM)


def _send(row: _Row, number: signal.Signals) -> None:
    """Sends to exactly this process: the handle is taken first and the start time compared afterwards."""
    if not LINUX or not hasattr(os, "pidfd_open"):
        _send_by_number(row, number)
        return
    try:
        handle = os.pidfd_open(row.pid)
    except ProcessLookupError:
        return
    except OSError:
        _send_by_number(row, number)
        return
    try:
        if started_of(row.pid) == row.started:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        return
    finally:
        os.close(handle)


def _send_by_number(row: _Row, number: signal.Signals) -> None:
    try:
        process = psutil.Process(row.pid)
        if started_of(row.pid) == row.started:
            process.send_signal(number)
    except (psutil.Error, OSError):
        return
