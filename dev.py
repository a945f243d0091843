#!/usr/bin/env python3
"""The commands of the house: `python3 dev.py demo | run | test | lint | bench | shots | sim | attack`.

One file of the standard library for Linux, macOS and Windows. It makes `.venv` from the lock files when it is needed and
hands over to what is inside. It parses on an old Python too, so that it can say what is missing and what to do next.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BUILD = ROOT / "build"
STAMP = VENV / "loopx.json"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
RUNTIME_LOCK, DEV_LOCK = "requirements.lock", "requirements-dev.lock"

# Lines and branches that the tier `fast` must reach, in per cent (STYLE: 100 for what the promises stand on).
COVERAGE = {
    "loopx_engine/rules": 100.0,
    "loopx_engine/commands": 100.0,
    "loopx_engine/ledger": 100.0,
    "loopx_engine/consent": 100.0,
}


class Tier(NamedTuple):
    """`marks` selects its tests; `wall_s` is its budget; `suite_s` the budget of a suite's summed test time, "" the default.

    Budgets are safety bounds on a shared machine: over one is said in the table, twice over fails, and a tier that runs
    for twice its wall budget is ended.
    """

    marks: str
    wall_s: int
    coverage: bool
    suite_s: Dict[str, int]


TIERS = {
    "fast": Tier("not real and not needs_root", 480, True, {"": 60, "conformance": 180, "ledger": 120, "heartbeat": 180, "cli": 240}),
    "real": Tier("real and not needs_root", 1200, False, {"": 300, "ledger": 420}),
    "root": Tier("needs_root", 300, False, {"": 120}),
}  # fmt: skip
NOT_BUILT = {
    "shots": "the pictures are drawn from the workspace, which does not exist yet",
    "sim": "the seeded simulation comes with the heartbeat's fault injection",
    "attack": "the attacks on the sandbox and on consent come with the channels and real runtimes",
}


class Stop(Exception):
    """Said to the person as it is; the process ends with `code`."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


def main(argv: List[str]) -> int:
    """Run one command; its exit code is the result."""
    parser = argparse.ArgumentParser(prog="dev.py", description="The commands of the house.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, about in (
        ("demo", "a whole goal on throw-away data, from nothing installed"),
        ("run", "start loopx with the words that follow"),
        ("test", "all tests, budgets and coverage; further words go to pytest"),
        ("lint", "style, types, import stairs and the house's own rules"),
        ("bench", "list the measurements, or make one"),
        *((name, "not built yet") for name in NOT_BUILT),
    ):
        command = commands.add_parser(name, help=about, add_help=name in ("test", "lint", "bench"))
        if name == "test":
            command.add_argument("--tier", choices=list(TIERS), help="one tier only (without it: fast, then real)")
    known, rest = parser.parse_known_args(argv)
    try:
        demand_python()
        if known.command in NOT_BUILT:
            raise Stop("not built yet: " + NOT_BUILT[known.command], 2)
        return int({"demo": demo, "run": run, "test": test, "lint": lint, "bench": bench}[known.command](known, rest))
    except Stop as stop:
        print("dev.py: %s" % stop, file=sys.stderr)
        return stop.code
    except KeyboardInterrupt:
        return 130


def demo(_known: argparse.Namespace, rest: List[str]) -> int:
    if not shutil.which("git"):
        raise Stop(
            "git is not on PATH, and the demo works in a git repository. Next: install git, then run this again."
        )
    prepare(RUNTIME_LOCK)
    return inside("-m", "loopx_engine.demo", *rest)


def run(_known: argparse.Namespace, rest: List[str]) -> int:
    prepare(RUNTIME_LOCK)
    return inside("-m", "loopx_tui", *rest)


def bench(_known: argparse.Namespace, rest: List[str]) -> int:
    names = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if not path.stem.startswith("_"))
    if not rest:
        print("\n".join(names) or "no measurement is built yet")
        return 0
    if rest[0] not in names:
        raise Stop("there is no benchmark '%s'. Next: python3 dev.py bench" % rest[0], 2)
    prepare(RUNTIME_LOCK)
    return inside("-m", "benchmarks." + rest[0], *rest[1:])


def lint(_known: argparse.Namespace, _rest: List[str]) -> int:
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
    print("lint: " + ("failed: " + ", ".join(failed) if failed else "all %d steps passed" % len(steps)))
    return 1 if failed else 0


def test(known: argparse.Namespace, rest: List[str]) -> int:
    prepare(DEV_LOCK)
    names = [known.tier] if known.tier else ["fast", "real"]
    problems: List[str] = []
    closing: List[str] = []
    total = Counts()
    for name in names:
        counts, faults = run_tier(name, TIERS[name], rest)
        problems += faults
        closing.append(counts.line(name))
        total = total.plus(counts)
    if "fast" in names and not rest and not problems:
        problems += coverage_gate()
    elif "fast" in names:
        print("coverage: not judged (%s)" % ("a selection of tests ran" if rest else "tests failed"))
    for problem in problems:
        print("FAILED: " + problem)
    if not total.passed + total.failed and "root" not in names and not problems:
        problems.append("no test ran")
        print("FAILED: no test ran")
    print("\n".join(closing + ([total.line("tests")] if len(names) > 1 else [])), flush=True)
    return 1 if problems else 0


class Counts(NamedTuple):
    """How many tests ended how; `seconds` is summed test time."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0

    def plus(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(self, other)))

    def line(self, name: str) -> str:
        return "%s: %d passed, %d failed, %d skipped" % (name, self.passed, self.failed, self.skipped)


def run_tier(name: str, tier: Tier, rest: List[str]) -> Tuple[Counts, List[str]]:
    """Run one tier and print its table of budgets. Answers what ran and what is wrong."""
    report = BUILD / "tests" / (name + ".xml")
    report.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        report.unlink()
    words = ["-m", "pytest", "-m", tier.marks, "--junitxml", str(report)]
    if tier.coverage:
        (BUILD / "coverage").mkdir(exist_ok=True)
        words += ["--cov", "--cov-report="]
    if "-n" not in rest and name != "root":
        words += ["-n", str(min(8, max(2, os.cpu_count() or 1))), "--dist", "worksteal"]
    print("--- tier %s (budget %d s)" % (name, tier.wall_s), flush=True)
    began = time.monotonic()
    code = inside(*words, *rest, limit_s=2 * tier.wall_s)
    wall = time.monotonic() - began
    suites = read_report(report)
    total = Counts()
    for counts in suites.values():
        total = total.plus(counts)
    problems = [] if code in (0, 5) else ["tier %s: pytest ended with %d" % (name, code)]
    if wall >= 2 * tier.wall_s:
        problems.append("tier %s ran %.0f s, twice its budget of %d s" % (name, wall, tier.wall_s))
    problems += print_budgets(name, tier, suites)
    print("tier %s: %.0f s of %d s" % (name, wall, tier.wall_s))
    return total, problems


def read_report(report: Path) -> Dict[str, Counts]:
    """Suite (the folder under `tests/`, or `house` for files beside it) -> counts, from pytest's JUnit file."""
    suites: Dict[str, Counts] = {}
    if not report.exists():
        return suites
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        parts = (case.get("classname") or "").split(".")
        suite = parts[1] if len(parts) > 1 and not parts[1].startswith("test_") else "house"
        outcomes = {child.tag for child in case}
        failed = bool(outcomes & {"failure", "error"})
        skipped = not failed and "skipped" in outcomes
        one = Counts(int(not failed and not skipped), int(failed), int(skipped), float(case.get("time") or 0))
        suites[suite] = suites.get(suite, Counts()).plus(one)
    return suites


def print_budgets(name: str, tier: Tier, suites: Dict[str, Counts]) -> List[str]:
    """The table of time used beside its budget; answers the suites that took twice theirs."""
    problems = []
    print("%-14s %6s %9s %9s" % ("suite", "tests", "used", "budget"))
    for suite in sorted(suites):
        counts, budget = suites[suite], tier.suite_s.get(suite, tier.suite_s[""])
        over = "" if counts.seconds <= budget else "  over"
        if counts.seconds >= 2 * budget:
            over = "  twice over"
            problems.append("suite %s of tier %s took %.0f s of %d s" % (suite, name, counts.seconds, budget))
        ran = counts.passed + counts.failed + counts.skipped
        print("%-14s %6d %7.1f s %7d s%s" % (suite, ran, counts.seconds, budget, over))
    return problems


def coverage_gate() -> List[str]:
    """Compare what the tests reached with `COVERAGE`; answers the packages below it, after printing what they miss."""
    figures = BUILD / "coverage" / "figures.json"
    if inside("-m", "coverage", "json", "-q", "-o", str(figures)):
        return ["coverage: no figures"]
    files: Dict[str, Any] = json.loads(figures.read_text(encoding="utf-8"))["files"]
    problems = []
    print("%-24s %9s %9s" % ("lines and branches", "reached", "wanted"))
    for package, wanted in COVERAGE.items():
        found = [data["summary"] for path, data in files.items() if path.replace(os.sep, "/").startswith(package + "/")]
        every = sum(one["num_statements"] + one["num_branches"] for one in found)
        reached = sum(one["covered_lines"] + one["covered_branches"] for one in found)
        share = 100.0 * reached / every if every else 100.0
        print("%-24s %7.2f %% %7.2f %%%s" % (package, share, wanted, "" if every else "  (no code yet)"))
        if share < wanted:
            problems.append("coverage of %s is %.2f %%, wanted %.2f %%" % (package, share, wanted))
            inside("-m", "coverage", "report", "--include", package + "/*")
    return problems


def inside(*words: str, limit_s: Optional[float] = None) -> int:
    """Run the environment's Python from the checkout and answer its exit code; past `limit_s` seconds it is ended."""
    process = subprocess.Popen([str(PYTHON), *words], cwd=str(ROOT), env=environment())
    deadline = None if limit_s is None else time.monotonic() + limit_s
    while True:
        try:
            code = process.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
            return code if code >= 0 else 128 - code
        except KeyboardInterrupt:
            deadline = time.monotonic() + 20  # the child got it too and cleans up
        except subprocess.TimeoutExpired:
            print("dev.py: ended after its time: " + " ".join(words[:4]), file=sys.stderr, flush=True)
            end(process)
            return 124


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask a child to clean up; after 20 s it is killed."""
    process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def environment() -> Dict[str, str]:
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
        step = "%s dev.py %s" % (newer[0], " ".join(sys.argv[1:])) if newer else "install Python 3.11 or newer"
        raise Stop("this is Python %d.%d, and 3.11 is needed. Next: %s" % (*sys.version_info[:2], step))
    try:
        import ensurepip  # noqa: F401, PLC0415
        import venv  # noqa: F401, PLC0415
    except ImportError:
        package = "python%d.%d-venv" % sys.version_info[:2]
        raise Stop("this Python cannot make environments. Next (Debian, Ubuntu): apt-get install " + package) from None


def prepare(lock: str) -> None:
    """Make `.venv` hold exactly what `lock` pins and this checkout; says what it does; nothing when it already does.

    The stamp in it is `making` while anything is written, so an environment whose maker was killed is made anew. An
    environment that somebody else made is moved aside, not removed.
    """
    if up_to_date(lock):
        return
    with only_one() as inherited:
        if up_to_date(lock):
            return
        stamp = read_stamp()
        if stamp.get("state") != "ready" or stamp.get("root") != str(ROOT) or stamp.get("base") != base():
            clear(stamp)
            print("making .venv with Python %d.%d (once, about a minute)" % sys.version_info[:2], flush=True)
            write_stamp(state="making")
            setup([sys.executable, "-m", "venv", str(VENV)], inherited)
            stamp = {}
        locks = {RUNTIME_LOCK, lock}  # the development lock contains the other
        print("installing %s with hashes" % lock, flush=True)
        write_stamp(state="making")
        pip = [
            str(PYTHON),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--root-user-action=ignore",
        ]
        setup([*pip, "--require-hashes", "--no-deps", "-r", lock], inherited)
        setup([*pip, "--no-deps", "--no-build-isolation", "-e", "."], inherited)
        digests = {**stamp.get("locks", {}), **{name: digest(name) for name in locks}}
        write_stamp(state="ready", root=str(ROOT), base=base(), project=project(), locks=digests)


def up_to_date(lock: str) -> bool:
    stamp = read_stamp()
    return (
        stamp.get("state") == "ready"
        and stamp.get("root") == str(ROOT)
        and stamp.get("base") == base()
        and stamp.get("project") == project()
        and stamp.get("locks", {}).get(lock) == digest(lock)
    )


def base() -> str:
    """The interpreter behind `.venv`; changes when the system's Python is replaced."""
    return os.path.realpath(str(PYTHON)) if PYTHON.exists() else ""


def digest(name: str) -> str:
    return hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


def project() -> str:
    """Digest of what an installed checkout takes from `pyproject.toml`."""
    import tomllib  # noqa: PLC0415

    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return hashlib.sha256(json.dumps([data["project"], data["build-system"]]).encode("utf-8")).hexdigest()


def read_stamp() -> Dict[str, Any]:
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(**stamp: Any) -> None:
    VENV.mkdir(exist_ok=True)
    fresh = STAMP.with_suffix(".new")
    fresh.write_text(json.dumps(stamp), encoding="utf-8")
    os.replace(str(fresh), str(STAMP))


def clear(stamp: Dict[str, Any]) -> None:
    """Take away a `.venv` that cannot be used; one without our stamp is kept under another name."""
    if stamp:
        shutil.rmtree(str(VENV))
    elif VENV.exists() and any(VENV.iterdir()):
        aside = next(path for path in (BUILD / ("venv-%d" % n) for n in range(1, 10_000)) if not path.exists())
        os.replace(str(VENV), str(aside))
        print("the .venv found here was not made by dev.py; it is kept as build/%s" % aside.name)


@contextlib.contextmanager
def only_one() -> Iterator[Tuple[int, ...]]:
    """Hold the lock of `.venv`. Its descriptors go to the children, so that it lasts as long as a killed maker's child."""
    BUILD.mkdir(exist_ok=True)
    with open(str(BUILD / "dev.lock"), "ab") as file:
        if not try_lock(file.fileno()):
            print("another dev.py is making .venv; waiting for it", flush=True)
            while not try_lock(file.fileno()):
                time.sleep(0.2)
        yield () if os.name == "nt" else (file.fileno(),)


def try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def setup(argv: List[str], inherited: Tuple[int, ...]) -> None:
    """One step of making the environment; stops with the next step when it fails."""
    code = subprocess.run(argv, cwd=str(ROOT), env=environment(), pass_fds=inherited).returncode
    if code:
        raise Stop(
            "`%s` ended with %d. Next: see its words above (without a network it cannot fetch), then run this again."
            % (" ".join(argv[1:5]), code)
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
