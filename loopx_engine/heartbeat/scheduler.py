"""The scheduler: looks at each goal when it is woken, starts what the verdict names, and sets the next wake.

One thread looks; a bounded pool of threads works. Work made ready by a commit starts by that commit, not by a timer.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from loopx_engine.errors import LoopxError
from loopx_engine.heartbeat.asking import open_question, withdraw_moot
from loopx_engine.heartbeat.conditions import ready_todos
from loopx_engine.heartbeat.driver import TurnDriver
from loopx_engine.heartbeat.effects import carry_out_all
from loopx_engine.heartbeat.fresh import held_place, set_aside
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.preparing import needs_preparing, prepare
from loopx_engine.heartbeat.proving import criteria_due, prove, prove_criteria
from loopx_engine.heartbeat.recovery import leftovers_ended, live_turns, lose, recover
from loopx_engine.model.actor import Actor
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import LEASE_MS, LEASE_RENEW_MS, MINUTE, STARTS_A_MINUTE, TURNS_AT_ONCE
from loopx_engine.model.effect import Effect
from loopx_engine.model.goal import Goal
from loopx_engine.model.turn import Turn
from loopx_engine.model.wake import Wake
from loopx_engine.rules.backoff import escalates, next_due, pace_of
from loopx_engine.rules.verdict import Verdict

STARTS = ("work", "review", "plan", "replan", "answer", "watch")
LONGEST_WAIT_S = 15.0
SLEEP_IS_OVER_MS = 5 * MINUTE


class Scheduler:
    """`run()` works until `stop()`; `run(until_idle=True)` until nothing is due or running (`loopx-engine once`)."""

    def __init__(self, heart: Heart, *, turns_at_once: int = TURNS_AT_ONCE, starts_a_minute: int = STARTS_A_MINUTE) -> None:
        self.heart = heart
        self.turns_at_once = turns_at_once
        self.starts_a_minute = starts_a_minute
        self._jobs: dict[str, threading.Thread] = {}
        self._drivers: dict[str, TurnDriver] = {}
        self._starts: deque[int] = deque()
        self._failures: dict[str, int] = {}
        self._leaving: set[str] = set()
        self._seen = 0
        self._renewed_at = 0
        self._full = False
        self._lock = threading.Lock()

    def run(self, *, until_idle: bool = False) -> None:
        """The loop. Every error of one goal is logged and leaves the others alone."""
        heart = self.heart
        recover(heart)
        seq = heart.engine.ledger.last_seq()
        while not heart.stopping.is_set():
            self._guard(self._round, "round")
            if until_idle and not self._pending():
                break
            now_seq = heart.engine.ledger.last_seq()
            if now_seq == seq:
                heart.engine.ledger.wait_for_change(seq, self._wait_s())
                now_seq = heart.engine.ledger.last_seq()
            seq = now_seq
        self._drain()

    def stop(self) -> None:
        """Ends the loop and every turn; returns at once."""
        self.heart.stopping.set()
        self.heart.engine.ledger.wake_waiters()

    # -- one round ------------------------------------------------------------------------------------------------

    def _round(self) -> None:
        heart = self.heart
        now = heart.clock.now()
        self._reap()
        self._renew(now)
        self._stop_stale()
        self._end_overdue(now)
        for decision in self._due_decisions(now):
            self._guard(lambda decision=decision: heart.act("decision expire", decision=decision.id), "decision expire")
        for goal in self._goals_due(now):
            if heart.stopping.is_set():
                return
            self._guard(lambda goal=goal: self._look(goal), "look", goal=goal.id)

    def _goals_due(self, now: int) -> list[Goal]:
        with self.heart.engine.read() as reader:
            goals = reader.records(Goal, "goal.active")
            wakes = {wake.id: wake for wake in reader.records(Wake, "wake.all")}
        due = []
        for goal in goals:
            if goal.id in self._jobs:
                continue
            wake = wakes.get(goal.id)
            if wake is None or wake.due <= now or wake.generation != goal.generation:
                due.append(goal)
        return due

    def _look(self, goal: Goal) -> None:
        heart = self.heart
        self._seen = heart.engine.ledger.last_seq()
        self._guard(lambda: ready_todos(heart, goal), "conditions", goal=goal.id)
        if self._housekeeping(goal):
            self._set_wake(goal, MINUTE)
            return
        started, last = self._start_turns(goal)
        if started:
            self._set_wake(goal, MINUTE)
        elif self._full:
            return
        elif last is not None:
            self._answer(goal, last)
        else:
            self._set_wake(goal, MINUTE * 60)

    def _housekeeping(self, goal: Goal) -> bool:
        """Work of the engine itself that comes before any turn of the goal; True when a thread was started for it."""
        heart = self.heart
        claims = [turn for turn in live_turns(heart) if turn.goal == goal.id and turn.state == "finishing" and not turn.attended]
        with heart.engine.read() as reader:
            effects = [item for item in reader.records(Effect, "effect.unsettled_of_goal", goal=goal.id)]
        intents = [item for item in effects if item.state != "uncertain"]
        running = any(driver.goal.id == goal.id for driver in self._drivers.values())
        if claims or (intents and not running):
            return self._job(goal.id, lambda: self._settle(goal, claims))
        if not running and needs_preparing(heart, goal):
            return self._job(goal.id, lambda: prepare(heart, heart.get(Goal, goal.id)))
        if not running and criteria_due(heart, goal)[1]:
            return self._job(goal.id, lambda: prove_criteria(heart, heart.get(Goal, goal.id)))
        return False

    def _settle(self, goal: Goal, claims: list[Turn]) -> None:
        for turn in claims:
            prove(self.heart, turn)
        carry_out_all(self.heart, goal.id)
        prove_criteria(self.heart, self.heart.get(Goal, goal.id))

    # -- turns ----------------------------------------------------------------------------------------------------

    def _start_turns(self, goal: Goal) -> tuple[bool, tuple[Actor, Verdict] | None]:
        heart = self.heart
        started, last = False, None
        self._full = False
        for actor in self._agents(goal):
            if goal.id in self._drivers:
                return True, None
            ruling = heart.engine.verdict(goal.id, actor.id)
            if ruling.kind not in STARTS:
                last = last or (actor, ruling)
                continue
            held = held_place(heart, goal, ruling.todo) if ruling.todo else None
            if held is not None:
                return self._job(goal.id, lambda held=held: set_aside(heart, goal, held)), None
            if not self._room(heart.clock.now()):
                self._full = True
                return started, None
            self._start_turn(goal, actor, ruling)
            started = True
        return started, last

    def _agents(self, goal: Goal) -> list[Actor]:
        with self.heart.engine.read() as reader:
            if goal.agents:
                found = [actor for name in goal.agents if (actor := reader.get(Actor, name))]
            else:
                found = reader.records(Actor, "actor.agents")
            reviewers = [actor for name in goal.reviewers if (actor := reader.get(Actor, name))]
        listed = {actor.id: actor for actor in [*found, *reviewers]}
        return [actor for actor in listed.values() if actor.state == "active" and actor.runtime in self.heart.adapters]

    def _room(self, now: int) -> bool:
        while self._starts and self._starts[0] <= now - MINUTE:
            self._starts.popleft()
        return len(self._drivers) < self.turns_at_once and len(self._starts) < self.starts_a_minute

    def _start_turn(self, goal: Goal, actor: Actor, ruling: Verdict) -> None:
        driver = TurnDriver(self.heart, goal, actor, ruling.todo if ruling.kind in ("work", "review") else None)
        self._starts.append(self.heart.clock.now())
        self._drivers[goal.id] = driver

        def work() -> None:
            try:
                driver.run()
            finally:
                with self._lock:
                    self._drivers.pop(goal.id, None)

        self._job(goal.id, work)

    def _job(self, name: str, work: Callable[[], object]) -> bool:
        """Runs the engine's work for a goal in a thread; one that fails is tried again ever more slowly."""

        def guarded() -> None:
            done = False
            try:
                done = self._guard(work, "job", goal=name)
            finally:
                with self._lock:
                    self._jobs.pop(name, None)
                    self._leaving.add(name)
                    self._failures[name] = 0 if done else self._failures.get(name, 0) + 1
                self._wake_after(name)
                with self._lock:
                    self._leaving.discard(name)

        thread = threading.Thread(target=guarded, name=f"work {name}", daemon=True)
        with self._lock:
            self._jobs[name] = thread
        thread.start()
        return True

    def _wake_after(self, goal: str) -> None:
        if self.heart.stopping.is_set() or self.heart.get(Goal, goal).phase != "active":
            return
        due = next_due("work", self._failures.get(goal, 0), self.heart.clock.now(), seed=goal)
        self._guard(lambda: self.heart.act("wake set", goal=goal, due=due, pace="work", cause="a thread ended"), "wake", goal=goal)

    # -- wakes ----------------------------------------------------------------------------------------------------

    def _answer(self, goal: Goal, last: tuple[Actor, Verdict]) -> None:
        """Nobody could start: ask what must be asked, and set when this is looked at again."""
        actor, ruling = last
        withdraw_moot(self.heart, goal, ruling)
        with self.heart.engine.read() as reader:
            wake = reader.get(Wake, goal.id)
        repeats = wake.repeats + 1 if wake is not None and wake.verdict == ruling.basis else 0
        asked = ruling.kind == "ask" and not ruling.decision
        if asked or escalates(repeats):
            open_question(self.heart, goal, actor, ruling)
        now = self.heart.clock.now()
        pace = pace_of(ruling.kind, ruling.reason)
        due = next_due(pace, repeats, now, seed=goal.id)
        if ruling.next_look is not None:
            due = max(min(due, ruling.next_look), now + 1000)
        self.heart.act(
            "wake set", goal=goal.id, due=due, pace=pace, cause=ruling.reason, verdict=ruling.basis, repeats=repeats,
            seen=self._seen,
        )  # fmt: skip

    def _set_wake(self, goal: Goal, later_ms: int) -> None:
        self.heart.act(
            "wake set", goal=goal.id, due=self.heart.clock.now() + later_ms, pace="others", cause="work is under way",
            seen=self._seen,
        )  # fmt: skip

    def _wait_s(self) -> float:
        with self.heart.engine.read() as reader:
            dues = [wake.due for wake in reader.records(Wake, "wake.all") if wake.id not in self._jobs]
        ahead = LONGEST_WAIT_S if not dues else (min(dues) - self.heart.clock.now()) / 1000
        if self._full:
            ahead = 1.0
        return max(0.05, min(ahead, LONGEST_WAIT_S, LEASE_RENEW_MS / 1000))

    def _pending(self) -> bool:
        with self._lock:
            if self._jobs or self._drivers or self._leaving:
                return True
        with self.heart.engine.read() as reader:
            due = reader.rows("wake.next")[0][0]
            missing = len(reader.records(Wake, "wake.all")) < len(reader.records(Goal, "goal.active"))
        return missing or (due is not None and int(due) <= self.heart.clock.now())

    # -- what is live ---------------------------------------------------------------------------------------------

    def _renew(self, now: int) -> None:
        if now - self._renewed_at < LEASE_RENEW_MS and now >= self._renewed_at:
            return
        self._renewed_at = now
        for turn in live_turns(self.heart):
            if turn.attended:
                self._guard(
                    lambda turn=turn: self.heart.engine.ledger.renew(turn.todo or turn.goal, turn.epoch, now + LEASE_MS),
                    "renew",
                )

    def _stop_stale(self) -> None:
        """Ends the turns of goals that were stopped: a pause alone lets a running turn end by itself."""
        for driver in list(self._drivers.values()):
            goal = self.heart.get(Goal, driver.goal.id)
            if goal.stopped or goal.phase == "archived":
                driver.stop("stopped by a person")

    def _end_overdue(self, now: int) -> None:
        """A turn of an agent that comes by itself, past its deadline, is lost."""
        for turn in live_turns(self.heart):
            if not turn.attended and turn.state == "open" and turn.deadline <= now:
                leftovers_ended(turn)
                lose(self.heart, turn, "its deadline passed")

    def _due_decisions(self, now: int) -> list[Decision]:
        with self.heart.engine.read() as reader:
            return reader.records(Decision, "decision.due", now=now)

    def _reap(self) -> None:
        with self._lock:
            self._jobs = {name: thread for name, thread in self._jobs.items() if thread.is_alive()}

    def _drain(self) -> None:
        self.heart.stopping.set()
        for thread in list(self._jobs.values()):
            thread.join(timeout=4.0)

    def _guard(self, work: Callable[[], object], what: str, **fields: str) -> bool:
        """Runs a step; an error of ours is logged and leaves the rest alone. True when it ended well."""
        try:
            work()
        except LoopxError as error:
            self.heart.log("engine.refused", what=what, code=error.code, message=error.message[:300], **fields)
            return False
        return True
