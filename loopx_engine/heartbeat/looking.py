"""A look at one goal: the engine's own work first, then what the verdict names, else a question and the next wake."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from loopx_engine.errors import StateMoved, TryAgain
from loopx_engine.heartbeat.asking import open_question, withdraw_moot
from loopx_engine.heartbeat.conditions import Conditions
from loopx_engine.heartbeat.confirming import ask_for_review, settle_review
from loopx_engine.heartbeat.effects import carry_out_all
from loopx_engine.heartbeat.fresh import can_be_set_aside, held_place, set_aside
from loopx_engine.heartbeat.heart import Heart
from loopx_engine.heartbeat.jobs import Jobs
from loopx_engine.heartbeat.lost import act_on, answers_to_act_on
from loopx_engine.heartbeat.preparing import needs_preparing, prepare
from loopx_engine.heartbeat.proving import criteria_due, prove, prove_criteria
from loopx_engine.heartbeat.recovery import UNDER_WAY, leftovers_ended, lose
from loopx_engine.heartbeat.starting import Starts
from loopx_engine.model.actor import Actor
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import HOUR, MINUTE
from loopx_engine.model.effect import Effect
from loopx_engine.model.goal import Goal
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.model.wake import Wake
from loopx_engine.rules.backoff import escalates, next_due, pace_of
from loopx_engine.rules.verdict import Verdict

Look = Literal["under way", "no room", "rests"]
STARTS = ("work", "review", "plan", "replan", "answer", "watch")
SOON_MS = 1000


class Looking:
    """`at(goal)` is called by the scheduler's one thread, for a goal that has no thread of its own at work."""

    def __init__(
        self, heart: Heart, jobs: Jobs, conditions: Conditions, starts: Starts, guard: Callable[..., bool]
    ) -> None:
        self.heart = heart
        self.jobs = jobs
        self.conditions = conditions
        self.starts = starts
        self._guard = guard
        self._seen = 0
        self._read_back: dict[str, tuple[int, int]] = {}

    def at(self, goal: Goal) -> Look:
        """Looks, starts a thread where there is something to do, and sets the goal's wake unless it waits for room."""
        heart = self.heart
        self._seen = heart.engine.ledger.last_seq()
        self.conditions.open_ready(goal)
        if self._own_work(goal):
            self._wake(goal, MINUTE, UNDER_WAY)
            return "under way"
        started, ruling = self._start_turn(goal)
        if started == "under way":
            self._wake(goal, MINUTE, UNDER_WAY)
        elif started == "rests" and ruling is not None:
            self._answer(goal, ruling)
        elif started == "rests":
            self._wake(goal, HOUR, "no agent of this goal is registered")
        return started

    def settle(self, goal: Goal) -> None:
        """Carries out what was decided about a goal, in a thread of it."""
        self._job(goal, lambda: self._carry_out(goal))

    # -- the engine's own work ------------------------------------------------------------------------------------

    def _own_work(self, goal: Goal) -> bool:
        """What comes before any turn of the goal; True when a thread was started for it."""
        heart = self.heart
        claims = self._claims(goal)
        effects = self._effects_due(goal)
        if claims or effects:
            return self._job(goal, lambda: self._settle(goal, claims))
        answers = answers_to_act_on(heart, goal)
        if answers:
            return self._job(goal, lambda: self._act_on(goal, answers))
        reviews = ask_for_review(heart, goal)
        if reviews:
            return self._job(goal, lambda: self._settle_reviews(goal, reviews))
        if needs_preparing(heart, goal):
            return self._job(goal, lambda: prepare(heart, heart.get(Goal, goal.id)))
        if criteria_due(heart, goal)[1]:
            return self._job(goal, lambda: self._prove(goal))
        commands = self.conditions.commands_due(goal)
        if commands:
            return self._job(goal, lambda: self.conditions.try_commands(goal, commands))
        return False

    def _claims(self, goal: Goal) -> list[Turn]:
        """Claims to prove. An attended turn that is still open though no thread drives it is lost."""
        with self.heart.engine.read() as reader:
            live = reader.records(Turn, "turn.live", goal=goal.id)
        for turn in live:
            if turn.attended and turn.state == "open":
                leftovers_ended(self.heart.tag(goal.id, turn.id), [turn])
                lose(self.heart, turn, "the thread that drove it is gone")
        return [turn for turn in live if turn.state == "finishing"]

    def _effects_due(self, goal: Goal) -> bool:
        """Whether an act is to be carried out, or one of unknown outcome to be read back, which is done ever more rarely."""
        now = self.heart.clock.now()
        with self.heart.engine.read() as reader:
            effects = reader.records(Effect, "effect.unsettled_of_goal", goal=goal.id)
        due = any(effect.state != "uncertain" for effect in effects)
        for effect in effects:
            times, again = self._read_back.get(effect.id, (0, 0))
            if effect.state == "uncertain" and again <= now:
                self._read_back[effect.id] = (times + 1, next_due("others", times, now, seed=effect.id))
                due = True
        return due

    def _settle(self, goal: Goal, claims: list[Turn]) -> None:
        for turn in claims:
            prove(self.heart, turn)
        self._carry_out(goal)
        prove_criteria(self.heart, self.heart.get(Goal, goal.id))

    def _carry_out(self, goal: Goal) -> None:
        carry_out_all(self.heart, goal.id)
        with self.heart.engine.read() as reader:
            left = [
                item
                for item in reader.records(Effect, "effect.unsettled_of_goal", goal=goal.id)
                if item.state == "intent"
            ]
        if left:
            raise TryAgain(f"{left[0].id} could not be tried yet", code="effect_waits")

    def _prove(self, goal: Goal) -> None:
        if not prove_criteria(self.heart, self.heart.get(Goal, goal.id)):
            raise StateMoved("the place changed while its checks ran", code="inputs_moved")

    def _act_on(self, goal: Goal, answers: list[tuple[Decision, Todo]]) -> None:
        for decision, todo in answers:
            act_on(self.heart, goal, decision, todo)

    def _settle_reviews(self, goal: Goal, reviews: list[tuple[Todo, Decision]]) -> None:
        for todo, decision in reviews:
            settle_review(self.heart, todo, decision)
        self._settle(goal, [])

    # -- turns ----------------------------------------------------------------------------------------------------

    def _start_turn(self, goal: Goal) -> tuple[Look, tuple[Actor, Verdict] | None]:
        """Starts the turn of the first agent that has something to do; else the first ruling that says why not."""
        heart = self.heart
        now = heart.clock.now()
        last: tuple[Actor, Verdict] | None = None
        for actor in self._agents(goal):
            ruling = heart.engine.verdict(goal.id, actor.id)
            ours = actor.runtime in heart.adapters
            if ruling.kind not in STARTS or not ours:
                if last is None or (last[1].kind in STARTS and ruling.kind not in STARTS):
                    last = (actor, ruling)
                continue
            held = held_place(heart, goal, ruling.todo) if ruling.todo else None
            if held is not None and can_be_set_aside(held):
                self._job(goal, partial(set_aside, heart, goal, held))
                return "under way", None
            if held is not None:
                last = last or (actor, ruling)
                continue
            if self.starts.room_at(now) != now:
                return "no room", None
            driver = self.starts.driver(goal, actor, ruling.todo if ruling.kind in ("work", "review") else None)
            self._job(goal, partial(self.starts.run, driver))
            return "under way", None
        return "rests", last

    def _agents(self, goal: Goal) -> list[Actor]:
        """The goal's agents in their order, then its reviewers; those without a runtime of ours come by themselves."""
        with self.heart.engine.read() as reader:
            if goal.agents:
                found = [actor for name in goal.agents if (actor := reader.get(Actor, name))]
            else:
                found = reader.records(Actor, "actor.agents")
            reviewers = [actor for name in goal.reviewers if (actor := reader.get(Actor, name))]
        listed = {actor.id: actor for actor in [*found, *reviewers]}
        return [actor for actor in listed.values() if actor.state == "active"]

    def _job(self, goal: Goal, work: Callable[[], object]) -> bool:
        self.heart.let_run(goal.id)
        self.jobs.start(goal.id, lambda: self._guard(work, "job", goal=goal.id))
        return True

    # -- nothing to start -----------------------------------------------------------------------------------------

    def _answer(self, goal: Goal, last: tuple[Actor, Verdict]) -> None:
        """Nobody could start: ask what must be asked, and set when this is looked at again."""
        actor, ruling = last
        heart = self.heart
        withdraw_moot(heart, goal, ruling)
        with heart.engine.read() as reader:
            wake = reader.get(Wake, goal.id)
        repeats = wake.repeats + 1 if wake is not None and wake.verdict == ruling.basis else 0
        if (ruling.kind == "ask" and not ruling.decision) or (escalates(repeats) and ruling.kind not in STARTS):
            open_question(heart, goal, actor, ruling)
        now = heart.clock.now()
        pace = pace_of(ruling.kind, ruling.reason) if ruling.kind not in STARTS else "idle"
        due = next_due(pace, repeats, now, seed=goal.id)
        looks = (ruling.next_look, self.conditions.next_try(goal), *self._again())
        sooner = [moment for moment in looks if moment is not None]
        due = max(min(due, *sooner), now + SOON_MS) if sooner else due
        heart.act(
            "wake set", goal=goal.id, due=due, pace=pace, cause=ruling.reason, verdict=ruling.basis, repeats=repeats,
            seen=self._seen,
        )  # fmt: skip

    def _again(self) -> list[int]:
        return [again for _, again in self._read_back.values() if again > self.heart.clock.now()]

    def _wake(self, goal: Goal, later_ms: int, cause: str) -> None:
        due = self.heart.clock.now() + later_ms
        self.heart.act("wake set", goal=goal.id, due=due, pace="others", cause=cause, seen=self._seen)
