"""One program run to its end in a box: a check, a set-up step, a condition. Its whole tree is gone afterwards.

A program that cannot be started says nothing about the work: *cannot run* is told apart from a failing exit, its output kept.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from loopx_engine.errors import Refused
from loopx_engine.places.processes import end_tree, root_of, start
from loopx_engine.places.sandbox import Box, Mounts, boxed, launch_environment

State = Literal["exited", "timeout", "cannot_run", "stopped"]
POLL_S = 0.02
TAIL_BYTES = 4096
LEFTOVERS_S, INTERRUPT_S, KILL_S = 0.5, 1.0, 5.0
# How shells and launchers (`sh -c`, `env`, `npm`) say that the program they were given is not there or not to be run.
NOT_FOUND = (126, 127)
# In a box the C library hands what the kernel does not take for a program to `sh`, which ends so on a binary file.
SHELL_SYNTAX = 2
HEAD_BYTES = 20


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How it ended. `exit` is known when it ran to its end (128 + N for signal N), and for a launcher that cannot run.

    `tail` is the last 4 KB of standard output and error together, `output` their first and last part up to the limit,
    `output_digest` the sha256 of all of it; `sandbox` is the kind of box.
    """

    state: State
    exit: int | None
    tail: str
    output_digest: str
    duration_ms: int
    sandbox: str
    output: str = ""


def run_program(
    argv: Sequence[str],
    *,
    cwd: Path,
    box: Box,
    mounts: Mounts,
    environment: Mapping[str, str],
    tag: str,
    timeout_s: float,
    network: bool,
    output_limit: int = 64_000,
    stop: threading.Event | None = None,
) -> ProgramResult:
    """Runs the program; every process it left is ended before this returns, within 7 s of its end, timeout or `stop`.

    `output_limit` is in bytes. Nothing raises for what the program is or does: `cannot_run` carries the reason.
    """
    output = _Output(output_limit)
    if not argv or not argv[0]:
        output.add(b"there is no program to run")
        return output.result("cannot_run", None, 0, box)
    if stop is not None and stop.is_set():
        return output.result("stopped", None, 0, box)
    began = time.monotonic()
    with _status_pipe(box) as (read_fd, write_fd):
        try:
            command = boxed(
                box, argv, mounts=mounts, network=network, environment=environment, cwd=cwd, status_fd=write_fd
            )
            process = start(
                command,
                cwd=cwd,
                environment=launch_environment(box, environment),
                tag=tag,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[] if write_fd is None else [write_fd],
            )
        except (OSError, ValueError, Refused) as error:
            output.add(_cannot_start(argv, cwd, error).encode("utf-8", "replace"))
            return output.result("cannot_run", None, 0, box)
        root = root_of(process.pid)
        output.read(process.stdout)
        state = _wait(process, began + timeout_s, stop)
        end_tree(tag, (root,), grace_s=LEFTOVERS_S if state == "exited" else INTERRUPT_S, deadline_s=KILL_S)
        code = _reap(process)
        output.finish()
        if state == "exited" and code == SHELL_SYNTAX and _is_foreign(argv[0], cwd, environment):
            output.add(f"\n{argv[0]}: {os.strerror(errno.ENOEXEC)}".encode())
            state = "cannot_run"
        elif state == "exited" and (code in NOT_FOUND or not _was_started(read_fd, code)):
            state = "cannot_run"
    return output.result(state, _told(state, code), int((time.monotonic() - began) * 1000), box)


def _told(state: State, code: int | None) -> int | None:
    """The exit as a shell would say it, where it is the program's or its launcher's own."""
    if code is None or not (state == "exited" or (state == "cannot_run" and code in NOT_FOUND)):
        return None
    return code if code >= 0 else 128 - code


def _cannot_start(argv: Sequence[str], cwd: Path, error: Exception) -> str:
    if isinstance(error, OSError):
        named = cwd if not os.path.isdir(cwd) else argv[0]
        return f"{named}: {error.strerror or error}"
    return f"{argv[0]}: {error}"


def _wait(process: subprocess.Popen[bytes], until: float, stop: threading.Event | None) -> State:
    """Waits without reaping, so that the number of the root stays its own until the tree is ended."""
    while not _has_ended(process):
        if stop is not None and stop.is_set():
            return "stopped"
        if time.monotonic() >= until:
            return "timeout"
        time.sleep(POLL_S)
    return "exited"


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _reap(process: subprocess.Popen[bytes]) -> int | None:
    """The exit; None where the kernel still holds a killed program: the caller is not held too."""
    try:
        return process.wait(1.0)
    except subprocess.TimeoutExpired:
        return None


@contextlib.contextmanager
def _status_pipe(box: Box) -> Iterator[tuple[int | None, int | None]]:
    """A pipe on which bubblewrap tells how far it came: no program inside can say so in its place."""
    if box.kind != "bubblewrap":
        yield None, None
        return
    read_fd, write_fd = os.pipe()
    os.set_blocking(read_fd, False)
    try:
        yield read_fd, write_fd
    finally:
        os.close(read_fd)
        os.close(write_fd)


def _was_started(read_fd: int | None, code: int | None) -> bool:
    """Whether the box came to start the program: it tells the exit only then. A box that was killed had come so far."""
    if read_fd is None or code is None or code < 0:
        return True
    try:
        said = os.read(read_fd, 65_536).decode("utf-8", "replace")
    except BlockingIOError:
        return False
    return any("exit-code" in json.loads(line) for line in said.splitlines() if line.startswith("{"))


def _is_foreign(name: str, cwd: Path, environment: Mapping[str, str]) -> bool:
    """Whether a file is neither a program of this machine nor text."""
    found = os.path.join(cwd, name) if os.sep in name else shutil.which(name, path=environment.get("PATH"))
    head, ours = _head(found or ""), _head(sys.executable)
    native = (head[:6], head[18:20]) == (ours[:6], ours[18:20])
    return b"\0" in head and not native and not head.startswith(b"#!")


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b""


class _Output:
    """Reads a stream to its end in a thread and keeps its beginning and its end: 100 MB never lie in memory."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, TAIL_BYTES)
        self._head = bytearray()
        self._last = bytearray()
        self._total = 0
        self._digest = hashlib.sha256()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, data: bytes) -> None:
        with self._lock:
            self._digest.update(data)
            self._total += len(data)
            room = self._half - len(self._head)
            if room > 0:
                self._head += data[:room]
            self._last += data
            if len(self._last) > 2 * self._half:
                del self._last[: -self._half]

    def read(self, stream: IO[bytes] | None) -> None:
        """Begins to read."""
        self._thread = threading.Thread(target=self._read, args=(stream,), name="program output", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Waits for the rest; a stream that something unkillable keeps open is left to its thread."""
        if self._thread is not None:
            self._thread.join(2.0)

    def result(self, state: State, code: int | None, took: int, box: Box) -> ProgramResult:
        with self._lock:
            tail = bytes(self._last[-TAIL_BYTES:]).decode("utf-8", "replace").strip()
            return ProgramResult(state, code, tail, self._digest.hexdigest(), took, box.kind, self._whole())

    def _whole(self) -> str:
        rest = self._total - len(self._head)
        last = bytes(self._last[-min(rest, self._half) :]) if rest > 0 else b""
        cut = rest - len(last)
        mark = f"\n[{cut} bytes left out]\n".encode() if cut else b""
        return (bytes(self._head) + mark + last).decode("utf-8", "replace")

    def _read(self, stream: IO[bytes] | None) -> None:
        if stream is None:
            return
        with stream:
            while data := os.read(stream.fileno(), 65_536):
                self.add(data)
