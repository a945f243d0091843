"""The rows of the verdict table, in its order. Each is a function that returns a verdict or None; the last always one."""

from __future__ import annotations

from collections.abc import Callable

from loopx_engine.model.actor import Actor
from loopx_engine.model.condition import parse_condition
from loopx_engine.model.defaults import STALLED_TURNS
from loopx_engine.model.goal import Goal
from loopx_engine.model.todo import Todo
from loopx_engine.rules.budget import exceeded
from loopx_engine.rules.plan import for_a_person, plan_must_change
from loopx_engine.rules.snapshot import Snapshot
from loopx_engine.rules.take import Obstacle, blocking, obstacle
from loopx_engine.rules.verdict import Verdict

PLAN = "plan"
PERSONS = ("person", "channel")


def _error(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """1: goal or actor unknown, ledger damaged."""
    if snapshot.damaged:
        return Verdict(kind="error", reason="ledger_damaged", text=snapshot.damaged, actions=("doctor",))
    if snapshot.goal is None or snapshot.goal.id != goal:
        return Verdict(kind="error", reason="unknown_goal", text="there is no such goal", actions=("list goal",))
    if snapshot.actor is None or snapshot.actor.id != actor:
        return Verdict(kind="error", reason="unknown_actor", text="there is no such actor", actions=("list actor",))
    return None


def _resume(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """2: this actor has an open turn."""
    turn = next((item for item in snapshot.turns if item.actor == actor and item.state == "open"), None)
    if turn is None:
        return None
    return Verdict(
        kind="resume", reason="turn_open", text=f"{turn.id} is open", todo=turn.todo,
        actions=(f"turn finish {turn.id}", f"turn abandon {turn.id}"), next_look=turn.deadline,
    )  # fmt: skip


def _plan(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """3: a draft without a plan and without an open proposal, this agent may plan."""
    found = _goal(snapshot)
    empty = not snapshot.todos and not snapshot.criteria
    if (
        found.phase != "draft"
        or not empty
        or _proposal(snapshot)
        or _planning(snapshot, now)
        or not _may_plan(snapshot)
    ):
        return None
    return Verdict(
        kind="plan", reason="draft", text=f"'{found.title}' has no plan yet", actions=(f"turn begin {goal}",)
    )


def _stop(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """4: goal not active."""
    found = _goal(snapshot)
    if found.phase == "active":
        return None
    next_step = {"done": "reopen", "archived": ""}.get(found.phase, "resume")
    actions = (f"goal {next_step} {goal}",) if next_step else ()
    return Verdict(kind="stop", reason=found.phase, text=f"'{found.title}' is {found.phase}", actions=actions)


def _close(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """5: nothing open, at least one criterion, each met or waived."""
    done = snapshot.criteria and all(item.state in ("met", "waived") for item in snapshot.criteria)
    if snapshot.unfinished or snapshot.todos or snapshot.turns or not done:
        return None
    return Verdict(
        kind="ask", reason="ready_to_close", text="every criterion is met", decision=_asked(snapshot, "ready_to_close"),
        actions=(f"goal close {goal}",),
    )  # fmt: skip


def _budget(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """6: a budget is used up (none of ours frees by itself)."""
    spent = {"turns": snapshot.spent_turns, "tokens": snapshot.spent_tokens, "cost": snapshot.spent_cost}
    over = exceeded(_goal(snapshot), spent, now)
    if over is None:
        return None
    unit, used, limit = over
    return Verdict(
        kind="ask", reason="budget_spent", text=f"budget reached: {used} of {limit} {unit}",
        decision=_asked(snapshot, "budget_spent"), actions=(f"goal edit {goal} --budget {unit}=N",),
    )  # fmt: skip


def _limit(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """7: this agent's runtime or account is limited until T."""
    limit = next((item for item in snapshot.limits if item.id == actor and item.until > now), None)
    if limit is None:
        return None
    return Verdict(kind="wait", reason="limit_until", text=f"limited, said {limit.source}", next_look=limit.until)


def _answer(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """8: a verified correction of a person, or a handoff, for this actor."""
    who = _actor(snapshot)
    said = next((item for item in snapshot.corrections if item.origin in PERSONS and item.to in ("", actor)), None)
    if said is not None:
        todo = _next(snapshot, who, now)
        if todo is not None:
            return Verdict(
                kind="answer", reason="correction", text=f"a person corrects: {said.text}", todo=todo.id,
                actions=(f"turn begin {goal} --todo {todo.id}",),
            )  # fmt: skip
    for handoff in snapshot.handoffs:
        offered = next((item for item in snapshot.todos if item.id == handoff.todo), None)
        mine = handoff.to in ("", actor) and handoff.giver != actor and handoff.expires > now
        if mine and offered is not None and obstacle(offered, snapshot, who, now) is None:
            return Verdict(
                kind="answer", reason="handoff_offered", text=f"{handoff.giver} offers {handoff.todo}: {handoff.note}",
                todo=handoff.todo, actions=(f"handoff accept {handoff.id}", f"handoff decline {handoff.id}"),
            )  # fmt: skip
    return None


def _watch(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """9: watch of this actor due."""
    watch = next(
        (item for item in snapshot.watches if item.actor == actor and _watch_due(item.due, item.state, now)), None
    )
    if watch is None or _actor(snapshot).state != "active":
        return None
    return Verdict(
        kind="watch", reason="watch_due", text=f"{watch.id} is due", todo=watch.todo, actions=(f"turn begin {goal}",)
    )


def _review(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """10: review of another actor's claim is due, this actor may do it."""
    todo = _review_for(snapshot, actor, now)
    if todo is None:
        return None
    return Verdict(
        kind="review", reason="review_due", text=f"'{todo.title}' waits for a review", todo=todo.id,
        actions=(f"turn begin {goal} --todo {todo.id}",),
    )  # fmt: skip


def _work(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """11: a todo this actor may take: own lease first, then rank."""
    todo = _next(snapshot, _actor(snapshot), now)
    if todo is None:
        return None
    own = any(item.id == todo.id and item.actor == actor and item.live(now) for item in snapshot.leases)
    return Verdict(
        kind="work", reason="own_lease" if own else "next_open", text=todo.title, todo=todo.id,
        actions=(f"turn begin {goal} --todo {todo.id}",),
    )  # fmt: skip


def _replan(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """12: the plan must change, nobody is planning and no open proposal answers it. Where no agent may plan, a person."""
    found = plan_must_change(snapshot)
    if found is None or _planning(snapshot, now) or _proposal(snapshot):
        return None
    reason, text, todo = found
    person = for_a_person(snapshot, found)
    in_vain = snapshot.plans_in_vain >= STALLED_TURNS
    if _may_plan(snapshot) and not person and not in_vain:
        return Verdict(kind="replan", reason=reason, text=text, todo=todo, actions=(f"turn begin {goal}",))
    if snapshot.turns or any(item.state == "proving" for item in snapshot.todos):
        return None
    if not person and not in_vain and any(PLAN in other.capabilities for other in _others(snapshot)):
        return None
    return Verdict(
        kind="ask",
        reason=reason,
        text=text,
        todo=todo,
        decision=_asked(snapshot, reason),
        actions=(f"todo add {goal} TITLE",),
    )


def _decision_open(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """13: only decisions stand in the way."""
    stopped = [blocking(snapshot, todo.id) for todo in snapshot.todos]
    proposal = _proposal(snapshot)
    if proposal and not snapshot.turns and all(item is not None for item in stopped):
        return Verdict(
            kind="ask",
            reason="decision_open",
            text=_question(snapshot, proposal),
            decision=proposal,
            actions=("inbox",),
        )
    if not stopped or snapshot.turns or any(item is None for item in stopped):
        return None
    first = next(item for item in stopped if item is not None)
    return Verdict(
        kind="ask",
        reason="decision_open",
        text=first.question,
        decision=first.id,
        actions=(f"show {first.id}", "inbox"),
    )


def _missing(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """14: only a permission, a capability or a working place is missing."""
    if snapshot.turns:
        return None
    who = _actor(snapshot)
    found = [(todo, item) for todo in snapshot.todos if (item := obstacle(todo, snapshot, who, now)) is not None]
    real = [item for todo, item in found if item.code not in ("need_open", "decision_open")]
    if any(item.code == "capability_missing" and _another_can(todo, snapshot) for todo, item in found):
        return None
    reasons = {"place_broken": "place_broken", "capability_missing": "capability_missing"}
    if real and all(item.code in reasons for item in real):
        reason = reasons[real[0].code]
        return Verdict(
            kind="ask", reason=reason, text=real[0].text, decision=_asked(snapshot, reason), actions=("inbox",)
        )
    return None


def _wait(snapshot: Snapshot, goal: str, actor: str, now: int) -> Verdict | None:
    """15: everything else: time, proof, planning, others, the outside."""
    who = _actor(snapshot)
    if _planning(snapshot, now):
        return Verdict(kind="wait", reason="planning", text="somebody plans")
    found = [item for todo in snapshot.todos if (item := obstacle(todo, snapshot, who, now)) is not None]
    for code, reason in (
        ("proving", "proving"),
        ("held_by_other", "held_by_other"),
        ("place_held", "held_by_other"),
        ("condition_open", "condition_open"),
    ):
        match = next((item for item in found if item.code == code), None)
        if match is not None:
            return Verdict(kind="wait", reason=reason, text=match.text)
    first = found[0] if found else Obstacle(code="not_due", text="nothing is due")
    return Verdict(kind="wait", reason="not_due", text=first.text)


Row = Callable[[Snapshot, str, str, int], Verdict | None]
ROWS: tuple[Row, ...] = (
    _error, _resume, _plan, _stop, _close, _budget, _limit, _answer, _watch, _review, _work, _replan, _decision_open, _missing,
    _wait,
)  # fmt: skip


def next_look(snapshot: Snapshot, now: int) -> int | None:
    """The earliest moment at which time alone changes the verdict."""
    moments = [turn.deadline for turn in snapshot.turns]
    moments += [item.until for item in snapshot.limits]
    moments += [item.expires for item in snapshot.decisions if item.state == "open"]
    moments += [item.due for item in snapshot.watches]
    running = {turn.id for turn in snapshot.turns}
    moments += [item.expires for item in snapshot.leases if item.turn not in running]
    for todo in snapshot.todos:
        if todo.wait and todo.state == "waiting":
            condition = parse_condition(todo.wait)
            if condition.kind == "at":
                moments.append(int(condition.argument))
    ahead = [moment for moment in moments if moment > now]
    return min(ahead) if ahead else None


def notices(snapshot: Snapshot, found: Verdict) -> list[str]:
    """What the actor is not stopped by: open decisions elsewhere, a blocked todo of higher rank."""
    said = [
        f"{item.id} is open: {item.question}"
        for item in snapshot.decisions
        if item.state == "open" and item.id != found.decision
    ]
    chosen = next((todo for todo in snapshot.todos if todo.id == found.todo), None)
    if chosen is not None:
        said += [
            f"{todo.id} comes before it and is blocked by {stopped.id}"
            for todo in snapshot.todos
            if todo.rank < chosen.rank and (stopped := blocking(snapshot, todo.id)) is not None
        ]
    return said


def _goal(snapshot: Snapshot) -> Goal:
    assert snapshot.goal is not None
    return snapshot.goal


def _actor(snapshot: Snapshot) -> Actor:
    assert snapshot.actor is not None
    return snapshot.actor


def _may_plan(snapshot: Snapshot) -> bool:
    who = _actor(snapshot)
    listed = not snapshot.agents or who.id in {agent.id for agent in snapshot.agents}
    return who.kind == "agent" and who.state == "active" and PLAN in who.capabilities and listed


def _others(snapshot: Snapshot) -> list[Actor]:
    """The goal's other active agents: what they can do comes back by itself, also while one is limited."""
    return [agent for agent in snapshot.agents if agent.id != _actor(snapshot).id and agent.state == "active"]


def _another_can(todo: Todo, snapshot: Snapshot) -> bool:
    return any(
        set(todo.capabilities) <= set(agent.capabilities) and agent.id not in todo.excluded
        for agent in _others(snapshot)
    )


def _proposal(snapshot: Snapshot) -> str | None:
    return next(
        (item.id for item in snapshot.decisions if item.kind == "proposal" and item.state == "open" and not item.cause),
        None,
    )


def _planning(snapshot: Snapshot, now: int) -> bool:
    held = any(item.id == _goal(snapshot).id and item.live(now) for item in snapshot.leases)
    return held or any(turn.purpose in ("plan", "replan") for turn in snapshot.turns)


def _asked(snapshot: Snapshot, reason: str) -> str | None:
    return next(
        (item.id for item in snapshot.decisions if item.state == "open" and item.cause.startswith(f"{reason}:")), None
    )


def _question(snapshot: Snapshot, decision: str) -> str:
    return next(item.question for item in snapshot.decisions if item.id == decision)


def _next(snapshot: Snapshot, actor: Actor, now: int) -> Todo | None:
    own = {item.id for item in snapshot.leases if item.actor == actor.id and item.live(now)}
    ordered = sorted(snapshot.todos, key=lambda todo: (todo.id not in own, todo.rank, todo.id))
    return next((todo for todo in ordered if obstacle(todo, snapshot, actor, now) is None), None)


def _review_for(snapshot: Snapshot, actor: str, now: int) -> Todo | None:
    if actor not in _goal(snapshot).reviewers or _actor(snapshot).state != "active":
        return None
    held = {item.id for item in snapshot.leases if item.live(now)}
    running = {turn.place for turn in snapshot.turns}
    for todo in snapshot.todos:
        due = todo.state == "proving" and todo.review == "due" and todo.id not in held
        if (
            due
            and actor != todo.claimed_by
            and actor not in todo.excluded
            and not any(item.id in running for item in snapshot.places if item.holds == todo.id)
        ):
            return todo
    return None


def _watch_due(due: int, state: str, now: int) -> bool:
    return state == "watching" and due <= now
