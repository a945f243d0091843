"""Answering a decision by its tier: one key for a low one, two for a medium one, no with its reason, words, later, taken back."""

from __future__ import annotations

import pytest
from textual.widgets import Input
from tui.pilot import Day, House, Stage, house, play

__all__ = ["house"]


def test_the_first_decision_is_on_the_screen_without_a_key(house: House) -> None:
    day = Day(house, "low")

    async def scene(stage: Stage) -> None:
        assert stage.cursor == day.low
        text = stage.text()
        for said in ("Keep the old URL alive?", "LOW", "wants", "because", "if no", "undo", "checkout totals"):
            assert said in text
        assert stage.written() == []

    play(house, scene)


def test_a_low_decision_is_answered_by_one_key_and_the_foot_names_its_receipt(house: House) -> None:
    day = Day(house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("y")
        await stage.sees(f"{day.low} answered yes")
        assert stage.verbs() == ["decision answer"]
        assert stage.sent()["option"] == "yes"
        assert stage.sent()["basis"] == house.decision(day.low).basis
        assert stage.written()[0].id in stage.foot
        await stage.sees("Nothing waits for you")

    play(house, scene)
    assert house.decision(day.low).answer == "yes"


def test_an_answered_row_leaves_and_its_neighbour_is_shown(house: House) -> None:
    day = Day(house, "low choice")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("y")
        await stage.until(lambda: stage.cursor == day.choice)
        await stage.sees("Which name?")
        assert stage.app.pending == frozenset()

    play(house, scene)


def test_a_choice_takes_two_keys_open_and_its_number(house: House) -> None:
    day = Day(house, "choice")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.choice)
        await stage.press("enter")
        await stage.until(lambda: stage.on_top == "DecisionScreen")
        assert "1  carts" in stage.text()
        await stage.press("2")
        await stage.sees(f"{day.choice} answered 2")

    play(house, scene)
    assert house.decision(day.choice).answer == "2"


def test_yes_on_a_choice_opens_its_answers_and_sends_nothing(house: House) -> None:
    day = Day(house, "choice")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.choice)
        await stage.press("y")
        await stage.until(lambda: stage.on_top == "DecisionScreen")
        await stage.press("y")
        await stage.sees("choose an answer by its number")
        await stage.press("9")
        await stage.sees("there is no answer 9")
        await stage.press("escape")
        assert stage.on_top == "Screen"
        assert stage.written() == []

    play(house, scene)


def test_a_medium_decision_is_armed_by_the_first_key_and_answered_by_the_second(house: House) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        await stage.press("y")
        await stage.sees("y again answers yes")
        assert stage.written() == []
        await stage.press("y")
        await stage.sees(f"{day.medium} answered yes")
        assert stage.verbs() == ["decision answer"]

    play(house, scene)


@pytest.mark.parametrize("other", ["j", "w", "0", "2", "/", "?", "d"])
def test_any_other_key_takes_the_first_of_two_back(house: House, other: str) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        await stage.press("y")
        await stage.sees("y again answers yes")
        await stage.press(other)
        await stage.settled()
        await stage.press("escape", "1")
        await stage.shown_whole(day.medium)
        await stage.press("y")
        await stage.sees("y again answers yes")
        assert stage.written() == []

    play(house, scene)


def test_a_key_that_does_nothing_takes_the_first_of_two_back(house: House) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        for other in ("f7", "u", "left"):
            await stage.press("y", other, "y")
            await stage.settled()
            assert stage.written() == [], other
            await stage.press("left")

    play(house, scene)


def test_the_second_key_counts_for_five_seconds(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        await stage.press("y")
        name, basis, at = stage.app.deeds.armed
        stage.app.deeds.armed = (name, basis, at - 5.01)
        await stage.press("y")
        await stage.settled()
        assert stage.written() == []
        assert "y again answers yes" in stage.foot

    play(house, scene)


def test_the_first_key_on_one_row_never_answers_another(house: House) -> None:
    day = Day(house, "medium")
    other = house.ask_push(day.goal, "loopx/other")

    async def scene(stage: Stage) -> None:
        await stage.go_to(day.medium)
        await stage.shown_whole(day.medium)
        await stage.press("y")
        await stage.go_to(other)
        await stage.shown_whole(other)
        await stage.press("y")
        await stage.settled()
        assert stage.written() == []
        await stage.press("y")
        await stage.sees(f"{other} answered yes")

    play(house, scene)
    assert house.decision(day.medium).state == "open"


def test_no_asks_for_the_reason_and_it_is_sent(house: House) -> None:
    day = Day(house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("n")
        await stage.sees("No: Keep the old URL alive?")
        await stage.type("nobody uses it")
        await stage.press("enter")
        await stage.sees(f"{day.low} answered no")
        assert (stage.sent()["option"], stage.sent()["reason"]) == ("no", "nobody uses it")

    play(house, scene)


def test_no_without_a_reason_is_taken_for_a_low_one_only(house: House) -> None:
    day = Day(house, "low high")

    async def scene(stage: Stage) -> None:
        await stage.go_to(day.low)
        await stage.shown_whole(day.low)
        await stage.press("n", "enter")
        await stage.sees(f"{day.low} answered no")
        await stage.shown_whole(day.high)
        await stage.press("n", "enter")
        await stage.sees("A reason is needed")
        await stage.type("not today")
        await stage.press("enter")
        await stage.sees(f"{day.high} answered no")
        assert stage.sent()["reason"] == "not today"

    play(house, scene)


def test_escape_leaves_a_no_undecided(house: House) -> None:
    day = Day(house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("n")
        await stage.type("yyy")
        await stage.press("escape")
        await stage.settled()
        assert stage.on_top == "Screen"
        assert stage.written() == []

    play(house, scene)


def test_an_answer_in_words_goes_as_a_yes_with_its_text(house: House) -> None:
    day = Day(house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("e", "enter")
        await stage.sees("answer is needed")
        await stage.type("until spring")
        await stage.press("enter")
        await stage.sees(f"{day.low} answered yes")
        assert stage.sent()["text"] == "until spring"

    play(house, scene)


def test_words_for_a_high_decision_lead_to_its_own_screen(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.high)
        await stage.press("e")
        await stage.until(lambda: stage.on_top == "DecisionScreen")
        assert stage.written() == []

    play(house, scene)


def test_a_decision_is_snoozed_through_a_form_and_leaves_the_list(house: House) -> None:
    day = Day(house, "low choice")

    async def scene(stage: Stage) -> None:
        await stage.go_to(day.low)
        await stage.shown_whole(day.low)
        await stage.press("s")
        await stage.form()
        await stage.type("2")
        await stage.preview()
        assert stage.written() == []
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["decision snooze"])
        assert stage.sent()["hours"] == 2
        await stage.until(lambda: stage.cursor == day.choice)
        await stage.misses("Keep the old URL alive?")

    play(house, scene)
    assert house.decision(day.low).state == "open"


def test_a_question_is_taken_back_through_a_form(house: House) -> None:
    day = Day(house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("x")
        await stage.form()
        await stage.type("found it")
        await stage.preview()
        assert "becomes withdrawn" in stage.text()
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["decision withdraw"])

    play(house, scene)
    assert (house.decision(day.low).state, house.decision(day.low).reason) == ("withdrawn", "found it")


def test_text_that_is_typed_for_a_reason_is_never_a_key(house: House) -> None:
    day = Day(house, "low choice")

    async def scene(stage: Stage) -> None:
        await stage.go_to(day.low)
        await stage.shown_whole(day.low)
        await stage.press("n")
        await stage.type("yes, y2z:q?/")
        assert stage.app.screen.query_one("#field", Input).value == "yes, y2z:q?/"
        assert stage.written() == []
        await stage.press("escape")

    play(house, scene)
