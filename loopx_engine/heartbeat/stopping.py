"""Stop from outside an engine: the command is on disk; this waits for its engine, or ends the processes itself."""

from __future__ import annotations

from typing import Any

from loopx_engine.clock import Clock
from loopx_engine.engine import Engine
from loopx_engine.heartbeat.recovery import leftovers_ended
from loopx_engine.model.defaults import STOP_DEADLINE_MS
from loopx_engine.model.turn import Turn
from loopx_engine.places.processes import members

ENGINE_SHARE_S = 6.5


def finish_stop(engine: Engine, clock: Clock, turns: list[str], *, engine_runs: bool) -> dict[str, Any]:
    """Waits until the turns have ended; whatever an engine did not end in time is ended here. Says what is left.

    Promise: within 10 s no process of the turns is left, or the answer names it.
    """
    started = clock.monotonic()
    share = ENGINE_SHARE_S if engine_runs else 0.0
    seq = engine.ledger.last_seq()
    while clock.monotonic() - started < share:
        open_turns = [turn for turn in _turns(engine, turns) if turn.live]
        if not open_turns:
            break
        engine.ledger.wait_for_change(seq, 0.2)
        seq = engine.ledger.last_seq()
    ended: list[str] = []
    left: list[int] = []
    for turn in _turns(engine, turns):
        if turn.live or members(turn.tag):
            left.extend(leftovers_ended(turn))
        if turn.state == "open" and _lose(engine, turn):
            ended.append(turn.id)
        elif not turn.live:
            ended.append(turn.id)
    return {
        "turns_ended": ended,
        "processes_left": left,
        "still_proving": [turn.id for turn in _turns(engine, turns) if turn.live],
        "took_ms": int((clock.monotonic() - started) * 1000),
        "within_ms": STOP_DEADLINE_MS,
    }


def _turns(engine: Engine, names: list[str]) -> list[Turn]:
    with engine.read() as reader:
        return [found for name in names if (found := reader.get(Turn, name)) is not None]


def _lose(engine: Engine, turn: Turn) -> bool:
    from loopx_engine.errors import Refused

    try:
        engine.run("turn end", {"turn": turn.id, "result": "interrupted", "reason": "stopped by a person", "dirty": True},
                   engine.engine_identity())  # fmt: skip
    except Refused:
        return False
    return True
