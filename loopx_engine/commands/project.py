"""Project: a directory that goals work in, and the set-up its new places get."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, hidden, option
from loopx_engine.model.limits import ARGV_BYTES, PATH_BYTES
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project


@command
class ProjectAdd:
    """Enters a project, or finds it again by its identity after it moved."""

    root: str = argument("the project's folder", most=PATH_BYTES, unit="bytes")
    identity: str = hidden("the repository's root commits; empty outside git", default="", most=200)
    remotes: tuple[tuple[str, str], ...] = hidden("its remotes, credentials masked", default=(), most=1000)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        known = draft.records(Project, "project.known", root=self.root, identity=self.identity)
        name = self.root.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or self.root
        if known:
            project = draft.put(
                replace(
                    known[0],
                    root=self.root,
                    name=name,
                    remotes=self.remotes,
                    identity=self.identity or known[0].identity,
                )
            )
            return {"project": project.id, "root": project.root}
        project = draft.create(
            Project(
                id=draft.new_id("project"),
                root=self.root,
                name=name,
                identity=self.identity,
                remotes=self.remotes,
                created_at=context.now,
            )
        )
        return {"project": project.id, "root": project.root}


@command
class ProjectSetup:
    """Sets the argv lists that prepare a new place; places that exist are prepared again."""

    project: str = argument("the project", id="project")
    argv: tuple[tuple[str, ...], ...] = option("one step; may be given several times", default=(), most=ARGV_BYTES)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        project = draft.put(replace(draft.need(Project, self.project), setup=self.argv))
        renewed = []
        for place in draft.records(Place, "place.of_project", project=project.id):
            if place.state == "broken":
                draft.put(replace(place, state="new", reason=""))
                renewed.append(place.id)
        return {"project": project.id, "steps": len(self.argv), "places": renewed}
