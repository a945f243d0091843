"""Recovery at the start of an engine: leftovers of turns ended, lost turns said so, effects settled, goals looked at.

Nothing here deletes, resets or cleans a work directory.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from loopx_engine.errors import LoopxError
from loopx_engine.heartbeat.effects import carry_out
from loopx_engine.heartbeat.heart import TROUBLE, Heart
from loopx_engine.heartbeat.lost import ask_about_lost
from loopx_engine.heartbeat.proving import place_facts
from loopx_engine.model.effect import Effect
from loopx_engine.model.place import Place
from loopx_engine.model.turn import Turn
from loopx_engine.model.wake import Wake
from loopx_engine.places.processes import Root, end_tree

UNDER_WAY = "work is under way"


def recover(heart: Heart) -> dict[str, int]:
    """Ends and settles what an engine that is gone left behind. Only the holder of the engine's lock may call it.

    Claims that were being proved are left to the first look at their goals: a check may take long, and stop must be heard.
    """
    found = {"ended": 0, "lost": 0, "claims": 0, "effects": 0}
    live = [turn for turn in live_turns(heart) if turn.attended or turn.state == "finishing"]
    left = leftovers_ended(heart.tag(), live)
    if left:
        heart.log("engine.processes_left", pids=list(left))
    for turn in live:
        if turn.state == "finishing":
            found["claims"] += 1
        else:
            lose(heart, turn, "the engine that ran it is gone")
            found["lost"] += 1
    with heart.engine.read() as reader:
        effects = reader.records(Effect, "effect.unsettled")
        wakes = reader.records(Wake, "wake.all")
    for effect in effects:
        try:
            found["effects"] += carry_out(heart, effect)
        except TROUBLE as error:
            heart.log("effect.not_settled", effect=effect.id, error=type(error).__name__)
    for wake in wakes:
        if wake.cause == UNDER_WAY:
            heart.act("wake set", goal=wake.id, due=heart.clock.now(), pace="work", cause="the engine started")
    heart.log("engine.recovered", **found)
    return found


def live_turns(heart: Heart) -> list[Turn]:
    """Every turn that is open or finishing."""
    with heart.engine.read() as reader:
        return reader.records(Turn, "turn.all_live")


def leftovers_ended(tag: str, turns: Iterable[Turn], *, deadline_s: float = 8.0) -> tuple[int, ...]:
    """Ends every process under a tag and of these turns' recorded roots. Returns what is left (nothing)."""
    roots = [Root(pid=turn.pid, started=turn.pid_started) for turn in turns if turn.pid]
    return end_tree(tag, roots, grace_s=min(1.0, deadline_s / 2), deadline_s=deadline_s)


def lose(heart: Heart, turn: Turn, reason: str) -> None:
    """The turn is *lost*: lease free, nobody blocked, its place as it is; a person is asked where the preset says so."""
    place = heart.get(Place, turn.place) if turn.place else None
    dirty = True
    try:
        if place is not None and Path(place.path).is_dir():
            _, dirty, _ = place_facts(place)
    except TROUBLE as error:
        heart.log("turn.place_unread", turn=turn.id, error=type(error).__name__)
    try:
        ask_about_lost(heart, turn)
        heart.act("turn lose", turn=turn.id, reason=reason, dirty=dirty)
        heart.log("turn.lost", goal=turn.goal, turn=turn.id)
    except LoopxError as error:
        heart.log("turn.not_lost", turn=turn.id, code=error.code)
