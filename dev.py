#!/usr/bin/env python3
"""The commands of the house: `python3 dev.py COMMAND [WORDS]`.

One file of the standard library for Linux, macOS and Windows. It makes `.venv` from the lock files when that is needed and
hands over to what is inside. It parses on an old Python too, so that it can say what is missing and what to do next.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BUILD = ROOT / "build"
STAMP = VENV / "loopx.json"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
RUNTIME_LOCK, DEV_LOCK = "requirements.lock", "requirements-dev.lock"

# Lines and branches that the tier `fast` must reach, in per cent (STYLE: 100 for what the promises stand on).
COVERAGE = {
    "loopx_engine/rules": 100.0,
    "loopx_engine/commands": 100.0,
    "loopx_engine/ledger": 100.0,
    "loopx_engine/consent": 100.0,
}


class Tier(NamedTuple):
    """Budgets in seconds: `wall_s` of the whole, `suite_s` of a suite's summed test time ("" is the default).

    They are safety bounds for a shared machine: over one is said, twice over fails; twice `wall_s` ends the run.
    """

    marks: str
    wall_s: int
    coverage: bool
    suite_s: dict[str, int]


TIERS = {
    "fast": Tier("not real and not needs_root", 480, True, {"": 60, "conformance": 180, "ledger": 120, "cli": 240, "tui": 300}),
    "real": Tier("real and not needs_root", 1200, False, {"": 300, "ledger": 420}),
    "root": Tier("needs_root", 300, False, {"": 120}),
}  # fmt: skip


class Stop(Exception):
    """Said to the person as it is; the process ends with `code`."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


def main(argv: list[str]) -> int:
    """Run one command; its exit code is the result."""
    if argv[:1] in ([], ["-h"], ["--help"]):
        print(f"{__doc__}\n" + "\n".join(f"  {name:8} {about}" for name, (_, about) in COMMANDS.items()))
        return 0 if argv else 2
    try:
        if argv[0] not in COMMANDS:
            raise Stop(f"there is no command '{argv[0]}'. Next: python3 dev.py --help", 2)
        command, about = COMMANDS[argv[0]]
        if command is None:
            raise Stop(about, 2)
        demand_python()
        return command(argv[1:])
    except Stop as stop:
        print(f"dev.py: {stop}", file=sys.stderr)
        return stop.code
    except KeyboardInterrupt:
        return 130


def demo(rest: list[str]) -> int:
    if not shutil.which("git"):
        raise Stop("git is not on PATH, and the demo works in a git repository. Next: install git, run this again.")
    prepare(RUNTIME_LOCK)
    words = ["-P", "-m", "loopx_engine.demo", *(["--workspace", "loopx_tui"] if sys.stdout.isatty() else []), *rest]
    return inside(*words) if os.name == "nt" else os.execve(PYTHON, [str(PYTHON), *words], environment())


def run(rest: list[str]) -> int:
    prepare(RUNTIME_LOCK)
    return inside("-P", "-m", "loopx_tui", *rest, where=Path.cwd())


def bench(rest: list[str]) -> int:
    names = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if not path.stem.startswith("_"))
    if not rest:
        print("\n".join(names) or "no measurement is built yet")
        return 0
    if rest[0] not in names:
        raise Stop(f"there is no benchmark '{rest[0]}'. Next: python3 dev.py bench", 2)
    prepare(RUNTIME_LOCK)
    return inside("-m", "benchmarks." + rest[0], *rest[1:])


def shots(rest: list[str]) -> int:
    prepare(DEV_LOCK)
    return inside("-m", "screenshots.shots", *rest)


def lint(_rest: list[str]) -> int:
    prepare(DEV_LOCK)
    steps = (
        ("ruff check", ["-m", "ruff", "check", "."]),
        ("ruff format", ["-m", "ruff", "format", "--check", "."]),
        ("mypy", ["-m", "mypy", "loopx_engine", "loopx_tui", "dev.py"]),
        ("import stairs", ["-c", "from importlinter.cli import lint_imports_command as c; c()"]),
        ("house rules", [str(Path("tests") / "house.py")]),
    )
    failed = []
    for name, words in steps:
        print("--- " + name, flush=True)
        if inside(*words):
            failed.append(name)
    print("lint: " + ("failed: " + ", ".join(failed) if failed else f"all {len(steps)} steps passed"))
    return 1 if failed else 0


def test(rest: list[str]) -> int:
    names = ["fast", "real"]
    if "--tier" in rest:
        at = rest.index("--tier")
        names, rest = rest[at + 1 : at + 2], rest[:at] + rest[at + 2 :]
        if not set(names) & set(TIERS):
            raise Stop("--tier takes one of: " + ", ".join(TIERS), 2)
    prepare(DEV_LOCK)
    problems: list[str] = []
    closing: list[str] = []
    total: Counter[str] = Counter()
    for name in names:
        counts, faults = run_tier(name, TIERS[name], rest)
        problems += faults
        closing.append(closing_line(name, counts))
        total.update(counts)
    if "fast" in names and not rest and not problems:
        problems += coverage_gate()
    elif "fast" in names:
        print(f"coverage: not judged ({'a selection of tests ran' if rest else 'tests failed'})")
    if not total["passed"] + total["failed"] and names != ["root"]:
        problems.append("no test ran")
    closing += [closing_line("tests", total)] if len(names) > 1 else []
    print("\n".join([f"FAILED: {problem}" for problem in problems] + closing), flush=True)
    return 1 if problems else 0


def closing_line(name: str, counts: Counter[str]) -> str:
    return f"{name}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"


def run_tier(name: str, tier: Tier, rest: list[str]) -> tuple[Counter[str], list[str]]:
    """Run one tier and print its table of budgets. Answers what ran and what is wrong."""
    report = BUILD / "tests" / (name + ".xml")
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    words = ["-m", "pytest", "-m", tier.marks, "--junitxml", str(report)]
    words += ["--cov", "--cov-report="] if tier.coverage else []
    if "-n" not in rest and name != "root":
        words += ["-n", str(min(8, max(2, os.cpu_count() or 1))), "--dist", "worksteal"]
    print(f"--- tier {name} (budget {tier.wall_s} s)", flush=True)
    began = time.monotonic()
    code = inside(*words, *rest, limit_s=2 * tier.wall_s)
    print(f"tier {name}: {time.monotonic() - began:.0f} s of {tier.wall_s} s")
    suites = read_report(report)
    total: Counter[str] = sum(suites.values(), Counter())
    problems = [] if code in (0, 5) else [f"tier {name}: pytest ended with {code}"]
    return total, problems + print_budgets(name, tier, suites)


def read_report(report: Path) -> dict[str, Counter[str]]:
    """Suite (the folder under `tests/`, or `house` for files beside it) -> counts, from pytest's JUnit file."""
    suites: dict[str, Counter[str]] = {}
    if not report.exists():
        return suites
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        parts = (case.get("classname") or "").split(".")
        suite = parts[1] if len(parts) > 1 and not parts[1].startswith("test_") else "house"
        tags = {child.tag for child in case}
        outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        suites.setdefault(suite, Counter()).update({outcome: 1, "ms": round(1000 * float(case.get("time") or 0))})
    return suites


def print_budgets(name: str, tier: Tier, suites: dict[str, Counter[str]]) -> list[str]:
    """The table of time used beside its budget; answers the suites that took twice theirs."""
    problems = []
    print(f"{'suite':14} {'tests':>6} {'used':>9} {'budget':>9}")
    for suite, counts in sorted(suites.items()):
        used, budget = counts["ms"] / 1000, tier.suite_s.get(suite, tier.suite_s[""])
        over = "" if used <= budget else "  over" if used < 2 * budget else "  twice over"
        if used >= 2 * budget:
            problems.append(f"suite {suite} of tier {name} took {used:.0f} s of {budget} s")
        print(f"{suite:14} {sum(counts.values()) - counts['ms']:6} {used:7.1f} s {budget:7} s{over}")
    return problems


def coverage_gate() -> list[str]:
    """Compare what the tests reached with `COVERAGE`; answers the packages below it, after printing what they miss."""
    figures = BUILD / "coverage" / "figures.json"
    if inside("-m", "coverage", "json", "-q", "-o", str(figures)):
        return ["coverage: no figures"]
    files: dict[str, Any] = json.loads(figures.read_text(encoding="utf-8"))["files"]
    problems = []
    print(f"{'lines and branches':24} {'reached':>9} {'wanted':>9}")
    for package, wanted in COVERAGE.items():
        found = [data["summary"] for path, data in files.items() if path.replace(os.sep, "/").startswith(package + "/")]
        every = sum(one["num_statements"] + one["num_branches"] for one in found)
        reached = sum(one["covered_lines"] + one["covered_branches"] for one in found)
        share = 100.0 * reached / every if every else 100.0
        print(f"{package:24} {share:7.2f} % {wanted:7.2f} %{'' if every else '  (no code yet)'}")
        if share < wanted:
            problems.append(f"coverage of {package} is {share:.2f} %, wanted {wanted:.2f} %")
            inside("-m", "coverage", "report", "--include", package + "/*")
    return problems


def inside(*words: str, where: Path = ROOT, limit_s: float | None = None) -> int:
    """Run the environment's Python and answer its exit code; past `limit_s` seconds it is ended (124)."""
    process = subprocess.Popen([str(PYTHON), *words], cwd=where, env=environment(), close_fds=False)
    late, deadline = False, None if limit_s is None else time.monotonic() + limit_s
    while True:
        try:
            code = process.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
            return 124 if late else code if code >= 0 else 128 - code
        except KeyboardInterrupt:
            continue  # the child got it too and decides
        except subprocess.TimeoutExpired:
            if late:
                process.kill()
                continue
            print(f"dev.py: {limit_s:.0f} s are over, ending it", file=sys.stderr, flush=True)
            process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)
            late, deadline = True, time.monotonic() + 20  # time to clean up


def environment() -> dict[str, str]:
    """The environment of everything that runs inside `.venv`: nothing that points Python or pip elsewhere."""
    strangers = ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "__PYVENV_LAUNCHER__")
    env = {key: value for key, value in os.environ.items() if key not in strangers}
    env["VIRTUAL_ENV"] = str(VENV)
    env["PATH"] = str(BIN) + os.pathsep + env.get("PATH", os.defpath)
    return env


def demand_python() -> None:
    """Stop unless this Python can make the environment, and name the next step."""
    if sys.version_info < (3, 11):  # noqa: UP036
        newer = [name for name in ("python3.14", "python3.13", "python3.12", "python3.11") if shutil.which(name)]
        step = " ".join([newer[0], "dev.py", *sys.argv[1:]]) if newer else "install Python 3.11 or newer"
        raise Stop(f"this is Python {VERSION}, and 3.11 is needed. Next: {step}")
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        step = f"(Debian, Ubuntu) apt-get install python{VERSION}-venv"
        raise Stop(f"this Python cannot make environments. Next: {step}") from None


def prepare(lock: str) -> None:
    """Make `.venv` hold exactly what `lock` pins and this checkout; says what it does; nothing when it already does.

    Its stamp is `making` while anything is written, so an environment whose maker was killed is made anew. One that
    somebody else made is moved aside, not removed.
    """
    if up_to_date(lock):
        return
    with only_one() as inherited:
        if up_to_date(lock):
            return
        stamp = read_stamp()
        if not usable(stamp):
            clear(stamp)
            print(f"making .venv with Python {VERSION} (once, about a minute)", flush=True)
            stamp = {}
        write_stamp(state="making")
        if not stamp:
            setup([sys.executable, "-m", "venv", str(VENV)], inherited)
        print(f"installing what {lock} pins", flush=True)
        pip = [str(PYTHON), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--root-user-action=ignore"]
        setup([*pip, "--require-hashes", "--no-deps", "-r", lock], inherited)
        setup([*pip, "--no-deps", "--no-build-isolation", "-e", "."], inherited)
        digests = {**stamp.get("locks", {}), RUNTIME_LOCK: digest(RUNTIME_LOCK), lock: digest(lock)}
        write_stamp(state="ready", root=str(ROOT), base=base(), project=project(), locks=digests)


def usable(stamp: dict[str, Any]) -> bool:
    """Whether the environment is whole and belongs to this folder and this interpreter."""
    return stamp.get("state") == "ready" and stamp.get("root") == str(ROOT) and stamp.get("base") == base()


def up_to_date(lock: str) -> bool:
    stamp = read_stamp()
    return usable(stamp) and stamp.get("project") == project() and stamp.get("locks", {}).get(lock) == digest(lock)


def base() -> str:
    """The interpreter behind `.venv`; changes when the system's Python is replaced."""
    return os.path.realpath(PYTHON) if PYTHON.exists() else ""


def digest(name: str) -> str:
    return hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


def project() -> str:
    """Digest of what an installed checkout takes from `pyproject.toml`."""
    import tomllib

    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return hashlib.sha256(json.dumps([data["project"], data["build-system"]]).encode("utf-8")).hexdigest()


def read_stamp() -> dict[str, Any]:
    try:
        return dict(json.loads(STAMP.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def write_stamp(**stamp: Any) -> None:
    VENV.mkdir(exist_ok=True)
    STAMP.with_suffix(".new").write_text(json.dumps(stamp), encoding="utf-8")
    os.replace(STAMP.with_suffix(".new"), STAMP)


def clear(stamp: dict[str, Any]) -> None:
    """Take away a `.venv` that is not usable; one without our stamp is kept under another name."""
    if stamp:
        shutil.rmtree(VENV)
    elif VENV.exists() and any(VENV.iterdir()):
        aside = next(path for path in (BUILD / f"venv-{n}" for n in range(1, 10_000)) if not path.exists())
        os.replace(VENV, aside)
        print(f"the .venv found here was not made by dev.py; it is kept as build/{aside.name}")


@contextlib.contextmanager
def only_one() -> Iterator[tuple[int, ...]]:
    """Hold the lock of `.venv`. Its descriptors go to the children, so that it lasts as long as a killed maker's child."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / "dev.lock", "ab") as file:
        if not try_lock(file.fileno()):
            print("another dev.py is making .venv; waiting for it", flush=True)
            while not try_lock(file.fileno()):
                time.sleep(0.2)
        yield () if os.name == "nt" else (file.fileno(),)


def try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def setup(argv: list[str], inherited: tuple[int, ...]) -> None:
    """One step of making the environment; stops with the next step when it fails."""
    code = subprocess.run(argv, check=False, cwd=ROOT, env=environment(), pass_fds=inherited).returncode
    if code:
        step = "see its words above (the first time it needs a network), then run this again"
        raise Stop(f"`{' '.join(argv[1:5])}` ended with {code}. Next: {step}")


COMMANDS: dict[str, tuple[Callable[[list[str]], int] | None, str]] = {
    "demo": (demo, "a whole goal on throw-away data, from nothing installed"),
    "run": (run, "start loopx with the words that follow"),
    "test": (test, "all tests, budgets, coverage; `--tier fast|real|root`; further words go to pytest"),
    "lint": (lint, "style, types, import stairs and the rules of the house"),
    "bench": (bench, "list the measurements, or make one"),
    "shots": (shots, "draw the pictures of screenshots/manifest.toml; `--check` says what differs"),
    "sim": (None, "not built yet: the seeded simulation comes with injected faults of the heartbeat"),
    "attack": (None, "not built yet: attacks on the box and on consent come with channels and real runtimes"),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
