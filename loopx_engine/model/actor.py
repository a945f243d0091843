"""Actor: who acts. Persons have a role, agents a runtime; an agent holds an actor token whose hash is kept here."""

from __future__ import annotations

from typing import ClassVar, Literal

from loopx_engine.model.record import noun

ActorKind = Literal["person", "agent", "engine", "channel"]
Role = Literal["owner", "decider", "operator", "observer", ""]
ROLES: tuple[Role, ...] = ("observer", "operator", "decider", "owner")
RUNTIMES = ("command", "codex", "claude", "acp")


@noun
class Actor:
    KIND: ClassVar[str] = "actor"
    id: str
    kind: ActorKind
    role: Role = ""
    name: str
    host: str = ""
    instance: str = ""
    public_key: str = ""
    token_hash: str = ""
    state: str = "active"
    runtime: str = ""
    argv: tuple[str, ...] = ()
    model: str = ""
    mode: str = ""
    account: str = ""
    capabilities: tuple[str, ...] = ()
    created_at: int
