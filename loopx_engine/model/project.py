"""Project: a directory that goals work in; `identity` (root commits) lets it survive a rename or a new remote."""

from __future__ import annotations

from typing import ClassVar

from loopx_engine.model.record import noun


@noun
class Project:
    KIND: ClassVar[str] = "project"
    id: str
    root: str
    name: str
    identity: str = ""
    remotes: tuple[tuple[str, str], ...] = ()
    setup: tuple[tuple[str, ...], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    state: str = "present"
    created_at: int
