"""What every thread of an engine shares: the pipeline, the clock, the box, the folders, and who is busy with which place."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loopx_engine.engine import Answer, Engine
from loopx_engine.errors import LoopxError
from loopx_engine.host.paths import private_folder
from loopx_engine.model.actor import Actor
from loopx_engine.model.check import Check
from loopx_engine.model.goal import Goal
from loopx_engine.model.identity import Identity
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.model.record import R
from loopx_engine.places.environment import check_environment
from loopx_engine.places.program import ProgramResult, run_program
from loopx_engine.places.sandbox import Box, Mounts
from loopx_engine.runtimes.protocol import RuntimeAdapter

# What the outside can do to a thread: it ends that piece of work, never the engine.
TROUBLE = (LoopxError, OSError, ValueError, LookupError, RuntimeError, subprocess.SubprocessError)


class Heart:
    """`log(event, **fields)` writes one JSON line; `stop()` ends every thread; `home` is the ledger's folder."""

    def __init__(
        self,
        engine: Engine,
        *,
        home: Path,
        keys: Path,
        box: Box,
        adapters: Mapping[str, RuntimeAdapter],
        log: Any = None,
    ) -> None:
        self.engine = engine
        self.clock = engine.clock
        self.home = home
        self.keys = keys
        self.box = box
        self.adapters = dict(adapters)
        self.stopping = threading.Event()
        self.identity = engine.engine_identity()
        self._log = log
        self._busy: set[str] = set()
        self._halts: dict[str, threading.Event] = {}
        self._repositories: dict[str, threading.RLock] = {}
        self._lock = threading.RLock()

    def log(self, event: str, **fields: Any) -> None:
        """One line in the engine's log; no text of agents goes into it."""
        if self._log is not None:
            self._log(event, **fields)

    def act(self, verb: str, **arguments: Any) -> Answer:
        """Runs an engine's command."""
        return self.engine.run(verb, arguments, self.identity)

    def agent(self, actor: str, goal: str, turn: str | None = None) -> Identity:
        """The identity an engine's thread acts under for the agent whose turn it drives."""
        return Identity(kind="agent", actor=actor, goal=goal, turn=turn)

    def get(self, cls: type[R], identifier: str) -> R:
        """The record as it is now. Raises `NotFound`."""
        from loopx_engine.errors import NotFound

        with self.engine.read() as reader:
            found = reader.get(cls, identifier)
        if found is None:
            raise NotFound(f"there is no {cls.KIND} {identifier}", next=f"loopx list {cls.KIND}")
        return found

    def project_of(self, goal: Goal) -> Project:
        return self.get(Project, goal.project)

    def tag(self, *names: str) -> str:
        """The tag of processes: this ledger, then a goal and what runs for it. A tag covers those that are below it."""
        return "/".join((self.engine.ledger.id[:16], *names))

    # -- stopping -------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Ends every program and thread of this engine. May be called from a signal handler."""
        self.stopping.set()
        with self._lock:
            for halt in self._halts.values():
                halt.set()

    def halt_of(self, goal: str) -> threading.Event:
        """What ends the programs that run for one goal."""
        with self._lock:
            halt = self._halts.setdefault(goal, threading.Event())
            if self.stopping.is_set():
                halt.set()
            return halt

    def let_run(self, goal: str) -> None:
        """The goal is active again: what runs for it from now on is not ended by an earlier stop."""
        with self._lock:
            self._halts[goal] = threading.Event()

    # -- places ---------------------------------------------------------------------------------------------------

    @contextmanager
    def holding(self, place: str) -> Iterator[bool]:
        """True for the one thread of this engine that may use a place now; False where another does."""
        with self._lock:
            free = place not in self._busy
            if free:
                self._busy.add(place)
        try:
            yield free
        finally:
            if free:
                with self._lock:
                    self._busy.discard(place)

    def repository(self, project: str) -> threading.RLock:
        """Held while worktrees of a project's repository come, go or are looked at: git reads half-made ones as broken."""
        with self._lock:
            return self._repositories.setdefault(project, threading.RLock())

    def is_busy(self, place: str) -> bool:
        with self._lock:
            return place in self._busy

    def mounts(self, place: Path, *, named: Sequence[str] = (), socket: Path | None = None) -> Mounts:
        """What a box of this engine sees: the place, files that a signed argv names, and neither keys nor ledger."""
        files = tuple(path for word in named if (path := self._named_file(word)) is not None)
        return Mounts(place=place, read_only=files, hidden=(self.home, self.keys, *self._ledger_files()), socket=socket)

    def named_by_person(self, check: Check) -> tuple[str, ...]:
        """The argv of a check that a person set. One that an agent set must not open a file to the box by naming it."""
        with self.engine.read() as reader:
            setter = reader.get(Actor, check.set_by)
        return check.argv if setter is not None and setter.kind == "person" else ()

    def _ledger_files(self) -> tuple[Path, ...]:
        """The files of a ledger that lies outside the home."""
        location = Path(getattr(self.engine.ledger, "location", ""))
        if not location.is_file() or location.resolve().is_relative_to(self.home.resolve()):
            return ()
        files = (location.with_name(location.name + end) for end in ("", "-wal", "-shm", ".lock"))
        return tuple(path for path in files if path.exists())

    def _named_file(self, word: str) -> Path | None:
        """The regular file an argv names by an absolute path; never one among the keys or in the home."""
        if not word.startswith("/") or "\0" in word:
            return None
        try:
            real = Path(word).resolve()
            hidden = (self.home.resolve(), self.keys.resolve())
            return real if real.is_file() and not any(real.is_relative_to(folder) for folder in hidden) else None
        except (OSError, RuntimeError):
            return None

    def scratch(self) -> Path:
        """An empty folder for a turn that has no place: it plans, and must not see the home."""
        return private_folder(self.home / "places" / "none")

    def transcripts(self) -> Path:
        return private_folder(self.home / "transcripts")

    def run_in_box(
        self,
        place: Place,
        argv: tuple[str, ...],
        *,
        tag: str,
        timeout_ms: int,
        network: bool,
        cwd: str = ".",
        environment: tuple[tuple[str, str], ...] = (),
        named: Sequence[str] = (),
    ) -> ProgramResult:
        """Runs a check or a set-up step to its end in the place's box; every process of it is gone afterwards.

        `named`: words of a signed argv whose files the box shows besides. Ends early (`stopped`) with its goal or engine.
        """
        from loopx_engine.host.paths import inside

        root = Path(place.path)
        return run_program(
            list(argv),
            cwd=inside(root, root / cwd),
            box=self.box,
            mounts=self.mounts(root, named=named),
            environment={**check_environment(), **dict(environment)},
            tag=self.tag(place.goal, tag),
            timeout_s=timeout_ms / 1000,
            network=network,
            stop=self.halt_of(place.goal),
        )
