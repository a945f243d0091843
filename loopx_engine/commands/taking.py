"""Leases as commands move them: take with the next epoch, free at the end, and the end of a turn with all that follows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.draft import Draft
from loopx_engine.commands.frontier import frontier_of
from loopx_engine.errors import Refused
from loopx_engine.model.goal import Goal
from loopx_engine.model.lease import Lease
from loopx_engine.model.message import Message
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.rules.progress import progressed, remembered


def take_lease(
    draft: Draft, subject: str, goal: str, turn: str, actor: str, place: str | None, now: int, expires: int
) -> Lease:
    """The lease of a todo (or of the goal, for planning), held by a turn with the next epoch. Refuses one that another holds."""
    current = draft.get(Lease, subject)
    if current is not None and current.live(now) and current.actor != actor:
        raise Refused(
            f"{subject} is held by {current.actor} until it ends its turn",
            code="held_by_other",
            next=f"loopx why {subject}",
        )
    if current is not None and current.state == "held":
        current = draft.put(replace(current, state="free"))
    lease = Lease(
        id=subject,
        goal=goal,
        actor=actor,
        turn=turn,
        place=place,
        epoch=(current.epoch if current else 0) + 1,
        state="held",
        expires=expires,
        taken_at=now,
    )
    return draft.put(lease) if current else draft.create(lease)


def subject_of(turn: Turn) -> str:
    """What a turn's lease is on: its todo, or its goal while it plans."""
    return turn.todo or turn.goal


def check_epoch(draft: Draft, turn: Turn) -> Lease:
    """The lease a turn holds. Refuses (`stale_epoch`) once somebody else took it: an old epoch changes nothing."""
    lease = draft.get(Lease, subject_of(turn))
    if lease is None or lease.epoch != turn.epoch or lease.turn != turn.id or lease.state != "held":
        raise Refused(
            f"{turn.id} no longer holds {subject_of(turn)}; nothing was changed",
            code="stale_epoch",
            next=f"loopx why {subject_of(turn)}",
        )
    return lease


def free_lease(draft: Draft, turn: Turn) -> None:
    """Frees the lease of a turn, if it still holds it."""
    lease = draft.get(Lease, subject_of(turn))
    if lease is not None and lease.turn == turn.id and lease.epoch == turn.epoch and lease.state == "held":
        draft.put(replace(lease, state="free"))


def end_turn(
    draft: Draft,
    turn: Turn,
    result: str,
    now: int,
    *,
    reason: str = "",
    tree: str = "",
    dirty: bool = False,
    lost: bool = False,
) -> Turn:
    """The turn settled (or lost): lease free, todo back to open, stall counted, its place held if work lies in it."""
    free_lease(draft, turn)
    ended = draft.put(replace(turn, state="lost" if lost else "settled", result=result, reason=reason, ended_at=now))
    todo = draft.get(Todo, turn.todo) if turn.todo else None
    if todo is not None and turn.purpose == "work" and todo.state in ("open", "proving"):
        goal = draft.need(Goal, turn.goal)
        after = frontier_of(draft, goal, tree or turn.tree)
        stalled = not progressed(turn.frontier, after, todo.frontiers)
        draft.put(
            replace(
                todo,
                state="open",
                stalls=todo.stalls + 1
                if stalled and not lost and result != "interrupted"
                else (todo.stalls if stalled else 0),
                failures=todo.failures + (1 if result in ("failed", "refused") else 0),
                frontiers=remembered(todo.frontiers, after),
            )
        )
    _hold_place(draft, turn, dirty)
    consume_messages(draft, ended)
    return ended


def _hold_place(draft: Draft, turn: Turn, dirty: bool) -> None:
    place = draft.get(Place, turn.place) if turn.place else None
    if place is None or turn.purpose != "work" or not turn.todo:
        return
    if dirty and place.holds != turn.todo:
        draft.put(replace(place, holds=turn.todo))
    if not dirty and place.holds == turn.todo:
        draft.put(replace(place, holds=None))


HANDED_OVER_MOST = 10
KEEPS_MESSAGES = ("failed", "interrupted")


def hand_over_messages(draft: Draft, turn: Turn) -> None:
    """What the packet of this turn hands over; what an earlier turn was handed and did not act on comes again."""
    for message in draft.records(
        Message, "message.to_consume", goal=turn.goal, actor=turn.actor, limit=HANDED_OVER_MOST
    ):
        draft.put(replace(message, state="handed over", turn=turn.id))


def consume_messages(draft: Draft, turn: Turn) -> None:
    """A turn that ended well acted on what it was handed: none of it is an instruction again."""
    if turn.state == "lost" or turn.result in KEEPS_MESSAGES:
        return
    for message in draft.records(Message, "message.handed_over_in", goal=turn.goal, turn=turn.id):
        draft.put(replace(message, state="consumed"))


def answer_of(turn: Turn, **more: Any) -> dict[str, Any]:
    """The answer every end of a turn gives."""
    return {"turn": turn.id, "todo": turn.todo, "state": turn.state, "result": turn.result, **more}
