"""Claims that wait for a review nobody on the goal can give: a person is asked, and the answer settles them."""

from __future__ import annotations

from loopx_engine.commands.confirm import cause_of
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.packet import cut
from loopx_engine.heartbeat.proving import place_facts
from loopx_engine.model.actor import Actor
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo


def ask_for_review(heart: Heart, goal: Goal) -> list[tuple[Todo, Decision]]:
    """Asks about each such claim once. Returns those whose answer verifies and is not acted on yet."""
    with heart.engine.read() as reader:
        due = [
            todo
            for todo in reader.records(Todo, "todo.unfinished", goal=goal.id, limit=200)
            if todo.state == "proving" and todo.review == "due"
        ]
        reviewers = [actor for name in goal.reviewers if (actor := reader.get(Actor, name)) and actor.state == "active"]
        asked = {
            todo.id: reader.records(Decision, "decision.by_cause", goal=goal.id, cause=cause_of(todo)) for todo in due
        }
        trusted = heart.engine.trust_of(reader)
    answered = []
    for todo in due:
        if any(actor.id != todo.claimed_by and actor.id not in todo.excluded for actor in reviewers):
            continue
        known = asked[todo.id]
        if not known:
            _ask(heart, goal, todo)
        elif known[0].answer and trusted(known[0]):
            answered.append((todo, known[0]))
    return answered


def settle_review(heart: Heart, todo: Todo, decision: Decision) -> None:
    """Settles one claim by its answer, on the tree as it is now."""
    with heart.engine.read() as reader:
        places = reader.records(Place, "place.of_goal", goal=todo.goal)
    place = next((item for item in places if item.holds == todo.id), None)
    tree, dirty, _ = place_facts(place)
    heart.act("review settle", todo=todo.id, decision=decision.id, tree=tree, changed=dirty)
    heart.log("review.settled", goal=todo.goal, todo=todo.id)


def _ask(heart: Heart, goal: Goal, todo: Todo) -> None:
    heart.act(
        "decision ask",
        goal=goal.id,
        question=f"'{cut(todo.title, 120)}' passed its check and changed files that check protects. Does it count?",
        why=f"nobody else on the goal may review it; look at it with: loopx diff {goal.id}",
        cause=cause_of(todo),
    )
    heart.log("decision.opened", goal=goal.id, reason="unreviewed")
