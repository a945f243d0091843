"""README's words are true: its first goal works as it is written, and its tables are the program's own."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cli.calls import House, git_project, run
from support import ROOT

import loopx_engine.errors as errors
from loopx_engine.cli.engine_main import main as engine_main

README = (ROOT / "README.md").read_text(encoding="utf-8")
AGENT = """
import json, sys
sys.stdin.readline()
open("a", "w").write("ho\\n")
print(json.dumps({"type": "result", "outcome": "done", "summary": "wrote ho", "no_successor": "that is all"}), flush=True)
for line in sys.stdin:
    pass
"""


def first_goal() -> list[list[str]]:
    """The lines of the block under *First goal*, as words."""
    block = README.split("## First goal", 1)[1].split("```", 2)[1]
    return [shlex.split(line) for line in block.strip().splitlines()]


@pytest.mark.real
def test_the_first_goal_of_the_readme_works_as_it_is_written(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "agent.py"
    program.write_text(AGENT, encoding="utf-8")
    monkeypatch.chdir(git_project(tmp_path / "shop-api"))
    lines = first_goal()
    assert lines[-1] == ["loopx-engine", "run"]
    for name, *words in lines[:-1]:
        assert name == "loopx"
        given = [
            word.replace("python3 /path/to/agent.py", f"{sys.executable} {program}").replace(
                "python3 -m pytest -q", "grep -q ho a"
            )
            for word in words
        ]
        house.well(*given, *(["--no-passphrase"] if words[:2] == ["owner", "init"] else []))
    assert engine_main(["once"]) == 0
    shown = house.json("show", "g-1")
    assert [todo["proof"] for todo in shown["related"]["todos"]] == ["proved"]
    assert [criterion["state"] for criterion in shown["related"]["criteria"]] == ["met"]
    assert (tmp_path / "shop-api" / "a").read_text(encoding="utf-8") == "hi\n", "the person's checkout is not touched"
    log = subprocess.run(
        ["git", "log", "--oneline", "loopx/g-1"], capture_output=True, encoding="utf-8", check=True
    ).stdout
    assert len(log.splitlines()) == 2
    question = house.json("inbox")["items"][0]
    basis = house.json("show", question["id"])["item"]["basis"]
    house.well("answer", question["id"], "yes", "--basis", basis, "--goal", "g-1", "--reason", "seen")


@pytest.mark.parametrize("words", sorted(set(re.findall(r"`loopx ((?:[a-z]+ ?)+)", README))))
def test_every_command_the_readme_names_is_one(words: str) -> None:
    known = [name for name in words.split() if name.islower()][:2]
    said = run(*known[:1], "--help")
    assert said.code == 0, words


def test_the_table_of_exit_codes_is_the_programs() -> None:
    table = {
        int(code) for code in re.findall(r"\| (\d+) (?=\|)", README.split("## Exit codes", 1)[1].split("##", 1)[0])
    }
    kinds = {kind.exit_code for kind in errors.LoopxError.__subclasses__()}
    assert table == {0, *kinds} == {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 75}


def test_the_table_of_names_is_what_the_program_reads() -> None:
    named = set(re.findall(r"^\| `([A-Z_]+)` \|", README, re.MULTILINE))
    assert named == {"LOOPX_HOME", "LOOPX_LEDGER", "LOOPX_KEYS", "LOOPX_TOKEN", "LOOPX_PASSPHRASE_FD", "NO_COLOR"}
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "loopx_engine").rglob("*.py"))
    for name in named - {"NO_COLOR"}:
        assert f'"{name}"' in source, name


@pytest.mark.parametrize("word", ["new", "report", "drill", "uninstall"])
def test_what_the_readme_says_is_not_built_says_so_itself(house: House, word: str) -> None:
    assert f"`{word}`" in README.split("## What is not here yet", 1)[1]
    assert house.refused(word, code=2)["code"] == "not_built"
