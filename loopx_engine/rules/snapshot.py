"""Snapshot: everything the verdict looks at, as one frozen value. Loaded by `commands.snapshot.load_snapshot`.

It is bounded: criteria, live turns, leases and open decisions are few by nature; of the unfinished todos it holds those
that could be taken first (rank order), then the others, `SNAPSHOT_TODOS` at most, and counters say how many there are.
"""

from __future__ import annotations

from dataclasses import field

from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.handoff import Handoff
from loopx_engine.model.lease import Lease
from loopx_engine.model.limit import Limit
from loopx_engine.model.message import Message
from loopx_engine.model.place import Place
from loopx_engine.model.record import noun
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.model.watch import Watch

SNAPSHOT_TODOS = 200


@noun
class Snapshot:
    """`agents`: the goal's agents in order of preference. `todos`: unfinished ones (open, waiting, proving).

    `needs` maps a needed todo's id to its state (`missing` if there is none). `serving` maps a criterion's number to the
    count of unfinished todos that serve it. `decisions`: open ones, answered-not-carried-out ones, and withdrawn, expired
    or refused ones that still name an unfinished todo; only such whose signature verified. `refused` of those are todo ids
    whose decision was answered no since their last turn. `checks` are those of `todos` and `criteria`, by id. `spent_*`:
    what the budgets count; None is unknown. `limits` of the goal's agents; `busy_places` are places with a recorded live
    process that no live turn owns. `unfinished` counts all open, waiting and proving todos (also those beyond `todos`);
    `plans_in_vain` counts the newest turns that planned on the frontier that is still there.
    `successors` holds finished todos whose end named no successor and gave no reason.
    """

    damaged: str = ""
    goal: Goal | None = None
    actor: Actor | None = None
    agents: tuple[Actor, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    todos: tuple[Todo, ...] = ()
    needs: dict[str, str] = field(default_factory=dict)
    serving: dict[int, int] = field(default_factory=dict)
    leases: tuple[Lease, ...] = ()
    turns: tuple[Turn, ...] = ()
    places: tuple[Place, ...] = ()
    busy_places: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    refused: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    grant_uses: dict[str, int] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    corrections: tuple[Message, ...] = ()
    handoffs: tuple[Handoff, ...] = ()
    watches: tuple[Watch, ...] = ()
    checks: dict[str, Check] = field(default_factory=dict)
    dead_conditions: tuple[str, ...] = ()
    successors: tuple[str, ...] = ()
    unfinished: int = 0
    done: int = 0
    plans_in_vain: int = 0
    spent_turns: int = 0
    spent_tokens: int | None = None
    spent_cost: int | None = None
    sandbox: str = "none"
