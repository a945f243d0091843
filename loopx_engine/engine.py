"""The one way in: parse -> replay? -> authorise -> decide -> commit -> receipt. Every surface calls `Engine.run`.

A command is one transaction. Permissions, leases and decisions are enforced inside it. Reads go through `Engine.read`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from typing import Any

from loopx_engine.canonical import digest
from loopx_engine.clock import Clock, SystemClock
from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import arguments_of, build
from loopx_engine.commands.snapshot import load_snapshot
from loopx_engine.commands.verbs import Verb, authority_of, verb_of
from loopx_engine.consent.authority import Authority, person_keys
from loopx_engine.consent.trust import Trust
from loopx_engine.errors import NotFound, Refused, StateMoved, UsageError
from loopx_engine.ledger.protocol import Entry, Ledger, Transaction
from loopx_engine.model.actor import Actor
from loopx_engine.model.defaults import PREVIEW_EXPIRES_MS
from loopx_engine.model.goal import Goal
from loopx_engine.model.identity import Identity
from loopx_engine.model.ids import expect, number_of
from loopx_engine.model.limits import COMMAND_ID_LENGTH
from loopx_engine.model.receipt import Change, Receipt
from loopx_engine.model.record import Row, noun
from loopx_engine.model.wake import Wake
from loopx_engine.rules.snapshot import Snapshot
from loopx_engine.rules.verdict import Verdict, verdict


@noun
class Answer:
    """What a command came to: its answer, its receipts, and (never stored) what is shown once, such as a token."""

    answer: dict[str, Any]
    receipts: tuple[Receipt, ...] = ()
    reveal: dict[str, str] = field(default_factory=dict)
    replayed: bool = False


@noun
class Preview:
    """Exactly what a command would change, its risk, and the basis a confirmation must quote before `expires`."""

    verb: str
    arguments: dict[str, Any]
    risk: str
    authority: tuple[str, ...]
    changes: tuple[Change, ...]
    answer: dict[str, Any]
    basis: str
    expires: int


class Engine:
    """The pipeline over one ledger.

    `owner_key` reads the public key that stands beside the owner's private one (the anchor of trust, outside the
    ledger); `redact` masks secrets in every argument before anything is digested or stored; `sandbox` names the box.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        clock: Clock | None = None,
        owner_key: Callable[[], tuple[str, str] | None] = lambda: None,
        redact: Callable[[Any], Any] = lambda value: value,
        sandbox: str = "none",
        busy_places: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self.ledger = ledger
        self.clock = clock or SystemClock()
        self.owner_key = owner_key
        self.redact = redact
        self.sandbox = sandbox
        self.busy_places = busy_places
        self._trusts: dict[tuple[Any, ...], Trust] = {}

    # -- changing -------------------------------------------------------------------------------------------------

    def run(
        self,
        verb: str,
        arguments: Mapping[str, Any],
        who: Identity,
        *,
        command_id: str = "",
        proof: dict[str, Any] | None = None,
        basis: str = "",
    ) -> Answer:
        """Carries a command out, or returns what the same command id came to before.

        With `basis`, only if the preview that was shown would still be made (else `StateMoved`); a signed act names its own.
        Raises the errors of `loopx_engine.errors`; on any of them nothing was written.
        """
        row = verb_of(verb)
        command = build(row.load(), dict(self.redact(dict(arguments))))
        given = arguments_of(command)
        intent = digest({"verb": verb, "arguments": given})
        identifier = _command_id(command_id)
        if proof is not None and not who.person:
            raise UsageError("only a person's command carries a proof", code="bad_proof")
        with self.ledger.immediate(_streams(given, who)) as transaction:
            before = transaction.receipts_of(identifier)
            if before:
                return _replayed(before, intent, identifier, who)
            draft, context, answer = self._decide(transaction, row, command, given, who, identifier, proof)
            if basis and proof is None:
                _check_basis(row, given, draft, basis)
            receipts = self._commit(transaction, draft, context, row, given, answer, intent, identifier)
        return Answer(answer=answer, receipts=tuple(receipts), reveal=context.reveal)

    def preview(self, verb: str, arguments: Mapping[str, Any], who: Identity) -> Preview:
        """What the command would change, in a transaction that is rolled back. A signature is not needed for this."""
        row = verb_of(verb)
        command = build(row.load(), dict(self.redact(dict(arguments))))
        given = arguments_of(command)
        with self.ledger.immediate(_streams(given, who), keep=False) as transaction:
            draft, context, answer = self._decide(transaction, row, command, given, who, "preview", None, preview=True)
            changes = tuple(draft.changes())
            basis = _basis(row, given, draft)
            authority = authority_of(row, self._complete(transaction, row, command))
        return Preview(
            verb=verb,
            arguments=given,
            risk=row.risk,
            authority=authority,
            changes=changes,
            answer=answer,
            basis=basis,
            expires=context.now + PREVIEW_EXPIRES_MS,
        )

    # -- reading --------------------------------------------------------------------------------------------------

    def read(self) -> AbstractContextManager[Transaction]:
        """One consistent view of the ledger."""
        return self.ledger.read()

    def identify(self, token: str | None, ancestor: str = "") -> Identity:
        """Who a process is: the holder of a token is that agent and nothing else; without one it is the owner's person."""
        with self.read() as reader:
            if not token:
                owners = reader.records(Actor, "actor.owner")
                if not owners:
                    raise NotFound("this ledger has no owner yet", code="no_owner", next="loopx owner init")
                return Identity(kind="person", actor=owners[0].id, role=owners[0].role, ancestor=ancestor)
            return Authority(self.trust_of(reader)).holder(reader, token)

    def engine_identity(self) -> Identity:
        """The engine as an actor."""
        with self.read() as reader:
            found = reader.records(Actor, "actor.engine")
        if not found:
            raise NotFound("this ledger has no engine actor", code="no_owner", next="loopx owner init")
        return Identity(kind="engine", actor=found[0].id)

    def snapshot(self, goal: str, actor: str) -> Snapshot:
        """The snapshot the verdict of one goal and actor is made from."""
        with self.read() as reader:
            return load_snapshot(
                reader, goal, actor, trusted=self.trust_of(reader), busy_places=self.busy_places(), sandbox=self.sandbox
            )

    def verdict(self, goal: str, actor: str) -> Verdict:
        """Who acts next on a goal, as this actor sees it. Writes nothing."""
        return verdict(self.snapshot(goal, actor), goal, actor, self.clock.now())

    def trust_of(self, reader: Transaction) -> Trust:
        """The trust in force: the owner's key outside the ledger where there is one, else the keys in the ledger."""
        keys = person_keys(reader, self.owner_key())
        name = (self.ledger.id, self.ledger.incarnation, *sorted(keys.items()))
        if name not in self._trusts:
            self._trusts = {name: Trust(self.ledger.id, self.ledger.incarnation, keys)}
        return self._trusts[name]

    # -- inside ---------------------------------------------------------------------------------------------------

    def _decide(
        self,
        transaction: Transaction,
        row: Verb,
        command: Any,
        given: Row,
        who: Identity,
        identifier: str,
        proof: dict[str, Any] | None,
        *,
        preview: bool = False,
    ) -> tuple[Draft, Context, dict[str, Any]]:
        from loopx_engine.consent.tokens import new_token

        now = self.clock.now()
        command = self._complete(transaction, row, command)
        trust = self.trust_of(transaction)
        draft = Draft(transaction, transaction.next_id)
        authority = Authority(trust)
        who = authority.check(row, command, given, who, draft, now, identifier, proof, preview=preview)
        stored_proof = {**proof, "arguments": given} if proof else None
        context = Context(
            who=who,
            now=now,
            trusted=trust,
            token=new_token,
            sandbox=self.sandbox,
            busy_places=self.busy_places(),
            proof=stored_proof,
        )
        answer = command.decide(draft, context)
        authority.check_reach(who, draft)
        if proof is not None and not preview:
            _check_basis(row, given, draft, str(proof["act"]["basis"]))
        if row.wakes:
            _wake(draft, row.name, now)
        return draft, context, answer

    def _complete(self, transaction: Transaction, row: Verb, command: Any) -> Any:
        """Fills in what only the ledger knows, whatever the caller said: the changes an undo takes back."""
        if row.name != "undo":
            return command
        receipt = self.ledger.receipt(number_of(expect(command.receipt, "receipt")))
        if receipt is None:
            raise NotFound(f"there is no receipt {command.receipt}", next="loopx history")
        if not receipt.undo or receipt.payload is None:
            raise Refused(f"{command.receipt} cannot be taken back", code="no_undo", next="loopx history")
        return replace(command, verb=receipt.verb, changes=tuple(receipt.payload["changes"]))

    def _commit(
        self,
        transaction: Transaction,
        draft: Draft,
        context: Context,
        row: Verb,
        given: Row,
        answer: dict[str, Any],
        intent: str,
        identifier: str,
    ) -> list[Receipt]:
        changes = draft.changes()
        for change in changes:
            transaction.apply(change)
        streams: dict[str, list[Row]] = {}
        for change in changes:
            streams.setdefault(draft.goal_of(change), []).append(_row(change))
        if not streams:
            streams[_streams(given, context.who)[0]] = []
        return [
            transaction.append(
                Entry(
                    stream=stream,
                    at=context.now,
                    actor=context.who.actor,
                    turn=context.who.turn or "",
                    strength=context.who.strength,
                    command=identifier,
                    verb=row.name,
                    intent=intent,
                    grant=draft.grant,
                    undo=row.undo,
                    payload={"arguments": given, "changes": streams[stream], "answer": answer, "proof": context.proof},
                )
            )
            for stream in sorted(streams, key=lambda name: (name != "", number_of(name) if name else 0))
        ]


def found(engine: Engine, *, name: str, host: str, public_key: str = "") -> None:
    """Writes the first receipt of an empty ledger; does nothing where there is one."""
    with engine.read() as reader:
        if reader.records(Actor, "actor.owner"):
            return
    founder = Identity(kind="engine", actor="a-2")
    try:
        engine.run("ledger found", {"name": name, "host": host, "public_key": public_key}, founder)
    except Refused as error:
        if error.code != "owner_exists":
            raise


def _command_id(given: str) -> str:
    if not given:
        import secrets

        return f"c{secrets.token_hex(8)}"
    if len(given) > COMMAND_ID_LENGTH or not given.isascii() or not all(c.isalnum() or c in "-_.:" for c in given):
        raise UsageError(
            f"a command id has up to {COMMAND_ID_LENGTH} letters, digits, '-', '_', '.' or ':'", code="bad_id"
        )
    return given


def _streams(given: Row, who: Identity) -> Sequence[str]:
    goal = given.get("goal")
    return (goal if isinstance(goal, str) and goal else who.goal or "",)


def _replayed(before: list[Receipt], intent: str, identifier: str, who: Identity) -> Answer:
    if before[0].intent != intent or before[0].actor != who.actor:
        raise Refused(
            f"the command id {identifier} was used for something else ({before[0].id})",
            code="command_reused",
            next=f"loopx show {before[0].id}",
        )
    payload = before[0].payload or {}
    return Answer(answer=dict(payload.get("answer") or {}), receipts=tuple(before), replayed=True)


def _row(change: Change) -> Row:
    """A change as its receipt keeps it; its rows are JSON values already."""
    return {"kind": change.kind, "id": change.id, "before": change.before, "after": change.after}


def _basis(row: Verb, given: Row, draft: Draft) -> str:
    """Digest of the command and of every existing subject it touches, as it was: what a confirmation binds to."""
    subjects = [
        [kind, identifier, {name: value for name, value in before.items() if (kind, name) != ("lease", "expires")}]
        for (kind, identifier), before in sorted(draft.touched().items())
        if before is not None and kind != "wake"
    ]
    return digest({"verb": row.name, "arguments": given, "subjects": subjects})


def _check_basis(row: Verb, given: Row, draft: Draft, basis: str) -> None:
    expected = str(given["basis"]) if row.name == "decision answer" else _basis(row, given, draft)
    if basis != expected:
        raise StateMoved(
            "the state is not the one that was previewed; look at the change again",
            next=f"loopx {row.name} --dry-run",
            details={"basis": expected},
        )


def _wake(draft: Draft, cause: str, now: int) -> None:
    from loopx_engine.commands.wake import set_wake

    goals = {stream for _, stream in draft.moved()} - {""}
    for name in sorted(goals, key=number_of):
        goal = draft.get(Goal, name)
        if goal is not None and (goal.phase == "active" or draft.get(Wake, name) is not None):
            set_wake(draft, goal, now, "work", cause)
