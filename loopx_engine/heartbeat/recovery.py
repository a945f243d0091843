"""Recovery at the start of an engine: leftovers of turns ended, lost turns said so, claims proved, effects settled.

Nothing here deletes, resets or cleans a work directory.
"""

from __future__ import annotations

from pathlib import Path

from loopx_engine.errors import LoopxError
from loopx_engine.heartbeat.effects import carry_out
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.proving import place_facts, prove
from loopx_engine.model.effect import Effect
from loopx_engine.model.place import Place
from loopx_engine.model.turn import Turn
from loopx_engine.places.processes import Root, end_tree


def recover(heart: Heart) -> dict[str, int]:
    """Settles what an engine that is gone left behind. Only the holder of the engine's lock may call it."""
    found = {"ended": 0, "lost": 0, "proved": 0, "effects": 0}
    for turn in live_turns(heart):
        if not turn.attended and turn.state == "open":
            continue
        found["ended"] += len(leftovers_ended(turn))
        if turn.state == "finishing":
            found["proved"] += _proved(heart, turn)
        else:
            lose(heart, turn, "the engine that ran it is gone")
            found["lost"] += 1
    with heart.engine.read() as reader:
        effects = reader.records(Effect, "effect.unsettled")
    for effect in effects:
        try:
            found["effects"] += carry_out(heart, effect)
        except LoopxError as error:
            heart.log("effect.not_settled", effect=effect.id, code=error.code)
    heart.log("engine.recovered", **found)
    return found


def live_turns(heart: Heart) -> list[Turn]:
    """Every turn that is open or finishing."""
    with heart.engine.read() as reader:
        return reader.records(Turn, "turn.all_live")


def leftovers_ended(turn: Turn) -> tuple[int, ...]:
    """Ends every process of a turn, by its recorded root and by its tag. Returns what is left (nothing)."""
    roots = (Root(pid=turn.pid, started=turn.pid_started),) if turn.pid else ()
    left = list(end_tree(turn.tag, roots, grace_s=1.0))
    left.extend(end_tree(f"{turn.tag}.check", (), grace_s=0.5))
    return tuple(left)


def lose(heart: Heart, turn: Turn, reason: str) -> None:
    """The turn is *lost*: lease free, nobody blocked, its place as it is."""
    place = heart.get(Place, turn.place) if turn.place else None
    dirty = True
    try:
        if place is not None and Path(place.path).is_dir():
            _, dirty, _ = place_facts(place)
        heart.act("turn lose", turn=turn.id, reason=reason, dirty=dirty)
        heart.log("turn.lost", goal=turn.goal, turn=turn.id)
    except LoopxError as error:
        heart.log("turn.not_lost", turn=turn.id, code=error.code)


def _proved(heart: Heart, turn: Turn) -> int:
    try:
        prove(heart, turn)
    except LoopxError as error:
        heart.log("turn.not_proved", turn=turn.id, code=error.code)
        return 0
    return 1
