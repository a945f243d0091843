"""A high decision: only on its own screen, with the difference opened, a reason written and the goal's id typed."""

from __future__ import annotations

import pytest
from textual.widgets import Input
from tui.pilot import Day, House, Stage, house, play

__all__ = ["house"]


async def opened(stage: Stage, name: str) -> None:
    """The decision's own screen, by the one key that leads there."""
    await stage.go_to(name)
    await stage.shown_whole(name)
    await stage.press("y")
    await stage.until(lambda: stage.on_top == "DecisionScreen")
    await stage.settled()


async def see_difference(stage: Stage) -> None:
    await stage.press("d")
    await stage.until(lambda: stage.on_top == "Read")
    await stage.press("escape")
    await stage.until(lambda: stage.on_top == "DecisionScreen")
    await stage.settled()


def test_yes_on_a_high_one_opens_its_screen_and_sends_nothing(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await opened(stage, day.high)
        text = stage.text()
        assert "HIGH" in text
        assert f"type {day.goal}" in text
        for _ in range(5):
            await stage.press("y", "enter")
        await stage.settled()
        assert stage.on_top == "DecisionScreen"
        assert stage.written() == []

    play(house, scene)


def test_each_thing_that_is_missing_is_named_in_its_turn_and_only_all_of_them_send_it(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await opened(stage, day.high)
        await stage.press("enter")
        await stage.sees("open the difference first: d")
        await see_difference(stage)
        reason, typed = (stage.app.screen.query_one(name, Input) for name in ("#reason", "#typed"))
        await stage.until(lambda: reason.has_focus)
        await stage.press("enter", "enter")
        await stage.sees("a reason is needed")
        reason.focus()
        await stage.until(lambda: reason.has_focus)
        await stage.type("the branch is proved")
        await stage.press("enter")
        await stage.until(lambda: typed.has_focus)
        await stage.press("enter")
        await stage.until(lambda: stage.app.screen.missing == f"type {day.goal}")  # type: ignore[attr-defined]
        await stage.type("g-2")
        await stage.press("enter")
        await stage.settled()
        assert stage.written() == []
        typed.value = ""
        await stage.type(day.goal)
        await stage.press("enter")
        await stage.sees(f"{day.high} answered yes")
        assert stage.verbs() == ["decision answer"]
        sent = stage.sent()
        assert (sent["reason"], sent["goal"], sent["option"]) == ("the branch is proved", day.goal, "yes")
        assert sent["basis"] == house.decision(day.high).basis

    play(house, scene)


@pytest.mark.parametrize("left_out", ["difference", "reason", "goal"])
def test_without_one_of_the_three_it_is_never_sent(house: House, left_out: str) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await opened(stage, day.high)
        if left_out != "difference":
            await see_difference(stage)
        reason, typed = (stage.app.screen.query_one(name, Input) for name in ("#reason", "#typed"))
        reason.value = "" if left_out == "reason" else "proved"
        typed.value = "" if left_out == "goal" else day.goal
        for field in (reason, typed, stage.app.screen.text):  # type: ignore[attr-defined]
            field.focus()
            await stage.press("enter")
        await stage.press("y")
        await stage.settled()
        assert stage.on_top == "DecisionScreen"
        assert stage.written() == []

    play(house, scene)


def test_blanks_are_no_reason(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await opened(stage, day.high)
        await see_difference(stage)
        stage.app.screen.query_one("#reason", Input).value = "   "
        stage.app.screen.query_one("#typed", Input).value = day.goal
        stage.app.screen.query_one("#typed", Input).focus()
        await stage.press("enter")
        await stage.sees("a reason is needed")
        assert stage.written() == []

    play(house, scene)


def test_letters_in_its_fields_are_text(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await opened(stage, day.high)
        await see_difference(stage)
        await stage.type("yes nobody dYn19")
        assert stage.app.screen.query_one("#reason", Input).value == "yes nobody dYn19"
        assert stage.on_top == "DecisionScreen"
        assert stage.written() == []

    play(house, scene)


def test_escape_leaves_the_field_first_and_then_the_screen(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await opened(stage, day.high)
        await see_difference(stage)
        await stage.press("escape")
        assert stage.on_top == "DecisionScreen"
        await stage.press("escape")
        assert stage.on_top == "Screen"
        assert stage.written() == []

    play(house, scene)


def test_what_was_seen_before_does_not_count_when_it_is_opened_again(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await opened(stage, day.high)
        await see_difference(stage)
        await stage.press("escape", "escape")
        await opened(stage, day.high)
        await stage.press("enter")
        await stage.sees("open the difference first: d")

    play(house, scene)


def test_a_high_no_on_its_screen_needs_a_reason_too(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await opened(stage, day.high)
        await stage.press("n")
        await stage.until(lambda: stage.on_top == "Ask")
        await stage.press("enter")
        await stage.sees("A reason is needed")
        await stage.type("not on a friday")
        await stage.press("enter")
        await stage.sees(f"{day.high} answered no")

    play(house, scene)


def test_a_high_choice_needs_its_number_too(house: House) -> None:
    day = Day(house, "")
    name = house.ask(day.goal, "Which data goes?", option=["the old", "the new"], risk="high")

    async def scene(stage: Stage) -> None:
        await opened(stage, name)
        await see_difference(stage)
        stage.app.screen.query_one("#reason", Input).value = "cleaning"
        stage.app.screen.query_one("#typed", Input).value = day.goal
        stage.app.screen.text.focus()  # type: ignore[attr-defined]
        await stage.press("enter")
        await stage.sees("choose an answer by its number")
        assert stage.written() == []
        await stage.press("2")
        stage.app.screen.text.focus()  # type: ignore[attr-defined]
        await stage.press("enter")
        await stage.sees(f"{name} answered 2")

    play(house, scene)


def test_it_cannot_be_answered_from_the_goal_without_its_screen(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await stage.press("2")
        await stage.go_to(day.goal)
        await stage.go_into(day.high)
        await stage.press("y")
        await stage.settled()
        assert stage.written() == []
        await stage.press("enter")
        await stage.until(lambda: stage.on_top == "DecisionScreen")
        await stage.press("enter")
        await stage.sees("open the difference first: d")
        assert stage.written() == []

    play(house, scene)


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (160, 48)], ids=str)
def test_it_can_be_answered_at_every_size(house: House, size: tuple[int, int]) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await opened(stage, day.high)
        assert {len(line) for line in stage.lines()} == {size[0]}
        await see_difference(stage)
        for field in ("#reason", "#typed"):
            assert stage.app.screen.query_one(field).region.height == 1, field
            assert stage.app.screen.query_one(field).region.bottom <= size[1]
        await stage.type("proved")
        await stage.press("enter")
        await stage.type(day.goal)
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["decision answer"])

    play(house, scene, size=size)
