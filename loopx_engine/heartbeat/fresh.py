"""A fresh place for other work: what lies in the old one is saved under `refs/loopx/wip/<turn>` first and stays there."""

from __future__ import annotations

from pathlib import Path

from loopx_engine.heartbeat.heart import Heart
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.turn import Turn
from loopx_engine.places.commits import save_wip
from loopx_engine.places.git import run_git


def held_place(heart: Heart, goal: Goal, todo: str | None) -> Place | None:
    """The ready place that holds another todo's work while none is free for this one."""
    with heart.engine.read() as reader:
        places = [item for item in reader.records(Place, "place.of_goal", goal=goal.id) if item.state == "ready"]
    if any(place.holds in (None, todo) for place in places):
        return None
    return next((place for place in places if place.kind in ("worktree", "clone")), None)


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
        run_git(root, "checkout", "--quiet", "--detach")
        heart.act("place set aside", place=place.id, saved=saved)
        heart.log("place.set_aside", goal=goal.id, place=place.id, saved=saved)
