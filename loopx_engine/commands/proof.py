"""Settling a claim by its proof: the second transaction of `finish`. Nothing becomes done here without a current pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.effect import intend_commit
from loopx_engine.commands.fields import command, hidden
from loopx_engine.commands.snapshot import load_snapshot
from loopx_engine.commands.taking import answer_of, check_epoch, consume_messages, end_turn, free_lease
from loopx_engine.commands.turn import block_by_asked
from loopx_engine.errors import Refused, StateMoved
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.defaults import TURN_MENDS
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.lease import Lease
from loopx_engine.model.limits import TAIL_BYTES
from loopx_engine.model.place import Place
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.rules.proof import count_dropped, proof_of
from loopx_engine.rules.scopes import outside
from loopx_engine.rules.take import blocking

OUTCOMES = ("pass", "fail", "cannot run", "none")


@command
class TurnSettle:
    """Settles a turn that is *finishing*. `tree` is what the check saw, `tree_now` what is there after it ended."""

    turn: str = hidden("the turn", id="turn")
    tree: str = hidden("the digest of the place before the check", default="")
    tree_now: str = hidden("the digest of the place after it", default="")
    inputs: str = hidden("the digest of the check's inputs", default="")
    outcome: str = hidden("what the check said", default="none", choices=OUTCOMES)
    check: str = hidden("the check that ran", default="", id="check")
    exit: int | None = hidden("its exit code", default=None)
    tail: str = hidden("the end of its output", default="", most=TAIL_BYTES, unit="bytes")
    count: int | None = hidden("how many tests it counted", default=None)
    sandbox: str = hidden("the box it ran in", default="")
    started_at: int | None = hidden("when it started", default=None)
    changed: tuple[str, ...] = hidden("the paths that differ from the last commit", default=(), most=4096, items=5000)
    dirty: bool = hidden("work lies uncommitted in the place", default=False)
    mendable: bool = hidden("the actor still waits for the answer", default=False)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = draft.need(Turn, self.turn)
        if turn.state != "finishing" or turn.claim is None:
            raise Refused(
                f"{turn.id} is {turn.state}, not finishing", code="not_finishing", next=f"loopx show {turn.id}"
            )
        check_epoch(draft, turn)
        if self.tree != self.tree_now:
            raise StateMoved("the place changed while the check ran", code="inputs_moved", next=f"loopx show {turn.id}")
        outcome = str(turn.claim["outcome"])
        if turn.purpose == "review":
            return self._review(draft, context, turn)
        if outcome != "done" or turn.todo is None:
            result = outcome if outcome != "done" else "progress"
            if turn.todo is None and outcome == "done":
                result = "done"
            block_by_asked(draft, turn, result)
            ended = end_turn(draft, turn, result, context.now, tree=self.tree, dirty=self.dirty)
            return answer_of(ended)
        return self._claim(draft, context, turn, draft.need(Todo, turn.todo))

    def _claim(self, draft: Draft, context: Context, turn: Turn, todo: Todo) -> dict[str, Any]:
        stopped = blocking(load_snapshot(draft, todo.goal, turn.actor, trusted=context.trusted), todo.id)
        if stopped is not None:
            ended = end_turn(draft, turn, "blocked", context.now, tree=self.tree, dirty=self.dirty)
            return answer_of(ended, decision=stopped.id)
        goal = draft.need(Goal, turn.goal)
        wanted = todo.check or goal.check or ""
        if self.check != wanted:
            raise StateMoved(
                f"the check of {todo.id} is another now", code="inputs_moved", next=f"loopx show {todo.id}"
            )
        check = draft.need(Check, wanted) if wanted else None
        evidence = self._evidence(draft, context, turn, todo, check)
        strays = outside(self.changed, todo.scopes)
        if strays:
            return self._refuse(draft, context, turn, todo, f"changed outside its scopes: {', '.join(strays[:5])}")
        if check is not None and self.outcome == "cannot run":
            return self._cannot_run(draft, context, turn, check)
        lease = draft.need(Lease, todo.id)
        proof = proof_of(
            check=check,
            outcome=self.outcome,
            taken_at=lease.taken_at,
            executor=turn.actor,
            current=self.tree == self.tree_now,
            changed=self.changed,
            review=todo.review,
        )
        if proof == "refused":
            return self._refuse(draft, context, turn, todo, self.tail)
        if proof == "needs review" or (goal.reviewers and todo.review != "pass"):
            return self._await_review(draft, turn, todo, evidence, context.now)
        return settle_done(draft, context, turn, todo, proof, evidence, self.tree, bool(self.changed) or self.dirty)

    def _evidence(self, draft: Draft, context: Context, turn: Turn, todo: Todo, check: Check | None) -> Evidence | None:
        if check is None:
            return None
        last = draft.rows("evidence.last_count", check=check.id)
        note = count_dropped(last[0][0] if last else None, self.count)
        return draft.create(
            Evidence(
                id=draft.new_id("evidence"),
                goal=turn.goal,
                todo=todo.id,
                turn=turn.id,
                check=check.id,
                kind="check",
                ref=note,
                subject=self.inputs,
                tree=self.tree,
                outcome=self.outcome,  # type: ignore[arg-type]
                exit=self.exit,
                tail=self.tail,
                count=self.count,
                made_by=turn.actor,
                verified_by=context.who.actor,
                sandbox=self.sandbox,
                started_at=self.started_at,
                at=context.now,
            )
        )

    def _refuse(self, draft: Draft, context: Context, turn: Turn, todo: Todo, tail: str) -> dict[str, Any]:
        refused = {"refused": True, "exit": self.exit, "tail": tail, "check": self.check}
        if self.mendable and turn.mends < TURN_MENDS and turn.deadline > context.now:
            draft.put(replace(todo, state="open"))
            turn = draft.put(replace(turn, state="open", claim=None, mends=turn.mends + 1))
            return answer_of(turn, **refused, mends=turn.mends)
        ended = end_turn(draft, turn, "refused", context.now, reason=tail[-500:], tree=self.tree, dirty=self.dirty)
        return answer_of(ended, **refused)

    def _cannot_run(self, draft: Draft, context: Context, turn: Turn, check: Check) -> dict[str, Any]:
        reason = f"its check cannot run: {' '.join(check.argv)[:200]}"
        ended = end_turn(draft, turn, "failed", context.now, reason=reason, tree=self.tree, dirty=self.dirty)
        place = draft.get(Place, turn.place or "")
        if place is not None and place.state == "ready":
            draft.put(replace(place, state="broken", reason=f"{reason}\n{self.tail}"[:TAIL_BYTES]))
        return answer_of(ended, cannot_run=True, tail=self.tail)

    def _await_review(
        self, draft: Draft, turn: Turn, todo: Todo, evidence: Evidence | None, now: int
    ) -> dict[str, Any]:
        claim = turn.claim or {}
        draft.put(
            replace(
                todo,
                review="due",
                claimed_by=turn.actor,
                evidence=evidence.id if evidence else None,
                successor=str(claim.get("successor") or "") or None,
                no_successor=str(claim.get("no_successor") or ""),
            )
        )
        free_lease(draft, turn)
        place = draft.get(Place, turn.place or "")
        if place is not None and place.holds != todo.id:
            draft.put(replace(place, holds=todo.id))
        ended = draft.put(replace(turn, state="settled", result="done", ended_at=now, reason="review due"))
        consume_messages(draft, ended)
        return answer_of(ended, review="due")

    def _review(self, draft: Draft, context: Context, turn: Turn) -> dict[str, Any]:
        claim = turn.claim or {}
        result = str(claim.get("result") or "failed") if claim.get("outcome") == "done" else "failed"
        todo = draft.need(Todo, turn.todo or "")
        ended = end_turn(draft, turn, result, context.now, tree=self.tree)
        if result == "failed" or todo.state != "proving":
            return answer_of(ended)
        evidence = draft.create(
            Evidence(
                id=draft.new_id("evidence"),
                goal=turn.goal,
                todo=todo.id,
                turn=turn.id,
                kind="review",
                ref=turn.summary[:500],
                tree=self.tree,
                outcome="pass" if result == "pass" else "fail",
                made_by=turn.actor,
                verified_by=turn.actor,
                at=context.now,
            )
        )
        if result == "pass":
            return settle_done(
                draft, context, ended, replace(todo, review="pass"), "reviewed", evidence, self.tree, self.dirty
            )
        draft.put(replace(todo, state="open", review="fail", failures=todo.failures + 1))
        return answer_of(ended, review="fail")


@command
class CriterionProve:
    """The outcome of a criterion's check on a tree that holds still: met, or open with what failed."""

    criterion: str = hidden("the criterion", id="criterion")
    outcome: str = hidden("what its check said", choices=("pass", "fail", "cannot run"))
    tree: str = hidden("the digest of the place", default="")
    exit: int | None = hidden("its exit code", default=None)
    tail: str = hidden("the end of its output", default="", most=TAIL_BYTES, unit="bytes")
    count: int | None = hidden("how many tests it counted", default=None)
    sandbox: str = hidden("the box it ran in", default="")
    started_at: int | None = hidden("when it started", default=None)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        criterion = draft.need(Criterion, self.criterion)
        evidence = draft.create(
            Evidence(
                id=draft.new_id("evidence"),
                goal=criterion.goal,
                criterion=criterion.id,
                check=criterion.check,
                kind="check",
                tree=self.tree,
                outcome=self.outcome,  # type: ignore[arg-type]
                exit=self.exit,
                tail=self.tail,
                count=self.count,
                made_by=context.who.actor,
                verified_by=context.who.actor,
                sandbox=self.sandbox,
                started_at=self.started_at,
                at=context.now,
            )
        )
        old = draft.get(Evidence, criterion.evidence) if criterion.evidence else None
        if old is not None and old.state == "fresh":
            draft.put(replace(old, state="stale", stale_reason="its check ran again"))
        passed = self.outcome == "pass"
        draft.put(
            replace(
                criterion,
                state="met" if passed else "open",
                evidence=evidence.id,
                failed_tree="" if passed else self.tree,
                reason="" if passed else self.outcome,
            )
        )
        return {"criterion": criterion.id, "state": "met" if passed else "open", "evidence": evidence.id}


def settle_done(
    draft: Draft,
    context: Context,
    turn: Turn,
    todo: Todo,
    proof: str,
    evidence: Evidence | None,
    tree: str,
    changed: bool,
) -> dict[str, Any]:
    """The todo done: lease free, successor noted, met criteria stale where the tree changed, the commit intended."""
    claim = turn.claim or {}
    todo = draft.put(
        replace(
            todo,
            state="done",
            proof=proof,
            evidence=evidence.id if evidence else None,
            ended_at=context.now,
            stalls=0,
            wip="",
            successor=str(claim.get("successor") or "") or todo.successor,
            no_successor=str(claim.get("no_successor") or "") or todo.no_successor,
        )
    )
    free_lease(draft, turn)
    if turn.live:
        turn = draft.put(replace(turn, state="settled", result="done", ended_at=context.now))
        consume_messages(draft, turn)
    place = draft.need(Place, turn.place or "")
    if place.holds == todo.id:
        place = draft.put(replace(place, holds=None))
    committed = changed and place.branch and tree
    effect = intend_commit(draft, context, todo, place, tree, turn.id) if committed else None
    for criterion in draft.records(Criterion, "criterion.of_goal", goal=todo.goal):
        if criterion.state == "met" and criterion.check and changed:
            draft.put(replace(criterion, state="stale"))
    return answer_of(turn, proof=proof, commit=effect.id if effect else None)
