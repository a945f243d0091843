"""Rebuild: folds all receipts into a fresh ledger in memory and compares. State equals the fold, checkable at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loopx_engine.errors import LedgerUnusable, LoopxError
from loopx_engine.ledger.protocol import Problem
from loopx_engine.ledger.statements import quoted
from loopx_engine.ledger.tables import KINDS, VOLATILE, column_names
from loopx_engine.model.ids import number_of
from loopx_engine.model.receipt import Change

if TYPE_CHECKING:
    from loopx_engine.ledger.sqlite import SqliteLedger

MOST = 100
BATCH = 1000


def rebuild(ledger: SqliteLedger) -> list[Problem]:
    """Differences between the ledger and the fold of its receipts, at most `MOST`. Writes nothing."""
    from loopx_engine.ledger.open import open_ledger

    fresh = open_ledger(":memory:")
    try:
        with ledger.read():
            found = _fold(ledger, fresh)
            if found:
                return found
            for kind in KINDS:
                found.extend(_compared(ledger, fresh, kind))
            found.extend(_counters(ledger, fresh))
            found.extend(_sequences(ledger, fresh))
            return found[:MOST]
    except LedgerUnusable as error:
        return [Problem(where="file", what=error.message)]
    finally:
        fresh.close()


def _fold(ledger: SqliteLedger, fresh: SqliteLedger) -> list[Problem]:
    after = 0
    with fresh.immediate() as target:
        while batch := ledger.receipts(after=after, limit=BATCH):
            for receipt in batch:
                if receipt.payload is None:
                    continue
                for change in receipt.payload["changes"]:
                    try:
                        target.apply(Change(**change))
                    except LoopxError as error:
                        return [Problem(where=receipt.id, what=f"it does not follow from the receipts before: {error}")]
            after = batch[-1].seq
    return []


def _compared(ledger: SqliteLedger, fresh: SqliteLedger, kind: str) -> list[Problem]:
    names = [name for name in column_names(kind) if (kind, name) not in VOLATILE]
    sql = f"select {', '.join(map(quoted, names))} from {quoted(kind)} order by id"
    ours, folded = _rows(ledger, sql), _rows(fresh, sql)
    found = []
    for identifier in sorted(set(ours) | set(folded)):
        mine, theirs = ours.get(identifier), folded.get(identifier)
        if mine is None:
            found.append(Problem(where=identifier, what="its receipts made it, but it is not there"))
        elif theirs is None:
            found.append(Problem(where=identifier, what="it is there, but no receipt made it"))
        elif mine != theirs:
            differs = [name for name, one, other in zip(names, mine, theirs, strict=True) if one != other]
            found.append(Problem(where=identifier, what=f"{', '.join(differs)} is not what its receipts say"))
    return found


def _rows(ledger: SqliteLedger, sql: str) -> dict[str, tuple[Any, ...]]:
    return {str(row[0]): tuple(row) for row in ledger.connection().execute(sql)}


def _counters(ledger: SqliteLedger, fresh: SqliteLedger) -> list[Problem]:
    sql = "select goal || ' ' || name, value from counter where value <> 0"
    ours, folded = _rows(ledger, sql), _rows(fresh, sql)
    return [
        Problem(where=f"counter {name.strip()}", what="it is not the number of what is there")
        for name in sorted(set(ours) | set(folded))
        if ours.get(name) != folded.get(name)
    ][:MOST]


def _sequences(ledger: SqliteLedger, fresh: SqliteLedger) -> list[Problem]:
    last = dict(ledger.connection().execute("select kind, last from sequence"))
    found = []
    for kind in KINDS:
        if kind in ("lease", "wake", "limit"):
            continue
        ids = [number_of(name) for (name,) in fresh.connection().execute(f"select id from {quoted(kind)}")]
        if ids and max(ids) > last.get(kind, 0):
            found.append(Problem(where=f"sequence {kind}", what="it would give an id out twice"))
    return found
