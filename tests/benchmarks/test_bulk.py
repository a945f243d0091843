"""A history written in bulk is a true one: its chain verifies and its state is the fold of its receipts."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks._bulk import BATCH, lengthen
from loopx_engine.ledger.open import open_ledger
from loopx_engine.ledger.sqlite import SqliteLedger


@pytest.fixture
def ledger(tmp_path: Path) -> SqliteLedger:
    return open_ledger(tmp_path / "ledger.db")


def test_a_bulk_history_verifies_and_is_the_fold_of_its_receipts(ledger: SqliteLedger) -> None:
    lengthen(ledger, 61)
    assert ledger.last_seq() == 61
    assert ledger.verify() == []
    assert ledger.rebuild() == []


def test_a_longer_history_continues_the_chain_and_the_numbers_of_a_shorter_one(ledger: SqliteLedger) -> None:
    lengthen(ledger, 10)
    lengthen(ledger, 25)
    with ledger.immediate() as view:
        assert view.next_id("todo") == "t-26"
        assert view.counter("g-1", "todo") == 25
        assert view.counter("", "todo.open") == 13
        assert view.counter("g-1", "todo.done") == 12
    assert ledger.verify() == []
    assert [name for _, name, _, _ in ledger.search("t-25")] == ["t-25"]


def test_a_history_of_several_batches_is_sound(ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    assert BATCH > 7
    monkeypatch.setattr("benchmarks._bulk.BATCH", 7)
    lengthen(ledger, 30)
    assert ledger.last_seq() == 30
    assert ledger.verify() == []


def test_a_history_that_is_long_enough_is_left_alone(ledger: SqliteLedger) -> None:
    lengthen(ledger, 5)
    lengthen(ledger, 3)
    assert ledger.last_seq() == 5
