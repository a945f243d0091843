"""Todo: one unit of work that one actor can own. *In progress* is derived from a live lease, never stored."""

from __future__ import annotations

from typing import ClassVar, Literal

from loopx_engine.model.record import noun

TodoKind = Literal["work", "watch", "review"]


@noun
class Todo:
    """`proof` says how a done todo was proved: `proved`, `self-checked`, `reviewed`, `confirmed` or `not proved`.

    `stalls` counts turns without progress; `frontiers` are the last seen frontier digests; `signed` marks the
    owner's own words; `wip` is the ref of work set aside; `review` is `""`, `due`, `pass` or `fail`.
    """

    KIND: ClassVar[str] = "todo"
    id: str
    goal: str
    kind: TodoKind = "work"
    title: str
    body: str = ""
    state: str = "open"
    rank: int
    serves: tuple[int, ...] = ()
    needs: tuple[str, ...] = ()
    wait: str | None = None
    scopes: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    check: str | None = None
    excluded: tuple[str, ...] = ()
    successor_of: str | None = None
    successor: str | None = None
    no_successor: str = ""
    proof: str = ""
    evidence: str | None = None
    commit: str = ""
    wip: str = ""
    stalls: int = 0
    failures: int = 0
    frontiers: tuple[str, ...] = ()
    review: str = ""
    claimed_by: str = ""
    signed: bool = False
    added_by: str
    created_at: int
    ended_at: int | None = None
