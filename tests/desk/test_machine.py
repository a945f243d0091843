"""What is found on this machine: each row true, with a way to get what is not there, whatever a program says of itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from places.git_project import GitProject
from support import require

from loopx_engine.desk import machine as module
from loopx_engine.desk.machine import RUNTIMES, machine

NAMES = [name for name, _ in RUNTIMES]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that alone is on PATH, with git and a shell in it: nothing of this machine's agents is found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("git", "sh", "cat"):
        (folder / tool).symlink_to(require(tool))
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program(folder: Path, name: str, body: str, mode: int = 0o755) -> None:
    path = folder / name
    path.write_text(f"#!{os.path.realpath(folder / 'sh')}\n{body}\n", encoding="utf-8")
    path.chmod(mode)


def rows(here: str = "") -> dict[str, dict[str, Any]]:
    found = machine(here)
    assert all(set(row) == {"mark", "name", "text", "hint"} for row in found)
    assert {row["mark"] for row in found} <= {"good", "faint"}
    return {row["name"]: row for row in found}


def test_each_thing_has_one_row_in_a_fixed_order(programs: Path) -> None:
    assert [row["name"] for row in machine("")] == ["project", "sandbox", *NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_that_is_not_there_says_how_it_comes(programs: Path, name: str) -> None:
    row = rows()[name]
    assert (row["mark"], row["text"]) == ("faint", "not found")
    assert row["hint"] == dict(RUNTIMES)[name]


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_that_is_there_says_its_version(programs: Path, name: str) -> None:
    program(programs, name, f'[ "$1" = --version ] && echo "{name} 2.1.1" && echo more')
    row = rows()[name]
    assert (row["mark"], row["text"], row["hint"]) == ("good", f"{name} 2.1.1", "")
    assert {found["text"] for other, found in rows().items() if other in NAMES and other != name} == {"not found"}


def test_a_file_that_cannot_be_run_is_not_found(programs: Path) -> None:
    program(programs, "codex", "echo 1", mode=0o644)
    assert rows()["codex"]["text"] == "not found"


@pytest.mark.parametrize(
    "body", ["exit 3", "exit 0", "echo; echo", "kill -9 $$", "echo broken >&2; exit 1", "cat >/dev/null"],
    ids=["fails", "silent", "blank", "killed", "only errors", "reads"],
)  # fmt: skip
def test_a_version_that_is_not_said_is_unknown_and_the_program_still_there(programs: Path, body: str) -> None:
    program(programs, "codex", body)
    assert rows()["codex"] == {"mark": "good", "name": "codex", "text": "found, its version is unknown", "hint": ""}


def test_a_program_of_no_kind_is_there_with_an_unknown_version(programs: Path) -> None:
    path = programs / "codex"
    path.write_bytes(b"\x7fELFnot really")
    path.chmod(0o755)
    assert rows()["codex"]["text"] == "found, its version is unknown"


def test_one_that_hangs_is_not_waited_for(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "VERSION_WITHIN_S", 0.2)
    (programs / "sleep").symlink_to(require_absolute("sleep"))
    program(programs, "codex", "exec sleep 600")
    assert rows()["codex"]["text"] == "found, its version is unknown"


def require_absolute(tool: str) -> str:
    """A program of this machine, whatever PATH says now."""
    found = next((path for folder in ("/usr/bin", "/bin") if (path := Path(folder) / tool).exists()), None)
    return str(found) if found else require(tool)


def test_what_a_program_says_is_short_text_however_much_and_whatever_it_says(programs: Path) -> None:
    program(programs, "codex", "printf '\\033[2J\\377%0500d\\n' 7")
    text = rows()["codex"]["text"]
    assert len(text) == 40
    assert text.startswith("\x1b[2J\ufffd000"), "the screen makes it visible, not the desk"


# -- the project ---------------------------------------------------------------------------------------------------------


def test_a_repository_is_found_from_any_folder_in_it(programs: Path, tmp_path: Path) -> None:
    project = GitProject(tmp_path / "shop-api", tmp_path)
    assert rows(str(project.root))["project"] == {"mark": "good", "name": "project", "text": "shop-api", "hint": "git"}
    assert rows(str(project.root / "src"))["project"]["text"] == "shop-api"


def test_a_directory_without_one_says_so_and_how_to_make_one(programs: Path, tmp_path: Path) -> None:
    row = rows(str(tmp_path))["project"]
    assert (row["mark"], row["text"], row["hint"]) == ("faint", "this directory is in no git repository", "git init")
    assert rows("")["project"] == row


def test_a_directory_that_is_gone_is_a_row_too(programs: Path, tmp_path: Path) -> None:
    assert rows(str(tmp_path / "gone"))["project"]["mark"] == "faint"


def test_without_git_the_row_says_what_is_missing(programs: Path, tmp_path: Path) -> None:
    (programs / "git").unlink()
    row = rows(str(tmp_path))["project"]
    assert row["mark"] == "faint"
    assert "git" in row["text"]


def test_the_box_is_what_the_probe_found(programs: Path) -> None:
    from loopx_engine.places.sandbox import probe

    box, row = probe(), rows()["sandbox"]
    assert (row["mark"] == "good") is (box.kind != "none")
    assert row["text"] == (box.kind if box.kind != "none" else f"not sandboxed: {box.reason}")
