"""Stop from outside an engine: the command is on disk; this waits for its engine, or ends the processes itself."""

from __future__ import annotations

from typing import Any

from loopx_engine.clock import Clock
from loopx_engine.engine import Engine
from loopx_engine.errors import Refused, StateMoved
from loopx_engine.heartbeat.recovery import leftovers_ended
from loopx_engine.model.defaults import STOP_DEADLINE_MS
from loopx_engine.model.turn import Turn
from loopx_engine.places.processes import Root, members

ENGINE_SHARE_S = 6.0
REST_S = 3.0
LOOK_S = 0.2


def finish_stop(
    engine: Engine, clock: Clock, turns: list[str], *, engine_runs: bool, goals: list[str] | None = None
) -> dict[str, Any]:
    """Waits until the turns have ended; whatever an engine did not end in time is ended here. Says what is left.

    Promise: within 10 s no process of the turns (and of `goals`, checks and set-ups included) is left, or the answer
    names it. A claim that was being proved is kept (`claims_kept`): it is on disk, and proved when work goes on.
    """
    started = clock.monotonic()
    share = ENGINE_SHARE_S if engine_runs else 0.0
    tags = _tags(engine, turns, goals or [])
    while clock.monotonic() - started < share and (_open(engine, turns) or _alive(engine, turns, tags)):
        engine.ledger.wait_for_change(engine.ledger.last_seq(), LOOK_S)
    left: list[int] = []
    for tag in tags:
        mine = [turn for turn in _turns(engine, turns) if tag.endswith(f"/{turn.goal}")]
        left.extend(leftovers_ended(tag, mine, deadline_s=REST_S))
    for turn in _open(engine, turns):
        _end(engine, turn)
    now = _turns(engine, turns)
    return {
        "turns_ended": [turn.id for turn in now if not turn.live],
        "processes_left": sorted(set(left)),
        "still_proving": [turn.id for turn in now if turn.state == "finishing" and left],
        "claims_kept": [turn.id for turn in now if turn.state == "finishing"],
        "took_ms": int((clock.monotonic() - started) * 1000),
        "within_ms": STOP_DEADLINE_MS,
    }


def _tags(engine: Engine, turns: list[str], goals: list[str]) -> list[str]:
    named = {*goals, *(turn.goal for turn in _turns(engine, turns))}
    return [f"{engine.ledger.id[:16]}/{goal}" for goal in sorted(named)]


def _turns(engine: Engine, names: list[str]) -> list[Turn]:
    with engine.read() as reader:
        return [found for name in names if (found := reader.get(Turn, name)) is not None]


def _open(engine: Engine, names: list[str]) -> list[Turn]:
    return [turn for turn in _turns(engine, names) if turn.state == "open"]


def _alive(engine: Engine, names: list[str], tags: list[str]) -> bool:
    roots = [Root(pid=turn.pid, started=turn.pid_started) for turn in _turns(engine, names) if turn.pid]
    return any(members(tag, roots) for tag in tags)


def _end(engine: Engine, turn: Turn) -> None:
    given = {"turn": turn.id, "result": "interrupted", "reason": "stopped by a person", "dirty": True}
    try:
        engine.run("turn end", given, engine.engine_identity())
    except (Refused, StateMoved):
        return
