"""The stage: everything of a demo in one throw-away folder - project, ledger, owner key, agent - and the plan of its goal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loopx_engine.demo.person import Person
from loopx_engine.demo.project import checkout_digest, make_project
from loopx_engine.desk.opening import open_engine
from loopx_engine.engine import Engine, found
from loopx_engine.places.repository import find_repository, identity

OF_OTHERS = ("LOOPX_LEDGER", "LOOPX_TOKEN", "LOOPX_PASSPHRASE_FD")
TODOS = (
    ("Count quantities in the total", "totals"),
    ("Round prices half up", "rounding"),
    ("Write the discount rules", "discount"),
    ("Write the changelog and release", "changelog"),
)


class Stage:
    """One goal in one folder. `person` signs with an unsealed key that exists only here; `tag` marks what runs for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.environ = {name: value for name, value in os.environ.items() if name not in OF_OTHERS}
        self.environ |= {"LOOPX_HOME": str(self.home), "LOOPX_KEYS": str(folder / "keys")}
        self.engine: Engine = open_engine(self.environ)
        self.tag = self.engine.ledger.id[:16]
        found(self.engine, name="person", host="demo")
        self.root = make_project(folder)
        self._checkout = checkout_digest(self.root)
        self.person = Person(self.engine, folder / "keys")
        self.goal = ""

    def plan(self, *, agent: Sequence[str] = ()) -> None:
        """Project, agent (its program gets the words `agent`), goal, criteria, todos, one grant; and the goal is started."""
        program = [sys.executable, str(Path(__file__).with_name("agent.py")), *agent]
        project = self._enter_project()
        self.person.signs("actor add", name="worker", runtime="command", argv=program)
        self.goal = self.person.signs(
            "goal add",
            title="Make the shop count right",
            objective="Totals, rounding and discounts are right, and the changelog says so.",
            project=project,
            criterion=[
                ["the whole test suite passes", [sys.executable, "-m", "unittest", "discover"]],
                ["the changelog names the changes", _test("changelog")],
                ["a person has read the change", []],
            ],
            agent=["worker"],
            autonomy="unattended",
            budget="turns=20,days=1",
        ).answer["goal"]
        last = ""
        for title, test in TODOS:
            needs: dict[str, Any] = {"needs": [last]} if last else {}
            serves = [1, 2] if test == "changelog" else [1]
            last = self.person.signs(
                "todo add", goal=self.goal, title=title, check=_test(test), serves=serves, **needs
            ).answer["todo"]
        self.person.signs("grant add", kind="push", pattern="origin/preview/*", goal=self.goal, uses=3)
        self.person.signs("goal resume", goal=self.goal)

    def untouched(self) -> bool:
        """Whether the person's checkout, with its unsaved edit, is as it was made."""
        return checkout_digest(self.root) == self._checkout

    def _enter_project(self) -> str:
        repository = find_repository(self.root)
        assert repository is not None
        remotes = [list(pair) for pair in repository.remotes]
        given = {"root": str(self.root), "identity": identity(repository), "remotes": remotes}
        return str(self.person.says("project add", **given).answer["project"])


def _test(name: str) -> list[str]:
    return [sys.executable, "-m", "unittest", f"tests.test_{name}"]
