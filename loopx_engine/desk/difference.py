"""What a decision or a goal is about, as a difference: the commits that would leave, or what its place changed so far."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_engine.engine import Engine
from loopx_engine.errors import LoopxError
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.ids import kind_of
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project

MOST_BYTES = 1_000_000


def difference_of(engine: Engine, id: str) -> dict[str, Any]:
    """`{"text", "why_not"}` of a decision or goal: a unified diff, or one sentence on why there is none. Writes nothing."""
    with engine.read() as reader:
        decision = reader.get(Decision, id) if kind_of(id) == "decision" else None
        goal = reader.get(Goal, decision.goal if decision else id)
        if goal is None:
            return _none(f"there is no goal of {id}")
        project = reader.get(Project, goal.project)
        place = _place(reader, goal)
    effect = decision.effect if decision else None
    try:
        if effect is not None and effect.get("sha"):
            return _of_effect(effect, project, place)
        return _of_place(place)
    except (LoopxError, OSError) as error:
        return _none(error.message if isinstance(error, LoopxError) else f"the place cannot be read: {error.strerror}")


def _place(reader: Transaction, goal: Goal) -> Place | None:
    places = reader.records(Place, "place.of_goal", goal=goal.id)
    return next((item for item in places if item.state == "ready"), places[0] if places else None)


def _of_effect(effect: dict[str, object], project: Project | None, place: Place | None) -> dict[str, Any]:
    from loopx_engine.places.commits import diff_commits

    base = str(effect.get("remote_has") or effect.get("into_has") or (place.base if place else ""))
    if project is None or not base:
        return _none("nothing is there yet that it could be compared with")
    return {"text": diff_commits(Path(project.root), base, str(effect["sha"]), MOST_BYTES), "why_not": ""}


def _of_place(place: Place | None) -> dict[str, Any]:
    from loopx_engine.places.commits import diff_text

    if place is None:
        return _none("no place was made yet")
    if not place.branch:
        return _none("it works in a directory without git")
    if not Path(place.path).is_dir():
        return _none("its place is gone")
    return {"text": diff_text(Path(place.path), place.base, MOST_BYTES), "why_not": ""}


def _none(why: str) -> dict[str, Any]:
    return {"text": "", "why_not": why}
