"""Verifies a ledger: the file, every stream's chain, every payload's digest."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from loopx_engine.errors import LedgerUnusable
from loopx_engine.ledger.journal import COLUMNS, REMOVED, fields_of
from loopx_engine.ledger.protocol import Problem
from loopx_engine.model.receipt import receipt_hash

if TYPE_CHECKING:
    from loopx_engine.ledger.sqlite import SqliteLedger

MOST = 100


def verify(ledger: SqliteLedger) -> list[Problem]:
    """What is wrong, at most `MOST` findings; empty where all is sound. Writes nothing."""
    found: list[Problem] = []
    try:
        with ledger.read():
            connection = ledger.connection()
            found += [
                Problem(where="file", what=str(said))
                for (said,) in connection.execute("pragma quick_check(20)")
                if said != "ok"
            ]
            found += _chains(connection)
    except (LedgerUnusable, ValueError) as error:
        found.append(Problem(where="file", what=str(error)))
    return found[:MOST]


def _chains(connection: Any) -> list[Problem]:
    found: list[Problem] = []
    heads: dict[str, tuple[int, bytes | None]] = {}
    expected = 1
    rows = connection.execute("select r.*, p.body from receipt r left join payload p on p.seq = r.seq order by r.seq")
    for row in rows:
        said = dict(zip(COLUMNS, row[:-1], strict=True))
        name = f"r-{said['seq']}"
        number, head = heads.get(said["stream"], (0, None))
        if said["seq"] != expected:
            found.append(Problem(where=name, what=f"the receipt before it is missing (r-{expected})"))
        if said["number"] != number + 1:
            found.append(
                Problem(where=name, what=f"it is number {said['number']} of its stream; expected {number + 1}")
            )
        if receipt_hash(fields_of(said, head)) != bytes(said["hash"]).hex():
            found.append(
                Problem(where=name, what="its hash does not follow from what it says and the receipt before it")
            )
        body = row[-1]
        if body is None:
            found.append(Problem(where=name, what="its payload is missing"))
        elif body != REMOVED and hashlib.sha256(body.encode()).digest() != bytes(said["payload_digest"]):
            found.append(Problem(where=name, what="its payload is not the one that was receipted"))
        heads[said["stream"]] = (said["number"], bytes(said["hash"]))
        expected = said["seq"] + 1
        if len(found) >= MOST:
            break
    return found
