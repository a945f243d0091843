"""The turn driver: one thread, one turn, from `turn begin` to its settled end, with every process of it gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_engine.commands.turn import choose_place
from loopx_engine.errors import LoopxError, NotFound, Refused, StateMoved
from loopx_engine.heartbeat.effects import carry_out_all, resolve_effect
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.packet import build_packet
from loopx_engine.heartbeat.preparing import check_place
from loopx_engine.heartbeat.proving import place_facts, prove, prove_criteria
from loopx_engine.heartbeat.shared import shared_before, tell_changes
from loopx_engine.heartbeat.turn_clock import TurnClock
from loopx_engine.heartbeat.turn_socket import TurnSocket
from loopx_engine.host.files import BoundedFile
from loopx_engine.model.actor import Actor
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import STOP_GRACE_MS, TRANSCRIPT_BYTES, TURN_WALL_MS
from loopx_engine.model.goal import Goal
from loopx_engine.model.place import Place
from loopx_engine.model.turn import Turn
from loopx_engine.places.environment import TAG_NAME, child_environment
from loopx_engine.places.processes import Root, end_tree
from loopx_engine.places.sandbox import boxed
from loopx_engine.runtimes.protocol import Ask, Ended, Event, Note, Produced, Result, RunningTurn, Start, Text, Usage

TICK_S = 0.1
LEAVE_S = 5.0


class TurnDriver:
    """Drives one turn of one agent in one place. `stop(reason)` may be called from any thread."""

    def __init__(self, heart: Heart, goal: Goal, actor: Actor, todo: str | None, wall: int = 0) -> None:
        self.heart = heart
        self.goal = goal
        self.actor = actor
        self.place: Place | None = None
        self.todo = todo
        self.wall = wall or TURN_WALL_MS
        self.turn: Turn | None = None
        self._stop_reason = ""
        self._asked: dict[str, str] = {}
        self._shared: dict[str, str] | None = None
        self._usage: dict[str, int | None] = {"input": None, "output": None, "cost": None}

    def stop(self, reason: str) -> None:
        """Asks the turn to end; its thread does the ladder."""
        self._stop_reason = self._stop_reason or reason

    def run(self) -> None:
        """The whole turn. Errors end the turn, never the engine."""
        heart = self.heart
        begun = self._begin()
        if begun is None:
            return
        turn, token = begun
        self.turn = turn
        running: RunningTurn | None = None
        transcript = BoundedFile(heart.transcripts() / f"{turn.id}.log", TRANSCRIPT_BYTES)
        socket = TurnSocket(heart, turn) if heart.box.kind != "none" else None
        try:
            running = self._start(turn, token, socket, transcript)
            self._attend(turn, running, transcript)
        except LoopxError as error:
            transcript.write(f"[engine] {error.message}\n")
            self._end_open(turn, "failed", error.message)
        finally:
            self._leave(turn, running, transcript, socket)

    # -- begin ----------------------------------------------------------------------------------------------------

    def _begin(self) -> tuple[Turn, str] | None:
        heart, goal = self.heart, self.goal
        try:
            self.place = choose_place(heart.engine.snapshot(goal.id, self.actor.id), self.todo or "")
            if self.place is not None:
                check_place(heart, goal, self.place)
            tree, _, _ = place_facts(self.place)
            arguments: dict[str, Any] = {"goal": goal.id, "tree": tree, "attended": True, "wall": self.wall}
            if self.todo:
                arguments["todo"] = self.todo
            answer = heart.engine.run("turn begin", arguments, heart.agent(self.actor.id, goal.id))
        except LoopxError as error:
            heart.log("turn.not_begun", goal=goal.id, actor=self.actor.id, code=error.code)
            return None
        turn = heart.get(Turn, str(answer.answer["turn"]))
        if turn.place and (self.place is None or self.place.id != turn.place):
            self.place = heart.get(Place, turn.place)
        heart.log("turn.begun", goal=goal.id, turn=turn.id, todo=turn.todo, actor=self.actor.id, purpose=turn.purpose)
        return turn, answer.reveal["token"]

    def _start(self, turn: Turn, token: str, socket: TurnSocket | None, transcript: BoundedFile) -> RunningTurn:
        heart = self.heart
        adapter = heart.adapters.get(self.actor.runtime)
        if adapter is None:
            raise Refused(f"no runtime {self.actor.runtime or '(none)'} here", code="runtime_missing", next="loopx doctor")
        with heart.engine.read() as reader:
            packet = build_packet(reader, turn, heart.engine.trust_of(reader))
        place = Path(self.place.path) if self.place else heart.home
        self._shared = shared_before(heart, self.place)
        extra = {"LOOPX_TOKEN": token, "LOOPX_TURN": turn.id, TAG_NAME: turn.tag}
        if socket is not None:
            extra["LOOPX_SOCKET"] = str(socket.path)
        environment = child_environment(extra)
        argv = boxed(
            heart.box,
            list(adapter.argv(self.actor)),
            mounts=heart.mounts(place, named=self.actor.argv, socket=socket.path if socket else None),
            network=self.goal.network,
            environment=environment,
        )
        try:
            running = adapter.start(
                Start(
                    actor=self.actor,
                    packet=packet,
                    place=place,
                    argv=tuple(argv),
                    environment=environment,
                    tag=turn.tag,
                )
            )
        except OSError as error:
            raise Refused(
                f"{self.actor.name} cannot start: {error.strerror or error}", code="runtime_missing", next="loopx doctor"
            ) from error
        root = running.root
        heart.act(
            "turn start",
            turn=turn.id,
            pid=root.pid,
            started=root.started,
            sandbox=heart.box.kind,
            transcript=str(transcript.path),
        )
        return running

    # -- attend ---------------------------------------------------------------------------------------------------

    def _attend(self, turn: Turn, running: RunningTurn, transcript: BoundedFile) -> None:
        clock = TurnClock(self.heart.clock, turn)
        while True:
            event = running.next_event(TICK_S)
            if event is not None:
                clock.heard(event)
                self._handle(turn, running, event, transcript)
                if isinstance(event, Ended):
                    return
            if not self._settle_if_claimed(turn, running, transcript):
                return
            reason = self._stop_reason or clock.over() or ("the engine is stopping" if self.heart.stopping.is_set() else "")
            if reason:
                self._interrupt(turn, running, reason, transcript)
                return
            self._hand_over_answers(turn, running, clock)

    def _handle(self, turn: Turn, running: RunningTurn, event: Event, transcript: BoundedFile) -> None:
        if isinstance(event, Text):
            transcript.write(event.text + "\n")
        elif isinstance(event, Note):
            transcript.write(f"[note] {event.text}\n")
        elif isinstance(event, Usage):
            self._count(event)
        elif isinstance(event, Ask):
            transcript.write(f"[ask] {event.question}\n")
            self._ask(turn, running, event)
        elif isinstance(event, Produced):
            self._run_as_agent(turn, "evidence add", turn=turn.id, kind=event.kind, ref=event.ref, note=event.note)
        elif isinstance(event, Result):
            transcript.write(f"[result] {event.outcome} {event.summary}\n")
            self._claim(turn, running, event)
        elif isinstance(event, Ended):
            self._ended(turn, event, transcript)

    def _count(self, event: Usage) -> None:
        for name, value in (("input", event.input), ("output", event.output), ("cost", event.cost)):
            if value is not None:
                self._usage[name] = (self._usage[name] or 0) + value

    def _ask(self, turn: Turn, running: RunningTurn, event: Ask) -> None:
        arguments: dict[str, Any] = {
            "goal": turn.goal,
            "question": event.question,
            "why": event.why,
            "option": list(event.options),
            "ref": event.ref,
            "blocks": [turn.todo] if event.blocks and turn.todo else [],
        }
        try:
            if event.effect is not None:
                arguments["effect"] = resolve_effect(self.heart, self.goal, event.effect)
            answer = self.heart.engine.run(
                "decision ask", arguments, self.heart.agent(turn.actor, turn.goal, turn.id)
            ).answer
        except LoopxError as error:
            running.answer(event.ref, "no", error.message)
            return
        if answer.get("decision"):
            self._asked[str(answer["decision"])] = event.ref
            return
        if answer.get("effect"):
            carry_out_all(self.heart, turn.goal)
        running.answer(event.ref, str(answer.get("answer", "no")), str(answer.get("grant") or answer.get("rule") or ""))

    def _claim(self, turn: Turn, running: RunningTurn, event: Result) -> None:
        try:
            self.heart.engine.run(
                "turn finish",
                {
                    "turn": turn.id,
                    "outcome": event.outcome,
                    "result": event.result,
                    "summary": event.summary,
                    "successor": event.successor,
                    "no_successor": event.no_successor,
                },
                self.heart.agent(turn.actor, turn.goal, turn.id),
            )
        except LoopxError as error:
            running.refused(error.code, None, error.message)

    def _settle_if_claimed(self, turn: Turn, running: RunningTurn, transcript: BoundedFile) -> bool:
        """Proves a claim, whichever way it came. False once the turn is over."""
        now = self.heart.get(Turn, turn.id)
        if now.state == "open":
            return True
        if now.state != "finishing":
            return False
        answer = prove(self.heart, now, mendable=True)
        if answer.get("refused"):
            transcript.write(f"[refused] exit {answer.get('exit')}\n{answer.get('tail', '')}\n")
            running.refused(str(answer.get("check", "")), answer.get("exit"), str(answer.get("tail", "")))
        return answer.get("state") == "open"

    def _hand_over_answers(self, turn: Turn, running: RunningTurn, clock: TurnClock) -> None:
        if not self._asked:
            return
        clock.waiting_for_person()
        for name, ref in list(self._asked.items()):
            decision = self.heart.get(Decision, name)
            if decision.state == "open":
                continue
            if decision.state == "answered":
                carry_out_all(self.heart, turn.goal)
                decision = self.heart.get(Decision, name)
                if decision.state == "answered":
                    continue
            del self._asked[name]
            with self.heart.engine.read() as reader:
                trusted = bool(decision.answer) and self.heart.engine.trust_of(reader)(decision)
            words = decision.answer_text or decision.reason or decision.outcome
            void = decision.state in ("void", "expired", "withdrawn") or not trusted
            running.answer(ref, "no" if void else decision.answer, decision.outcome if void else words)

    # -- end ------------------------------------------------------------------------------------------------------

    def _ended(self, turn: Turn, event: Ended, transcript: BoundedFile) -> None:
        if not self._settle_claim_left(turn):
            return
        outcome = "progress" if event.exit == 0 else "failed"
        transcript.write(f"[ended] {event.text or event.exit}\n")
        self._end_open(turn, outcome, "" if outcome == "progress" else (event.text or f"exit {event.exit}"))

    def _settle_claim_left(self, turn: Turn) -> bool:
        """Proves a claim whose actor has left. True while the turn is still open."""
        now = self.heart.get(Turn, turn.id)
        if now.state == "finishing":
            prove(self.heart, now, mendable=False)
            now = self.heart.get(Turn, turn.id)
        return now.state == "open"

    def _interrupt(self, turn: Turn, running: RunningTurn, reason: str, transcript: BoundedFile) -> None:
        """The ladder: say it, then end every process of the turn, then write down how it ended."""
        transcript.write(f"[engine] {reason}\n")
        grace = STOP_GRACE_MS / 1000
        running.ask_to_stop(grace)
        waited = self.heart.clock.monotonic() + (grace if not self.heart.stopping.is_set() else 1.0)
        while self.heart.clock.monotonic() < waited:
            event = running.next_event(TICK_S)
            if isinstance(event, Ended):
                break
            if isinstance(event, Text | Note):
                transcript.write(event.text + "\n")
        left = end_tree(turn.tag, (running.root,), grace_s=1.0)
        self.heart.log("turn.interrupted", goal=turn.goal, turn=turn.id, left=len(left))
        self._end_open(turn, "interrupted", reason)

    def _end_open(self, turn: Turn, result: str, reason: str) -> None:
        if self.heart.get(Turn, turn.id).state != "open":
            return
        tree, dirty, _ = place_facts(self.place)
        try:
            self.heart.act("turn end", turn=turn.id, result=result, reason=reason[:2000], tree=tree, dirty=dirty)
        except (Refused, StateMoved, NotFound) as error:
            self.heart.log("turn.end_refused", turn=turn.id, code=error.code)

    def _leave(
        self, turn: Turn, running: RunningTurn | None, transcript: BoundedFile, socket: TurnSocket | None
    ) -> None:
        """Nothing of the turn stays: input closed, a moment to leave, the rest of the tree ended, files closed."""
        roots: tuple[Root, ...] = ()
        if running is not None:
            running.close()
            roots = (running.root,)
            leave_by = self.heart.clock.monotonic() + LEAVE_S
            while self.heart.clock.monotonic() < leave_by and not self.heart.stopping.is_set():
                event = running.next_event(TICK_S)
                if isinstance(event, Ended):
                    break
                if isinstance(event, Text | Note):
                    transcript.write(event.text + "\n")
                elif isinstance(event, Usage):
                    self._count(event)
        end_tree(turn.tag, roots, grace_s=1.0)
        tell_changes(self.heart, turn, self.place, self._shared)
        if socket is not None:
            socket.close()
        transcript.close()
        if any(value is not None for value in self._usage.values()):
            self.heart.act("turn usage", turn=turn.id, **self._usage)
        if not self.heart.stopping.is_set():
            carry_out_all(self.heart, turn.goal)
            prove_criteria(self.heart, self.heart.get(Goal, turn.goal))

    def _run_as_agent(self, turn: Turn, verb: str, **arguments: Any) -> None:
        try:
            self.heart.engine.run(verb, arguments, self.heart.agent(turn.actor, turn.goal, turn.id))
        except LoopxError as error:
            self.heart.log("turn.refused", turn=turn.id, verb=verb, code=error.code)
