"""Process trees: started in a session of their own under a tag, and ended whole, also after the starter was killed.

A process belongs to a tree when its environment carries the tag, or when it descends from (or shares the session of) a
recorded root. Best effort where a program hides from both; the box's own process namespace closes that gap.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil

from loopx_engine.model.record import noun
from loopx_engine.places.environment import TAG_NAME

POLL_S = 0.05
GONE = (psutil.NoSuchProcess, psutil.ZombieProcess)


@noun
class Root:
    """A process by pid and start time (with the boot it belongs to): a recycled pid is another process."""

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
) -> subprocess.Popen[bytes]:
    """Starts a program in a session of its own, tagged. Raises `OSError` where it cannot be started."""
    return subprocess.Popen(
        list(argv),
        cwd=cwd,
        env={**environment, TAG_NAME: tag},
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        close_fds=True,
        umask=0o077 if os.name != "nt" else -1,
    )


def root_of(pid: int) -> Root:
    """The identity of a running process (an ended one gets a start time nobody has)."""
    try:
        return Root(pid=pid, started=_started(psutil.Process(pid)))
    except (psutil.Error, OSError):
        return Root(pid=pid, started="ended")


def alive(root: Root) -> bool:
    """Whether exactly this process still runs."""
    return _process(root) is not None


def members(tag: str, roots: Iterable[Root] = ()) -> list[psutil.Process]:
    """Every process of a tree now; never this process or one of its ancestors."""
    ours = {os.getpid(), *_ancestors()}
    found: dict[int, psutil.Process] = {}
    sessions: set[int] = set()
    for root in roots:
        process = _process(root)
        if process is not None:
            found[process.pid] = process
            found.update({child.pid: child for child in _children(process)})
        sessions.add(root.pid)
    for process in psutil.process_iter():
        if process.pid in ours or process.pid in found:
            continue
        if (tag and _tag_of(process) == tag) or _session(process) in sessions:
            found[process.pid] = process
            found.update({child.pid: child for child in _children(process) if child.pid not in ours})
    return [process for pid, process in found.items() if pid not in ours and _runs(process)]


def end_tree(
    tag: str, roots: Iterable[Root] = (), *, grace_s: float = 5.0, deadline_s: float = 8.0
) -> tuple[int, ...]:
    """TERM, a grace, then KILL for all, looking again until nothing is found twice. Returns the pids left (none)."""
    known = tuple(roots)
    until = time.monotonic() + deadline_s
    tree = members(tag, known)
    if not tree:
        return ()
    for process in tree:
        _signal(process, hard=False)
    _wait_gone(tree, min(time.monotonic() + grace_s, until))
    quiet = 0
    while time.monotonic() < until:
        tree = members(tag, known)
        if not tree:
            quiet += 1
            if quiet == 2:
                return ()
            continue
        quiet = 0
        for process in tree:
            _signal(process, hard=True)
        _wait_gone(tree, time.monotonic() + POLL_S)
    return tuple(sorted(process.pid for process in members(tag, known)))


def _wait_gone(tree: Sequence[psutil.Process], until: float) -> None:
    """Waits without reaping: whoever started a process must still learn how it ended."""
    while time.monotonic() < until and any(_runs(process) for process in tree):
        time.sleep(0.01)


def _process(root: Root) -> psutil.Process | None:
    try:
        process = psutil.Process(root.pid)
        return process if _started(process) == root.started and _runs(process) else None
    except (psutil.Error, OSError):
        return None


def _started(process: psutil.Process) -> str:
    return f"{process.create_time():.2f}/{psutil.boot_time():.0f}" if os.name == "nt" else f"{_ticks(process)}/{_boot()}"


def _ticks(process: psutil.Process) -> str:
    """The kernel's own start counter where there is one: it does not move when the clock is set."""
    try:
        with open(f"/proc/{process.pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return f"{process.create_time():.2f}"


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot:
            return boot.read().strip()[:8]
    except OSError:
        return f"{psutil.boot_time():.0f}"


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _ancestors() -> set[int]:
    try:
        return {parent.pid for parent in psutil.Process().parents()}
    except psutil.Error:
        return set()


def _tag_of(process: psutil.Process) -> str:
    try:
        if os.path.exists("/proc/self/environ"):
            with open(f"/proc/{process.pid}/environ", "rb") as environ:
                data = environ.read()
            mark = TAG_NAME.encode() + b"="
            found = next((item for item in data.split(b"\0") if item.startswith(mark)), b"")
            return found[len(mark) :].decode("utf-8", "replace")
        return str(process.environ().get(TAG_NAME, ""))
    except (psutil.Error, OSError):
        return ""


def _session(process: psutil.Process) -> int:
    try:
        return os.getsid(process.pid) if hasattr(os, "getsid") else 0
    except OSError:
        return 0


def _signal(process: psutil.Process, *, hard: bool) -> None:
    try:
        process.kill() if hard else process.terminate()
    except (*GONE, psutil.AccessDenied):
        return


