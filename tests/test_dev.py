"""`dev.py` on a small project of its own: real environments, real pip, no network."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from support import ROOT, absent, clean_environment

DEV = ROOT / "dev.py"
BACKEND = """
import os, zipfile
FILES = {
    "toy.pth": os.getcwd(),
    "toy-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: toy\\nVersion: 1\\n",
    "toy-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: toy\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
FILES["toy-1.dist-info/RECORD"] = "".join(f"{name},,\\n" for name in [*FILES, "toy-1.dist-info/RECORD"])
def build_editable(folder, settings=None, metadata=None):
    with zipfile.ZipFile(f"{folder}/toy-1-py3-none-any.whl", "w") as wheel:
        for name, text in FILES.items():
            wheel.writestr(name, text)
    return "toy-1-py3-none-any.whl"
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "toy"
version = "1"
"""
DEMO = "import os, sys; print('demo', *sys.argv[1:], 'in', os.environ['VIRTUAL_ENV']); sys.exit(int(sys.argv[1]))"


@pytest.fixture
def dev(tmp_path: Path) -> ModuleType:
    """`dev.py` of a project in `tmp_path / "toy"`, imported: nothing of the real checkout is touched."""
    return imported(toy(tmp_path))


def toy(tmp_path: Path) -> Path:
    """A project with two empty locks and a demo that ends with the code it is given."""
    root = tmp_path / "toy"
    (root / "loopx_engine").mkdir(parents=True)
    shutil.copy(DEV, root / "dev.py")
    contents = {
        "pyproject.toml": PYPROJECT,
        "backend.py": BACKEND,
        "requirements.lock": "# nothing\n",
        "requirements-dev.lock": "# nothing\n",
        "loopx_engine/demo.py": DEMO,
    }
    for name, text in contents.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


def imported(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("dev_of_a_toy", root / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def started(root: Path, *words: str) -> subprocess.Popen[str]:
    """A running `dev.py`, its output one text."""
    return subprocess.Popen(
        [sys.executable, str(root / "dev.py"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env=clean_environment({"PIP_NO_INDEX": "1"}),
    )


def run(root: Path, *words: str) -> tuple[int, str]:
    process = started(root, *words)
    said, _ = process.communicate(timeout=120)
    return process.returncode, said


def until(true: Callable[[], bool], limit_s: float = 60) -> None:
    deadline = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.005)


def test_it_parses_on_an_old_python_and_needs_the_standard_library_alone() -> None:
    tree = ast.parse(DEV.read_text(encoding="utf-8"), feature_version=(3, 7))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    named = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    named |= {str(node.module) for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in named} <= set(sys.stdlib_module_names)


def test_what_the_first_lines_import_exists_on_an_old_python() -> None:
    top = [node for node in ast.parse(DEV.read_text(encoding="utf-8")).body if isinstance(node, ast.Import)]
    assert not {"tomllib", "fcntl", "msvcrt"} & {alias.name for node in top for alias in node.names}


@pytest.mark.parametrize("name", ["sim", "attack"])
def test_what_is_not_built_says_so_and_ends_with_two(
    dev: ModuleType, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main([name]) == 2
    assert "not built yet: " in capsys.readouterr().err


def test_an_unknown_command_names_the_next_step(dev: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["teste"]) == 2
    assert "dev.py --help" in capsys.readouterr().err


def test_help_lists_every_command(dev: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["--help"]) == 0
    assert dev.main([]) == 2
    said = capsys.readouterr().out
    assert all(f"  {name}" in said for name in ("demo", "run", "test", "lint", "bench", "shots", "sim", "attack"))


def test_shots_hands_its_words_to_what_draws_in_the_environment_for_developers(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks: list[str] = []
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(dev, "prepare", locks.append)
    monkeypatch.setattr(dev, "inside", lambda *words: ran.append(words) or 7)
    assert dev.main(["shots", "--check", "needs"]) == 7
    assert (locks, ran) == ([dev.DEV_LOCK], [("-m", "screenshots.shots", "--check", "needs")])


def test_an_unknown_tier_is_refused_before_anything_is_made(dev: ModuleType) -> None:
    assert dev.main(["test", "--tier", "quick"]) == 2
    assert dev.main(["test", "--tier"]) == 2
    assert not dev.VENV.exists()


def test_an_old_python_is_refused_with_a_newer_one_named(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = SimpleNamespace(version_info=(3, 9), argv=["dev.py", "demo"], stderr=sys.stderr)
    monkeypatch.setattr(dev, "sys", old)
    monkeypatch.setattr(dev, "shutil", SimpleNamespace(which=lambda name: name if name == "python3.12" else None))
    assert dev.main(["demo"]) == 1
    assert "Next: python3.12 dev.py demo" in capsys.readouterr().err


def test_a_python_without_venv_names_the_package(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    assert dev.main(["demo"]) == 1
    assert re.search(r"apt-get install python3\.\d+-venv", capsys.readouterr().err)


def test_without_git_the_demo_says_what_to_install(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(dev.ROOT))
    assert dev.main(["demo"]) == 1
    assert "install git" in capsys.readouterr().err
    assert not dev.VENV.exists()


def test_bench_lists_and_refuses_an_unknown_name(dev: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["bench"]) == 0
    assert "no measurement is built yet" in capsys.readouterr().out
    (dev.ROOT / "benchmarks").mkdir()
    for name in ("cold_start.py", "_shared.py"):
        (dev.ROOT / "benchmarks" / name).touch()
    assert dev.main(["bench"]) == 0
    assert capsys.readouterr().out.split() == ["cold_start"]
    assert dev.main(["bench", "warm"]) == 2


def test_the_first_run_makes_the_environment_and_the_next_finds_it(tmp_path: Path) -> None:
    root = toy(tmp_path)
    code, said = run(root, "demo", "7", "--words")
    assert code == 7, said
    assert "making .venv" in said
    assert f"demo 7 --words in {root / '.venv'}" in said
    planted = root / ".venv" / "planted"
    planted.touch()
    code, said = run(root, "demo", "0")
    assert (code, said.count("\n")) == (0, 1), said
    (root / "requirements.lock").write_text("# moved\n", encoding="utf-8")
    code, said = run(root, "demo", "0")
    assert code == 0
    assert "installing" in said
    assert "making" not in said
    assert planted.exists()


def test_a_half_made_environment_is_made_anew(tmp_path: Path) -> None:
    root = toy(tmp_path)
    (root / ".venv").mkdir()
    (root / ".venv" / "rubble").touch()
    (root / ".venv" / "loopx.json").write_text('{"state": "making"}', encoding="utf-8")
    code, said = run(root, "demo", "0")
    assert code == 0, said
    assert not (root / ".venv" / "rubble").exists()


def test_an_environment_of_somebody_else_is_kept_aside(tmp_path: Path) -> None:
    root = toy(tmp_path)
    (root / ".venv").mkdir()
    (root / ".venv" / "theirs").touch()
    code, said = run(root, "demo", "0")
    assert code == 0, said
    assert "kept as build/venv-1" in said
    assert (root / "build" / "venv-1" / "theirs").exists()


def test_a_lock_that_cannot_be_installed_ends_with_the_next_step(tmp_path: Path) -> None:
    root = toy(tmp_path)
    (root / "requirements.lock").write_text(f"no-such-thing==1 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    code, said = run(root, "demo", "0")
    assert code == 1
    assert "Next: " in said
    assert json.loads((root / ".venv" / "loopx.json").read_text(encoding="utf-8")) == {"state": "making"}


@pytest.mark.real
def test_two_at_once_make_one_environment(tmp_path: Path) -> None:
    root = toy(tmp_path)
    both = [started(root, "demo", str(code)) for code in (0, 0)]
    said = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum(text.count("making .venv with") for text in said) == 1


@pytest.mark.real
def test_an_environment_whose_maker_was_killed_is_made_anew(tmp_path: Path) -> None:
    if os.name == "nt":
        absent("no SIGKILL here")
    root = toy(tmp_path)
    process = started(root, "demo", "0")
    until((root / ".venv" / "pyvenv.cfg").exists)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert json.loads((root / ".venv" / "loopx.json").read_text(encoding="utf-8")) == {"state": "making"}
    code, said = run(root, "demo", "0")
    assert code == 0, said
    assert "making .venv with" in said


def test_the_lock_lasts_as_long_as_a_child_of_its_holder(dev: ModuleType) -> None:
    with dev.only_one() as inherited:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=inherited)
    with open(dev.BUILD / "dev.lock", "ab") as file:
        assert not dev.try_lock(file.fileno())
        child.communicate(b"\n")
        assert dev.try_lock(file.fileno())


def test_a_child_past_its_time_is_ended(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "PYTHON", sys.executable)
    began = time.monotonic()
    assert dev.inside("-c", "import time; time.sleep(60)", limit_s=0.3) == 124
    assert time.monotonic() - began < 15


def test_a_child_ended_by_a_signal_has_the_shells_code(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "PYTHON", sys.executable)
    assert dev.inside("-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)") == 128 + signal.SIGTERM
    assert dev.inside("-c", "raise SystemExit(3)") == 3


def test_what_points_python_or_pip_elsewhere_does_not_reach_the_inside(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET"):
        monkeypatch.setenv(name, "elsewhere")
    found = dev.environment()
    assert "elsewhere" not in found.values()
    assert found["PATH"].startswith(str(dev.BIN) + os.pathsep)


def test_a_report_is_counted_by_suite(dev: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "fast.xml"
    report.write_text(
        """<testsuites><testsuite>
        <testcase classname="tests.rules.test_verdict" name="a" time="1.5"/>
        <testcase classname="tests.rules.test_verdict.TestX" name="b" time="0.5"><failure message="m"/></testcase>
        <testcase classname="tests.rules.test_risk" name="c" time="0"><skipped message="m"/></testcase>
        <testcase classname="tests.test_house" name="d" time="0.25"/>
        <testcase classname="tests.test_house" name="e" time="0"><error message="m"/></testcase>
        </testsuite></testsuites>""",
        encoding="utf-8",
    )
    assert dev.read_report(report) == {
        "rules": Counter(passed=1, failed=1, skipped=1, ms=2000),
        "house": Counter(passed=1, failed=1, ms=250),
    }
    assert dev.read_report(tmp_path / "absent.xml") == {}


def test_a_suite_fails_only_at_twice_its_budget(dev: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    tier = dev.Tier("", 100, False, {"": 10, "cli": 20})
    used = {name: Counter(passed=2, ms=ms) for name, ms in (("rules", 9_000), ("model", 19_000), ("cli", 40_000))}
    problems = dev.print_budgets("fast", tier, used)
    said = capsys.readouterr().out
    assert problems == ["suite cli of tier fast took 40 s of 20 s"]
    assert re.search(r"rules +2 +9\.0 s +10 s\n", said)
    assert re.search(r"model +2 +19\.0 s +10 s  over\n", said)


def coverage_of(dev: ModuleType, monkeypatch: pytest.MonkeyPatch, **files: tuple[int, int]) -> list[str]:
    """What the gate answers when the files (`rules__lease`: reached, of 100) are all that was measured."""
    summaries = {
        f"loopx_engine/{name.replace('__', '/')}.py": {
            "summary": {"num_statements": every, "covered_lines": reached, "num_branches": 0, "covered_branches": 0}
        }
        for name, (reached, every) in files.items()
    }

    def inside(*words: str) -> int:
        if words[2] == "json":
            Path(words[-1]).parent.mkdir(parents=True, exist_ok=True)
            Path(words[-1]).write_text(json.dumps({"files": summaries}), encoding="utf-8")
        return 0

    monkeypatch.setattr(dev, "inside", inside)
    monkeypatch.setattr(dev, "COVERAGE", {"loopx_engine/rules": 100.0, "loopx_engine/ledger": 90.0})
    return list(dev.coverage_gate())


def test_coverage_below_what_is_wanted_names_the_package(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    problems = coverage_of(dev, monkeypatch, rules__lease=(99, 100), rules__risk=(100, 100), ledger__feed=(90, 100))
    assert problems == ["coverage of loopx_engine/rules is 99.50 %, wanted 100.00 %"]


def test_other_packages_and_packages_without_code_are_not_judged(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert coverage_of(dev, monkeypatch, cli__main=(1, 100), rules_of_old__x=(0, 5)) == []


def outcome(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, *words: str, code: int = 0, ran: str = ""
) -> tuple[int, list[str]]:
    """`dev.py test WORDS` where pytest writes `ran` as its report and ends with `code`; the words pytest got."""
    got: list[str] = []

    def inside(*given: str, **_limit: object) -> int:
        got.extend(given)
        Path(given[given.index("--junitxml") + 1]).write_text(f"<t>{ran}</t>", encoding="utf-8")
        return code

    monkeypatch.setattr(dev, "inside", inside)
    monkeypatch.setattr(dev, "prepare", lambda lock: None)
    monkeypatch.setattr(dev, "coverage_gate", list)
    return dev.main(["test", *words]), got


PASSED = '<testcase classname="tests.rules.test_x" time="1"/>'


def test_the_closing_lines_come_last(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = outcome(dev, monkeypatch, ran=PASSED)
    assert code == 0
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "fast: 1 passed, 0 failed, 0 skipped",
        "real: 1 passed, 0 failed, 0 skipped",
        "tests: 2 passed, 0 failed, 0 skipped",
    ]


def test_a_failing_run_fails_and_a_run_without_a_test_too(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome(dev, monkeypatch, code=1, ran=PASSED)[0] == 1
    assert outcome(dev, monkeypatch, code=5)[0] == 1
    assert outcome(dev, monkeypatch, "--tier", "root", code=5)[0] == 0


def test_further_words_reach_pytest_and_a_tier_is_selected(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    code, got = outcome(dev, monkeypatch, "-k", "lease", "--tier", "real", "-x", ran=PASSED)
    assert code == 0
    assert got[got.index("-k") : got.index("-k") + 2] == ["-k", "lease"]
    assert "-x" in got
    assert "--tier" not in got
    assert got.count("pytest") == 1
    assert "real and not needs_root" in got


def test_the_tiers_share_the_tests_out(dev: ModuleType) -> None:
    for real in (False, True):
        for needs_root in (False, True):
            chosen = [
                name for name, tier in dev.TIERS.items() if eval(tier.marks, {"real": real, "needs_root": needs_root})
            ]
            assert len(chosen) == 1
