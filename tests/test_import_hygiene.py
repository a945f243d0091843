"""What an import costs: a cold command pays for what it uses, so heavy packages come in late (ARCHITECTURE 1).

Each case is a process of its own without `site`, so that nothing that the environment starts by itself is counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig

import pytest
from support import ROOT, clean_environment

HEAVY = {"textual", "rich", "pydantic", "sqlite_utils", "click", "cryptography", "psutil", "structlog"}
SHOW = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
before = set(sys.modules)
__import__(sys.argv[2])
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def loaded_by(module: str) -> set[str]:
    """The names of all modules that importing this one brings in."""
    paths = json.dumps([str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SHOW, paths, module],
        capture_output=True,
        encoding="utf-8",
        env=clean_environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def strangers(modules: set[str]) -> set[str]:
    """The top-level names that are neither the standard library's nor ours."""
    return {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names) - {"loopx_engine", "loopx_tui"}


def test_the_measure_sees_a_heavy_import() -> None:
    assert "click" in strangers(loaded_by("click"))


def test_importing_the_engine_package_brings_in_nothing_from_outside() -> None:
    assert not strangers(loaded_by("loopx_engine"))


@pytest.mark.parametrize("module", ["loopx_engine.engine", "loopx_engine.ledger.sqlite", "loopx_engine.rules.verdict"])
def test_the_hot_path_needs_the_standard_library_and_the_sqlite_driver_alone(module: str) -> None:
    assert strangers(loaded_by(module)) <= {"pysqlite3"}


@pytest.mark.parametrize("module", ["loopx_engine.model", "loopx_engine.rules", "loopx_engine.commands.verbs"])
def test_the_pure_rooms_do_not_load_a_database_driver(module: str) -> None:
    assert not loaded_by(module) & {"sqlite3", "pysqlite3", "subprocess", "asyncio"}


def test_the_command_line_comes_up_without_what_only_some_commands_need() -> None:
    assert not strangers(loaded_by("loopx_engine.cli.main")) & (HEAVY - {"click"})


def test_the_command_loopx_imports_nothing_before_it_is_called() -> None:
    assert loaded_by("loopx_tui.__main__") <= {"loopx_tui", "loopx_tui.__main__", "__future__"}
