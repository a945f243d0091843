"""The scheduler: looks at each goal when it is woken, starts what the verdict names, and sets the next wake.

One thread looks and never waits for a program; a bounded pool of threads works. Work made ready by a commit starts by that
commit, not by a timer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from loopx_engine.heartbeat.conditions import Conditions
from loopx_engine.heartbeat.heart import TROUBLE, Heart
from loopx_engine.heartbeat.jobs import Jobs
from loopx_engine.heartbeat.looking import Look, Looking
from loopx_engine.heartbeat.recovery import leftovers_ended, live_turns, lose, recover
from loopx_engine.heartbeat.starting import Starts
from loopx_engine.heartbeat.turn_clock import Clocks
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import LEASE_MS, LEASE_RENEW_MS, STARTS_A_MINUTE, TURNS_AT_ONCE
from loopx_engine.model.effect import Effect
from loopx_engine.model.goal import Goal
from loopx_engine.model.wake import Wake
from loopx_engine.rules.backoff import next_due

LONGEST_WAIT_S = 15.0
SHORTEST_WAIT_S = 0.05
DRAIN_S = 4.5


class Scheduler:
    """`run()` works until `stop()`; `run(until_idle=True)` until nothing is due or running (`loopx-engine once`)."""

    def __init__(
        self,
        heart: Heart,
        *,
        turns_at_once: int = TURNS_AT_ONCE,
        starts_a_minute: int = STARTS_A_MINUTE,
        clocks: Clocks | None = None,
    ) -> None:
        self.heart = heart
        self.jobs = Jobs(self._wake_after)
        self.conditions = Conditions(heart)
        self.starts = Starts(heart, turns_at_once, starts_a_minute, clocks or Clocks())
        self.looking = Looking(heart, self.jobs, self.conditions, self.starts, self._guard)
        self._held: dict[str, tuple[int, int]] = {}
        self._queued: set[str] = set()
        self._renewed_at = 0
        self._rounds_failed = 0

    def run(self, *, until_idle: bool = False) -> None:
        """The loop. Every error of one goal is logged and leaves the others alone."""
        heart = self.heart
        recover(heart)
        seq = heart.engine.ledger.last_seq()
        woken = heart.engine.ledger.wakes()
        while not heart.stopping.is_set():
            well = self._guard(self._round, "round")
            self._rounds_failed = 0 if well else self._rounds_failed + 1
            if until_idle and well and not self._pending():
                break
            now_seq = heart.engine.ledger.last_seq()
            if now_seq == seq or not well:
                heart.engine.ledger.wait_for_change(now_seq, self._wait_s(), woken)
                now_seq = heart.engine.ledger.last_seq()
            seq = now_seq
            woken = heart.engine.ledger.wakes()
        self._drain()

    def stop(self) -> None:
        """Ends the loop and every turn; returns at once. May be called from a signal handler."""
        self.heart.stop()
        self.heart.engine.ledger.wake_waiters()

    # -- one round ------------------------------------------------------------------------------------------------

    def _round(self) -> None:
        heart = self.heart
        now = heart.clock.now()
        self._guard(lambda: self._renew(now), "renew")
        self._stop_stale()
        self._guard(lambda: self._end_overdue(now), "overdue")
        with heart.engine.read() as reader:
            expired = reader.records(Decision, "decision.due", now=now)
        for decision in expired:
            self._guard(partial(heart.act, "decision expire", decision=decision.id), "decision expire")
        self._guard(self._finish_ended_goals, "effects")
        for goal in self._goals_due(now):
            if heart.stopping.is_set():
                return
            self._look(goal)

    def _goals_due(self, now: int) -> list[Goal]:
        with self.heart.engine.read() as reader:
            goals = reader.records(Goal, "goal.active")
            wakes = {wake.id: wake for wake in reader.records(Wake, "wake.all")}
        due = []
        for goal in goals:
            if self.jobs.busy(goal.id) or self._held.get(goal.id, (0, 0))[1] > now:
                continue
            wake = wakes.get(goal.id)
            woken = wake is None or wake.due <= now or wake.generation != goal.generation
            if woken or self.conditions.open_ready(goal, ("file",)):
                due.append(goal)
        return due

    def _look(self, goal: Goal) -> None:
        """A look that fails is made again ever more slowly, whether or not that can be written down."""
        came: list[Look] = []
        self._queued.discard(goal.id)
        if self._guard(lambda: came.append(self.looking.at(goal)), "look", goal=goal.id):
            self._held.pop(goal.id, None)
            if came[0] == "no room":
                self._queued.add(goal.id)
            return
        times = self._held.get(goal.id, (0, 0))[0] + 1
        self._held[goal.id] = (times, next_due("work", times, self.heart.clock.now(), seed=goal.id))

    def _finish_ended_goals(self) -> None:
        """What was decided about a goal that is done (a push of its branch) is carried out all the same."""
        with self.heart.engine.read() as reader:
            intents = [item for item in reader.records(Effect, "effect.unsettled") if item.state == "intent"]
            names = sorted({item.goal for item in intents})
            goals = [goal for name in names if (goal := reader.get(Goal, name)) is not None and goal.phase == "done"]
        for goal in goals:
            if not self.jobs.busy(goal.id) and self._held.get(goal.id, (0, 0))[1] <= self.heart.clock.now():
                self._held[goal.id] = (1, next_due("others", 0, self.heart.clock.now(), seed=goal.id))
                self.looking.settle(goal)

    # -- wakes ----------------------------------------------------------------------------------------------------

    def _wake_after(self, name: str, failures: int) -> None:
        """A thread of a goal ended: it is looked at again, at once or, after failures, ever more slowly."""
        if self.heart.stopping.is_set():
            return

        def wake() -> None:
            if self.heart.get(Goal, name).phase == "active":
                due = next_due("work", failures, self.heart.clock.now(), seed=name)
                self.heart.act("wake set", goal=name, due=due, pace="work", cause="a thread ended")

        if not self._guard(wake, "wake", goal=name):
            self._held[name] = (1, next_due("work", 1, self.heart.clock.now(), seed=name))
        self.heart.engine.ledger.wake_waiters()

    def _wait_s(self) -> float:
        if self._rounds_failed:
            return float(min(2 ** min(self._rounds_failed, 5), 30))
        now = self.heart.clock.now()
        with self.heart.engine.read() as reader:
            wakes = reader.records(Wake, "wake.all")
        ahead = [LONGEST_WAIT_S, LEASE_RENEW_MS / 1000]
        for wake in wakes:
            if self.jobs.busy(wake.id):
                continue
            due = max(wake.due, self._held.get(wake.id, (0, 0))[1])
            if wake.id in self._queued:
                room = self.starts.room_at(now)
                if room is None:
                    continue
                due = max(due, room)
            ahead.append((due - now) / 1000)
        return max(SHORTEST_WAIT_S, min(ahead))

    def _pending(self) -> bool:
        return self.jobs.any() or bool(self._goals_due(self.heart.clock.now()))

    # -- what is live ---------------------------------------------------------------------------------------------

    def _renew(self, now: int) -> None:
        if 0 <= now - self._renewed_at < LEASE_RENEW_MS:
            return
        self._renewed_at = now
        for turn in live_turns(self.heart):
            if turn.attended and self.jobs.busy(turn.goal):
                self.heart.engine.ledger.renew(turn.todo or turn.goal, turn.epoch, now + LEASE_MS)

    def _stop_stale(self) -> None:
        """Ends what runs for goals that were stopped: a pause alone lets a running turn end by itself."""
        with self.heart.engine.read() as reader:
            goals = [goal for name in self.jobs.names() if (goal := reader.get(Goal, name)) is not None]
        for goal in goals:
            if goal.stopped or goal.phase == "archived":
                self.heart.halt_of(goal.id).set()
                self.starts.stop(goal.id, "stopped by a person")

    def _end_overdue(self, now: int) -> None:
        """A turn of an agent that comes by itself, past its deadline, is lost."""
        for turn in live_turns(self.heart):
            if not turn.attended and turn.state == "open" and turn.deadline <= now:
                leftovers_ended(self.heart.tag(turn.goal, turn.id), [turn])
                lose(self.heart, turn, "its deadline passed")

    def _drain(self) -> None:
        self.heart.stop()
        if not self.jobs.join(DRAIN_S):
            self.heart.log("engine.threads_left")

    def _guard(self, work: Callable[[], object], what: str, **fields: str) -> bool:
        """Runs a step; what the outside did to it is logged and leaves the rest alone. True when it ended well."""
        try:
            work()
        except TROUBLE as error:
            code = getattr(error, "code", type(error).__name__)
            self.heart.log("engine.refused", what=what, code=code, message=str(error)[:300], **fields)
            return False
        return True
