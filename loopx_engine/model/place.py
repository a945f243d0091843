"""Place: where a goal's turns and checks run. `holds` names the todo whose uncommitted work lies in it."""

from __future__ import annotations

from typing import ClassVar, Literal

from loopx_engine.model.record import noun

PlaceKind = Literal["worktree", "clone", "in-place", "directory"]


@noun
class Place:
    """States: `new` (row, no files yet), `ready`, `broken` (reason says why), `dropped`.

    `head` is the last commit the engine made on `branch`; `sandbox` what the last set-up or turn ran in.
    """

    KIND: ClassVar[str] = "place"
    id: str
    goal: str
    project: str
    kind: PlaceKind
    path: str
    branch: str = ""
    base: str = ""
    head: str = ""
    state: str = "new"
    reason: str = ""
    sandbox: str = ""
    holds: str | None = None
    created_at: int
