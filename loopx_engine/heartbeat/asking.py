"""What the engine asks a person by itself: an `ask` verdict that no open decision carries, once per frontier."""

from __future__ import annotations

from typing import Any

from loopx_engine.commands.confirm import UNREVIEWED
from loopx_engine.errors import Refused
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.lost import LOST_TURN
from loopx_engine.heartbeat.packet import cut
from loopx_engine.model.actor import Actor
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.turn import Turn
from loopx_engine.rules.budget import exceeded
from loopx_engine.rules.verdict import Verdict


def open_question(heart: Heart, goal: Goal, actor: Actor, ruling: Verdict) -> None:
    """Opens the decision a verdict calls for; a goal that is ready and whose closing was granted is closed at once."""
    if ruling.reason == "ready_to_close" and _closed(heart, goal):
        return
    cause = f"{ruling.reason}:{ruling.basis[:24]}"
    with heart.engine.read() as reader:
        if reader.records(Decision, "decision.by_cause", goal=goal.id, cause=cause):
            return
    question, why, commands = _words(heart, goal, actor, ruling)
    if commands:
        heart.act(
            "decision propose", goal=goal.id, question=question, why=cut(why, 4000), commands=commands, cause=cause
        )
    else:
        heart.act("decision ask", goal=goal.id, question=question, why=cut(why, 4000), cause=cause)
    heart.log("decision.opened", goal=goal.id, reason=ruling.reason)


def withdraw_moot(heart: Heart, goal: Goal, ruling: Verdict) -> None:
    """Takes back what the engine asked about a frontier that has moved on since; a person's answer is no longer needed."""
    with heart.engine.read() as reader:
        asked = reader.records(Decision, "decision.open", goal=goal.id)
    for decision in asked:
        reason = decision.cause.partition(":")[0]
        if (
            reason
            and decision.asked_by == heart.identity.actor
            and reason not in (ruling.reason, LOST_TURN, UNREVIEWED)
        ):
            heart.act("decision withdraw", decision=decision.id, reason="what happened since answers it")


def _closed(heart: Heart, goal: Goal) -> bool:
    try:
        heart.act("goal close", goal=goal.id, note="every criterion is met; closing was granted")
    except Refused as error:
        if error.code != "permission_missing":
            raise
        return False
    heart.log("goal.closed", goal=goal.id)
    return True


def _words(heart: Heart, goal: Goal, actor: Actor, ruling: Verdict) -> tuple[str, str, list[dict[str, Any]]]:
    title = cut(goal.title, 120)
    if ruling.reason == "ready_to_close":
        return (
            f"Every criterion of '{title}' is met. Close the goal?",
            "its branch stays; merge or push it when you like",
            [{"verb": "goal close", "arguments": {"goal": goal.id}}],
        )
    if ruling.reason == "budget_spent":
        unit, more = _more_budget(heart, goal, actor)
        return (
            f"'{title}' has used up its {unit}. Allow more ({more})?",
            ruling.text,
            [{"verb": "goal edit", "arguments": {"goal": goal.id, "budget": more}}],
        )
    if ruling.reason == "place_broken":
        place = _broken_place(heart, goal)
        if place is not None:
            return (
                f"The place of '{title}' cannot be used. Mended, try again?",
                place.reason,
                [{"verb": "place retry", "arguments": {"place": place.id}}],
            )
    if ruling.reason == "stalled" and ruling.todo:
        return (
            f"'{title}' is stuck: {cut(ruling.text, 300)}. Let it be tried again?",
            _last_reason(heart, ruling.todo),
            [{"verb": "todo edit", "arguments": {"todo": ruling.todo}}],
        )
    return (f"'{title}' is stuck: {cut(ruling.text, 300)} What should happen?", f"{ruling.kind}, {ruling.reason}", [])


def _last_reason(heart: Heart, todo: str) -> str:
    with heart.engine.read() as reader:
        turns = reader.records(Turn, "turn.last_of_todo", todo=todo)
    return f"its last turn, {turns[0].id}, ended as {turns[0].result}. {turns[0].reason}".strip() if turns else ""


def _more_budget(heart: Heart, goal: Goal, actor: Actor) -> tuple[str, str]:
    snapshot = heart.engine.snapshot(goal.id, actor.id)
    spent = {"turns": snapshot.spent_turns, "tokens": snapshot.spent_tokens, "cost": snapshot.spent_cost}
    over = exceeded(goal, spent, heart.clock.now())
    unit = over[0] if over else "turns"
    limit = {
        "turns": goal.budget_turns,
        "days": goal.budget_days,
        "tokens": goal.budget_tokens or 0,
        "cost": -(-(goal.budget_cost or 0) // 1_000_000),
    }[unit]
    return unit, f"{unit}={max(1, limit) * 2}"


def _broken_place(heart: Heart, goal: Goal) -> Place | None:
    with heart.engine.read() as reader:
        places = reader.records(Place, "place.of_goal", goal=goal.id)
    return next((place for place in places if place.state == "broken"), None)
