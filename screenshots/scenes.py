"""Scenes: seeded ledgers that a screen is drawn over. `build(name, folder)` makes one, the same one each time.

Names: `empty`, `needs` and `goals` (one morning), `cjk` (that morning in other scripts), `poison` (with a record that cannot be
read), `many` or `many:N` (N todos in one goal). Instants, commits and ids are fixed; keys, tokens and the ledger's id are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loopx_engine.desk.opening import engine_lock
from loopx_engine.errors import NotFound
from loopx_engine.host.lock import single_instance
from screenshots.morning import FILES, morning
from screenshots.scripts import in_other_scripts
from screenshots.stage import HOUR, NOW, PROJECT, Stage, Still

MANY = 100_000


@dataclass(frozen=True)
class Scene:
    """`environ` names home and keys of a built scene, `clock` stands at `now`, `root` is the project a person stands in."""

    environ: dict[str, str]
    clock: Still
    folder: Path

    @property
    def now(self) -> int:
        return self.clock.now()

    @property
    def root(self) -> Path:
        return self.folder / PROJECT

    @contextmanager
    def engine_runs(self) -> Iterator[None]:
        """Holds the engine's lock meanwhile: a screen says *live*, and nothing in the ledger moves."""
        with single_instance(engine_lock(self.environ)):
            yield


def build(name: str, folder: Path) -> Scene:
    """Makes the scene in a folder that is empty or not there yet. Raises `NotFound` for a name that is none."""
    kind, _, number = name.partition(":")
    if kind not in SCENES:
        raise NotFound(f"there is no scene '{name[:40]}'", next="one of " + ", ".join(SCENES))
    folder.mkdir(parents=True, exist_ok=True)
    stage = Stage(folder.resolve())
    try:
        if number:
            many(stage, int(number))
        else:
            SCENES[kind](stage)
    finally:
        stage.close()
    return Scene(stage.environ, Still(NOW), stage.folder)


def empty(stage: Stage) -> None:
    """Founded, and nothing else: no key, no project in the ledger, no goal. The person stands in a repository."""
    stage.repository(FILES)


def a_morning(stage: Stage) -> None:
    morning(stage, str)


def cjk(stage: Stage) -> None:
    """The same morning in Chinese, Japanese, Korean, Arabic, Hebrew, with emoji and combining marks."""
    morning(stage, in_other_scripts)


def poison(stage: Stage) -> None:
    """The morning with the options of its low decision made unreadable, straight in the database."""
    morning(stage, str)
    connection = stage.engine.ledger.connection()  # type: ignore[attr-defined]
    connection.execute(
        "pragma ignore_check_constraints = on"
    )  # as a damaged page would: the database itself forbids it
    changed = connection.execute("update decision set options = '{broken' where risk = 'low' and state = 'open'")
    assert changed.rowcount == 1, f"{changed.rowcount} records were poisoned"


def many(stage: Stage, todos: int = MANY) -> None:
    """One goal with so many todos, every second one done, written in bulk."""
    from benchmarks._bulk import lengthen

    stage.clock.set(NOW - HOUR)
    stage.open_house({"README.md": "# shop-api\n"}, (("codex-2", "codex"),))
    stage.goal("A goal with many todos", agent=["codex-2"], criterion=[["they are done", []]])
    ledger = stage.engine.ledger
    lengthen(ledger, ledger.last_seq() + todos)  # type: ignore[arg-type]


SCENES: dict[str, Callable[[Stage], None]] = {
    "empty": empty,
    "needs": a_morning,
    "goals": a_morning,
    "cjk": cjk,
    "poison": poison,
    "many": many,
}
