"""The journal: how a receipt is sealed into its stream's chain, stored in few bytes, and read back."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from loopx_engine.canonical import canonical
from loopx_engine.ledger.protocol import Entry
from loopx_engine.model.receipt import GENESIS, Receipt, receipt_hash

if TYPE_CHECKING:
    from loopx_engine.ledger.transaction import SqliteTransaction

COLUMNS = (
    "seq", "stream", "number", "at", "actor", "turn", "strength", "command", "verb", "intent", "grant_id", "undo",
    "payload_digest", "hash",
)  # fmt: skip
REMOVED = "redacted"


def seal(entry: Entry, seq: int, last_number: int, last_hash: bytes | None) -> tuple[Receipt, dict[str, Any], str]:
    """The receipt of an entry, next in its chain, its row, and the body its payload is kept as."""
    body = canonical(entry.payload)
    fields: dict[str, Any] = {
        "seq": seq,
        "stream": entry.stream,
        "number": last_number + 1,
        "at": entry.at,
        "actor": entry.actor,
        "turn": entry.turn,
        "strength": entry.strength,
        "command": entry.command,
        "verb": entry.verb,
        "intent": entry.intent,
        "grant": entry.grant,
        "undo": entry.undo,
        "payload_digest": hashlib.sha256(body).hexdigest(),
        "previous": last_hash.hex() if last_hash else GENESIS,
    }
    receipt = Receipt(**fields, hash=receipt_hash(fields), payload=entry.payload)
    row = {name: fields[name] for name in fields if name not in ("grant", "previous")}
    row |= {
        "grant_id": entry.grant,
        "undo": int(entry.undo),
        "intent": bytes.fromhex(entry.intent),
        "payload_digest": bytes.fromhex(fields["payload_digest"]),
        "hash": bytes.fromhex(receipt.hash),
    }
    return receipt, row, body.decode()


def receipt_of(reader: SqliteTransaction, row: tuple[Any, ...]) -> Receipt:
    """A stored row as a receipt with its payload (None where it was removed later)."""
    said = dict(zip(COLUMNS, row, strict=True))
    body = reader.rows("receipt.payload", seq=said["seq"])
    before = reader.rows("receipt.previous", stream=said["stream"], number=said["number"] - 1)
    return Receipt(
        **fields_of(said, bytes(before[0][0]) if before else None),
        hash=bytes(said["hash"]).hex(),
        payload=payload_of(body[0][0]) if body else None,
    )


def fields_of(said: dict[str, Any], previous: bytes | None) -> dict[str, Any]:
    """The hashed fields of a stored row, after the hash that stands before it in its stream."""
    fields = {name: said[name] for name in COLUMNS if name not in ("grant_id", "hash")}
    return {
        **fields,
        "grant": said["grant_id"],
        "undo": bool(said["undo"]),
        "intent": bytes(said["intent"]).hex(),
        "payload_digest": bytes(said["payload_digest"]).hex(),
        "previous": previous.hex() if previous else GENESIS,
    }


def payload_of(body: str) -> dict[str, Any] | None:
    """A stored payload; None for one that was removed."""
    if body == REMOVED:
        return None
    found = json.loads(body)
    return found if isinstance(found, dict) else None
