"""Todo: adding, changing, ordering, splitting, dropping and reopening units of work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.check import make_check
from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, hidden, option
from loopx_engine.errors import Refused, UsageError
from loopx_engine.model.condition import parse_condition
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.goal import Goal
from loopx_engine.model.lease import Lease
from loopx_engine.model.limits import ARGV_BYTES, BODY_BYTES, TITLE_CHARACTERS
from loopx_engine.model.todo import Todo

RANK_STEP = 1024


@command
class TodoAdd:
    """Adds a unit of work to a goal, last in its order."""

    goal: str = argument("the goal", id="goal")
    title: str = argument("what is to be done", most=TITLE_CHARACTERS)
    check: tuple[str, ...] = option("argv that proves it, split once by shlex", default=(), most=ARGV_BYTES)
    body: str = option("what its agent should know", most=BODY_BYTES, unit="bytes")
    serves: tuple[int, ...] = option("the number of a criterion it serves", default=())
    needs: tuple[str, ...] = option("a todo that must be done first", default=(), id="todo")
    wait: str = option("what it waits for, like done:t-3 or at:MILLISECONDS", most=1000)
    scope: tuple[str, ...] = option("a glob of paths it may change", default=(), most=500)
    capability: tuple[str, ...] = option("something its agent must be able to do", default=())
    kind: str = option("what kind of work", default="work", choices=("work", "watch", "review"))

    def needs_signature(self) -> bool:
        return bool(self.check)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        goal = draft.need(Goal, self.goal)
        if goal.phase in ("done", "archived"):
            raise Refused(f"{goal.id} is {goal.phase}", code="goal_ended", next=f"loopx goal reopen {goal.id}")
        _check_links(draft, goal.id, self.serves, self.needs)
        waiting = bool(self.wait) and parse_condition(self.wait) is not None
        todo = draft.create(
            Todo(
                id=draft.new_id("todo"),
                goal=goal.id,
                kind=self.kind,  # type: ignore[arg-type]
                title=self.title,
                body=self.body,
                state="waiting" if waiting else "open",
                rank=next_rank(draft, goal.id),
                serves=self.serves,
                needs=self.needs,
                wait=self.wait or None,
                scopes=self.scope,
                capabilities=self.capability,
                check=make_check(draft, context, goal.id, self.check).id if self.check else None,
                signed=context.who.verified,
                added_by=context.who.actor,
                created_at=context.now,
            )
        )
        return {"todo": todo.id, "title": todo.title}


@command
class TodoEdit:
    """Changes only what is named; everything else stays."""

    todo: str = argument("the todo", id="todo")
    title: str | None = option("what is to be done", default=None, most=TITLE_CHARACTERS)
    body: str | None = option("what its agent should know", default=None, most=BODY_BYTES, unit="bytes")
    needs: tuple[str, ...] | None = option("the todos that must be done first", default=None, id="todo")
    serves: tuple[int, ...] | None = option("the numbers of the criteria it serves", default=None)
    scope: tuple[str, ...] | None = option("the globs of paths it may change", default=None, most=500)
    wait: str | None = option("what it waits for; empty: nothing", default=None, most=1000)
    exclude: tuple[str, ...] | None = option("agents that may not take it", default=None)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        todo = _unfinished(draft, self.todo)
        if self.title is not None and not self.title.strip():
            raise UsageError("the title is empty", code="empty", next="loopx todo edit --help")
        _check_links(draft, todo.goal, self.serves or (), self.needs or (), todo.id)
        named = {
            "title": self.title,
            "body": self.body,
            "needs": self.needs,
            "serves": self.serves,
            "scopes": self.scope,
        }
        changes: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        if self.exclude is not None:
            from loopx_engine.commands.actor import named_actor

            changes["excluded"] = tuple(named_actor(draft, name).id for name in self.exclude)
        if self.wait is not None:
            if self.wait:
                parse_condition(self.wait)
            not_in_progress(draft, todo, context.now)
            changes |= {"wait": self.wait or None, "state": "waiting" if self.wait else "open"}
        draft.put(replace(todo, **changes, stalls=0, signed=context.who.verified))
        return {"todo": todo.id}


@command
class TodoOrder:
    """Moves a todo before another, or last when none is named."""

    todo: str = argument("the todo", id="todo")
    before: str = option("the todo it goes before", id="todo")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        todo = draft.need(Todo, self.todo)
        if not self.before:
            draft.put(replace(todo, rank=next_rank(draft, todo.goal)))
            return {"todo": todo.id}
        target = draft.need(Todo, self.before)
        if target.goal != todo.goal:
            raise Refused(f"{target.id} belongs to another goal", code="other_goal", next=f"loopx show {todo.goal}")
        rows = draft.rows("todo.rank_before", goal=todo.goal, rank=target.rank, todo=todo.id)
        low = int(rows[0][0]) if rows and rows[0][0] is not None else target.rank - 2 * RANK_STEP
        if target.rank - low >= 2:
            draft.put(replace(todo, rank=(low + target.rank) // 2))
        else:
            _respread(draft, todo, target)
        return {"todo": todo.id}


@command
class TodoSplit:
    """Replaces a todo by several, in its place; the old one is dropped and names them."""

    todo: str = argument("the todo", id="todo")
    into: tuple[str, ...] = option("the title of one part; at least two", default=(), most=TITLE_CHARACTERS)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        todo = _unfinished(draft, self.todo)
        not_in_progress(draft, todo, context.now)
        if len(self.into) < 2 or not all(title.strip() for title in self.into):
            raise UsageError(
                "a split needs two or more titles", code="missing_argument", next="loopx todo split --help"
            )
        made = [
            draft.create(
                replace(
                    todo,
                    id=draft.new_id("todo"),
                    title=title,
                    rank=next_rank(draft, todo.goal),
                    successor_of=todo.id,
                    review="",
                    claimed_by="",
                    evidence=None,
                    stalls=0,
                    failures=0,
                    frontiers=(),
                    signed=context.who.verified,
                    added_by=context.who.actor,
                    created_at=context.now,
                )
            ).id
            for title in self.into
        ]
        draft.put(replace(todo, state="dropped", ended_at=context.now, no_successor="split"))
        for other in draft.records(Todo, "todo.needing", goal=todo.goal, todo=todo.id):
            draft.put(
                replace(other, needs=tuple(n for need in other.needs for n in (made if need == todo.id else [need])))
            )
        return {"todo": todo.id, "parts": made}


@command
class TodoDrop:
    """Says that a todo is not wanted. What needs it will need a new plan."""

    todo: str = argument("the todo", id="todo")
    reason: str = option("why", most=BODY_BYTES, unit="bytes")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        todo = _unfinished(draft, self.todo)
        not_in_progress(draft, todo, context.now)
        draft.put(replace(todo, state="dropped", ended_at=context.now, no_successor=self.reason or "dropped"))
        return {"todo": todo.id}


@command
class TodoReopen:
    """Takes a finished todo up again; its evidence is kept and marked stale."""

    todo: str = argument("the todo", id="todo")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        todo = draft.need(Todo, self.todo)
        if todo.state not in ("done", "dropped"):
            raise Refused(f"{todo.id} is {todo.state}, not finished", code="not_finished", next=f"loopx show {todo.id}")
        goal = draft.need(Goal, todo.goal)
        if goal.phase in ("done", "archived"):
            raise Refused(f"{goal.id} is {goal.phase}", code="goal_ended", next=f"loopx goal reopen {goal.id}")
        for evidence in draft.records(Evidence, "evidence.fresh_of_todo", todo=todo.id):
            draft.put(replace(evidence, state="stale", stale_reason="its todo was reopened"))
        for criterion in draft.records(Criterion, "criterion.of_goal", goal=todo.goal):
            if criterion.number in todo.serves and criterion.state == "met":
                draft.put(replace(criterion, state="stale"))
        draft.put(
            replace(
                todo,
                state="open",
                ended_at=None,
                stalls=0,
                failures=0,
                proof="",
                review="",
                successor=None,
                no_successor="",
            )
        )
        return {"todo": todo.id}


@command
class TodoReady:
    """A waiting todo's condition came true."""

    todo: str = hidden("the todo", id="todo")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        todo = draft.need(Todo, self.todo)
        if todo.state != "waiting":
            raise Refused(f"{todo.id} is {todo.state}, not waiting", code="not_waiting", next=f"loopx show {todo.id}")
        draft.put(replace(todo, state="open"))
        return {"todo": todo.id, "condition": todo.wait or ""}


def next_rank(draft: Draft, goal: str) -> int:
    """A rank behind every todo of the goal."""
    last = draft.rows("todo.last_rank", goal=goal)[0][0] or 0
    fresh = [item.rank for item in draft.created(Todo) if item.goal == goal]
    return int(max([last, *fresh])) + RANK_STEP


def _unfinished(draft: Draft, identifier: str) -> Todo:
    todo = draft.need(Todo, identifier)
    if todo.state in ("done", "dropped"):
        raise Refused(f"{todo.id} is {todo.state}", code="finished", next=f"loopx todo reopen {todo.id}")
    return todo


def not_in_progress(draft: Draft, todo: Todo, now: int) -> None:
    lease = draft.get(Lease, todo.id)
    if todo.state == "proving" or (lease is not None and lease.live(now)):
        raise Refused(f"{todo.id} is in progress", code="in_progress", next=f"loopx stop {todo.goal}")


def _check_links(draft: Draft, goal: str, serves: tuple[int, ...], needs: tuple[str, ...], todo: str = "") -> None:
    numbers = {item.number for item in draft.records(Criterion, "criterion.of_goal", goal=goal)}
    numbers |= {item.number for item in draft.created(Criterion) if item.goal == goal}
    for number in serves:
        if number not in numbers:
            raise UsageError(f"the goal has no criterion {number}", code="no_criterion", next=f"loopx show {goal}")
    for need in needs:
        if draft.need(Todo, need).goal != goal:
            raise UsageError(f"{need} belongs to another goal", code="other_goal", next=f"loopx show {goal}")
    if todo and _leads_to(draft, needs, todo):
        raise UsageError(f"{todo} would need itself", code="needs_cycle", next=f"loopx show {todo}")


def _leads_to(draft: Draft, needs: tuple[str, ...], todo: str) -> bool:
    seen: set[str] = set()
    ahead = list(needs)
    while ahead:
        current = ahead.pop()
        if current == todo:
            return True
        if current not in seen:
            seen.add(current)
            found = draft.get(Todo, current)
            ahead.extend(found.needs if found else ())
    return False


def _respread(draft: Draft, todo: Todo, target: Todo) -> None:
    rank = 0
    for other in draft.records(Todo, "todo.in_order", goal=todo.goal):
        if other.id == todo.id:
            continue
        if other.id == target.id:
            rank += RANK_STEP
            draft.put(replace(todo, rank=rank))
        rank += RANK_STEP
        draft.put(replace(other, rank=rank))
