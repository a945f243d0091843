"""A fresh place for other work: what lies in the old one is saved under `refs/loopx/wip/<turn>` first and stays there."""

from __future__ import annotations

from pathlib import Path

from loopx_engine.heartbeat.heart import Heart
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.turn import Turn
from loopx_engine.places.commits import save_wip
from loopx_engine.places.git import at_place, run_git
from loopx_engine.places.make import fetch_back


def held_place(heart: Heart, goal: Goal, todo: str | None) -> Place | None:
    """The ready place that holds another todo's work while none is free for this one."""
    with heart.engine.read() as reader:
        places = [item for item in reader.records(Place, "place.of_goal", goal=goal.id) if item.state == "ready"]
    if not places or any(place.holds in (None, todo) for place in places):
        return None
    return next((place for place in places if can_be_set_aside(place)), places[0])


def can_be_set_aside(place: Place) -> bool:
    """A place of the engine's own. Where a person works too there is no other: work on something else waits."""
    return place.kind in ("worktree", "clone")


def set_aside(heart: Heart, goal: Goal, place: Place) -> None:
    """Saves the held work under its turn's ref and gives the branch free for a new place. No file is touched."""
    with heart.engine.read() as reader:
        turns = reader.records(Turn, "turn.last_of_todo", todo=place.holds)
    turn = turns[0].id if turns else place.id
    root = Path(place.path)
    with heart.holding(place.id) as free:
        if not free:
            return
        saved = save_wip(root, turn)
        if place.kind == "clone":
            fetch_back(Path(heart.project_of(goal).root), root, place.branch)
        run_git(root, "checkout", "--quiet", "--detach", env=at_place(root))
        heart.act("place set aside", place=place.id, saved=saved)
        heart.log("place.set_aside", goal=goal.id, place=place.id, saved=saved)
