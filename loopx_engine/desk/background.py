"""The engine in the background: whether one runs on a ledger, and starting it in a session of its own, for good."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loopx_engine.desk.opening import engine_lock
from loopx_engine.errors import Refused, TryAgain
from loopx_engine.host.paths import home, logs

STARTS_WITHIN_S = 10.0
LOOK_S = 0.05
TAIL_BYTES = 2000
NAMED = ("LOOPX_HOME", "LOOPX_KEYS", "LOOPX_LEDGER")
KEPT = (
    "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR",
    "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT", "APPDATA",
    "LOCALAPPDATA", "USERPROFILE", "PATHEXT", "TEMP", "TMP", "COMSPEC",
)  # fmt: skip


def engine_runs(lock: Path) -> bool:
    """Whether an engine holds this lock. Looks only: what the file says stays, and no file is made."""
    return _holder(lock) is not None


def _holder(lock: Path) -> Mapping[str, Any] | None:
    """What the holder of the lock said of itself (`pid`, nothing yet); None where nobody holds it."""
    from loopx_engine.host.lock import single_instance

    if not lock.exists():
        return None
    try:
        single_instance(lock, claim=False).close()
    except TryAgain as error:
        return error.details
    except Refused:
        return None
    return None


def start_engine(environ: Mapping[str, str], *, sandboxed: bool = True) -> int:
    """Starts `loopx-engine run` for this environment's ledger and returns its pid once it holds the lock.

    It has its own session, no terminal and a clean environment, so it goes on when whoever started it ends. Raises
    `Refused` (`engine_failed`) with its last words, `TryAgain` (`engine_running` where one runs, `engine_slow`).
    """
    lock, said = engine_lock(environ), logs(home(environ)) / "engine.out"
    if engine_runs(lock):
        raise _running()
    argv = [sys.executable, "-P", "-m", "loopx_engine.cli.engine_main", "run", *([] if sandboxed else ["--no-sandbox"])]
    handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(
            argv, cwd=home(environ), env=_environment(environ), stdin=subprocess.DEVNULL, stdout=handle, stderr=handle,
            start_new_session=True, close_fds=True,
        )  # fmt: skip
    finally:
        os.close(handle)
    until = time.monotonic() + STARTS_WITHIN_S
    while not _is_of(process, pid := int((_holder(lock) or {}).get("pid", 0))):
        if process.poll() is not None:
            if engine_runs(lock):
                raise _running()
            raise Refused(f"the engine ended at once: {_last(said)}", code="engine_failed", next="loopx doctor")
        if time.monotonic() > until:
            raise TryAgain("the engine does not start", code="engine_slow", next="loopx doctor")
        time.sleep(LOOK_S)
    return pid


def _is_of(process: subprocess.Popen[bytes], pid: int) -> bool:
    """Whether the holder is the engine we started and none that somebody else started at the same time.

    On Windows the python of an environment starts another one: there the pid tells nothing.
    """
    return pid == process.pid or (os.name == "nt" and pid > 0)


def _running() -> TryAgain:
    return TryAgain("an engine runs already", code="engine_running", next="loopx status")


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What an engine needs of ours: where things are, the language, and nothing that belongs to a terminal or a turn."""
    return {name: environ[name] for name in (*KEPT, *NAMED, "PYTHONPATH") if environ.get(name)}


def _last(path: Path) -> str:
    try:
        lines = path.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else "it said nothing"
