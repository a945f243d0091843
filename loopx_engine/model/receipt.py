"""Receipt: the journal entry and the answer of one command in one stream, chained by hash."""

from __future__ import annotations

from typing import Any

from loopx_engine.canonical import canonical, digest
from loopx_engine.model.record import Row, noun

GENESIS = "0" * 64


@noun
class Change:
    """What happened to one record: only the fields that differ. `before` None means made, `after` None removed."""

    kind: str
    id: str
    before: Row | None
    after: Row | None


@noun
class Receipt:
    """`stream` is a goal's id or `""`; `number` counts in the stream, `seq` in the ledger (`r-<seq>`).

    `payload` holds arguments, changes and the answer out of line: the hash covers its digest, so a payload can be
    removed later and the chain still verifies.
    """

    seq: int
    stream: str
    number: int
    at: int
    actor: str
    turn: str
    strength: str
    command: str
    verb: str
    intent: str
    grant: str
    undo: bool
    payload_digest: str
    previous: str
    hash: str
    payload: dict[str, Any] | None = None

    @property
    def id(self) -> str:
        return f"r-{self.seq}"


HASHED = (
    "seq", "stream", "number", "at", "actor", "turn", "strength", "command", "verb", "intent", "grant", "undo",
    "payload_digest", "previous",
)  # fmt: skip


def receipt_hash(fields: dict[str, Any]) -> str:
    """The chain hash of a receipt's own fields (all of `HASHED`)."""
    return digest({name: fields[name] for name in HASHED})


def payload_bytes(payload: dict[str, Any]) -> bytes:
    """The bytes a payload is stored and digested as."""
    return canonical(payload)
