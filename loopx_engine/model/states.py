"""The state machines of MODEL.md 3 as data: where each state may go, who acts next, and what wakes it.

Every change of a record passes `check_move`, and a graph test walks all machines: no dead end, no absent actor.
"""

from __future__ import annotations

from loopx_engine.errors import Refused
from loopx_engine.model.record import noun


@noun
class State:
    """`to` empty means terminal; `actor` acts next (`person`, `agent`, `engine`); `wake` is the change or deadline."""

    to: tuple[str, ...] = ()
    actor: str = ""
    wake: str = ""


Machine = dict[str, State]

GOAL: Machine = {
    "draft": State(to=("active", "archived"), actor="person", wake="a plan is accepted or the goal resumed"),
    "active": State(to=("paused", "done"), actor="engine", wake="the goal's wake"),
    "paused": State(to=("active", "archived"), actor="person", wake="goal resume"),
    "done": State(to=("active", "archived"), actor="person", wake="goal reopen or archive"),
    "archived": State(),
}
TODO: Machine = {
    "open": State(
        to=("waiting", "proving", "done", "dropped"), actor="agent", wake="the goal's wake; its lease's deadline"
    ),
    "waiting": State(to=("open", "dropped"), actor="engine", wake="its condition"),
    "proving": State(
        to=("done", "open", "dropped"), actor="engine", wake="its check or review ends; the turn's deadline"
    ),
    "done": State(to=("open",), actor="person", wake="todo reopen"),
    "dropped": State(to=("open",), actor="person", wake="todo reopen"),
}
CRITERION: Machine = {
    "open": State(to=("met", "waived"), actor="engine", wake="the todos that serve it are done; goal close"),
    "met": State(to=("stale", "open", "waived"), actor="engine", wake="its inputs change"),
    "stale": State(to=("met", "open", "waived"), actor="engine", wake="its check runs again"),
    "waived": State(to=("open",), actor="person", wake="undo"),
}
LEASE: Machine = {
    "held": State(to=("free",), actor="agent", wake="release, finish, transfer or its expiry"),
    "free": State(to=("held",), actor="agent", wake="the next take"),
}
TURN: Machine = {
    "open": State(
        to=("finishing", "settled", "lost"), actor="agent", wake="turn finish, its deadline, its process ends"
    ),
    "finishing": State(to=("settled", "open"), actor="engine", wake="the check ends; the next start of an engine"),
    "settled": State(),
    "lost": State(),
}
DECISION: Machine = {
    "open": State(to=("answered", "expired", "withdrawn"), actor="person", wake="an answer; its expiry"),
    "answered": State(to=("carried out", "void"), actor="engine", wake="the answer's commit"),
    "carried out": State(),
    "void": State(),
    "expired": State(),
    "withdrawn": State(),
}
GRANT: Machine = {
    "live": State(to=("revoked",), actor="person", wake="its expiry, its last use, grant revoke"),
    "revoked": State(),
}
EFFECT: Machine = {
    "intent": State(
        to=("attempted", "failed"), actor="engine", wake="the intent's commit; the next start of an engine"
    ),
    "attempted": State(to=("done", "failed", "uncertain"), actor="engine", wake="the attempt ends; the next start"),
    "uncertain": State(to=("done", "failed"), actor="person", wake="it is read back, or answered"),
    "done": State(),
    "failed": State(),
}
MESSAGE: Machine = {
    "stored": State(
        to=("queued", "handed over", "seen", "consumed", "superseded"), actor="engine", wake="the next packet"
    ),
    "queued": State(to=("handed over", "failed", "expired"), actor="engine", wake="its channel or turn takes it"),
    "handed over": State(
        to=("seen", "consumed", "failed", "expired", "superseded"), actor="agent", wake="the turn ends"
    ),
    "seen": State(to=("consumed", "superseded", "expired"), actor="agent", wake="message consume; the turn ends"),
    "consumed": State(),
    "failed": State(),
    "expired": State(),
    "superseded": State(),
}
EVIDENCE: Machine = {
    "fresh": State(to=("stale",), actor="engine", wake="its inputs or its check change"),
    "stale": State(),
}
HANDOFF: Machine = {
    "offered": State(to=("accepted", "declined", "expired"), actor="agent", wake="accept or decline; its expiry"),
    "accepted": State(),
    "declined": State(),
    "expired": State(),
}
WATCH: Machine = {
    "watching": State(to=("flat", "ended"), actor="agent", wake="its next poll; its expiry"),
    "flat": State(to=("watching", "ended"), actor="agent", wake="a new plan"),
    "ended": State(),
}
PLACE: Machine = {
    "new": State(to=("ready", "broken", "dropped"), actor="engine", wake="the first turn of its goal"),
    "ready": State(to=("broken", "dropped"), actor="engine", wake="the next turn of its goal"),
    "broken": State(to=("new", "ready", "dropped"), actor="person", wake="its decision's answer"),
    "dropped": State(),
}
ACTOR: Machine = {
    "active": State(to=("retired",), actor="person", wake="actor retire"),
    "retired": State(),
}
CHECK: Machine = {
    "set": State(to=("replaced",), actor="person", wake="check set"),
    "replaced": State(to=("set",), actor="person", wake="undo"),
}
LIMIT: Machine = {
    "waiting": State(to=("ended",), actor="engine", wake="its time; a probe"),
    "ended": State(to=("waiting",), actor="engine", wake="the runtime says so"),
}

MACHINES: dict[str, tuple[str, Machine]] = {
    "goal": ("phase", GOAL),
    "todo": ("state", TODO),
    "criterion": ("state", CRITERION),
    "lease": ("state", LEASE),
    "turn": ("state", TURN),
    "decision": ("state", DECISION),
    "grant": ("state", GRANT),
    "effect": ("state", EFFECT),
    "message": ("state", MESSAGE),
    "evidence": ("state", EVIDENCE),
    "handoff": ("state", HANDOFF),
    "watch": ("state", WATCH),
    "place": ("state", PLACE),
    "actor": ("state", ACTOR),
    "check": ("state", CHECK),
    "limit": ("state", LIMIT),
}


def check_move(kind: str, identifier: str, before: str, after: str) -> None:
    """Refuses (`bad_move`) a change of state that the machine does not list."""
    machine = MACHINES[kind][1]
    if after not in machine:
        raise Refused(f"'{after}' is no state of a {kind}", code="bad_move", next=f"loopx show {identifier}")
    if before != after and after not in machine[before].to:
        allowed = ", ".join(machine[before].to) or "nothing"
        raise Refused(
            f"{identifier} is {before} and cannot become {after}; from here it goes to {allowed}",
            code="bad_move",
            next=f"loopx show {identifier}",
        )
