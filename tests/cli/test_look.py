"""What people read: LOOK.md's block at 80 columns, cells that align, nothing raw, and no colour where none is wanted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from cli.calls import House, actor_token, agent_turn, ready
from rich.cells import cell_len
from support import a26_1

from loopx_engine.cli.output import fitting
from loopx_engine.cli.people.lines import row
from loopx_engine.cli.people.overview import status_lines

NOW = 1_800_000_000_000
MINUTE = 60_000
LOOK: dict[str, Any] = {
    "now": NOW,
    "project": {"id": "p-1", "name": "shop-api", "root": "/somewhere/shop-api"},
    "engine": True,
    "needs_you": [
        {"id": "d-9", "goal": "g-17", "risk": "high", "question": "publish 3 commits to origin/main", "asked_by": "codex-2",
         "age_ms": 4 * MINUTE, "answers": ["yes", "no"]},
        {"id": "d-11", "goal": "g-09", "risk": "medium", "question": "run npm i left-pad", "asked_by": "claude-1",
         "age_ms": 12 * MINUTE, "answers": ["yes", "no"]},
    ],
    "needs_you_count": 2,
    "running": [
        {"goal": "g-17", "title": "checkout totals", "done": 4, "todos": 6, "turn": "u-1", "actor": "codex-2", "todo": "t-1",
         "title_todo": "release the fix", "state": "running", "for_ms": 252_000},
        {"goal": "g-09", "title": "search relevance", "done": 2, "todos": 9, "turn": "u-2", "actor": "claude-1", "todo": "t-2",
         "title_todo": "rank by recency", "state": "running", "for_ms": 38_000},
    ],
    "active": [],
    "active_count": 0,
    "broken": [
        {"kind": "lost turn", "subject": "u-871", "goal": "g-17", "since": NOW - 39 * MINUTE, "safe": "", "lost": "",
         "happened": "turn 871 ended with the laptop asleep", "choices": [{}, {}, {}]},
    ],
    "broken_count": 1,
    "next_look": NOW + 65 * MINUTE,
    "counts": {"goal.active": 2, "goal.draft": 0, "goal.paused": 0, "goal.done": 0},
}  # fmt: skip
BLOCK = """\
shop-api                                    live · 2 running · next look HH:MM
needs you  HIGH  d-9   publish 3 commits to origin/main          codex-2    4m
           MED   d-11  run npm i left-pad                        claude-1  12m
running    g-17  checkout totals    4/6   codex-2   release the fix      4:12
           g-09  search relevance   2/9   claude-1  rank by recency      0:38
broken     u-871 turn 871 ended with the laptop asleep · 3 safe choices    39m
answer d-11: loopx answer d-11 yes    d-9 is high: loopx answer d-9 asks"""


def lines(answer: dict[str, Any], width: int = 80) -> list[str]:
    return [line.plain for line in status_lines(answer, width)]


def test_status_is_the_block_of_the_look_at_80_columns() -> None:
    shown = [re.sub(r"\d\d:\d\d$", "HH:MM", line) for line in lines(LOOK)]
    assert [re.sub(" +", " ", line) for line in shown] == [re.sub(" +", " ", line) for line in BLOCK.splitlines()]
    assert all(cell_len(line) <= 80 for line in shown)
    assert len({cell_len(line) for line in shown[:-1]}) == 1, "what stands at the right edge aligns"


def test_the_columns_of_status_begin_where_the_look_puts_them() -> None:
    shown = lines(LOOK)
    assert [line.index(word) for line, word in zip(shown[1:5], ("HIGH", "MED", "g-17", "g-09"), strict=True)] == [
        11
    ] * 4
    assert (
        shown[1].index("d-9") == shown[2].index("d-11") == shown[3].index("checkout") == shown[4].index("search") == 17
    )
    assert shown[3].index("codex-2") == shown[4].index("claude-1")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
@pytest.mark.parametrize("name", sorted(a26_1()))
def test_no_text_of_others_breaks_a_line_or_its_width(name: str, width: int) -> None:
    text = a26_1()[name] * 3
    answer = {
        **LOOK,
        "project": {**LOOK["project"], "name": text},
        "needs_you": [{**LOOK["needs_you"][0], "question": text, "asked_by": text}],
        "running": [{**LOOK["running"][0], "title": text, "actor": text, "title_todo": text}],
        "broken": [{**LOOK["broken"][0], "happened": text}],
    }
    for line in lines(answer, width):
        assert "\n" not in line
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ud800-\udfff]", line), ascii(line)
        assert width < 80 or cell_len(line) <= width + 1, (cell_len(line), ascii(line))


def test_without_an_engine_status_says_so_and_how_to_start_one() -> None:
    answer = {**LOOK, "engine": False, "needs_you": [], "needs_you_count": 0, "broken": [], "broken_count": 0}
    shown = lines(answer)
    assert shown[0].endswith("no engine · 2 running")
    assert shown[-1] == "start the engine: loopx-engine run"


def test_what_does_not_fit_is_counted() -> None:
    shown = "\n".join(lines({**LOOK, "needs_you_count": 9, "broken_count": 4, "active_count": 3, "active": []}))
    assert "and 7 more: loopx inbox" in shown
    assert "and 3 more: loopx findings" in shown
    assert "and 3 more: loopx list goal" in shown


def test_a_right_edge_of_wide_characters_still_aligns() -> None:
    assert row(40, ("left", 10, "text"), right="漢字漢字").cell_len == 40
    assert row(40, ("漢" * 40, 39, "text"), right="r").cell_len <= 40


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", None])
def test_where_no_glyph_can_be_shown_there_is_an_ascii_one(encoding: str | None) -> None:
    assert fitting("✓ ◦ ▸ ✗ · …", encoding) == "+ o > x - ~"
    assert fitting("✓ ◦", "utf-8") == "✓ ◦"


def test_an_empty_ledger_says_what_to_type_and_makes_nothing(house: House, tmp_path: Path) -> None:
    said = house.well("status")
    assert said.out.splitlines()[-1] == "nothing here yet: loopx goal add TITLE"
    for words in (["inbox"], ["history"], ["list", "goal"], ["findings"], ["list", "finding"]):
        assert house.well(*words).out
    assert house.do("next").code == 4
    assert not (tmp_path / "loopx-home").exists()
    assert not (tmp_path / "loopx-keys").exists()


RAW = re.compile(r"None|True|False|\[\]|\{|\}|': |\bnull\b|<[a-z_]+ object|=\(|, '")


@pytest.mark.real
def test_no_output_for_people_shows_a_raw_structure(at_work: House, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [at_work.well("goal", "edit", "g-1", "--priority", "1").out, at_work.well("project", "check").out]
    at_work.well("todo", "add", "g-1", "Second", "--needs", "t-1", "--scope", "src/**")
    token = agent_turn(at_work, monkeypatch)
    monkeypatch.setenv("LOOPX_TOKEN", token)
    said.append(at_work.do("decision", "ask", "g-1", "Which?", "--option", "one", "--blocks", "t-1").out)
    monkeypatch.delenv("LOOPX_TOKEN")
    basis = at_work.json("show", "d-1")["item"]["basis"]
    calls: tuple[list[str], ...] = (
        ["status"], ["inbox"], ["next"], ["next", "g-1"], ["show", "g-1"], ["show", "t-1"], ["show", "t-2"], ["show", "d-1"],
        ["show", "u-1"], ["show", "a-3"], ["show", "pl-1"], ["show", "p-1"], ["show", "k-1"], ["show", "c-1"], ["show", "r-4"],
        ["list", "todo"], ["list", "actor"], ["list", "check"], ["list", "lease"], ["list", "turn"], ["list", "decision"],
        ["list", "project"], ["list", "place"], ["list", "criterion"], ["history"], ["why", "t-1"], ["why", "t-2"],
        ["why", "g-1"], ["why", "d-1"], ["search", "ho"], ["place", "g-1"], ["diff", "g-1"], ["project", "setup"], ["verify"],
        ["answer", "d-1", "1", "--basis", basis, "--dry-run"], ["answer", "d-1", "1", "--basis", basis],
        ["todo", "drop", "t-2"], ["decision", "ask", "g-1", "And?"], ["decision", "withdraw", "d-2"], ["goal", "pause", "g-1"],
        ["goal", "resume", "g-1"], ["stop", "--all"], ["owner", "protect", "--dry-run"], ["backup", "--dry-run"],
    )  # fmt: skip
    said.extend(at_work.well(*words).out for words in calls)
    for text in said:
        for line in text.splitlines():
            assert not RAW.search(line), line
            assert line == line.rstrip()


def test_names_are_said_where_there_are_names(at_work: House) -> None:
    assert "worked by     ada" in at_work.well("show", "g-1").out
    lines = at_work.well("history").out.splitlines()
    assert " · key file" in lines[0]
    assert at_work.well("goal", "pause", "g-1").out
    assert " · unverified" in at_work.well("history").out.splitlines()[0]
    assert not [line for line in lines if re.search(r"\ba-\d+$", line)]


@pytest.mark.real
def test_a_running_turn_stands_in_status_under_its_names(at_work: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(at_work)
    agent_turn(at_work, monkeypatch)
    shown = at_work.well("status").out.splitlines()
    assert shown[0].startswith("shop-api ")
    assert shown[0].endswith("no engine · 1 running")
    assert re.fullmatch(r"running    g-1   Fix it +0/1 +ada +Write ho +0:0\d", shown[1])
    assert actor_token(at_work) not in at_work.do("list", "actor", "--json").out
