"""A key reaches only what was on the screen when it was pressed, and an answer only exactly what was shown."""

from __future__ import annotations

import time

from tui.pilot import Day, House, Stage, house, play

from loopx_tui.panes.base import SETTLE_S
from loopx_tui.panes.needs import NeedsPane

__all__ = ["house"]


def shown(stage: Stage) -> str:
    """The decision that is shown whole, or nothing."""
    pane = stage.app.pane
    assert isinstance(pane, NeedsPane)
    answer = pane.shown()
    return str(answer["item"]["id"]) if answer else ""


async def handed_over(stage: Stage, day: Day) -> None:
    """The first decision is answered elsewhere, and the cursor stands on the next by nobody's hand."""
    stage.house.answer(day.low)
    stage.begun = stage.house.seq()
    await stage.until(lambda: shown(stage) == day.choice)
    await stage.settled()


def test_a_key_pressed_just_after_a_foreign_change_moved_the_cursor_is_ignored(house: House) -> None:
    day = Day(house, "low choice")
    house.ask(day.goal, "And this one?")

    async def scene(stage: Stage) -> None:
        await stage.go_to(day.low)
        await stage.shown_whole(day.low)
        await handed_over(stage, day)
        painted = stage.app.pane._painted_at
        for key in ("y", "n", "Y", "e", "enter"):
            stage.send(key, at=painted + SETTLE_S - 0.01)
            await stage.sees("press again")
            assert stage.on_top == "Screen", key
            stage.app.say("")
        assert stage.written() == []
        await stage.shown_whole(day.choice)
        await stage.press("enter")
        await stage.until(lambda: stage.on_top == "DecisionScreen")

    play(house, scene)


def test_a_key_pressed_before_the_row_was_painted_is_ignored(house: House) -> None:
    day = Day(house, "low choice")

    async def scene(stage: Stage) -> None:
        await stage.go_to(day.low)
        await stage.shown_whole(day.low)
        before = time.monotonic()
        await handed_over(stage, day)
        await stage.shown_whole(day.choice)
        stage.send("y", at=before)
        await stage.sees("press again")
        assert stage.on_top == "Screen"
        assert stage.written() == []

    play(house, scene)


def test_a_key_pressed_before_the_first_screen_was_painted_answers_nothing(house: House) -> None:
    Day(house, "low")

    async def scene(stage: Stage) -> None:
        at = time.monotonic()
        for key in "yyy":
            stage.send(key, at=at - 5)
        await stage.settled()
        for key in "yyy":
            stage.send(key, at=at - 1)
        await stage.heard()
        await stage.settled()
        assert stage.written() == []

    play(house, scene, settle=False)


def test_moving_by_hand_lets_a_key_act_at_once(house: House) -> None:
    day = Day(house, "low choice")

    async def scene(stage: Stage) -> None:
        await stage.go_to(day.choice)
        await stage.shown_whole(day.choice)
        await stage.go_to(day.low)
        await stage.until(lambda: shown(stage) == day.low)
        await stage.heard()
        await stage.press("y")
        await stage.until(lambda: stage.verbs() == ["decision answer"])
        assert stage.sent()["decision"] == day.low

    play(house, scene)


def test_a_decision_that_changed_behind_the_screen_is_refused_and_shown_again(house: House) -> None:
    day = Day(house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        house.tamper("update decision set basis = :basis where id = :id", basis="e" * 64, id=day.low)
        await stage.press("y")
        await stage.sees("is not what was shown")
        await stage.settled()
        assert stage.written() == []
        pane = stage.app.pane
        assert isinstance(pane, NeedsPane)
        await stage.until(lambda: (pane.shown() or {"item": {"basis": ""}})["item"]["basis"] == "e" * 64)

    play(house, scene)


def test_one_that_was_answered_elsewhere_takes_no_second_answer(house: House) -> None:
    day = Day(house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        stage.jobs.slow = 0.3
        house.answer(day.low, "no")
        stage.begun = house.seq()
        await stage.press("y")
        await stage.until(lambda: "takes no answer" in stage.text() or "Nothing waits" in stage.text())
        assert stage.written() == []

    play(house, scene)
    assert house.decision(day.low).answer == "no"


def test_a_double_press_is_one_receipt_and_no_error(house: House) -> None:
    day = Day(house, "low choice")

    async def scene(stage: Stage) -> None:
        await stage.go_to(day.low)
        await stage.shown_whole(day.low)
        stage.send("y")
        stage.send("y")
        await stage.until(lambda: "decision answer" in stage.verbs())
        await stage.heard()
        await stage.settled()
        assert stage.verbs() == ["decision answer"]
        assert "takes no answer" not in stage.text()
        assert f"{day.low} answered yes" in stage.foot

    play(house, scene)


def test_a_double_press_on_a_goal_is_one_receipt(house: House) -> None:
    day = Day(house, "")

    async def scene(stage: Stage) -> None:
        await stage.press("2")
        await stage.go_to(day.goal)
        stage.send("p")
        stage.send("p")
        await stage.until(stage.verbs)
        await stage.heard()
        await stage.settled()
        assert stage.verbs() == ["goal pause"]

    play(house, scene)


def test_a_row_that_was_acted_on_is_marked_until_the_ledger_says_so(house: House) -> None:
    day = Day(house, "low choice")

    async def scene(stage: Stage) -> None:
        await stage.go_to(day.low)
        await stage.shown_whole(day.low)
        stage.jobs.slow = 0.4
        stage.send("y")
        await stage.until(lambda: day.low in stage.app.pending)
        await stage.heard()
        assert "…" in stage.line("LOW    Keep the old").partition("│")[0]
        await stage.until(lambda: day.low not in stage.app.pending)
        await stage.misses("LOW    Keep the old")

    play(house, scene)


def test_a_row_under_the_cursor_keeps_it_when_others_are_answered_or_come(house: House) -> None:
    day = Day(house, "low")
    mine = house.ask(day.goal, "Mine?")

    async def scene(stage: Stage) -> None:
        await stage.go_to(mine)
        await stage.shown_whole(mine)
        house.ask_push(day.goal, "main", "Push it?")
        await stage.sees("Push it?")
        await stage.settled()
        assert stage.cursor == mine
        house.answer(day.low)
        stage.begun = house.seq()
        await stage.settled()
        assert stage.cursor == mine
        await stage.press("y")
        await stage.until(lambda: stage.verbs() == ["decision answer"])
        assert stage.sent()["decision"] == mine

    play(house, scene)
