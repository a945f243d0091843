"""A house in memory for tests of the engine: an owner with a real key, agents, a project, a goal ready to be worked on.

`from engine_kit import Kit, kit` gives the fixture. After every test the receipts of its ledger must verify and their fold
must equal the state, unless the test wrote into the database behind the ledger's back and said so (`kit.tampered`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopx_engine.canonical import digest
from loopx_engine.clock import FakeClock
from loopx_engine.consent.act import Act, sign
from loopx_engine.consent.keys import Signer, load_signer, make_owner_key, public_key
from loopx_engine.engine import Answer, Engine, found
from loopx_engine.errors import LoopxError
from loopx_engine.ledger.open import open_ledger
from loopx_engine.model.actor import Actor
from loopx_engine.model.defaults import SIGNED_ACT_MS
from loopx_engine.model.identity import Identity
from loopx_engine.model.record import R

OWNER = Identity(kind="person", actor="a-1", role="owner")
ENGINE = Identity(kind="engine", actor="a-2")
TREE, OTHER_TREE = "a" * 40, "b" * 40


class Kit:
    """An engine on a ledger of its own, and everybody who speaks to it."""

    def __init__(self, folder: Path, location: str = ":memory:") -> None:
        self.folder = folder
        self.keys = folder / "keys"
        self.location = location
        self.clock = FakeClock()
        self.tampered = False
        self._numbers = itertools.count(1)
        public = public_key(self.keys) or make_owner_key(self.keys, None)
        self.public = public.text
        self.signer: Signer = load_signer(self.keys, None)
        self.engine = self.open()

    def open(self) -> Engine:
        """An engine on the kit's ledger (a second one where it lies in a file)."""
        ledger = open_ledger(self.location)
        engine = Engine(ledger, clock=self.clock, owner_key=self.anchor)
        found(engine, name="ana", host="here")
        return engine

    def anchor(self) -> tuple[str, str] | None:
        """The owner's public key as it stands beside the private one."""
        key = public_key(self.keys)
        return (key.id, key.text) if key else None

    # -- who speaks -------------------------------------------------------------------------------------------------

    def say(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """A person's unsigned command; its answer."""
        return self.engine.run(verb, arguments, OWNER).answer

    def sign(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """A person's command, previewed, signed and run; its answer."""
        return self.signed(verb, arguments).answer

    def act(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """The engine's command; its answer."""
        return self.engine.run(verb, arguments, ENGINE).answer

    def signed(self, verb: str, arguments: dict[str, Any], command: str = "") -> Answer:
        command = command or self.command()
        proof = self.proof(verb, arguments, command)
        return self.engine.run(verb, arguments, OWNER, command_id=command, proof=proof)

    def proof(self, verb: str, arguments: dict[str, Any], command: str, **over: Any) -> dict[str, Any]:
        """The signed act of a previewed command; `over` replaces fields of the act before it is signed."""
        preview = self.engine.preview(verb, arguments, OWNER)
        said = {
            "ledger": self.engine.ledger.id,
            "incarnation": self.engine.ledger.incarnation,
            "key": self.signer.public.id,
            "command": command,
            "verb": verb,
            "args": digest(preview.arguments),
            "basis": preview.arguments["basis"] if verb == "decision answer" else preview.basis,
            "actor": OWNER.actor,
            "at": self.clock.now(),
            "not_after": self.clock.now() + SIGNED_ACT_MS,
        }
        return sign(self.signer, Act(**{**said, **over})).to_json()

    def refusal(self, verb: str, arguments: dict[str, Any], who: Identity, **more: Any) -> LoopxError | None:
        """The error a command came to, after which nothing may be written; None where it was carried out."""
        before = self.seq()
        try:
            self.engine.run(verb, arguments, who, **more)
        except LoopxError as error:
            refusal = error
        else:
            return None
        assert self.seq() == before, f"{verb} was refused but wrote something"
        return refusal

    def command(self) -> str:
        """A command id that was not used yet."""
        return f"cmd-{next(self._numbers)}"

    # -- what is there ----------------------------------------------------------------------------------------------

    def get(self, cls: type[R], identifier: str) -> R:
        """The record, which must exist."""
        with self.engine.read() as reader:
            record = reader.get(cls, identifier)
        assert record is not None, f"there is no {identifier}"
        return record

    def all(self, cls: type[R]) -> list[R]:
        """Every record of a noun."""
        from loopx_engine.ledger.tables import column_names, record_of

        cursor = self.engine.ledger.connection().execute(f'select * from "{cls.KIND}" order by id')  # type: ignore[attr-defined]
        names = tuple(item[0] for item in cursor.description)
        assert set(names) == set(column_names(cls.KIND))
        return [record_of(cls, names, row) for row in cursor.fetchall()]

    def seq(self) -> int:
        """The number of the last receipt."""
        return self.engine.ledger.last_seq()

    def last_answer(self) -> dict[str, Any]:
        """What the last receipt answered."""
        payload = self.engine.ledger.last_receipts(limit=1)[0].payload
        return dict((payload or {})["answer"])

    def tamper(self, sql: str, **given: Any) -> None:
        """Writes straight into the database, as a program under the person's own account could."""
        self.tampered = True
        self.engine.ledger.connection().execute(sql, given)  # type: ignore[attr-defined]

    def problems(self) -> list[str]:
        """What `verify` and `rebuild` find."""
        ledger = self.engine.ledger
        return [f"{item.where}: {item.what}" for item in [*ledger.verify(), *ledger.rebuild()]]

    # -- scenes -----------------------------------------------------------------------------------------------------

    def agent(self, name: str = "bot", **given: Any) -> str:
        """A registered agent; its id. Without a runtime it comes by itself."""
        return str(self.sign("actor add", name=name, **given)["actor"])

    def project(self, root: str = "/project", identity: str = "f" * 40) -> str:
        return str(self.say("project add", root=root, identity=identity)["project"])

    def draft(self, title: str = "Fix it", **given: Any) -> str:
        """A goal that is not active yet; its id."""
        project = given.pop("project", None) or self.project()
        return str(self.sign("goal add", title=title, project=project, **given)["goal"])

    def goal(self, title: str = "Fix it", **given: Any) -> str:
        """An active goal with a ready place; its id."""
        goal = self.draft(title, **given)
        self.sign("goal resume", goal=goal)
        self.place(goal)
        return goal

    def place(self, goal: str) -> str:
        """A ready place of a goal; its id."""
        path, branch = f"/places/{goal}", f"loopx/{goal}"
        place = self.act("place make", goal=goal, kind="worktree", path=path, branch=branch, base="0" * 40)["place"]
        self.act("place settle", place=place, state="ready")
        return str(place)

    def todo(self, goal: str, title: str = "Write it", **given: Any) -> str:
        """A todo of the owner's own word; its id."""
        return str(self.sign("todo add", goal=goal, title=title, **given)["todo"])

    def begin(self, agent: str, **given: Any) -> Identity:
        """The identity of a turn that this agent begins."""
        who = Identity(kind="agent", actor=agent)
        answer = self.engine.run("turn begin", given, who).answer
        return Identity(kind="agent", actor=agent, goal=answer["goal"], turn=answer["turn"])

    def turn(self, who: Identity, verb: str, **arguments: Any) -> dict[str, Any]:
        """A command of a turn; its answer."""
        return self.engine.run(verb, arguments, who).answer

    def finish(self, who: Identity, outcome: str = "done", **given: Any) -> dict[str, Any]:
        """The claim of a turn."""
        return self.turn(who, "turn finish", turn=who.turn, outcome=outcome, **given)

    def settle(self, who: Identity, **given: Any) -> dict[str, Any]:
        """The engine's settling of a claim, on a tree that held still."""
        return self.act("turn settle", **{"turn": who.turn, "tree": TREE, "tree_now": TREE, **given})

    def done(self, agent: str, todo: str, **given: Any) -> dict[str, Any]:
        """A todo worked on, claimed and settled."""
        who = self.begin(agent, todo=todo)
        self.finish(who)
        return self.settle(who, **given)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    """A house in memory whose owner's key is entered."""
    made = Kit(tmp_path)
    made.sign("owner init", public_key=made.public)
    yield from watched(made)


@pytest.fixture
def file_kit(tmp_path: Path) -> Iterator[Kit]:
    """The same in a file."""
    made = Kit(tmp_path, str(tmp_path / "home" / "ledger.db"))
    made.sign("owner init", public_key=made.public)
    yield from watched(made)


def watched(made: Kit) -> Iterator[Kit]:
    """The kit while its test runs; then its receipts verify and their fold is its state."""
    yield made
    try:
        if not made.tampered:
            assert made.problems() == []
            assert {actor.kind for actor in made.all(Actor)} >= {"person", "engine"}
    finally:
        made.engine.ledger.close()
