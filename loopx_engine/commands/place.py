"""Place: the row of a place; its files are made by `places`, on the engine's word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, hidden
from loopx_engine.errors import Refused
from loopx_engine.model.check import Check
from loopx_engine.model.goal import Goal
from loopx_engine.model.limits import PATH_BYTES, TAIL_BYTES
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn


@command
class PlaceMake:
    """Enters a place that is about to be made for a goal."""

    goal: str = hidden("the goal", id="goal")
    kind: str = hidden("how it is made", choices=("worktree", "clone", "in-place", "directory"))
    path: str = hidden("where its files are", most=PATH_BYTES, unit="bytes")
    branch: str = hidden("the branch its commits go to", most=200)
    base: str = hidden("the commit it starts from", default="")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        project = draft.need(Project, goal.project)
        place = draft.create(
            Place(
                id=draft.new_id("place"),
                goal=goal.id,
                project=project.id,
                kind=self.kind,  # type: ignore[arg-type]
                path=self.path,
                branch=self.branch,
                base=self.base,
                head=self.base,
                created_at=context.now,
            )
        )
        return {"place": place.id}


@command
class PlaceSettle:
    """Says whether a place is ready (made, prepared, its checks can run), or broken and why."""

    place: str = hidden("the place", id="place")
    state: str = hidden("ready or broken", choices=("ready", "broken"))
    reason: str = hidden("why it is broken", default="", most=TAIL_BYTES, unit="bytes")
    sandbox: str = hidden("the box its set-up ran in", default="")
    base: str = hidden("the commit it starts from", default="")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        place = draft.need(Place, self.place)
        draft.put(
            replace(
                place,
                state=self.state,
                reason=self.reason,
                sandbox=self.sandbox or place.sandbox,
                base=self.base or place.base,
                head=place.head or self.base,
            )
        )
        return {"place": place.id, "state": self.state}


@command
class PlaceSetAside:
    """The work in a place was saved under a ref; its todo will find it there, and other work gets a fresh place."""

    place: str = hidden("the place", id="place")
    saved: str = hidden("the ref its tree was saved under", most=200)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        place = draft.need(Place, self.place)
        if place.holds:
            draft.put(replace(draft.need(Todo, place.holds), wip=self.saved))
        draft.put(replace(place, state="dropped", reason=f"set aside, saved as {self.saved}"))
        return {"place": place.id, "saved": self.saved}


@command
class PlaceRetry:
    """A broken place was mended: it is prepared again, and what could not run is tried again."""

    place: str = argument("the place", id="place")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        place = draft.need(Place, self.place)
        draft.put(replace(place, state="new", reason=""))
        for check in draft.records(Check, "check.of_goal", goal=place.goal):
            if check.baseline == "cannot run":
                draft.put(replace(check, baseline="unknown", baseline_tail=""))
        return {"place": place.id, "state": "new"}


@command
class PlaceDrop:
    """Gives a place up. Its files are removed only if all work in them is somewhere else too (the rim checks that)."""

    place: str = argument("the place", id="place")
    checked: bool = hidden("the rim found nothing in it that is nowhere else", default=False)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        place = draft.need(Place, self.place)
        busy = draft.records(Turn, "turn.live_in_place", place=place.id)
        if busy:
            raise Refused(f"{busy[0].id} runs in {place.id}", code="place_busy", next=f"loopx stop {place.goal}")
        if place.holds and not self.checked:
            raise Refused(
                f"{place.id} holds uncommitted work of {place.holds}",
                code="place_holds_work",
                next=f"loopx diff {place.goal}",
            )
        draft.put(replace(place, state="dropped"))
        return {"place": place.id}
