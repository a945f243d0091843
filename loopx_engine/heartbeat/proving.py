"""Proving: the engine runs the check of a claim on the tree as it is, and settles only if that tree held still."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_engine.errors import LoopxError, StateMoved
from loopx_engine.heartbeat.counting import tests_counted
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.packet import cut
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.defaults import SETTLE_TRIES
from loopx_engine.model.goal import Goal
from loopx_engine.model.limits import TAIL_BYTES
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.places.commits import tree_of
from loopx_engine.places.git import at_place, resolve
from loopx_engine.places.program import ProgramResult
from loopx_engine.places.tree import changed_paths, tree_digest, write_tree


def prove(heart: Heart, turn: Turn, *, mendable: bool = False) -> dict[str, Any]:
    """Settles a *finishing* turn. Returns the answer of `turn settle` (`refused` with the tail where the check said no)."""
    place = heart.get(Place, turn.place) if turn.place else None
    claim = turn.claim or {}
    checked = claim.get("outcome") == "done" and turn.purpose == "work"
    for attempt in range(1, SETTLE_TRIES + 1):
        check = _check_of(heart, turn) if checked else None
        facts = _measure(heart, turn, place, check, last=attempt == SETTLE_TRIES)
        try:
            answer = heart.act("turn settle", turn=turn.id, mendable=mendable, **facts).answer
        except StateMoved as error:
            if error.code != "inputs_moved" or attempt == SETTLE_TRIES:
                raise
            continue
        heart.log("turn.settled", goal=turn.goal, turn=turn.id, todo=turn.todo, result=answer.get("result"))
        return answer
    raise AssertionError("the loop returns or raises")


def place_facts(place: Place | None) -> tuple[str, bool, tuple[str, ...]]:
    """(tree digest, whether work lies uncommitted, changed paths) of a place; empty where there is none to measure."""
    if place is None or not Path(place.path).is_dir():
        return "", False, ()
    root = Path(place.path)
    commit = _head_of(place)
    if not commit:
        return tree_digest(root), False, ()
    tree = write_tree(root)
    head = tree_of(root, commit)
    if tree == head:
        return tree, False, ()
    return tree, True, changed_paths(root, head, tree)[:5000]


def _head_of(place: Place) -> str | None:
    """The commit the place's files are compared with: its own head, or, where a person works in it, the engine's last."""
    if not place.branch or not place.head:
        return None
    root = Path(place.path)
    return resolve(root, "HEAD", at_place(root)) if place.kind in ("worktree", "clone") else place.head


def criteria_due(heart: Heart, goal: Goal) -> tuple[Place | None, list[Criterion]]:
    """The place, and the criteria whose todos are all done and that are not proved on the tree as it is now."""
    with heart.engine.read() as reader:
        criteria = reader.records(Criterion, "criterion.of_goal", goal=goal.id)
        open_for = {int(number) for number, count in reader.rows("todo.serving", goal=goal.id) if count}
        served = {int(number) for number, count in reader.rows("todo.served", goal=goal.id) if count}
        places = reader.records(Place, "place.of_goal", goal=goal.id)
        unfinished = sum(reader.counter(goal.id, f"todo.{state}") for state in ("open", "waiting", "proving"))
    place = next((item for item in places if item.state == "ready" and item.holds is None), None)
    due = [
        item
        for item in criteria
        if item.check
        and item.state in ("open", "stale")
        and item.number not in open_for
        and (item.number in served or not unfinished)
    ]
    if place is None or not due:
        return place, []
    tree, _, _ = place_facts(place)
    return place, [item for item in due if item.state == "stale" or not tree or item.failed_tree != tree]


def prove_criteria(heart: Heart, goal: Goal) -> int:
    """Runs the checks of the criteria that are due. Returns how many were proved or refuted."""
    place, due = criteria_due(heart, goal)
    ran = 0
    if place is not None:
        for criterion in due:
            ran += _prove_criterion(heart, place, criterion)
    return ran


def _prove_criterion(heart: Heart, place: Place, criterion: Criterion) -> int:
    check = heart.get(Check, str(criterion.check))
    tree, _, _ = place_facts(place)
    started = heart.clock.now()
    result = run_check(heart, place, check, f"{criterion.id}.check")
    tree_now, _, _ = place_facts(place)
    if tree_now != tree or result.state == "stopped":
        return 0
    outcome = outcome_of(result, check)
    heart.act(
        "criterion prove",
        criterion=criterion.id,
        outcome=outcome,
        tree=tree,
        exit=result.exit,
        tail=cut(result.tail, TAIL_BYTES),
        count=tests_counted(result.tail),
        sandbox=result.sandbox,
        started_at=started,
    )
    heart.log("criterion.proved", goal=criterion.goal, criterion=criterion.id, outcome=outcome)
    return 1


def run_check(heart: Heart, place: Place, check: Check, tag: str) -> ProgramResult:
    """One run of a check in its box: network off unless the check says otherwise, its own environment."""
    return heart.run_in_box(
        place,
        check.argv,
        tag=tag,
        timeout_ms=check.timeout,
        network=check.network,
        cwd=check.cwd,
        environment=check.environment,
        named=heart.named_by_person(check),
    )


def outcome_of(result: ProgramResult, check: Check) -> str:
    """pass, fail or *cannot run*; a check that ran out of time failed.

    Where a check ran on the base commit, an exit that says "not found" is about what the work left of it: it failed.
    """
    if result.state == "cannot_run":
        return "fail" if check.baseline in ("red", "green") and result.exit is not None else "cannot run"
    return "pass" if result.state == "exited" and result.exit == 0 else "fail"


def _check_of(heart: Heart, turn: Turn) -> Check | None:
    todo = heart.get(Todo, turn.todo or "")
    name = todo.check or heart.get(Goal, turn.goal).check
    return heart.get(Check, name) if name else None


def _measure(heart: Heart, turn: Turn, place: Place | None, check: Check | None, *, last: bool) -> dict[str, Any]:
    tree, dirty, changed = place_facts(place)
    facts: dict[str, Any] = {"tree": tree, "tree_now": tree, "dirty": dirty, "changed": list(changed)}
    if check is None or place is None:
        return facts
    inputs = tree_digest(Path(place.path), check.inputs) if check.inputs else tree
    started = heart.clock.now()
    try:
        result = run_check(heart, place, check, f"{turn.id}.check")
    except LoopxError as error:
        return {**facts, "check": check.id, "outcome": "cannot run", "tail": cut(error.message, TAIL_BYTES)}
    if result.state == "stopped":
        raise StateMoved("it was stopped; the claim is on disk and is proved when work goes on", code="stopping")
    now, dirty, changed = place_facts(place)
    inputs_now = tree_digest(Path(place.path), check.inputs) if check.inputs else now
    held = inputs == inputs_now
    outcome = outcome_of(result, check) if held or not last else "fail"
    tail = result.tail if held or not last else "the place changed each time while the check ran\n" + result.tail
    return {
        "tree": now if held or last else tree,
        "tree_now": now,
        "dirty": dirty,
        "changed": list(changed),
        "inputs": inputs_now,
        "check": check.id,
        "outcome": outcome,
        "exit": result.exit,
        "tail": cut(tail, TAIL_BYTES),
        "count": tests_counted(result.tail),
        "sandbox": result.sandbox,
        "started_at": started,
    }
