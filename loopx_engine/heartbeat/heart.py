"""What every thread of an engine shares: the pipeline, the clock, the box, the folders, and who is busy with which place."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loopx_engine.engine import Answer, Engine
from loopx_engine.host.paths import private_folder
from loopx_engine.model.goal import Goal
from loopx_engine.model.identity import Identity
from loopx_engine.model.place import Place
from loopx_engine.model.project import Project
from loopx_engine.model.record import R
from loopx_engine.places.environment import check_environment
from loopx_engine.places.program import ProgramResult, run_program
from loopx_engine.places.sandbox import Box, Mounts
from loopx_engine.runtimes.protocol import RuntimeAdapter


class Heart:
    """`log(event, **fields)` writes one JSON line; `stopping` ends every thread; `home` is the ledger's folder."""

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
        self._lock = threading.Lock()

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

    def is_busy(self, place: str) -> bool:
        with self._lock:
            return place in self._busy

    def mounts(self, place: Path, *, named: Sequence[str] = (), socket: Path | None = None) -> Mounts:
        """What a box of this engine sees: the place, the files its signed argv names, and neither keys nor ledger."""
        files = tuple(path for word in named if (path := self._named_file(word)) is not None)
        return Mounts(place=place, read_only=files, hidden=(self.home, self.keys), socket=socket)

    def _named_file(self, word: str) -> Path | None:
        """The regular file an argv names by an absolute path; never one among the keys or in the home."""
        path = Path(word)
        if not path.is_absolute() or "\0" in word:
            return None
        real = path.resolve()
        hidden = (self.home.resolve(), self.keys.resolve())
        return real if real.is_file() and not any(real.is_relative_to(folder) for folder in hidden) else None

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
    ) -> ProgramResult:
        """Runs a check or a set-up step to its end in the place's box; every process of it is gone afterwards."""
        from loopx_engine.host.paths import inside

        root = Path(place.path)
        return run_program(
            list(argv),
            cwd=inside(root, root / cwd),
            box=self.box,
            mounts=self.mounts(root, named=argv),
            environment={**check_environment(), **dict(environment)},
            tag=tag,
            timeout_s=timeout_ms / 1000,
            network=network,
            stop=self.stopping,
        )
