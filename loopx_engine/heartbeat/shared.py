"""What a worktree shares with its repository (refs, configuration, stash): looked at around each turn that has no box.

A box keeps it read-only; without one a turn can change it, so a difference is said in the goal's thread and in the log.
"""

from __future__ import annotations

from pathlib import Path

from loopx_engine.errors import LoopxError
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.packet import cut
from loopx_engine.model.place import Place
from loopx_engine.model.turn import Turn
from loopx_engine.places.repository import changes, need_repository, shared_state

SHOWN = 10
MOVED_BY_THE_ENGINE = ("ref refs/loopx/*", "ref refs/remotes/*")


def shared_before(heart: Heart, place: Place | None) -> dict[str, str] | None:
    """The shared state before a turn without a box; None where nothing is shared or a box protects it."""
    if heart.box.kind != "none" or place is None or place.kind not in ("worktree", "in-place") or not place.branch:
        return None
    return shared_state(need_repository(Path(place.path)))


def tell_changes(heart: Heart, turn: Turn, place: Place | None, before: dict[str, str] | None) -> tuple[str, ...]:
    """Says what the turn changed behind its worktree. Returns the names of what differs."""
    if before is None or place is None:
        return ()
    try:
        now = shared_state(need_repository(Path(place.path)))
        found = tuple(
            item for item in changes(before, now, MOVED_BY_THE_ENGINE) if not _of_another_goal(item, place.branch)
        )
    except LoopxError as error:
        found = (error.message,)
    if found:
        heart.log("repository.changed", goal=turn.goal, turn=turn.id, changes=len(found))
        shown = "; ".join(found[:SHOWN])
        text = f"the repository changed behind the worktree during {turn.id}, which ran not sandboxed: {shown}"
        heart.act("message send", goal=turn.goal, text=cut(text, 4000))
    return found


def _of_another_goal(change: str, branch: str) -> bool:
    """A branch of another goal, which the engine commits to meanwhile."""
    return change.startswith("ref refs/heads/loopx/") and not change.startswith(f"ref refs/heads/{branch} ")
