"""Turn: an agent's two calls (`begin`, `finish`), and what the engine records of a turn's process and its end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, hidden, option
from loopx_engine.commands.frontier import frontier_of
from loopx_engine.commands.snapshot import load_snapshot
from loopx_engine.commands.taking import answer_of, check_epoch, end_turn, hand_over_messages, take_lease
from loopx_engine.errors import Refused, UsageError, WaitsForPerson
from loopx_engine.model.actor import Actor
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import LEASE_MS, TURN_WALL_MS
from loopx_engine.model.goal import Goal
from loopx_engine.model.limits import BODY_BYTES, PATH_BYTES
from loopx_engine.model.place import Place
from loopx_engine.model.session import Session
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.rules.snapshot import Snapshot
from loopx_engine.rules.take import blocking, obstacle
from loopx_engine.rules.verdict import Verdict, verdict

OUTCOMES = ("done", "progress", "blocked", "failed")
PURPOSES = {"work": "work", "review": "review", "plan": "plan", "replan": "replan", "watch": "watch", "answer": "work"}


@command
class TurnBegin:
    """Takes what the verdict names (or one todo) and opens a turn on it. The packet is built from the ledger after it."""

    goal: str = option("the goal; needed when the agent has more than one", id="goal")
    todo: str = option("the todo to take", id="todo")
    tree: str = hidden("the digest of the place at its start", default="")
    attended: bool = hidden("an engine's thread watches the turn", default=False)
    wall: int = hidden("milliseconds the turn may last", default=TURN_WALL_MS)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        actor = draft.need(Actor, context.who.actor)
        goal = draft.need(Goal, self.goal or self._only_goal(draft, actor))
        snapshot = load_snapshot(
            draft,
            goal.id,
            actor.id,
            trusted=context.trusted,
            busy_places=context.busy_places,
            sandbox=context.sandbox,
        )
        ruling = verdict(snapshot, goal.id, actor.id, context.now)
        if ruling.kind == "resume":
            return self._again(draft, context, snapshot, actor)
        purpose, todo = self._choose(draft, snapshot, actor, ruling, context.now)
        return self._open(draft, context, snapshot, actor, goal, purpose, todo)

    def _only_goal(self, draft: Draft, actor: Actor) -> str:
        if self.todo:
            return draft.need(Todo, self.todo).goal
        goals = draft.rows("goal.active_for", actor=actor.id)
        if len(goals) != 1:
            names = ", ".join(str(row[0]) for row in goals) or "none"
            raise UsageError(
                f"name the goal; this agent's active goals: {names}", code="which_goal", next="loopx list goal"
            )
        return str(goals[0][0])

    def _choose(
        self, draft: Draft, snapshot: Snapshot, actor: Actor, ruling: Verdict, now: int
    ) -> tuple[str, Todo | None]:
        if ruling.kind in ("error", "stop") or ruling.reason in ("budget_spent", "limit_until", "ready_to_close"):
            raise Refused(
                ruling.text, code=ruling.reason, next=f"loopx next {snapshot.goal.id if snapshot.goal else ''}"
            )
        if self.todo:
            todo = draft.need(Todo, self.todo)
            if snapshot.goal is None or todo.goal != snapshot.goal.id:
                raise UsageError(f"{todo.id} belongs to {todo.goal}", code="other_goal", next=f"loopx show {todo.id}")
            found = obstacle(todo, snapshot, actor, now)
            if ruling.kind == "review" and ruling.todo == todo.id:
                return "review", todo
            if found is not None:
                raise Refused(found.text, code=found.code, next=f"loopx why {todo.id}")
            return "work", todo
        if ruling.kind == "ask":
            raise WaitsForPerson(
                ruling.text, code=ruling.reason, details={"decision": ruling.decision}, next="loopx inbox"
            )
        if ruling.kind not in PURPOSES:
            raise Refused(
                ruling.text, code=ruling.reason, next=f"loopx next {snapshot.goal.id if snapshot.goal else ''}"
            )
        return PURPOSES[ruling.kind], draft.need(Todo, ruling.todo) if ruling.todo else None

    def _open(
        self,
        draft: Draft,
        context: Context,
        snapshot: Snapshot,
        actor: Actor,
        goal: Goal,
        purpose: str,
        todo: Todo | None,
    ) -> dict[str, Any]:
        place = choose_place(snapshot, todo.id if todo else "")
        if place is None and todo is not None:
            raise Refused(
                f"the place of {goal.id} is not ready", code="place_not_ready", next="loopx-engine run prepares it"
            )
        if todo is not None and todo.state == "waiting":
            draft.put(replace(todo, state="open"))
        turn_id = draft.new_id("turn")
        deadline = context.now + self.wall
        expires = context.now + LEASE_MS if self.attended else deadline
        lease = take_lease(
            draft,
            todo.id if todo else goal.id,
            goal.id,
            turn_id,
            actor.id,
            place.id if place else None,
            context.now,
            expires,
        )
        context.reveal["token"], hashed = context.token("turn")
        turn = draft.create(
            Turn(
                id=turn_id,
                goal=goal.id,
                actor=actor.id,
                runtime=actor.runtime,
                session=_session(draft, actor, goal, turn_id),
                todo=todo.id if todo else None,
                place=place.id if place else None,
                purpose=purpose,  # type: ignore[arg-type]
                basis=goal.revision,
                generation=goal.generation,
                epoch=lease.epoch,
                attended=self.attended,
                tag=turn_id,
                token_hash=hashed,
                tree=self.tree,
                frontier=frontier_of(draft, goal, self.tree),
                begun_at=context.now,
                deadline=deadline,
            )
        )
        hand_over_messages(draft, turn)
        return {"turn": turn.id, "goal": goal.id, "todo": turn.todo, "purpose": purpose, "epoch": lease.epoch}

    def _again(self, draft: Draft, context: Context, snapshot: Snapshot, actor: Actor) -> dict[str, Any]:
        turn = next(item for item in snapshot.turns if item.actor == actor.id)
        if turn.attended or (self.todo and self.todo != turn.todo):
            raise Refused(
                f"{actor.name} already has an open turn, {turn.id}", code="turn_open", next=f"loopx show {turn.id}"
            )
        context.reveal["token"], hashed = context.token("turn")
        draft.put(replace(turn, token_hash=hashed))
        return {"turn": turn.id, "goal": turn.goal, "todo": turn.todo, "purpose": turn.purpose, "epoch": turn.epoch}


@command
class TurnStart:
    """Records the process of a turn: its root, its box and its transcript, so that any engine can end it."""

    turn: str = hidden("the turn", id="turn")
    pid: int = hidden("the root process")
    started: str = hidden("its start time and boot")
    sandbox: str = hidden("the box it runs in")
    transcript: str = hidden("its transcript", default="", most=PATH_BYTES, unit="bytes")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = draft.need(Turn, self.turn)
        if turn.state != "open":
            raise Refused(f"{turn.id} is {turn.state}", code="turn_ended", next=f"loopx show {turn.id}")
        draft.put(
            replace(turn, pid=self.pid, pid_started=self.started, sandbox=self.sandbox, transcript=self.transcript)
        )
        return {"turn": turn.id}


@command
class TurnUsage:
    """What a turn used, as its runtime said; what it did not say, or what cannot be (below 0), stays unknown."""

    turn: str = hidden("the turn", id="turn")
    input: int | None = hidden("tokens read", default=None)
    output: int | None = hidden("tokens written", default=None)
    cost: int | None = hidden("cost in millionths", default=None)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = draft.need(Turn, self.turn)
        used = (None if value is None or value < 0 else value for value in (self.input, self.output, self.cost))
        input_tokens, output_tokens, cost = used
        draft.put(replace(turn, input_tokens=input_tokens, output_tokens=output_tokens, cost=cost))
        return {"turn": turn.id}


@command
class TurnExtend:
    """Keeps the lease of a turn that its agent runs by itself, up to the turn's wall limit from now."""

    turn: str = argument("the turn", id="turn")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = own_turn(draft, context, self.turn)
        lease = check_epoch(draft, turn)
        deadline = min(context.now + TURN_WALL_MS, turn.begun_at + 4 * TURN_WALL_MS)
        draft.put(replace(turn, deadline=max(deadline, turn.deadline)))
        draft.put(replace(lease, expires=max(deadline, lease.expires)))
        return {"turn": turn.id, "deadline": max(deadline, turn.deadline)}


@command
class TurnFinish:
    """Claims what came of a turn. The claim is on disk before anything is proved; the engine settles it."""

    turn: str = argument("the turn", id="turn")
    outcome: str = option("what the turn came to", default="", choices=OUTCOMES)
    result: str = option("of a review", choices=("pass", "fail"))
    summary: str = option("what was done", most=BODY_BYTES, unit="bytes")
    evidence: tuple[str, ...] = option("a file that shows it", default=(), most=PATH_BYTES, unit="bytes")
    successor: str = option("the todo that follows", id="todo")
    no_successor: str = option("why none is needed", most=500)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = own_turn(draft, context, self.turn)
        check_epoch(draft, turn)
        self._check_words(turn)
        todo = draft.get(Todo, turn.todo) if turn.todo else None
        if self.outcome == "done" and todo is not None and turn.purpose == "work":
            refuse_blocked(draft, context, todo)
            draft.put(replace(todo, state="proving"))
        if self.successor and draft.need(Todo, self.successor).goal != turn.goal:
            raise UsageError(
                f"{self.successor} belongs to another goal", code="other_goal", next=f"loopx show {turn.goal}"
            )
        claim: dict[str, object] = {
            "outcome": self.outcome,
            "result": self.result,
            "evidence": list(self.evidence),
            "successor": self.successor,
            "no_successor": self.no_successor,
        }
        turn = draft.put(replace(turn, state="finishing", claim=claim, claimed_by=turn.actor, summary=self.summary))
        return {"turn": turn.id, "todo": turn.todo, "state": "proving" if self.outcome == "done" else "finishing"}

    def _check_words(self, turn: Turn) -> None:
        if not self.outcome:
            raise UsageError("say what the turn came to: --outcome " + "|".join(OUTCOMES), code="missing_argument")
        if turn.purpose == "review" and self.outcome == "done" and not self.result:
            raise UsageError("a review ends with --result pass or fail", code="missing_argument")
        if turn.purpose != "review" and self.result:
            raise UsageError("--result is for reviews only", code="bad_argument", next="loopx turn finish --help")
        if turn.purpose == "review" and self.result and not (self.evidence or self.summary.strip()):
            raise UsageError("a review names its evidence or says what was looked at", code="missing_argument")


@command
class TurnAbandon:
    """Gives a turn back: nothing is claimed, the todo is open again."""

    turn: str = argument("the turn", id="turn")
    reason: str = option("why", most=BODY_BYTES, unit="bytes")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = own_turn(draft, context, self.turn)
        check_epoch(draft, turn)
        return answer_of(
            end_turn(draft, turn, "interrupted", context.now, reason=self.reason, dirty=turn.purpose == "work")
        )


@command
class TurnEnd:
    """The process of a turn ended without a claim, or was ended: `progress`, `failed`, `interrupted` or `blocked`."""

    turn: str = hidden("the turn", id="turn")
    result: str = hidden("what it came to", choices=("progress", "failed", "interrupted", "blocked"))
    reason: str = hidden("why", default="", most=BODY_BYTES, unit="bytes")
    tree: str = hidden("the digest of the place at its end", default="")
    dirty: bool = hidden("work lies uncommitted in the place", default=False)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = draft.need(Turn, self.turn)
        if turn.state != "open":
            raise Refused(f"{turn.id} is {turn.state}", code="turn_ended", next=f"loopx show {turn.id}")
        block_by_asked(draft, turn, self.result)
        return answer_of(
            end_turn(draft, turn, self.result, context.now, reason=self.reason, tree=self.tree, dirty=self.dirty)
        )


@command
class TurnLose:
    """A turn whose deadline passed or whose process is gone. A claim already made is not lost: it is proved instead."""

    turn: str = hidden("the turn", id="turn")
    reason: str = hidden("what is known", most=BODY_BYTES, unit="bytes")
    dirty: bool = hidden("work may lie uncommitted in the place", default=True)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        turn = draft.need(Turn, self.turn)
        if turn.state != "open":
            raise Refused(f"{turn.id} is {turn.state}", code="turn_ended", next=f"loopx show {turn.id}")
        return answer_of(
            end_turn(draft, turn, "interrupted", context.now, reason=self.reason, dirty=self.dirty, lost=True)
        )


def own_turn(draft: Draft, context: Context, identifier: str) -> Turn:
    """The open turn that this identity holds. Refuses another's (`not_your_turn`) and an ended one (`turn_ended`)."""
    turn = draft.need(Turn, identifier)
    if context.who.turn != turn.id:
        raise Refused(f"{identifier} is not your turn", code="not_your_turn", next="loopx next")
    if turn.state != "open":
        raise Refused(f"{turn.id} is {turn.state}", code="turn_ended", next=f"loopx show {turn.id}")
    return turn


def choose_place(snapshot: Snapshot, todo: str) -> Place | None:
    """The place a turn runs in: the one that holds the todo's work, else a ready one that holds none and is free."""
    taken = {turn.place for turn in snapshot.turns} | set(snapshot.busy_places)
    free = [place for place in snapshot.places if place.state == "ready" and place.id not in taken]
    holding = next((place for place in free if place.holds == todo and todo), None)
    return holding or next((place for place in free if place.holds is None), None)


def refuse_blocked(draft: Draft, context: Context, todo: Todo) -> None:
    """Refuses (`decision_open`) while a decision stands in the todo's way: the transaction enforces what the verdict says."""
    snapshot = load_snapshot(draft, todo.goal, context.who.actor, trusted=context.trusted)
    decision = blocking(snapshot, todo.id)
    if decision is not None:
        raise WaitsForPerson(
            f"{decision.id} stands in the way of {todo.id}: {decision.question}",
            code="decision_open",
            details={"decision": decision.id},
            next=f"loopx show {decision.id}",
        )


def block_by_asked(draft: Draft, turn: Turn, result: str) -> None:
    """A turn that ended `blocked` leaves its open questions in the way of its todo."""
    if result != "blocked" or not turn.todo:
        return
    for decision in draft.records(Decision, "decision.open", goal=turn.goal):
        if decision.turn == turn.id and turn.todo not in decision.blocks:
            draft.put(replace(decision, blocks=(*decision.blocks, turn.todo)))


def _session(draft: Draft, actor: Actor, goal: Goal, turn: str) -> str | None:
    if not actor.runtime:
        return None
    known = draft.records(Session, "session.of", goal=goal.id, actor=actor.id)
    if known:
        return draft.put(replace(known[0], last_turn=turn)).id
    made = Session(id=draft.new_id("session"), runtime=actor.runtime, actor=actor.id, goal=goal.id, last_turn=turn)
    return draft.create(made).id
