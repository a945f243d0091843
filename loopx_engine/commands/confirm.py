"""A person's word in the place of a review: a claim that changed what its check protects, where no reviewer can look at it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import command, hidden
from loopx_engine.commands.proof import settle_done
from loopx_engine.errors import Refused
from loopx_engine.model.decision import Decision
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn

UNREVIEWED = "unreviewed"


def cause_of(todo: Todo) -> str:
    """The cause of the question about this claim: another claim of the todo is another question."""
    return f"{UNREVIEWED}:{todo.id}:{todo.evidence or ''}"


@command
class ReviewSettle:
    """Settles a claim that waits for a review by a person's verified answer, if its tree is still the one that passed."""

    todo: str = hidden("the todo", id="todo")
    decision: str = hidden("the decision that was answered", id="decision")
    tree: str = hidden("the digest of the place now", default="")
    changed: bool = hidden("the place differs from its last commit", default=False)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        todo = draft.need(Todo, self.todo)
        decision = draft.need(Decision, self.decision)
        if todo.state != "proving" or todo.review != "due":
            raise Refused(f"{todo.id} waits for no review", code="no_review_due", next=f"loopx show {todo.id}")
        if decision.cause != cause_of(todo) or not decision.answer or not context.trusted(decision):
            raise Refused(f"{decision.id} does not answer for {todo.id}", code="not_answered", next="loopx inbox")
        evidence = draft.get(Evidence, todo.evidence or "")
        if decision.answer != "yes":
            draft.put(replace(todo, state="open", review="fail", failures=todo.failures + 1))
            return {"todo": todo.id, "state": "open", "review": "fail"}
        if evidence is not None and evidence.tree != self.tree:
            draft.put(replace(todo, state="open", review=""))
            return {"todo": todo.id, "state": "open", "review": "its tree has changed since"}
        turn = draft.records(Turn, "turn.last_of_todo", todo=todo.id)[0]
        passed = replace(todo, review="pass")
        return settle_done(draft, context, turn, passed, "confirmed", evidence, self.tree, self.changed)
