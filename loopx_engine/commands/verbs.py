"""The verb table of MODEL.md 7: who may, how risky, how undone, which lease, what it wakes. CLI, tools and tests are made of it.

`authority` lists who may say it: `agent` (with a turn token; `token` marks the few an actor token suffices for),
`person` (unsigned is enough), `signed` (a person's signature), `engine` (nobody else). `wakes` means the engine looks at
the goal at once. `undo` means the receipt can be taken back by `loopx undo`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from loopx_engine.errors import UsageError
from loopx_engine.model.decision import Risk
from loopx_engine.model.record import noun


@noun
class Verb:
    """`command` is `module:Class` in `loopx_engine.commands`; `role` the least role a person needs; `lease` `none` or `own`."""

    name: str
    command: str
    authority: tuple[str, ...]
    help: str
    risk: Risk = "low"
    role: str = "operator"
    undo: bool = False
    lease: str = "none"
    wakes: bool = False
    token: bool = False

    def load(self) -> Any:
        """The command's class."""
        module, _, name = self.command.partition(":")
        return getattr(import_module(f"loopx_engine.commands.{module}"), name)


def _verb(name: str, command: str, authority: str, help: str, **rules: Any) -> Verb:
    signed = "signed" in authority.split()
    rules.setdefault("role", "owner" if signed else "operator")
    return Verb(name=name, command=command, authority=tuple(authority.split()), help=help, **rules)


TABLE: tuple[Verb, ...] = (
    _verb("owner init", "owner:OwnerInit", "signed", "make the owner's key and enter it", risk="high"),
    _verb("owner rotate", "owner:OwnerRotate", "signed", "replace the owner's key, signed by the old one", risk="high"),
    _verb("actor add", "actor:ActorAdd", "signed", "register an agent", risk="high", undo=True),
    _verb("actor retire", "actor:ActorRetire", "signed", "end an agent's registration", risk="medium", wakes=True),
    _verb("project add", "project:ProjectAdd", "person", "enter a directory that goals work in"),
    _verb("project setup", "project:ProjectSetup", "signed", "say how a new place is prepared", risk="high", undo=True, wakes=True),
    _verb("goal add", "goal:GoalAdd", "person", "a goal by hand", undo=True),
    _verb("goal edit", "goal:GoalEdit", "person", "change what a goal says", undo=True, wakes=True),
    _verb("goal pause", "goal:GoalPause", "person", "start nothing new for a goal", wakes=True),
    _verb("goal resume", "goal:GoalResume", "signed", "accept objective, criteria and todos; make the goal active", wakes=True),
    _verb("goal close", "goal:GoalClose", "signed", "end a goal whose criteria are met", risk="medium"),
    _verb("goal reopen", "goal:GoalReopen", "signed", "take up a goal again", wakes=True),
    _verb("goal archive", "goal:GoalArchive", "signed", "put a goal away", risk="medium"),
    _verb("criterion add", "criterion:CriterionAdd", "signed", "add an acceptance condition", undo=True, wakes=True),
    _verb("criterion waive", "criterion:CriterionWaive", "signed", "give up a condition", risk="medium", undo=True, wakes=True),
    _verb("criterion meet", "criterion:CriterionMeet", "signed", "confirm a condition that has no check", undo=True, wakes=True),
    _verb("check set", "check:CheckSet", "signed", "set the check of a todo, criterion or goal", risk="medium", undo=True, wakes=True),
    _verb("todo add", "todo:TodoAdd", "agent person", "add a unit of work", undo=True, lease="own", wakes=True),
    _verb("todo edit", "todo:TodoEdit", "person", "change a todo's words, needs or scopes", undo=True, wakes=True),
    _verb("todo order", "todo:TodoOrder", "person", "move a todo before another", undo=True, wakes=True),
    _verb("todo split", "todo:TodoSplit", "person", "replace a todo by several", wakes=True),
    _verb("todo drop", "todo:TodoDrop", "person", "say that a todo is not wanted", undo=True, wakes=True),
    _verb("todo reopen", "todo:TodoReopen", "person", "take up a finished todo again", wakes=True),
    _verb("turn begin", "turn:TurnBegin", "agent", "take a todo and get its packet", token=True),
    _verb("turn extend", "turn:TurnExtend", "agent", "keep a turn's lease", lease="own"),
    _verb("turn finish", "turn:TurnFinish", "agent", "claim what came of a turn", lease="own", wakes=True),
    _verb("turn abandon", "turn:TurnAbandon", "agent", "give a turn back", lease="own", wakes=True),
    _verb("decision ask", "decision:DecisionAsk", "agent person", "ask what only a person may answer", lease="own", wakes=True),
    _verb("decision propose", "decision:DecisionPropose", "agent person", "prepare commands for a person to accept", lease="own"),
    _verb("decision withdraw", "decision:DecisionWithdraw", "agent person", "take a question back", lease="own", wakes=True),
    _verb("decision snooze", "decision:DecisionSnooze", "person", "be asked again later", undo=True),
    _verb("decision answer", "decision:DecisionAnswer", "signed", "answer a decision", role="decider", wakes=True),
    _verb("grant add", "grant:GrantAdd", "signed", "remember a permission", risk="high", undo=True, wakes=True),
    _verb("grant revoke", "grant:GrantRevoke", "signed", "end a grant", wakes=True),
    _verb("evidence add", "evidence:EvidenceAdd", "agent", "add a result that can be looked at again", lease="own"),
    _verb("message send", "message:MessageSend", "agent person", "say something in a goal's thread", lease="own", wakes=True),
    _verb("message consume", "message:MessageConsume", "agent person", "mark a message as acted on", lease="own"),
    _verb("handoff offer", "handoff:HandoffOffer", "agent", "offer a todo to another agent", lease="own", wakes=True),
    _verb("handoff accept", "handoff:HandoffAccept", "agent", "take over an offered todo", token=True),
    _verb("handoff decline", "handoff:HandoffDecline", "agent", "decline an offered todo", token=True, wakes=True),
    _verb("lease release", "lease:LeaseRelease", "agent", "give up the lease of one's turn", lease="own", wakes=True),
    _verb("lease take", "lease:LeaseTake", "signed", "take a lease from whoever holds it", risk="medium", wakes=True),
    _verb("place drop", "place:PlaceDrop", "person", "give up a place"),
    _verb("place retry", "place:PlaceRetry", "person", "try a broken place again", wakes=True),
    _verb("stop", "stop:Stop", "person", "end what runs and start nothing new", wakes=True),
    _verb("undo", "undo:Undo", "person", "take back what a receipt did", wakes=True),
    _verb("ledger found", "owner:LedgerFound", "engine", "the first receipt of a ledger"),
    _verb("turn start", "turn:TurnStart", "engine", "record a turn's process"),
    _verb("turn usage", "turn:TurnUsage", "engine", "what a turn used"),
    _verb("turn settle", "proof:TurnSettle", "engine", "settle a claim by its proof", wakes=True),
    _verb("turn end", "turn:TurnEnd", "engine", "end a turn that made no claim", wakes=True),
    _verb("turn lose", "turn:TurnLose", "engine", "a turn whose process is gone", wakes=True),
    _verb("todo ready", "todo:TodoReady", "engine", "a condition came true", wakes=True),
    _verb("review settle", "confirm:ReviewSettle", "engine", "settle a claim by a person's word", wakes=True),
    _verb("criterion prove", "proof:CriterionProve", "engine", "the outcome of a criterion's check", wakes=True),
    _verb("check baseline", "check:CheckBaseline", "engine", "what a check says on the base commit", wakes=True),
    _verb("decision expire", "decision:DecisionExpire", "engine", "an unanswered question ran out", wakes=True),
    _verb("decision settle", "decision:DecisionSettle", "engine", "an answer was carried out, or is void", wakes=True),
    _verb("place make", "place:PlaceMake", "engine", "a place is to be made"),
    _verb("place settle", "place:PlaceSettle", "engine", "a place is ready, or broken", wakes=True),
    _verb("place set aside", "place:PlaceSetAside", "engine", "save a place's work and free its branch", wakes=True),
    _verb("effect attempt", "effect:EffectAttempt", "engine", "an act outside is tried"),
    _verb("effect settle", "effect:EffectSettle", "engine", "what came of an act outside", wakes=True),
    _verb("wake set", "wake:WakeSet", "engine", "when a goal is looked at again"),
    _verb("limit set", "limit:LimitSet", "engine", "a runtime cannot run until a time"),
)  # fmt: skip
VERBS: dict[str, Verb] = {verb.name: verb for verb in TABLE}


def verb_of(name: str) -> Verb:
    """The verb with this name. Raises `UsageError` (`unknown_verb`)."""
    verb = VERBS.get(name)
    if verb is None:
        raise UsageError(f"there is no verb '{name[:40]}'", code="unknown_verb", next="loopx --help")
    return verb


def authority_of(verb: Verb, command: Any) -> tuple[str, ...]:
    """Who may say this command: a person's verb becomes `signed` when an option of it needs the key."""
    needs = getattr(command, "needs_signature", None)
    if needs is None or not needs():
        return verb.authority
    return tuple("signed" if who == "person" else who for who in verb.authority)
