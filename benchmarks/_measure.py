"""How a benchmark measures: whole processes by the CPU the kernel charged them, in one run, interleaved, by medians.

CPU is user + system time of a child that was waited for (`RUSAGE_CHILDREN` before and after), its own children included.
"""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_S = 120.0
ENTRY = "import sys\nfrom {module} import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
PROGRAMS = {"loopx": "loopx_tui.__main__", "loopx-engine": "loopx_engine.cli.engine_main"}


@dataclass(frozen=True, slots=True)
class Call:
    """One finished process: its CPU and wall time in milliseconds, what it printed, its exit code."""

    cpu_ms: float
    wall_ms: float
    out: bytes
    err: bytes
    code: int


class CallFailed(Exception):
    """A process that a measurement needs ended badly; the words say which and how."""


def call(argv: Sequence[str], env: Mapping[str, str], cwd: Path, *, allowed: Sequence[int] = (0,)) -> Call:
    """Runs one process to its end. Raises `CallFailed` on another exit code than `allowed`, or after `TIMEOUT_S`."""
    before, since = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    try:
        done = subprocess.run(
            argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise CallFailed(f"{_short(argv)} took longer than {TIMEOUT_S:g} s") from late
    wall, after = time.perf_counter() - since, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in allowed:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-300:]
        raise CallFailed(f"{_short(argv)} ended {done.returncode}: {said}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Call(used * 1000, wall * 1000, done.stdout, done.stderr, done.returncode)


def interleaved(calls: Mapping[str, Callable[[], Call]], rounds: int) -> dict[str, list[Call]]:
    """Each call once to warm up (not counted: it writes the bytecode), then all of them in turn, `rounds` times."""
    for once in calls.values():
        once()
    found: dict[str, list[Call]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, once in calls.items():
            found[name].append(once())
    return found


def median_cpu(calls: Sequence[Call]) -> float:
    """The median CPU of some calls, in milliseconds."""
    return statistics.median(one.cpu_ms for one in calls)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of all lie; the largest for 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def environment(folder: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a measured process gets: no setting of the person's, a home below `folder`, bytecode kept as by an installer."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("LOOPX_", "PYTHON"))}
    own = {
        "LOOPX_HOME": str(folder / "home"),
        "LOOPX_KEYS": str(folder / "keys"),
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
    }
    return {**env, **own, **(more or {})}


def program(folder: Path, name: str) -> list[str]:
    """The argv of `loopx` or `loopx-engine`: a script like the one an installer writes, on this Python."""
    script = folder / "bin" / name
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(ENTRY.format(module=PROGRAMS[name]), encoding="utf-8")
    return [sys.executable, str(script)]


def bare_python() -> list[str]:
    """The least a Python process can cost."""
    return [sys.executable, "-c", "pass"]


def machine() -> str:
    """What the figures were measured on, in one line."""
    from loopx_engine.ledger.driver import sqlite3

    words = [
        platform.system(),
        platform.machine(),
        f"{os.cpu_count()} cores",
        f"Python {platform.python_version()}",
        f"SQLite {sqlite3.sqlite_version} ({sqlite3.__name__})",
    ]
    return ", ".join([*words, load()])


def load() -> str:
    """The load average, where the system has one."""
    if not hasattr(os, "getloadavg"):
        return "load unknown"
    return "load " + " ".join(f"{value:.2f}" for value in os.getloadavg())


def _short(argv: Sequence[str]) -> str:
    return " ".join([Path(argv[0]).name, *(Path(word).name if word.startswith("/") else word for word in argv[1:])])[
        :160
    ]
