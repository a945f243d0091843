"""The `command` runtime: any program is an agent (JOURNEYS.md 3). One JSON object a line, both ways.

Nothing is claimed by exiting: without a `result` line exit 0 is *progress*, anything else *failed*.
"""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import IO, Any

from loopx_engine.errors import Refused
from loopx_engine.model.actor import Actor
from loopx_engine.model.limits import ARGV_BYTES, BODY_BYTES, TRANSCRIPT_LINE_BYTES
from loopx_engine.places.processes import Root, root_of, start
from loopx_engine.runtimes.protocol import Ask, Ended, Event, Note, Produced, Result, Start, Text, Usage

OUTCOMES = ("done", "progress", "blocked", "failed")
QUEUE_EVENTS = 1000
NOT_RUN = (126, 127)
LAST_WORDS_S = 2.0
LOOK_S = 0.2


class CommandRuntime:
    """Starts the actor's argv with the packet on its standard input."""

    name = "command"

    def probe(self, actor: Actor) -> str:
        program = actor.argv[0] if actor.argv else ""
        found = shutil.which(program)
        if not found:
            raise Refused(
                f"the program of {actor.name}, {program}, is not there", code="runtime_missing", next="loopx doctor"
            )
        return found

    def argv(self, actor: Actor) -> tuple[str, ...]:
        return actor.argv

    def start(self, start: Start) -> CommandTurn:
        return CommandTurn(start)


class CommandTurn:
    """The live process: two threads read its output into a bounded queue; writing never blocks the driver.

    A program that says more than is read from it waits, as on any pipe; after `close()` the rest is read and dropped.
    """

    def __init__(self, request: Start) -> None:
        self._process = start(
            request.argv,
            cwd=request.place,
            environment=request.environment,
            tag=request.tag,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._root = root_of(self._process.pid)
        self._events: queue.Queue[Event] = queue.Queue(QUEUE_EVENTS)
        self._outgoing: queue.Queue[bytes | None] = queue.Queue(QUEUE_EVENTS)
        self._ended: Ended | None = None
        self._gone_since: float | None = None
        self._closed = threading.Event()
        threading.Thread(target=self._read, name=f"read {request.tag}", daemon=True).start()
        threading.Thread(target=self._write, name=f"write {request.tag}", daemon=True).start()
        self._say(request.packet)

    @property
    def root(self) -> Root:
        return self._root

    def next_event(self, timeout: float) -> Event | None:
        if self._ended is not None:
            return self._ended
        try:
            event = self._events.get(timeout=timeout)
        except queue.Empty:
            return self._drained() if self._process.poll() is not None else None
        if isinstance(event, Ended):
            self._ended = event
        return event

    def answer(self, ref: str, option: str, text: str) -> None:
        self._say({"type": "answer", "ask": ref, "option": option, **({"text": text} if text else {})})

    def refused(self, check: str, exit_code: int | None, tail: str) -> None:
        self._say({"type": "refused", "check": check, "exit": exit_code, "tail": tail})

    def ask_to_stop(self, grace_s: float) -> None:
        self._say({"type": "stop", "grace_s": int(grace_s)})

    def close(self) -> None:
        self._closed.set()
        self._offer(None)

    def _drained(self) -> Event | None:
        """The process is gone. Its last lines may still be on their way; a child that holds its output open is not waited for."""
        self._gone_since = self._gone_since or time.monotonic()
        if time.monotonic() - self._gone_since < LAST_WORDS_S:
            return None
        self._ended = _end(self._process.returncode)
        return self._ended

    def _say(self, message: dict[str, Any]) -> None:
        self._offer(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def _offer(self, line: bytes | None) -> None:
        try:
            self._outgoing.put_nowait(line)
        except queue.Full:
            return

    def _write(self) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            with stream:
                while (line := self._outgoing.get()) is not None:
                    stream.write(line)
                    stream.flush()
        except (OSError, ValueError):
            return

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with stream:
            for line in _lines(stream):
                self._put(parse_line(line))
        self._put(_end(self._process.wait()))

    def _put(self, event: Event) -> None:
        """Waits for room while somebody listens; what is said to nobody is dropped."""
        while True:
            closed = self._closed.is_set()
            try:
                self._events.put(event, timeout=0.0 if closed else LOOK_S)
                return
            except queue.Full:
                if closed:
                    return


def _end(code: int) -> Ended:
    """How a process ended. 126 and 127 are how launchers say that there was no program to run."""
    if code in NOT_RUN:
        return Ended(exit=code, failure="missing", text=f"its program could not be run (exit {code})")
    return Ended(exit=code, failure="exit" if code else "", text=f"exit {code}")


def _lines(stream: IO[bytes]) -> Iterator[str]:
    while True:
        line = stream.readline(TRANSCRIPT_LINE_BYTES)
        if not line:
            return
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def parse_line(line: str) -> Event:
    """The event of one output line; anything that is no whole, known protocol object is transcript text."""
    if not line.lstrip().startswith("{"):
        return Text(text=line)
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return Text(text=line)
    if not isinstance(said, dict):
        return Text(text=line)
    return _event(said) or Text(text=line)


def _event(said: dict[str, Any]) -> Event | None:
    kind = said.get("type")
    if kind == "note" and isinstance(said.get("text"), str):
        return Note(text=said["text"][:BODY_BYTES])
    if kind == "usage":
        return Usage(input=_count(said.get("input")), output=_count(said.get("output")), cost=_cost(said.get("cost")))
    if kind == "ask" and isinstance(said.get("question"), str):
        return _ask(said)
    if kind == "evidence" and isinstance(said.get("ref"), str) and isinstance(said.get("kind"), str):
        return Produced(kind=said["kind"], ref=said["ref"][:4096], note=_words(said, "note"))
    if kind == "result" and said.get("outcome") in OUTCOMES:
        return Result(
            outcome=said["outcome"],
            result=said["result"] if said.get("result") in ("pass", "fail") else "",
            summary=_words(said, "summary"),
            successor=_words(said, "successor", 32),
            no_successor=_words(said, "no_successor", 500),
        )
    return None


def _ask(said: dict[str, Any]) -> Ask:
    options = said.get("options")
    effect = said.get("effect")
    return Ask(
        ref=str(said.get("id", ""))[:200],
        question=said["question"][:ARGV_BYTES],
        why=_words(said, "why"),
        options=tuple(str(item)[:200] for item in options[:9]) if isinstance(options, list) else (),
        effect=effect if isinstance(effect, dict) else None,
        blocks=bool(said.get("blocks")),
    )


def _words(said: dict[str, Any], name: str, most: int = 4000) -> str:
    value = said.get(name)
    return value[:most] if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _cost(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        cost = Decimal(str(value)) * 1_000_000
    except ArithmeticError:
        return None
    return int(cost) if cost.is_finite() and 0 <= cost < 2**53 else None
