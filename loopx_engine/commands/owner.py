"""Owner: the person whose key stands in the ledger, and how that key is replaced."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import command, hidden
from loopx_engine.errors import Refused
from loopx_engine.model.actor import Actor


@command
class LedgerFound:
    """The first receipt of a ledger: its one owner, and the engine as an actor."""

    name: str = hidden("the owner's name on this machine")
    host: str = hidden("this machine", default="")
    public_key: str = hidden("the owner's public key, where it exists already", default="", most=1000)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        if draft.records(Actor, "actor.owner"):
            raise Refused("this ledger has an owner", code="owner_exists", next="loopx list actor")
        owner = Actor(
            id=draft.new_id("actor"),
            kind="person",
            role="owner",
            name=self.name,
            host=self.host,
            public_key=self.public_key,
            created_at=context.now,
        )
        engine = Actor(id=draft.new_id("actor"), kind="engine", name="engine", host=self.host, created_at=context.now)
        draft.create(owner)
        draft.create(engine)
        return {"owner": owner.id, "engine": engine.id}


@command
class OwnerInit:
    """Enters the public key of the ledger's owner; the first signed act, signed by that key itself."""

    public_key: str = hidden("the key's public half in OpenSSH form", most=1000)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        owner = draft.need(Actor, context.who.actor)
        if owner.public_key and owner.public_key != self.public_key:
            raise Refused(
                "this ledger has an owner with another key",
                code="owner_exists",
                next="loopx owner rotate, with the old key",
            )
        draft.put(replace(owner, public_key=self.public_key))
        return {"actor": owner.id, "name": owner.name}


@command
class OwnerRotate:
    """Replaces the owner's key; the act is signed by the key that is given up."""

    public_key: str = hidden("the new key's public half in OpenSSH form", most=1000)

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        owner = draft.need(Actor, context.who.actor)
        if owner.role != "owner":
            raise Refused("only the owner's key is rotated here", code="not_owner", next="loopx list actor")
        draft.put(replace(owner, public_key=self.public_key))
        return {"actor": owner.id}
