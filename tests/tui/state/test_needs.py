"""Needs you: what waits, findings with their ways out, what was answered; filtered, counted, in columns that align."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len
from tui.state.records import World
from tui.state.texts import painted_text, shown

from loopx_tui.state.filtering import parse
from loopx_tui.state.lines import Line
from loopx_tui.state.listing import Listing
from loopx_tui.state.needs import finding_document, needs_listing, no_match_lines, nothing_lines

WIDE = ("Fix it", "漢字の長い題名です", "한국어 제목", "👩‍👩‍👧‍👦 family", "e\u0301te\u0301", "שלום עולם", "W" * 200, "")


def listing(world: World, query: str = "", *, two: bool = True, width: int = 100, **over: Any) -> Listing:
    pending = over.pop("pending", frozenset())
    return needs_listing({**world.inbox, **over}, width, world.now, parse(query), pending, two=two)


def text(found: Listing, width: int = 100) -> str:
    return "\n".join(painted_text(found, width))


def test_two_lines_a_row_where_there_is_room_and_one_where_there_is_not(world: World) -> None:
    assert {section.height for section in listing(world).sections if section.rows} == {3}
    one = listing(world, two=False)
    assert {section.height for section in one.sections if section.rows} == {1}
    assert "Answered today" in text(listing(world))
    assert "Answered today" not in text(one)


@pytest.mark.parametrize("width", [58, 76, 96])
def test_columns_align_whatever_is_asked(world: World, width: int) -> None:
    items = [
        {**world.items[0], "id": f"d-{n}", "question": words, "goal_title": "@goal"} for n, words in enumerate(WIDE)
    ]
    rows = [
        row
        for row in painted_text(listing(world, two=False, items=items, findings=[], width=width), width)
        if "@goal" in row
    ]
    assert len(rows) == len(WIDE)
    assert len({cell_len(row.partition("@goal")[0]) for row in rows}) == 1
    assert {cell_len(row) for row in rows} == {width}


def test_what_is_answered_but_not_settled_waits_as_an_ellipsis(world: World) -> None:
    first = world.items[0]["id"]
    rows = [row for row in painted_text(listing(world, pending=frozenset({first})), 100) if row.rstrip().endswith("…")]
    assert len(rows) == 1
    assert world.items[0]["question"] in rows[0]


def test_the_filter_keeps_decisions_and_findings_that_meet_it(world: World) -> None:
    assert [item["id"] for item in listing(world, "risk:high").sections[0].rows] == ["d-3"]  # type: ignore[attr-defined]
    found = listing(world, "relevance")
    assert (found.rows, "ended: its process is gone" in text(found)) == (1, True)
    assert listing(world, "nothing-like-this").rows == 0
    assert "Answered today" not in text(listing(world, "risk:low"))


def test_more_than_is_read_is_counted(world: World) -> None:
    assert "and 7 more, as these are answered" in text(listing(world, total=len(world.items) + 7))
    assert "more, as these" not in text(listing(world))


def test_what_blocks_is_said_and_what_nobody_waits_for_too(world: World) -> None:
    said = text(listing(world))
    assert "2 answers · blocks 2" in said
    assert "ada waits · blocks 1" in said
    assert "nothing waits" in said


def test_a_finding_has_its_ways_out_as_commands(world: World) -> None:
    for item in world.inbox["findings"]:
        lines = painted_text(finding_document(item, 80, world.now), 80)
        numbers = [row for row in lines if row[:1].isdigit()]
        assert len(numbers) == len(item["choices"]) > 0
        assert len([row for row in lines if row.startswith("   loopx ")]) == sum(
            bool(one["command"]) for one in item["choices"]
        )
        assert [row for row in lines if row.startswith("safe     ")]


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("lost turn", "LOST"),
        ("place broken", "STOP"),
        ("uncertain effect", "OPEN"),
        ("goal asleep", "WAKE"),
        ("", "WAKE"),
    ],
)
def test_a_finding_has_a_word_for_what_it_is(world: World, kind: str, word: str) -> None:
    item = {**world.inbox["findings"][0], "kind": kind}
    assert f" {word} " in text(listing(world, items=[], findings=[item]))


def test_a_finding_is_selected_by_what_it_is_about(world: World) -> None:
    found = listing(world)
    [section] = [section for section in found.sections if section.name == "findings"]
    ids = [item["id"] for item in section.rows]  # type: ignore[attr-defined]
    assert ids == [f"{item['kind']} {item['subject']}" for item in world.inbox["findings"]]
    assert found.index_of(ids[1]) == len(world.items) + 1


def said(lines: list[Line], width: int = 60) -> str:
    return "\n".join(shown(item, width).rstrip() for item in lines)


def test_an_empty_pane_says_what_would_be_here_and_the_key_that_makes_it() -> None:
    empty = said(nothing_lines(60, True))
    assert "Nothing waits for you" in empty
    assert "N a new goal" in empty
    assert "starts the engine" not in empty
    assert "R starts the engine: none is running" in said(nothing_lines(60, False))


def test_a_filter_that_leaves_nothing_says_how_it_goes_away() -> None:
    assert said(no_match_lines("[bold]x")).strip() == "Nothing here has [bold]x   esc clears"
