"""Ledgers to measure on: a real project and goal made through the command line, then many todos through the engine."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._measure import Call, call, environment, program
from loopx_engine.desk.opening import open_engine
from loopx_engine.engine import Engine

CRITERIA, CRITERION_CHARACTERS, BODY_BYTES, MESSAGES = 12, 290, 16_000, 10
AGENT = "bench"
GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost")


@dataclass(frozen=True, slots=True)
class House:
    """A home with one active goal in a git project, and an agent that comes by itself with `token`."""

    folder: Path
    env: dict[str, str]
    token: str

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def loopx(self, *words: str, agent: str = "", allowed: tuple[int, ...] = (0,)) -> Call:
        """One cold `loopx` call, as the person or, with a token, as that agent."""
        env = {**self.env, "LOOPX_TOKEN": agent} if agent else self.env
        return call([*program(self.folder, "loopx"), *words], env, self.project, allowed=allowed)


def make_house(folder: Path, *, full: bool = False) -> House:
    """A new home. `full`: the goal is as large as the limits let it be (criteria, texts, messages)."""
    house = House(folder, environment(folder), "")
    house.project.mkdir(parents=True)
    (house.project / "a.txt").write_text("a\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run([*GIT, *words], cwd=house.project, env=house.env, check=True, capture_output=True)
    house.loopx("owner", "init", "--no-passphrase")
    token = str(json.loads(house.loopx("actor", "add", AGENT, "--kind", "agent", "--json").out)["token"])
    criteria = [f"criterion {number} " + "holds " * 47 for number in range(1, CRITERIA + 1)] if full else ["it holds"]
    named = [word for text in criteria for word in ("--criterion", f"{text[:CRITERION_CHARACTERS]} :: true")]
    house.loopx("goal", "add", "A goal to measure on", "--agent", AGENT, *named)
    body = ["--body", "what its agent should know " * (BODY_BYTES // 27)] if full else []
    house.loopx("todo", "add", "g-1", "The first todo", "--check", "true", "--serves", "1", *body)
    if full:
        for number in range(MESSAGES):
            house.loopx("message", "send", "g-1", f"message {number} " + "says something " * 60)
    house.loopx("goal", "resume", "g-1")
    return House(folder, house.env, token)


@contextmanager
def engine_of(env: Mapping[str, str]) -> Iterator[Engine]:
    """The engine on a house's ledger, without waiting for the disk: for filling it, never for a durable measurement."""
    engine = open_engine(env)
    engine.ledger.connection().execute("pragma synchronous = off")  # type: ignore[attr-defined]
    try:
        yield engine
    finally:
        engine.ledger.close()


def fill(engine: Engine, goal: str, todos: int, each: Callable[[Callable[[], Any]], Any] | None = None) -> None:
    """Adds `todos` open todos to a goal, each one ordinary command; `each` may time the call it is given."""
    who = engine.identify(None)
    for number in range(todos):
        arguments = {"goal": goal, "title": f"Todo number {number} of the many that are waiting for their turn"}

        def once(given: dict[str, str] = arguments) -> Any:
            return engine.run("todo add", given, who)

        each(once) if each else once()
