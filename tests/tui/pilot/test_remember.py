"""Yes, and from now on: the rule as a second step with its preview; what cannot be remembered says why."""

from __future__ import annotations

from textual.widgets import Input
from tui.pilot import Day, House, Stage, house, play

from loopx_engine.model.grant import Grant

__all__ = ["house"]


async def fields(stage: Stage) -> dict[str, str]:
    await stage.until(lambda: stage.on_top == "Form")
    return {name: field.value for name, field in stage.app.screen.inputs.items()}  # type: ignore[attr-defined]


async def previewed(stage: Stage) -> None:
    await stage.press("f2")
    await stage.until(lambda: stage.app.screen.preview is not None)  # type: ignore[attr-defined]
    await stage.settled()


def test_the_rule_its_end_and_its_uses_are_shown_and_previewed_before_it_is_signed(house: House) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        await stage.press("Y")
        shown = await fields(stage)
        assert shown["scope"] == f"origin/loopx/{day.goal}"
        assert shown["until"] == "24h"
        assert shown["uses"] == "20"
        await previewed(stage)
        assert "grant" in stage.text()
        assert f"origin/loopx/{day.goal}" in stage.text()
        assert stage.written() == []
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["decision answer"])
        sent = stage.sent()
        assert sent["remember"] is True
        assert sent["scope"] == f"origin/loopx/{day.goal}"

    play(house, scene)
    [grant] = house.all(Grant)
    assert (grant.kind, grant.pattern, grant.effect, grant.uses) == ("push", f"origin/loopx/{day.goal}", "allow", 20)


def test_a_narrower_rule_can_be_typed(house: House) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        await stage.press("Y")
        await fields(stage)
        inputs = stage.app.screen.inputs  # type: ignore[attr-defined]
        inputs["uses"].value = "1"
        inputs["until"].value = "2h"
        await previewed(stage)
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["decision answer"])

    play(house, scene)
    [grant] = house.all(Grant)
    assert grant.uses == 1
    assert 0 < grant.expires - grant.created_at


def test_bad_input_is_said_and_nothing_typed_is_lost(house: House) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        await stage.press("Y")
        await fields(stage)
        inputs = stage.app.screen.inputs  # type: ignore[attr-defined]
        inputs["until"].value = "some day"
        inputs["uses"].value = "7"
        await stage.press("f2")
        await stage.sees("'some day' is no time")
        inputs["until"].value = "3d"
        inputs["uses"].value = "many"
        await stage.press("f2")
        await stage.sees("uses is a number")
        assert inputs["scope"].value == f"origin/loopx/{day.goal}"
        assert stage.written() == []

    play(house, scene)


def test_what_the_engine_does_not_offer_says_why_and_opens_nothing(house: House) -> None:
    day = Day(house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("Y")
        await stage.sees("cannot be remembered")
        assert stage.on_top == "Screen"
        assert stage.written() == []

    play(house, scene)


def test_a_high_one_needs_reason_and_goal_in_the_rule_as_well(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.high)
        await stage.press("Y")
        await stage.until(lambda: stage.on_top != "Screen" or "cannot be remembered" in stage.text())
        if stage.on_top == "Screen":
            return
        shown = await fields(stage)
        assert {"reason", "goal"} <= set(shown)
        await stage.press("f2")
        await stage.until(lambda: stage.app.screen.fault)  # type: ignore[attr-defined]
        assert stage.written() == []
        inputs = stage.app.screen.inputs  # type: ignore[attr-defined]
        assert isinstance(inputs["goal"], Input)
        inputs["reason"].value = "proved"
        inputs["goal"].value = "g-2"
        await stage.press("f2")
        await stage.until(lambda: stage.app.screen.fault)  # type: ignore[attr-defined]
        assert stage.written() == []

    play(house, scene)


def test_escape_takes_the_preview_back_and_then_leaves(house: House) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        await stage.press("Y")
        await fields(stage)
        await previewed(stage)
        await stage.press("escape")
        assert stage.app.screen.preview is None  # type: ignore[attr-defined]
        await stage.press("escape")
        assert stage.on_top == "Screen"
        assert stage.written() == []

    play(house, scene)
