"""Yes, and from now on: the rule as a second step with its preview; what cannot be remembered says why."""

from __future__ import annotations

from textual.widgets import Input
from tui.pilot import Day, House, Stage, house, play

from loopx_engine.model.grant import Grant

__all__ = ["house"]


async def fields(stage: Stage) -> dict[str, str]:
    form = await stage.form()
    return {name: field.value for name, field in form.inputs.items() if isinstance(field, Input)}


def test_the_rule_its_end_and_its_uses_are_shown_and_previewed_before_it_is_signed(house: House) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        await stage.press("Y")
        shown = await fields(stage)
        assert shown["scope"] == f"origin/loopx/{day.goal}"
        assert shown["until"] == "24h"
        assert shown["uses"] == "20"
        await stage.preview()
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
        await stage.fill(uses="1", until="2h")
        await stage.preview()
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["decision answer"])

    play(house, scene)
    [grant] = house.all(Grant)
    assert grant.uses == 1
    assert grant.expires - grant.created_at > 0


def test_bad_input_is_said_and_nothing_typed_is_lost(house: House) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        await stage.press("Y")
        await stage.form()
        await stage.fill(until="some day", uses="7")
        await stage.press("f2")
        await stage.sees("'some day' is no time")
        await stage.fill(until="3d", uses="many")
        await stage.press("f2")
        await stage.sees("uses is a number")
        assert await fields(stage) == {"scope": f"origin/loopx/{day.goal}", "until": "3d", "uses": "many"}
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


def test_a_high_one_is_remembered_only_from_its_screen_with_reason_and_goal(house: House) -> None:
    day = Day(house, "high")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.high)
        await stage.press("Y")
        await stage.until(lambda: stage.on_top == "DecisionScreen")
        await stage.heard()
        await stage.press("Y")
        await stage.sees("open the difference first")
        await stage.press("d")
        await stage.until(lambda: stage.on_top == "Read")
        await stage.press("escape", "escape", "Y")
        form = await stage.form()
        await stage.press("f2")
        await stage.until(lambda: form.fault)
        await stage.fill(reason="proved", goal="g-2")
        await stage.press("f2")
        await stage.until(lambda: form.fault)
        await stage.fill(reason=" ", goal=day.goal)
        await stage.press("f2")
        await stage.until(lambda: form.fault)
        assert stage.written() == []
        await stage.fill(reason="proved")
        await stage.preview()
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["decision answer"])
        assert (stage.sent()["reason"], stage.sent()["goal"], stage.sent()["remember"]) == ("proved", day.goal, True)

    play(house, scene)


def test_escape_takes_the_preview_back_and_then_leaves(house: House) -> None:
    day = Day(house, "medium")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.medium)
        await stage.press("Y")
        await fields(stage)
        await stage.preview()
        await stage.press("escape")
        assert stage.app.screen.preview is None  # type: ignore[attr-defined]
        await stage.press("escape")
        assert stage.on_top == "Screen"
        assert stage.written() == []

    play(house, scene)
