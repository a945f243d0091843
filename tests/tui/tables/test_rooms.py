"""What the workspace may not do, read from its source: no colour beside the palette, no SQL, no process, no Textual in state."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import ROOT, clean_environment

SOURCE = ROOT / "loopx_tui"
MODULES = sorted(SOURCE.rglob("*.py"))
SHEETS = sorted(SOURCE.rglob("*.tcss"))
COLOURED = {SOURCE / "themes.py", SOURCE / "state" / "palette.py"}
HEX = re.compile(r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b|\brgba?\(|\bhsla?\(")
SQL = re.compile(
    r"\b(?:select\s.+\sfrom|insert\s+into|delete\s+from|update\s+\w+\s+set|create\s+table|drop\s+table|pragma\s)\b",
    re.IGNORECASE | re.DOTALL,
)
STARTS = re.compile(
    r"^(?:os\.(?:system|popen|exec\w*|spawn\w*|posix_spawn\w*|fork\w*|startfile)|pty\.\w+|"
    r"asyncio\.(?:create_)?subprocess\w*|\w+\.subprocess_(?:exec|shell)|subprocess\.\w+|multiprocessing\.\w+)$"
)
PROCESSES = {
    "subprocess",
    "multiprocessing",
    "pty",
    "concurrent.futures.process",
    "pexpect",
    "psutil",
    "sqlite3",
    "pysqlite3",
}
SHOW = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
for name in json.loads(sys.argv[2]):
    __import__(name)
print(json.dumps(sorted(sys.modules)))
"""
CALLED = """
import json, sys
into = sys.argv.pop(1)
from loopx_tui.__main__ import main
code = main()
with open(into, "w", encoding="utf-8") as file:
    json.dump([code, sorted(sys.modules)], file)
"""


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def texts(path: Path) -> Iterator[str]:
    """The texts of a module that are no docstrings."""
    nodes = [*ast.walk(tree(path))]
    bodies = [
        node.body
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def imported(path: Path) -> set[str]:
    """The modules that a module names, wherever in it."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def calls(path: Path) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(tree(path)) if isinstance(node, ast.Call)}


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_the_measures_see_what_they_look_for(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        '"""#ffffff"""\nimport subprocess\nx = "color: #A0b1c2"\ny = "select id from goal"\nos.system(x)\nsubprocess.run([])\n',
        encoding="utf-8",
    )
    assert [text for text in texts(bad) if HEX.search(text)] == ["color: #A0b1c2"]
    assert [text for text in texts(bad) if SQL.search(text)] == ["select id from goal"]
    assert {name for name in calls(bad) if STARTS.match(name)} == {"os.system", "subprocess.run"}
    assert imported(bad) & PROCESSES == {"subprocess"}


@pytest.mark.parametrize("path", [path for path in MODULES if path not in COLOURED], ids=name_of)
def test_no_module_beside_the_palette_has_a_colour(path: Path) -> None:
    assert [text for text in texts(path) if HEX.search(text)] == []


@pytest.mark.parametrize("path", SHEETS, ids=name_of)
def test_a_style_sheet_has_roles_alone(path: Path) -> None:
    from loopx_tui.themes import FALLBACK, css_variables

    said = path.read_text(encoding="utf-8")
    values = "".join(re.findall(r"\{[^}]*\}", said))
    assert HEX.findall(values) == []
    assert set(re.findall(r"\$([\w-]+)", values)) <= set(css_variables(FALLBACK))
    for name, value in re.findall(r"([\w-]*(?:color|background)[\w-]*)\s*:\s*([^;}]+)", values):
        assert value.strip().startswith("$x-"), f"{name}: {value}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_module_holds_sql_or_starts_a_process(path: Path) -> None:
    assert [text for text in texts(path) if SQL.search(text)] == []
    assert {name for name in calls(path) if STARTS.match(name)} == set()
    assert {name for name in imported(path) if name in PROCESSES or name.partition(".")[0] in PROCESSES} == set()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_comes_in_by_the_engines_face_or_by_what_the_desk_gives(path: Path) -> None:
    rooms = {name.split(".")[1] for name in imported(path) if name.startswith("loopx_engine.")}
    assert rooms & {"ledger", "consent", "commands", "heartbeat", "places", "rules"} == set()


# -- what comes in with it -----------------------------------------------------------------------------------------------


def loaded(*names: str) -> set[str]:
    """All modules of a fresh process that imported these."""
    paths = json.dumps([str(ROOT), *(path for path in sys.path if path.endswith("-packages"))])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SHOW, paths, json.dumps(names)],
        capture_output=True, encoding="utf-8", env=clean_environment(), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_the_package_alone_brings_in_nothing() -> None:
    assert loaded("loopx_tui") - loaded() <= {"loopx_tui", "__future__"}


def test_the_state_of_every_screen_is_there_without_textual() -> None:
    names = [f"loopx_tui.state.{path.stem}" for path in (SOURCE / "state").glob("[a-z]*.py")]
    assert len(names) > 8
    assert not {name for name in loaded(*names) if name.partition(".")[0] == "textual"}


@pytest.mark.parametrize("name", ["keys", "actions", "settings"])
def test_tables_and_settings_need_no_textual(name: str) -> None:
    assert "textual" not in loaded(f"loopx_tui.{name}")


@pytest.mark.parametrize(
    ("words", "code"), [(["--help"], 0), (["status"], 0), (["--version"], 0), (["next", "nothing"], 2)]
)
def test_the_command_line_never_loads_the_workspace(tmp_path: Path, words: list[str], code: int) -> None:
    given = {"LOOPX_HOME": str(tmp_path / "h"), "LOOPX_KEYS": str(tmp_path / "k"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", CALLED, str(tmp_path / "said"), *words],
        capture_output=True, encoding="utf-8", env=clean_environment(given), cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    came, modules = json.loads((tmp_path / "said").read_text(encoding="utf-8"))
    assert came == code
    assert not {name for name in modules if name.partition(".")[0] == "textual"}
    assert {name for name in modules if name.startswith("loopx_tui")} <= {
        "loopx_tui", "loopx_tui.__main__", "loopx_tui.terminal", "loopx_tui.terminal.probe",
    }  # fmt: skip
