"""The lines of the `command` runtime, both ways (JOURNEYS.md 3): one JSON object a line, told apart by `type`.

To the agent: the packet first, then `answer`, `refused`, `stop`. From it: `note`, `usage`, `ask`, `evidence`, `result`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from loopx_engine.contracts.rows import Shown

Count = Field(default=None, ge=0, lt=2**53)


class Answer(Shown):
    """A person's answer to an `ask`; `ask` is the asker's own id."""

    type: Literal["answer"]
    ask: str
    option: str
    text: str | None = None


class Refused(Shown):
    """The claim was refused by its check: mend it and send another result, or exit."""

    type: Literal["refused"]
    check: str
    exit: int | None
    tail: str


class Stop(Shown):
    """End within `grace_s` seconds."""

    type: Literal["stop"]
    grace_s: int


class Said(Shown):
    """What an agent says may carry more than is asked for; only what is named is read."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class Note(Said):
    type: Literal["note"]
    text: str


class Usage(Said):
    """Tokens since the last one; `cost` in the account's money. What is not said stays unknown."""

    type: Literal["usage"]
    input: int | None = Count
    output: int | None = Count
    cost: int | float | str | None = None


class Ask(Said):
    """A question for a person; `effect` an act outside, `blocks` whether this todo waits for the answer."""

    type: Literal["ask"]
    id: str
    question: str
    why: str = ""
    options: list[str] = Field(default=[], max_length=9)
    effect: dict[str, Any] | None = None
    blocks: bool = False


class Evidence(Said):
    type: Literal["evidence"]
    kind: str
    ref: str
    note: str = ""


class Result(Said):
    """The claim. `result` in a review and only there; a successor or why none is needed."""

    type: Literal["result"]
    outcome: Literal["done", "progress", "blocked", "failed"]
    result: Literal["pass", "fail"] | None = None
    summary: str = ""
    successor: str | None = None
    no_successor: str | None = None


TO_AGENT: dict[str, type[Shown]] = {"answer": Answer, "refused": Refused, "stop": Stop}
TO_ENGINE: dict[str, type[Shown]] = {"note": Note, "usage": Usage, "ask": Ask, "evidence": Evidence, "result": Result}
