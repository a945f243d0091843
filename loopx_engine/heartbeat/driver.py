"""The turn driver: one thread, one turn, from `turn begin` to its settled end, with every process of it gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_engine.commands.turn import choose_place
from loopx_engine.errors import LoopxError, NotFound, Refused, StateMoved
from loopx_engine.heartbeat.effects import carry_out_all
from loopx_engine.heartbeat.heart import TROUBLE, Heart
from loopx_engine.heartbeat.packet import build_packet, cut
from loopx_engine.heartbeat.preparing import check_place
from loopx_engine.heartbeat.proving import place_facts, prove, prove_criteria
from loopx_engine.heartbeat.shared import shared_before, tell_changes
from loopx_engine.heartbeat.turn_clock import Clocks, TurnClock
from loopx_engine.heartbeat.turn_events import TurnEvents
from loopx_engine.heartbeat.turn_socket import TurnSocket
from loopx_engine.host.files import BoundedFile
from loopx_engine.model.actor import Actor
from loopx_engine.model.defaults import STOP_GRACE_MS, TRANSCRIPT_BYTES
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.turn import Turn
from loopx_engine.places.environment import child_environment
from loopx_engine.places.processes import Root, end_tree
from loopx_engine.places.sandbox import boxed, launch_environment
from loopx_engine.runtimes.protocol import Ended, Result, RunningTurn, Start

TICK_S = 0.1
LEAVE_S = 5.0
HURRY_S = 1.0


class TurnDriver:
    """Drives one turn of one agent in one place. `stop(reason)` may be called from any thread."""

    def __init__(self, heart: Heart, goal: Goal, actor: Actor, todo: str | None, clocks: Clocks | None = None) -> None:
        self.heart = heart
        self.goal = goal
        self.actor = actor
        self.todo = todo
        self.clocks = clocks or Clocks()
        self.place: Place | None = None
        self._stop_reason = ""
        self._running: RunningTurn | None = None
        self._events: TurnEvents | None = None
        self._socket: TurnSocket | None = None
        self._transcript: BoundedFile | None = None
        self._shared: dict[str, str] | None = None

    def stop(self, reason: str) -> None:
        """Asks the turn to end; its thread does the ladder."""
        self._stop_reason = self._stop_reason or reason

    def run(self) -> None:
        """The whole turn. What goes wrong in it ends the turn as *failed*; raises only where none could be begun."""
        turn, token = self._begin()
        try:
            self._transcript = BoundedFile(self.heart.transcripts() / f"{turn.id}.log", TRANSCRIPT_BYTES)
            if self.heart.box.kind != "none":
                self._socket = TurnSocket(self.heart, turn)
            running = self._start(turn, token)
            self._attend(turn, running)
        except TROUBLE as error:
            said = error.message if isinstance(error, LoopxError) else f"{type(error).__name__}: {error}"
            self._write(f"[engine] {said}")
            self._end_open(turn, "failed", said)
        finally:
            self._leave(turn)

    # -- begin ----------------------------------------------------------------------------------------------------

    def _begin(self) -> tuple[Turn, str]:
        heart, goal = self.heart, self.goal
        try:
            self.place = choose_place(heart.engine.snapshot(goal.id, self.actor.id), self.todo or "")
            if self.place is not None:
                check_place(heart, goal, self.place)
            tree, _, _ = place_facts(self.place)
            arguments: dict[str, Any] = {"goal": goal.id, "tree": tree, "attended": True, "wall": self.clocks.wall}
            if self.todo:
                arguments["todo"] = self.todo
            answer = heart.engine.run("turn begin", arguments, heart.agent(self.actor.id, goal.id))
        except LoopxError as error:
            heart.log("turn.not_begun", goal=goal.id, actor=self.actor.id, code=error.code)
            raise
        turn = heart.get(Turn, str(answer.answer["turn"]))
        if turn.place and (self.place is None or self.place.id != turn.place):
            self.place = heart.get(Place, turn.place)
        heart.log("turn.begun", goal=goal.id, turn=turn.id, todo=turn.todo, actor=self.actor.id, purpose=turn.purpose)
        return turn, answer.reveal["token"]

    def _start(self, turn: Turn, token: str) -> RunningTurn:
        heart = self.heart
        assert self._transcript is not None
        adapter = heart.adapters.get(self.actor.runtime)
        if adapter is None:
            raise Refused(
                f"no runtime {self.actor.runtime or '(none)'} here", code="runtime_missing", next="loopx doctor"
            )
        adapter.probe(self.actor)
        with heart.engine.read() as reader:
            packet = build_packet(reader, turn, heart.engine.trust_of(reader))
        place = Path(self.place.path) if self.place else heart.scratch()
        self._shared = shared_before(heart, self.place)
        extra = {"LOOPX_TOKEN": token, "LOOPX_TURN": turn.id}
        socket = self._socket.path if self._socket is not None else None
        if socket is not None:
            extra["LOOPX_SOCKET"] = str(socket)
        environment = child_environment(extra)
        argv = boxed(
            heart.box,
            list(adapter.argv(self.actor)),
            mounts=heart.mounts(place, named=self.actor.argv, socket=socket),
            network=self.goal.network,
            environment=environment,
        )
        request = Start(
            actor=self.actor,
            packet=packet,
            place=place,
            argv=tuple(argv),
            environment=launch_environment(heart.box, environment),
            tag=heart.tag(turn.goal, turn.id),
        )
        try:
            self._running = running = adapter.start(request)
        except OSError as error:
            said = f"{self.actor.name} cannot start: {error.strerror or error}"
            raise Refused(said, code="runtime_missing", next="loopx doctor") from error
        self._events = TurnEvents(heart, self.goal, turn, running, self._transcript)
        heart.act(
            "turn start",
            turn=turn.id,
            pid=running.root.pid,
            started=running.root.started,
            sandbox=heart.box.kind,
            transcript=str(self._transcript.path),
        )
        return running

    # -- attend ---------------------------------------------------------------------------------------------------

    def _attend(self, turn: Turn, running: RunningTurn) -> None:
        assert self._events is not None
        clock = TurnClock(self.heart.clock, self.clocks)
        look_at = 0.0
        while True:
            event = running.next_event(TICK_S)
            if isinstance(event, Ended):
                self._ended(turn, event)
                return
            if event is not None:
                clock.heard(event)
                self._events.handle(event)
            now = self.heart.clock.monotonic()
            if event is not None and now < look_at and not isinstance(event, Result):
                continue
            look_at = now + TICK_S
            reason = self._reason() or clock.look(still=self._events.hand_over())
            if not self._settle_if_claimed(turn, running):
                return
            clock.look(still=True)
            reason = self._reason() or reason
            if reason:
                self._interrupt(turn, running, reason)
                return

    def _reason(self) -> str:
        """Why the turn must end whatever its clocks say."""
        return self._stop_reason or ("the engine is stopping" if self.heart.stopping.is_set() else "")

    def _settle_if_claimed(self, turn: Turn, running: RunningTurn) -> bool:
        """Proves a claim, whichever way it came. False once the turn is over."""
        now = self.heart.get(Turn, turn.id)
        if now.state != "finishing" or (self._reason() and _needs_check(now)):
            return now.live
        answer = prove(self.heart, now, mendable=True)
        if answer.get("refused"):
            tail = str(answer.get("tail", ""))
            self._write(f"[refused] exit {answer.get('exit')}\n{tail}")
            running.refused(str(answer.get("check", "")), answer.get("exit"), tail)
        return answer.get("state") == "open"

    # -- end ------------------------------------------------------------------------------------------------------

    def _ended(self, turn: Turn, event: Ended) -> None:
        self._write(f"[ended] {event.text or event.exit}")
        if not self._settle_claim_left(turn):
            return
        if event.exit == 0:
            self._end_open(turn, "progress", "")
            return
        last = self._events.last_line if self._events else ""
        said = event.text or f"exit {event.exit}"
        self._end_open(turn, "failed", f"{said}: {last}" if last else said)

    def _settle_claim_left(self, turn: Turn) -> bool:
        """Proves a claim whose actor has left. True while the turn is still open."""
        now = self.heart.get(Turn, turn.id)
        if now.state == "finishing" and not (self._reason() and _needs_check(now)):
            prove(self.heart, now, mendable=False)
            now = self.heart.get(Turn, turn.id)
        return now.state == "open"

    def _interrupt(self, turn: Turn, running: RunningTurn, reason: str) -> None:
        """The ladder: say it, then end every process of the turn, then write down how it ended.

        What the agent still says is heard: a claim is on disk then, and proved now or, where all stops, at the next start.
        """
        self._write(f"[engine] {reason}")
        grace = STOP_GRACE_MS / 1000 if not self.heart.stopping.is_set() else HURRY_S
        running.ask_to_stop(grace)
        self._hear_out(running, grace)
        left = end_tree(self.heart.tag(turn.goal, turn.id), (running.root,), grace_s=1.0)
        self.heart.log("turn.interrupted", goal=turn.goal, turn=turn.id, left=len(left))
        if self._settle_claim_left(turn):
            self._end_open(turn, "interrupted", reason)

    def _hear_out(self, running: RunningTurn, seconds: float) -> None:
        """What is said until the process is gone, at most so long."""
        until = self.heart.clock.monotonic() + seconds
        while self.heart.clock.monotonic() < until:
            event = running.next_event(TICK_S)
            if isinstance(event, Ended):
                return
            if event is not None and self._events is not None:
                self._events.handle(event)

    def _end_open(self, turn: Turn, result: str, reason: str) -> None:
        if self.heart.get(Turn, turn.id).state != "open":
            return
        tree, dirty = turn.tree, True
        try:
            tree, dirty, _ = place_facts(self.place)
        except TROUBLE as error:
            self.heart.log("turn.place_unread", turn=turn.id, error=type(error).__name__)
        try:
            self.heart.act("turn end", turn=turn.id, result=result, reason=cut(reason, 2000), tree=tree, dirty=dirty)
        except (Refused, StateMoved, NotFound) as error:
            self.heart.log("turn.end_refused", turn=turn.id, code=error.code)

    def _leave(self, turn: Turn) -> None:
        """Nothing of the turn stays: input closed, a moment to leave, the rest of the tree ended, files closed."""
        heart, running = self.heart, self._running
        roots: tuple[Root, ...] = ()
        try:
            if running is not None:
                running.close()
                roots = (running.root,)
                if not self._reason():
                    self._hear_out(running, LEAVE_S)
        finally:
            end_tree(heart.tag(turn.goal, turn.id), roots, grace_s=1.0)
            if self._socket is not None:
                self._socket.close()
            if self._transcript is not None:
                self._transcript.close()
        tell_changes(heart, turn, self.place, self._shared)
        if self._events is not None and any(value is not None for value in self._events.usage.values()):
            heart.act("turn usage", turn=turn.id, **self._events.usage)
        if not self._reason():
            carry_out_all(heart, turn.goal)
            prove_criteria(heart, heart.get(Goal, turn.goal))

    def _write(self, text: str) -> None:
        if self._transcript is not None:
            self._transcript.write(text + "\n")


def _needs_check(turn: Turn) -> bool:
    """Whether settling the claim runs a check, for which there is no time while all stops."""
    return turn.purpose == "work" and (turn.claim or {}).get("outcome") == "done"
