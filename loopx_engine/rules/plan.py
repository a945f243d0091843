"""What makes the plan in force impossible or incomplete (verdict row 12), and which of it only a person can mend."""

from __future__ import annotations

from loopx_engine.model.criterion import Criterion
from loopx_engine.model.defaults import STALLED_TURNS
from loopx_engine.rules.snapshot import Snapshot

Change = tuple[str, str, str | None]


def plan_must_change(snapshot: Snapshot) -> Change | None:
    """(reason, sentence, todo) of the first thing that makes the plan impossible or incomplete, or None."""
    return _of_todos(snapshot) or _of_answers(snapshot) or _of_criteria(snapshot) or _of_ends(snapshot)


def for_a_person(snapshot: Snapshot, change: Change) -> bool:
    """Whether no plan can mend it: work was done, and the criterion that is open has no check, so a person meets it."""
    gap = _gap(snapshot)
    return change[0] == "criterion_gap" and gap is not None and gap.check is None and snapshot.done > 0


def _of_todos(snapshot: Snapshot) -> Change | None:
    for todo in snapshot.todos:
        if todo.stalls >= STALLED_TURNS and todo.state == "open":
            return "stalled", f"'{todo.title}' saw {todo.stalls} turns without progress", todo.id
    flat = next((item for item in snapshot.watches if item.state == "flat"), None)
    if flat is not None:
        return "watch_flat", f"{flat.id} has not changed for {flat.unchanged} polls", flat.todo
    for todo in snapshot.todos:
        dropped = next((need for need in todo.needs if snapshot.needs.get(need) in ("dropped", "missing")), None)
        if dropped is not None:
            return "need_dropped", f"'{todo.title}' needs {dropped}, which was dropped", todo.id
    return None


def _of_answers(snapshot: Snapshot) -> Change | None:
    if snapshot.dead_conditions:
        dead = snapshot.dead_conditions[0]
        return "condition_dead", f"the condition of {dead} can no longer come true", dead
    if snapshot.refused and not snapshot.unfinished - len(snapshot.refused):
        return "decision_refused", f"a decision for {snapshot.refused[0]} was answered no", snapshot.refused[0]
    return None


def _of_criteria(snapshot: Snapshot) -> Change | None:
    gap = _gap(snapshot)
    if gap is None:
        return None
    if gap.check is None:
        way = f"only a person meets criterion {gap.number} (loopx criterion meet {gap.id}): {gap.text}"
        return "criterion_gap", way, None
    return "criterion_gap", f"no unfinished todo serves criterion {gap.number}: {gap.text}", None


def _of_ends(snapshot: Snapshot) -> Change | None:
    if not snapshot.unfinished and not snapshot.criteria and snapshot.successors:
        return "no_successor", f"{snapshot.successors[0]} ended without a successor", None
    return None


def _gap(snapshot: Snapshot) -> Criterion | None:
    """The open criterion that no unfinished todo serves; one that a plan can close comes before one of a person."""
    open_ones = [
        item
        for item in snapshot.criteria
        if item.state in ("open", "stale")
        and not snapshot.serving.get(item.number)
        and not _being_proved(snapshot, item)
    ]
    return min(open_ones, key=lambda item: (item.check is None, item.number), default=None)


def _being_proved(snapshot: Snapshot, item: Criterion) -> bool:
    """The engine proves a criterion with a check by itself; it is a gap only once that failed."""
    return item.check is not None and item.reason == "" and bool(snapshot.done or not snapshot.unfinished)
