"""Check: setting what proves a todo, a criterion or a goal, and what it says on the base commit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, hidden, option
from loopx_engine.errors import UsageError
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.defaults import CHECK_TIMEOUT_MS, DAY
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.ids import kind_of
from loopx_engine.model.limits import ARGV_BYTES, TAIL_BYTES
from loopx_engine.model.todo import Todo


@command
class CheckSet:
    """Sets the check of a todo, a criterion or (as the default) a goal. What the old one proved becomes stale."""

    subject: str = argument("the todo, criterion or goal it proves")
    argv: tuple[str, ...] = argument("the program and its arguments", most=ARGV_BYTES)
    timeout: int = option("milliseconds before it counts as failed", default=CHECK_TIMEOUT_MS)
    input: tuple[str, ...] = option("a glob of files it depends on (none: the whole tree)", default=())
    protects: tuple[str, ...] = option(
        "a glob of files whose change needs a review (none: the usual test files)", default=()
    )
    network: bool = option("let it reach the network", default=False)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        if not 0 < self.timeout <= DAY:
            raise UsageError("a check's timeout is more than 0 and at most a day", code="bad_argument")
        classes: dict[str, Any] = {"todo": Todo, "criterion": Criterion, "goal": Goal}
        kind = kind_of(self.subject)
        if kind not in classes:
            raise UsageError(
                f"{self.subject} is no todo, criterion or goal", code="bad_id", next="loopx check set --help"
            )
        subject = draft.need(classes[kind], self.subject)
        goal = subject.id if kind == "goal" else subject.goal
        check = make_check(draft, context, goal, self.argv, self.timeout, self.input, self.protects, self.network)
        if subject.check:
            old = draft.need(Check, subject.check)
            if old.state == "set" and not _shared(draft, old, self.subject):
                draft.put(replace(old, state="replaced"))
        if kind == "criterion" and subject.state == "met":
            subject = replace(subject, state="stale")
        draft.put(replace(subject, check=check.id))
        if subject_evidence := getattr(subject, "evidence", None):
            evidence = draft.get(Evidence, subject_evidence)
            if evidence is not None and evidence.state == "fresh":
                draft.put(replace(evidence, state="stale", stale_reason="its check changed"))
        return {"check": check.id}


@command
class CheckBaseline:
    """What a check says on the base commit: red (it can prove something), green (a guard) or cannot run."""

    check: str = hidden("the check", id="check")
    baseline: str = hidden("what it said", choices=("red", "green", "cannot run"))
    tail: str = hidden("the end of its output", default="", most=TAIL_BYTES, unit="bytes")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        check = draft.need(Check, self.check)
        role = "guard" if self.baseline == "green" else "goal"
        draft.put(replace(check, baseline=self.baseline, baseline_tail=self.tail, role=role))  # type: ignore[arg-type]
        return {"check": check.id, "baseline": self.baseline}


def make_check(
    draft: Draft,
    context: Context,
    goal: str,
    argv: tuple[str, ...],
    timeout: int = CHECK_TIMEOUT_MS,
    inputs: tuple[str, ...] = (),
    protects: tuple[str, ...] = (),
    network: bool = False,
) -> Check:
    """The check record for an argv. Raises `UsageError` for an empty program name."""
    if not argv or not argv[0].strip():
        raise UsageError("a check needs a program", code="empty", next="loopx check set --help")
    if any("\0" in word for word in argv):
        raise UsageError("no program takes a NUL in its arguments", code="bad_text", next="loopx check set --help")
    return draft.create(
        Check(
            id=draft.new_id("check"),
            goal=goal,
            argv=argv,
            timeout=timeout,
            inputs=inputs,
            protects=protects,
            network=network,
            set_by=context.who.actor,
            set_at=context.now,
        )
    )


def _shared(draft: Draft, check: Check, subject: str) -> bool:
    return any(row[0] != subject for row in draft.rows("check.used_by", check=check.id))
