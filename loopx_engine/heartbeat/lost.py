"""A lost turn where the goal's preset does not go on by itself: a person says how, and that is what happens.

The question stands in the todo's way. What was answered is acted on while the lost turn is still the todo's last one.
"""

from __future__ import annotations

from loopx_engine.heartbeat.fresh import can_be_set_aside, set_aside
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.packet import cut
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.rules.presets import continues_lost_turns

LOST_TURN = "lost_turn"
CONTINUE, START_FRESH, DROP = "1", "2", "3"
OPTIONS = ["continue with what is there", "set its changes aside and start fresh", "drop the todo"]
ANSWERS_LOOKED_AT = 50


def ask_about_lost(heart: Heart, turn: Turn) -> None:
    """Opens the question, unless the goal's preset continues lost turns or nobody wants the todo any more."""
    goal = heart.get(Goal, turn.goal)
    todo = heart.get(Todo, turn.todo) if turn.todo else None
    if (
        todo is None
        or turn.purpose != "work"
        or todo.state in ("done", "dropped")
        or continues_lost_turns(goal.autonomy)
    ):
        return
    heart.act(
        "decision ask",
        goal=goal.id,
        question=f"A turn on '{cut(todo.title, 120)}' was lost. How does it go on?",
        why=f"{turn.id} ended without saying what it did; its place is as it left it",
        option=OPTIONS,
        blocks=[todo.id],
        cause=f"{LOST_TURN}:{turn.id}",
    )
    heart.log("decision.opened", goal=goal.id, reason=LOST_TURN)


def answers_to_act_on(heart: Heart, goal: Goal) -> list[tuple[Decision, Todo]]:
    """The verified answers about lost turns that were not acted on yet."""
    found = []
    with heart.engine.read() as reader:
        trusted = heart.engine.trust_of(reader)
        for decision in reader.records(Decision, "decision.of_goal", goal=goal.id, limit=ANSWERS_LOOKED_AT):
            kind, _, turn = decision.cause.partition(":")
            if kind != LOST_TURN or decision.answer not in (START_FRESH, DROP) or not trusted(decision):
                continue
            todo = reader.get(Todo, decision.blocks[0]) if decision.blocks else None
            last = reader.records(Turn, "turn.last_of_todo", todo=todo.id) if todo else []
            if todo is None or todo.state not in ("open", "waiting") or not last or last[0].id != turn:
                continue
            places = reader.records(Place, "place.of_goal", goal=goal.id)
            held = any(place.holds == todo.id and can_be_set_aside(place) for place in places)
            if decision.answer == DROP or held:
                found.append((decision, todo))
    return found


def act_on(heart: Heart, goal: Goal, decision: Decision, todo: Todo) -> None:
    """Drops the todo, or saves what lies in its place and lets it begin in a fresh one."""
    if decision.answer == DROP:
        heart.act("todo drop", todo=todo.id, reason=f"answered in {decision.id}")
        heart.log("todo.dropped", goal=goal.id, todo=todo.id)
        return
    with heart.engine.read() as reader:
        places = reader.records(Place, "place.of_goal", goal=goal.id)
    for place in places:
        if place.holds == todo.id and can_be_set_aside(place):
            set_aside(heart, goal, place)
