"""A real terminal: what others wrote never acts on it, colour is for terminals, and a decision is shown and asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.calls import House, ready, run
from support import ROOT, a26_1, absent

if sys.platform != "win32":
    from pexpect import EOF, spawn

pytestmark = pytest.mark.real
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
ACTS = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b\x8e\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
)


def terminal(*words: str, cwd: Path, env: dict[str, str] | None = None, columns: int = 80) -> Any:
    """The command in a pseudo-terminal of its own."""
    if sys.platform == "win32":
        absent("there is no pty on this system")
    given = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "LANG": "C.UTF-8", **(env or {})}
    argv = ["-m", "loopx_tui", *words]
    return spawn(sys.executable, argv, cwd=str(cwd), env=given, timeout=60, dimensions=(24, columns))


def shown(*words: str, cwd: Path, env: dict[str, str] | None = None, columns: int = 80) -> bytes:
    child = terminal(*words, cwd=cwd, env=env, columns=columns)
    child.expect(EOF)
    child.close()
    assert child.exitstatus == 0, child.before
    return bytes(child.before)


def corpus() -> dict[str, str]:
    """The strings a title can have."""
    return {name: text for name, text in a26_1().items() if text.strip() and len(text) <= 200}


@pytest.fixture
def told(owned: House) -> House:
    """A goal whose todos and questions are the corpus."""
    owned.well("goal", "add", "\x1b]0;owned\x07[bold]goal[/bold]\u202e")
    for text in corpus().values():
        said = owned.do("todo", "add", "g-1", "--json", "--", text)
        assert said.code in (0, 2)
        if said.code == 0:
            assert owned.do("decision", "ask", "g-1", "--json", "--why", text, "--option", text, "--", text).code == 0
    return owned


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["inbox"],
        ["list", "todo"],
        ["show", "g-1"],
        ["history"],
        ["search", "a"],
        ["list", "decision"],
        ["show", "t-1"],
    ],
    ids=" ".join,
)
def test_nothing_that_others_wrote_acts_on_the_terminal(told: House, words: list[str]) -> None:
    data = shown(*words, cwd=told.folder)
    assert not ACTS.search(COLOUR.sub(b"", data)), ACTS.search(COLOUR.sub(b"", data))
    assert data.count(b"\x1b") == len(COLOUR.findall(data))
    for line in COLOUR.sub(b"", data).decode().splitlines():
        assert "\r" not in line.rstrip("\r")


def test_every_decision_of_the_corpus_is_shown_whole_and_as_text(told: House) -> None:
    for row in told.json("inbox", "--limit", "200")["items"]:
        said = told.well("show", row["id"]).out
        assert not ACTS.search(said.encode().replace(b"\n", b"")), ascii(said)
    assert "[bold]loud[/bold]" in told.well("list", "todo", "--limit", "200").out
    assert "[@click=app.quit()]press[/]" in told.well("list", "todo", "--limit", "200").out


def test_json_is_plain_ascii_and_still_says_everything(told: House) -> None:
    said = told.well("list", "todo", "--limit", "200", "--json")
    assert said.out.isascii()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", said.out)
    titles = {row["title"] for row in said.json["items"]}
    assert {"\x1b[2J\x1b[H", "invoice\u202egpj.exe", "[x] done, [ ] open"} <= titles


def test_colour_is_for_a_terminal_that_wants_it(told: House) -> None:
    assert COLOUR.search(shown("status", cwd=told.folder))
    plain = shown("status", cwd=told.folder, env={"NO_COLOR": "1"})
    assert not re.search(rb"\x1b\[[0-9;]*(?:3[0-9]|38;|4[0-9]|9[0-9])", plain)
    assert "\x1b" not in run("status", cwd=told.folder).out
    assert "\x1b" not in run("status", cwd=told.folder, env={"FORCE_COLOR": ""}).out


def test_a_dumb_terminal_gets_words_alone(told: House) -> None:
    assert b"\x1b" not in shown("status", cwd=told.folder, env={"TERM": "dumb"})


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_any_width_is_survived(told: House, columns: int) -> None:
    assert shown("status", cwd=told.folder, columns=columns)


def test_a_decision_is_shown_and_asked_and_a_no_stays_a_no(at_work: House, tmp_path: Path) -> None:
    at_work.well("decision", "ask", "g-1", "Which \x1b[31mone?", "--option", "the first", "--why", "because")
    child = terminal("answer", "d-1", cwd=tmp_path)
    child.expect_exact("wants   Which <1b>[31mone?")
    child.expect_exact("why     because")
    child.expect_exact("answer  1: the first")
    child.expect_exact("if no")
    child.expect("answer.*:")
    child.sendline("no")
    child.expect(EOF)
    child.close()
    assert child.exitstatus == 0, child.before
    assert at_work.json("show", "d-1")["item"]["answer"] == "no"


def test_declining_to_confirm_changes_nothing(at_work: House, tmp_path: Path) -> None:
    at_work.well("decision", "ask", "g-1", "Which?", "--option", "the first")
    child = terminal("answer", "d-1", "1", cwd=tmp_path)
    child.expect_exact("answer 1?")
    child.sendline("n")
    child.expect_exact("nothing was changed")
    child.expect(EOF)
    child.close()
    assert child.exitstatus == 2
    assert at_work.json("show", "d-1")["item"]["state"] == "open"


def test_a_high_risk_asks_for_the_typed_goal_and_a_reason(at_work: House, tmp_path: Path) -> None:
    at_work.well("decision", "ask", "g-1", "Really?", "--option", "go", "--risk", "high")
    wrong = terminal("answer", "d-1", "1", cwd=tmp_path)
    wrong.expect_exact("type the goal's id")
    wrong.sendline("g-2")
    wrong.expect_exact("reason")
    wrong.sendline("I know")
    wrong.expect(EOF)
    wrong.close()
    assert wrong.exitstatus == 3, wrong.before
    child = terminal("answer", "d-1", "1", cwd=tmp_path)
    child.expect_exact("type the goal's id")
    child.sendline("g-1")
    child.expect_exact("reason")
    child.sendline("I know")
    child.expect(EOF)
    child.close()
    assert child.exitstatus == 0, child.before
    said = at_work.json("show", "d-1")
    assert (said["item"]["answer"], said["item"]["reason"], said["related"]["signature"]) == ("1", "I know", "verified")


def test_the_first_signed_command_offers_the_key(house: House) -> None:
    child = terminal("actor", "add", "ada", "--kind", "agent", cwd=house.folder)
    child.expect_exact("there is no owner key yet")
    child.expect_exact("Make it now?")
    child.sendline("n")
    child.expect(EOF)
    child.close()
    assert child.exitstatus == 3
    assert house.json("list", "actor")["items"][-1]["name"] == "engine"


def test_outside_a_terminal_an_answer_needs_its_basis_and_a_high_one_goal_and_reason(at_work: House) -> None:
    at_work.well("decision", "ask", "g-1", "Really?", "--risk", "high")
    assert at_work.refused("answer", "d-1", "yes", code=3)["code"] == "basis_missing"
    basis = at_work.json("show", "d-1")["item"]["basis"]
    assert at_work.refused("answer", "d-1", "yes", "--basis", "0" * 64, code=5)["code"] == "state_moved"
    assert at_work.refused("answer", "d-1", "maybe", "--basis", basis, code=2)["code"] == "bad_choice"
    assert at_work.refused("answer", "d-1", "yes", "--basis", basis, code=3)["code"] == "high_risk"
    assert at_work.refused("answer", "d-1", "yes", "--basis", basis, "--goal", "g-1", code=3)["code"] == "high_risk"
    at_work.well("answer", "d-1", "yes", "--basis", basis, "--goal", "g-1", "--reason", "seen it")
    assert (
        at_work.refused("answer", "d-1", "yes", "--basis", basis, "--goal", "g-1", "--reason", "x", code=3)["code"]
        == "not_open"
    )


def test_a_reader_that_leaves_early_is_no_error(told: House) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "loopx_tui", "list", "todo", "--limit", "1000", "--json"]
    with subprocess.Popen(argv, cwd=told.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.close()
        _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (0, b"")


def test_where_only_ascii_is_spoken_glyphs_have_their_ascii_form(at_work: House) -> None:
    ready(at_work)
    said = run("show", "g-1", cwd=at_work.folder, env={"PYTHONIOENCODING": "ascii"})
    assert said.code == 0
    assert "o 1. a says ho" in said.out
    assert "?" not in said.out
