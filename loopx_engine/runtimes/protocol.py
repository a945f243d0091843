"""The RuntimeAdapter protocol: one turn of a runtime as a process, a stream of events, and a few things to say to it.

Outcomes and failures are closed sets. Usage is nullable: unknown is unknown. Events the adapter does not know become
transcript text, never an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Protocol

from loopx_engine.model.actor import Actor
from loopx_engine.model.record import noun
from loopx_engine.places.processes import Root

Failure = Literal["", "exit", "missing", "limit", "auth", "network", "context full", "protocol"]


@noun
class Start:
    """What a turn starts with: the agent, its packet, its place, its box as a function of argv, and its environment."""

    actor: Actor
    packet: dict[str, Any]
    place: Path
    argv: tuple[str, ...]
    environment: dict[str, str]
    tag: str


@noun
class Text:
    """A line of transcript that is no protocol line."""

    text: str


@noun
class Note:
    text: str


@noun
class Usage:
    """Tokens since the last usage event; `cost` in millionths, None where the runtime does not say."""

    input: int | None
    output: int | None
    cost: int | None = None


@noun
class Ask:
    ref: str
    question: str
    why: str = ""
    options: tuple[str, ...] = ()
    effect: dict[str, Any] | None = None
    blocks: bool = False


@noun
class Produced:
    """Evidence the agent points at."""

    kind: str
    ref: str
    note: str = ""


@noun
class Result:
    outcome: str
    result: str = ""
    summary: str = ""
    successor: str = ""
    no_successor: str = ""


@noun
class Ended:
    """The process is gone. `failure` says what kind of end it was, `text` what is known."""

    exit: int | None
    failure: Failure = ""
    text: str = ""


Event = Text | Note | Usage | Ask | Produced | Result | Ended


class RunningTurn(Protocol):
    """One live process of a runtime."""

    @property
    def root(self) -> Root: ...

    def next_event(self, timeout: float) -> Event | None:
        """The next event, or None after `timeout` seconds of silence. `Ended` comes last and is repeated."""
        ...

    def answer(self, ref: str, option: str, text: str) -> None: ...
    def refused(self, check: str, exit_code: int | None, tail: str) -> None: ...

    def ask_to_stop(self, grace_s: float) -> None:
        """The polite step of the interrupt ladder."""
        ...

    def close(self) -> None:
        """Nothing more will be said: the turn is settled."""
        ...


class RuntimeAdapter(Protocol):
    """A runtime."""

    name: str

    def probe(self, actor: Actor) -> str:
        """What was found (a version or path), or raises `Refused` (`runtime_missing`) naming what to install."""
        ...

    def argv(self, actor: Actor) -> tuple[str, ...]:
        """The program of a turn, before it is put in a box."""
        ...

    def start(self, start: Start) -> RunningTurn: ...
