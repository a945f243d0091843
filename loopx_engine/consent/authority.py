"""Authority: whether this identity may say this verb, checked inside the transaction (MODEL.md 6 and 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from loopx_engine.canonical import digest
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.taking import check_epoch
from loopx_engine.commands.verbs import Verb, authority_of
from loopx_engine.consent.trust import Trust
from loopx_engine.errors import NotFound, Refused
from loopx_engine.model.actor import ROLES, Actor
from loopx_engine.model.identity import Identity
from loopx_engine.model.reader import Reader
from loopx_engine.model.turn import Turn


class Authority:
    """Checks identities against one trust."""

    def __init__(self, trust: Trust) -> None:
        self.trust = trust

    def holder(self, reader: Reader, token: str) -> Identity:
        """The agent (and turn) a token belongs to. Refuses (`bad_token`) an unknown one; one of an ended turn says so."""
        from loopx_engine.consent.tokens import token_hash

        hashed = token_hash(token)
        turns = reader.records(Turn, "turn.by_token", hash=hashed)
        if turns:
            turn = turns[0]
            return Identity(kind="agent", actor=turn.actor, goal=turn.goal, turn=turn.id, ended=not turn.live)
        actors = reader.records(Actor, "actor.by_token", hash=hashed)
        if not actors:
            raise Refused(
                "LOOPX_TOKEN is no live token", code="bad_token", next="loopx turn begin, with the agent's token"
            )
        return Identity(kind="agent", actor=actors[0].id)

    def check(
        self,
        verb: Verb,
        command: Any,
        given: Mapping[str, Any],
        who: Identity,
        draft: Draft,
        now: int,
        identifier: str,
        proof: dict[str, Any] | None,
        *,
        preview: bool,
    ) -> Identity:
        """The identity as it was proved (role, strength). Refuses what this verb does not allow it."""
        allowed = authority_of(verb, command)
        if who.kind == "agent":
            return self._agent(verb, allowed, who, draft)
        if who.kind == "engine":
            if "engine" in allowed or verb.name in ENGINE_ALSO:
                return who
            raise Refused(f"the engine may not say {verb.name}", code="not_for_engine")
        return self._person(verb, allowed, given, who, draft, now, identifier, proof, preview=preview)

    def check_reach(self, who: Identity, draft: Draft) -> None:
        """An agent's changes end at its goal."""
        if who.kind != "agent" or who.goal is None:
            return
        for identifier, stream in draft.moved():
            if stream != who.goal:
                raise Refused(f"{identifier} belongs to another goal", code="other_goal", next="loopx next")

    def _agent(self, verb: Verb, allowed: tuple[str, ...], who: Identity, draft: Draft) -> Identity:
        if "agent" not in allowed:
            raise Refused(
                f"{verb.name} is for {'a person' if 'engine' not in allowed else 'the engine'}; an agent asks or proposes",
                code="not_for_agents",
                next="loopx decision ask GOAL QUESTION",
            )
        actor = draft.get(Actor, who.actor)
        if actor is None or actor.state != "active":
            raise Refused("this agent is no longer registered", code="retired", next="loopx list actor")
        if who.turn is None:
            if not verb.token:
                raise Refused(f"{verb.name} needs the token of a turn", code="no_turn", next="loopx turn begin")
            return who
        turn = draft.get(Turn, who.turn)
        if turn is None or not turn.live:
            raise Refused(f"turn {who.turn} has ended", code="turn_ended", next="loopx turn begin")
        if verb.lease == "own":
            check_epoch(draft, turn)
        return who

    def _person(
        self,
        verb: Verb,
        allowed: tuple[str, ...],
        given: Mapping[str, Any],
        who: Identity,
        draft: Draft,
        now: int,
        identifier: str,
        proof: dict[str, Any] | None,
        *,
        preview: bool,
    ) -> Identity:
        if not {"person", "signed"} & set(allowed):
            other = "the engine" if "engine" in allowed else "an agent with its token"
            raise Refused(f"{verb.name} is for {other}", code="not_for_persons", next="loopx --help")
        if who.ancestor:
            raise Refused(
                f"this process runs inside {who.ancestor}; a person's commands are not taken from there",
                code="inside_turn",
                next="run it from a terminal of your own",
            )
        actor = draft.get(Actor, who.actor)
        if actor is None:
            raise NotFound("this ledger has no owner yet", code="no_owner", next="loopx owner init")
        role = actor.role or "observer"
        if ROLES.index(role) < ROLES.index(verb.role):
            raise Refused(
                f"{verb.name} needs the role {verb.role}; you are {role}", code="role", next="loopx list actor"
            )
        known = replace(who, role=role)
        if preview:
            return replace(known, strength=known.strength or ("preview" if "signed" in allowed else ""))
        if proof is None:
            if "signed" in allowed and "person" not in allowed:
                raise Refused(
                    f"{verb.name} must be signed with the owner's key", code="not_signed", next="loopx owner init"
                )
            return known
        return self._signed(verb, given, known, now, identifier, proof)

    def _signed(
        self, verb: Verb, given: Mapping[str, Any], who: Identity, now: int, identifier: str, proof: dict[str, Any]
    ) -> Identity:
        from loopx_engine.consent.act import Proof, verify_proof

        signed = Proof.from_json(proof)
        keys = self.trust.keys
        if verb.name in ("owner init", "owner rotate"):
            from loopx_engine.consent.keys import key_id

            named = key_id(str(given["public_key"]))
            keys = {named: str(given["public_key"])} if verb.name == "owner init" else keys
        verify_proof(
            signed,
            public_keys=keys,
            ledger=self.trust.ledger,
            incarnation=self.trust.incarnation,
            verb=verb.name,
            args=digest(dict(given)),
            basis=None,
            actor=who.actor,
            command=identifier,
            now=now,
        )
        return replace(who, strength=signed.strength)


ENGINE_ALSO = frozenset(
    {"decision ask", "decision propose", "decision withdraw", "goal close", "message send", "todo drop"}
)


def person_keys(reader: Reader, anchor: tuple[str, str] | None) -> dict[str, str]:
    """Key id -> public key of the persons who may sign. The owner's own file, where it can be read, overrules the row."""
    from loopx_engine.consent.keys import key_id

    if anchor is not None:
        return {anchor[0]: anchor[1]}
    owners = reader.records(Actor, "actor.owner")
    return {key_id(owner.public_key): owner.public_key for owner in owners if owner.public_key}
