"""Actor: registering an agent and ending its registration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopx_engine.commands.context import Context
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.fields import argument, command, hidden, option
from loopx_engine.errors import NotFound, Refused, UsageError
from loopx_engine.model.actor import RUNTIMES, Actor
from loopx_engine.model.limits import ARGV_BYTES, ARGV_ITEMS


@command
class ActorAdd:
    """Registers an agent. Without a runtime it comes by itself, and its token is shown once."""

    name: str = argument("the agent's name, unique among active actors")
    kind: str = option("what it is", default="agent", choices=("agent",))
    runtime: str = option("how the engine starts it", choices=RUNTIMES)
    argv: tuple[str, ...] = option("the program and its arguments", default=(), most=ARGV_BYTES, items=ARGV_ITEMS)
    model: str = option("the model it is asked to use")
    mode: str = option("the mode it runs in")
    account: str = option("the account it runs under")
    capability: tuple[str, ...] = option("something it can do", default=())
    host: str = hidden("the machine it was registered on", default="")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        if draft.records(Actor, "actor.by_name", name=self.name):
            raise Refused(f"there is an active actor named {self.name}", code="name_taken", next="loopx list actor")
        if self.runtime == "command" and not self.argv:
            raise UsageError("the command runtime needs --argv", code="missing_argument", next="loopx actor add --help")
        if self.argv and not self.runtime:
            raise UsageError("--argv needs --runtime", code="missing_argument", next="loopx actor add --help")
        hashed = ""
        if not self.runtime:
            context.reveal["token"], hashed = context.token("actor")
        made = draft.create(
            Actor(
                id=draft.new_id("actor"),
                kind="agent",
                name=self.name,
                host=self.host,
                token_hash=hashed,
                runtime=self.runtime,
                argv=self.argv,
                model=self.model,
                mode=self.mode,
                account=self.account,
                capabilities=self.capability,
                created_at=context.now,
            )
        )
        return {"actor": made.id, "name": made.name}


@command
class ActorRetire:
    """Ends an agent's registration. Its live leases stay until they end; it takes nothing new."""

    actor: str = argument("the agent, by id or name")

    def decide(self, draft: Draft, context: Context) -> dict[str, Any]:
        actor = named_actor(draft, self.actor)
        if actor.kind != "agent":
            raise Refused(f"{actor.name} is no agent", code="not_an_agent", next="loopx list actor")
        draft.put(replace(actor, state="retired", token_hash=""))
        return {"actor": actor.id}


def named_actor(draft: Draft, name: str) -> Actor:
    """The actor with this id or name. Raises `NotFound`."""
    found = draft.get(Actor, name)
    if found is not None:
        return found
    matches = draft.records(Actor, "actor.by_name", name=name)
    if not matches:
        raise NotFound(f"there is no actor '{name}'", next="loopx list actor")
    return matches[0]


def agents_named(draft: Draft, names: tuple[str, ...]) -> tuple[str, ...]:
    """Ids of agents, in order, none twice. Raises `NotFound`, `Refused` (`not_an_agent`)."""
    found: list[str] = []
    for name in names:
        actor = named_actor(draft, name)
        if actor.kind != "agent" or actor.state != "active":
            raise Refused(f"{name} is no active agent", code="not_an_agent", next="loopx list actor")
        if actor.id not in found:
            found.append(actor.id)
    return tuple(found)
