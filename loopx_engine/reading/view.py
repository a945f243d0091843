"""View: who looks, and how far: an agent's reads end at its goal (with a turn) or at the goals it works on."""

from __future__ import annotations

from typing import Any

from loopx_engine.engine import Engine
from loopx_engine.errors import NotFound, Refused
from loopx_engine.ledger.protocol import Transaction
from loopx_engine.model.actor import Actor
from loopx_engine.model.goal import Goal
from loopx_engine.model.identity import Identity
from loopx_engine.model.record import noun, values
from loopx_engine.reading.sound import peek

ROWS = 50
MOST_ROWS = 1000
GOALS = 1000
SECRET_FIELDS = frozenset({"token_hash"})


@noun
class View:
    """`actor` is whose eyes are meant (empty: nobody's in particular); `agent` whether what is seen is bounded."""

    engine: Engine
    who: Identity
    actor: str = ""
    agent: bool = False

    @property
    def now(self) -> int:
        return self.engine.clock.now()

    def sees(self, reader: Transaction, goal: str) -> bool:
        """Whether a goal's records are within reach; what belongs to no goal is a person's."""
        if not self.agent:
            return True
        if self.who.goal:
            return goal == self.who.goal
        found = peek(reader, Goal, goal)
        return found is not None and (not found.agents or self.actor in (*found.agents, *found.reviewers))

    def need(self, reader: Transaction, goal: str) -> None:
        """Refuses (`other_goal`) what is out of reach."""
        if not self.sees(reader, goal):
            raise Refused(
                "an agent's reads end at its goal", code="other_goal", next=f"loopx next {self.who.goal or ''}".strip()
            )


def view_of(engine: Engine, who: Identity, named: str) -> View:
    """The view of an identity. A person may look as another actor (`--as`); an agent is who its token says."""
    if who.kind == "agent":
        if named:
            with engine.read() as reader:
                if actor_named(reader, named).id != who.actor:
                    raise Refused(
                        "LOOPX_TOKEN says who this is; --as is for persons", code="not_for_agents", next="loopx next"
                    )
        return View(engine=engine, who=who, actor=who.actor, agent=True)
    if not named:
        return View(engine=engine, who=who)
    with engine.read() as reader:
        actor = actor_named(reader, named)
    return View(engine=engine, who=who, actor=actor.id, agent=actor.kind == "agent")


def actor_named(reader: Transaction, named: str) -> Actor:
    """The actor with this id or name. Raises `NotFound`."""
    found = reader.get(Actor, named) if named.startswith("a-") else None
    matches = [found] if found else reader.records(Actor, "actor.by_name", name=named)
    if not matches:
        raise NotFound(f"there is no actor '{named[:40]}'", next="loopx list actor")
    return matches[0]


def bounded(limit: int) -> int:
    """A number of rows that any caller may ask for."""
    return max(1, min(limit, MOST_ROWS))


def row_of(record: Any) -> dict[str, Any]:
    """A record as JSON values, without hashes of tokens."""
    return {name: value for name, value in values(record).items() if name not in SECRET_FIELDS}


def names_of(reader: Transaction, ids: Any) -> dict[str, str]:
    """Actor id -> name, for the ids that are actors."""
    wanted = sorted({name for name in ids if isinstance(name, str) and name.startswith("a-")})
    return {name: actor.name for name in wanted if (actor := reader.get(Actor, name)) is not None}
