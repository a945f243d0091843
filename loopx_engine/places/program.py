"""One program run to its end in a box: a check, a set-up step, a condition. Its whole tree is gone afterwards.

A program that is missing says nothing about the work: *cannot run* is told apart from a failing exit, its output kept.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from loopx_engine.model.record import noun
from loopx_engine.places.processes import end_tree, root_of, start
from loopx_engine.places.sandbox import Box, Mounts, boxed

POLL_S = 0.05
TAIL_BYTES = 4096
NOT_RUN = (126, 127)
SANDBOX_SAYS = ("bwrap: execvp", "bwrap: Can't chdir", "bwrap: Can't", "bwrap: No permissions")


@noun
class ProgramResult:
    """`state`: `exited` (see `exit`), `timeout`, `cannot_run`, `stopped`. `tail` is the end of the output."""

    state: Literal["exited", "timeout", "cannot_run", "stopped"]
    exit: int | None
    tail: str
    duration_ms: int
    sandbox: str


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
    """Runs the program; every process it left is ended before this returns."""
    command = boxed(box, argv, mounts=mounts, network=network, environment=environment)
    if box.kind == "bubblewrap":
        command[command.index("--chdir") + 1] = str(cwd.resolve())
    began = time.monotonic()
    try:
        process = start(
            command, cwd=cwd, environment=environment, tag=tag, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        return ProgramResult(state="cannot_run", exit=None, tail=f"{argv[0]}: {said}", duration_ms=0, sandbox=box.kind)
    root = root_of(process.pid)
    output = _Output(process.stdout, output_limit)
    ended = _wait(process, began + timeout_s, stop)
    end_tree(tag, (root,), grace_s=0.5 if ended == "exited" else 1.0, deadline_s=5.0)
    process.wait()
    tail = output.tail()
    state: Literal["exited", "timeout", "cannot_run", "stopped"] = ended
    code = process.returncode if ended == "exited" else None
    if ended == "exited" and _not_run(code, tail, box):
        state = "cannot_run"
    took = int((time.monotonic() - began) * 1000)
    return ProgramResult(state=state, exit=code, tail=tail, duration_ms=took, sandbox=box.kind)


def _wait(
    process: subprocess.Popen[bytes], until: float, stop: threading.Event | None
) -> Literal["exited", "timeout", "stopped"]:
    while True:
        try:
            process.wait(POLL_S)
        except subprocess.TimeoutExpired:
            if stop is not None and stop.is_set():
                return "stopped"
            if time.monotonic() >= until:
                return "timeout"
            continue
        return "exited"


def _not_run(code: int | None, tail: str, box: Box) -> bool:
    """126 and 127 are how shells and launchers say that a program could not be run; a box says it on its own line."""
    if code in NOT_RUN:
        return True
    return box.kind == "bubblewrap" and code == 1 and any(line.startswith(SANDBOX_SAYS) for line in tail.splitlines()[-3:])


class _Output:
    """Reads a stream to its end in a thread and keeps only the last bytes: 100 MB of output never lie in memory."""

    def __init__(self, stream: IO[bytes] | None, limit: int) -> None:
        self._kept = bytearray()
        self._limit = limit
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def tail(self) -> str:
        self._thread.join(2.0)
        data = bytes(self._kept[-TAIL_BYTES:])
        return data.decode("utf-8", "replace").strip()

    def _read(self, stream: IO[bytes] | None) -> None:
        while stream is not None and (data := stream.read1(65536)):  # type: ignore[attr-defined]
            self._kept += data
            if len(self._kept) > 2 * self._limit:
                del self._kept[: -self._limit]
