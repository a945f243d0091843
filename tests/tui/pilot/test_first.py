"""The first screen: with no goal at all one field, what was found on this machine, and a draft from two keys."""

from __future__ import annotations

import pytest
from textual.widgets import Input, TextArea
from tui.pilot import SIZES, House, Stage, house, keyless_house, play

from loopx_engine.model.criterion import Criterion
from loopx_engine.model.goal import Goal

__all__ = ["house", "keyless_house"]


def test_with_no_goal_the_first_screen_asks_what_should_get_done_and_says_what_was_found(house: House) -> None:
    async def scene(stage: Stage) -> None:
        await stage.sees("sandbox")
        assert stage.on_top == "First"
        assert "What should get done?" in stage.text()
        assert "owner key" in stage.text()
        for program in ("claude", "codex", "opencode"):
            assert stage.row(program) > 0
        assert stage.written() == []

    play(house, scene)


def test_a_sentence_and_enter_make_a_draft_and_the_next_step_is_said(keyless_house: House) -> None:
    async def scene(stage: Stage) -> None:
        await stage.type("rank by recency")
        await stage.press("enter")
        await stage.sees("g-1 is a draft")
        assert stage.verbs() == ["project add", "goal add"]
        assert stage.on_top == "Screen"
        assert stage.app.pane.scope == "goals"
        await stage.until(lambda: stage.cursor == "g-1")
        await stage.sees("rank by recency")

    play(keyless_house, scene)
    goal = keyless_house.get(Goal, "g-1")
    assert (goal.title, goal.phase, goal.created_by) == ("rank by recency", "draft", "a-1")


def test_each_line_of_how_you_will_know_is_a_criterion_and_a_check_is_signed(house: House) -> None:
    async def scene(stage: Stage) -> None:
        await stage.type("totals")
        await stage.press("tab")
        assert isinstance(stage.app.focused, TextArea)
        await stage.type("they are right :: pytest -q")
        await stage.press("enter")
        await stage.type("the shop reads well")
        await stage.press("tab", "enter")
        await stage.sees("g-1 is a draft")

    play(house, scene)
    assert [(item.text, bool(item.check)) for item in house.all(Criterion)] == [
        ("they are right", True),
        ("the shop reads well", False),
    ]


def test_an_empty_sentence_is_named_and_nothing_is_written(house: House) -> None:
    async def scene(stage: Stage) -> None:
        await stage.press("enter")
        await stage.sees("a sentence is needed")
        await stage.type("   ")
        await stage.press("enter")
        await stage.settled()
        assert stage.written() == []
        assert stage.on_top == "First"

    play(house, scene)


def test_a_refused_goal_loses_nothing_that_was_typed(house: House) -> None:
    async def scene(stage: Stage) -> None:
        await stage.type("x" * 201)
        await stage.press("enter")
        await stage.sees("at most 200")
        assert stage.on_top == "First"
        assert stage.app.screen.query_one("#first-title", Input).value == "x" * 201
        assert "goal add" not in stage.verbs()

    play(house, scene)


def test_f3_changes_the_rules_and_they_are_sent(house: House) -> None:
    async def scene(stage: Stage) -> None:
        await stage.sees("rules normal")
        await stage.press("f3")
        await stage.sees("rules careful")
        await stage.type("rank by recency")
        await stage.press("enter")
        await stage.sees("g-1 is a draft")
        assert stage.sent()["autonomy"] == "careful"

    play(house, scene)


def test_the_agents_of_this_ledger_are_offered_and_f4_takes_another(house: House) -> None:
    house.agent("codex-2")
    house.agent("claude-1")

    async def scene(stage: Stage) -> None:
        await stage.sees("with ")
        first = "codex-2" if "codex-2" in stage.line("with ") else "claude-1"
        await stage.press("f4")
        second = ({"codex-2", "claude-1"} - {first}).pop()
        await stage.sees(second)
        await stage.type("rank")
        await stage.press("enter")
        await stage.sees("g-1 is a draft")
        assert stage.sent()["agent"] == [second]

    play(house, scene)


def test_escape_looks_around_first_and_says_which_key_makes_a_goal(house: House) -> None:
    async def scene(stage: Stage) -> None:
        await stage.press("escape")
        await stage.sees("Nothing waits for you")
        assert "N a new goal" in stage.text()
        await stage.press("2")
        await stage.sees("No goal yet")
        assert stage.written() == []

    play(house, scene)


def test_the_first_screen_does_not_come_where_there_is_a_goal(house: House) -> None:
    house.draft("docs")

    async def scene(stage: Stage) -> None:
        assert stage.on_top == "Screen"

    play(house, scene)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_line_is_as_wide_as_the_screen(house: House, size: tuple[int, int]) -> None:
    async def scene(stage: Stage) -> None:
        await stage.until(lambda: stage.on_top == "First")
        await stage.settled()
        assert {len(line) for line in stage.lines()} == {size[0]}
        assert len(stage.lines()) == size[1]

    play(house, scene, size=size)
