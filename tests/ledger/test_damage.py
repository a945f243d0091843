"""Damage is found and named; a torn tail is a prefix; a full disk leaves the ledger whole."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledger.writing import append_many
from strategies import NOW, todo

from loopx_engine.errors import LedgerUnusable, TryAgain
from loopx_engine.ledger import faults
from loopx_engine.ledger.driver import sqlite3 as driver
from loopx_engine.ledger.open import open_ledger
from loopx_engine.ledger.sqlite import SqliteLedger
from loopx_engine.model.receipt import Change
from loopx_engine.model.record import values
from loopx_engine.model.todo import Todo


@pytest.fixture
def ledger(tmp_path: Path) -> SqliteLedger:
    made = open_ledger(tmp_path / "ledger.db")
    append_many(made, 5)
    return made


def tamper(ledger: SqliteLedger, sql: str) -> None:
    with sqlite3.connect(ledger.location) as connection:
        connection.execute("drop trigger if exists receipt_kept_update")
        connection.execute("drop trigger if exists receipt_kept_delete")
        connection.execute(sql)
    connection.close()


@pytest.mark.parametrize(
    ("sql", "where"),
    [
        ("update receipt set actor = 'a-9' where seq = 3", "r-3"),
        ("update receipt set at = 5 where seq = 2", "r-2"),
        ("update receipt set hash = zeroblob(32) where seq = 4", "r-4"),
        ("update receipt set number = 9 where seq = 5", "r-5"),
        ("delete from receipt where seq = 3", "r-4"),
        ("delete from payload where seq = 3", "r-3"),
        ("update payload set body = replace(body, 'todo', 'tudu') where seq = 2", "r-2"),
    ],
)
def test_verify_names_the_receipt_that_was_changed(ledger: SqliteLedger, sql: str, where: str) -> None:
    tamper(ledger, sql)
    assert where in {problem.where for problem in ledger.verify()}


@pytest.mark.parametrize(
    ("sql", "where"),
    [
        ("update todo set title = 'forged' where id = 't-2'", "t-2"),
        ("delete from todo where id = 't-2'", "t-2"),
        ("insert into session values ('s-99', 'command', '', 'a-3', 'g-1', '')", "s-99"),
        ("update counter set value = 77 where name = 'todo.open' and goal = ''", "counter todo.open"),
        ("update sequence set last = 0 where kind = 'todo'", "sequence todo"),
        ("update payload set body = replace(body, '\"before\":null', '\"before\":{}') where seq = 2", "r-2"),
    ],
)  # fmt: skip
def test_rebuild_names_what_no_receipt_says(ledger: SqliteLedger, sql: str, where: str) -> None:
    tamper(ledger, sql)
    assert where in {problem.where for problem in ledger.rebuild()}


def test_a_payload_removed_later_still_verifies(ledger: SqliteLedger) -> None:
    tamper(ledger, "update payload set body = 'redacted' where seq = 5")
    assert ledger.verify() == []
    assert ledger.receipts(after=4)[0].payload is None
    assert {problem.where for problem in ledger.rebuild()} >= {"t-5"}


def test_receipts_are_guarded_against_our_own_mistakes(ledger: SqliteLedger) -> None:
    for sql in ("update receipt set at = 1", "delete from receipt"):
        with sqlite3.connect(ledger.location) as connection, pytest.raises(sqlite3.IntegrityError):
            connection.execute(sql)
        connection.close()


def contents(ledger: SqliteLedger) -> list[object]:
    with ledger.read() as reader:
        todos = reader.records(Todo, "todo.in_order", goal="g-1")
    return [list(ledger.export()), [values(item) for item in todos]]


def test_a_flipped_byte_in_the_file_is_found_or_changes_nothing(ledger: SqliteLedger, tmp_path: Path) -> None:
    expected = contents(ledger)
    ledger.close()
    whole = Path(ledger.location).read_bytes()
    found = 0
    for offset in range(120, len(whole), max(1, len(whole) // 90)):
        copy = tmp_path / f"flipped-{offset}.db"
        copy.write_bytes(whole[:offset] + bytes([whole[offset] ^ 0xFF]) + whole[offset + 1 :])
        try:
            opened = open_ledger(copy)
            sound = not opened.verify() and not opened.rebuild()
            assert not sound or contents(opened) == expected, f"a flip at {offset} changed something and nobody saw it"
            found += not sound
            opened.close()
        except (LedgerUnusable, TryAgain):
            found += 1
    assert found


@given(st.floats(0, 1))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_torn_log_is_a_prefix_of_what_was_written(tmp_path: Path, cut: float) -> None:
    source = tmp_path / "source.db"
    if not source.exists():
        ledger = open_ledger(source)
        append_many(ledger, 20)
        for side in ("", "-wal"):
            shutil.copy(f"{source}{side}", tmp_path / f"kept{side}")
        ledger.close()
    target = tmp_path / "torn.db"
    shutil.copy(tmp_path / "kept", target)
    log = (tmp_path / "kept-wal").read_bytes()
    (tmp_path / "torn.db-wal").write_bytes(log[: int(len(log) * cut)])
    (tmp_path / "torn.db-shm").unlink(missing_ok=True)
    try:
        torn = open_ledger(target)
    except LedgerUnusable:
        assert cut < 0.9, "only a log without its first commits leaves no schema"
        return
    assert torn.verify() == []
    assert torn.rebuild() == []
    assert torn.last_seq() <= 20
    torn.close()


def test_a_full_disk_changes_nothing_and_the_same_connection_goes_on(ledger: SqliteLedger) -> None:
    connection = ledger.connection()
    pages = connection.execute("pragma page_count").fetchone()[0]
    connection.execute(f"pragma max_page_count = {pages}")
    with pytest.raises(TryAgain) as caught:
        append_many(ledger, 200, start=100, body="x" * 5000)
    assert caught.value.code == "disk_full"
    before = ledger.last_seq()
    connection.execute("pragma max_page_count = 100000")
    append_many(ledger, 1, start=900)
    assert ledger.last_seq() == before + 1
    assert ledger.verify() == []
    assert ledger.rebuild() == []


def test_a_grown_log_is_checkpointed_by_the_writer(ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopx_engine.ledger.sqlite.CHECKPOINT_BYTES", 1)
    append_many(ledger, 1, start=50)
    assert Path(ledger.location + "-wal").stat().st_size == 0


def test_a_checkpoint_that_fails_fails_no_command(ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopx_engine.ledger.sqlite.CHECKPOINT_BYTES", 1)
    reader = sqlite3.connect(ledger.location)
    reader.execute("begin")
    reader.execute("select * from todo").fetchall()
    ledger.connection().execute("pragma busy_timeout = 0")
    append_many(ledger, 1, start=51)
    reader.close()
    assert ledger.verify() == []


@pytest.mark.parametrize(
    ("said", "code"),
    [("database is locked", "busy"), ("database or disk is full", "disk_full"),
     ("attempt to write a readonly database", "read_only"),
     ("unable to open database file", "cannot_open"), ("database disk image is malformed", "ledger_damaged")],
)  # fmt: skip
def test_what_the_driver_says_is_said_in_our_words(said: str, code: str) -> None:
    assert faults.translate(driver.OperationalError(said)).code == code


def test_nested_reads_share_one_view_and_threads_have_their_own(ledger: SqliteLedger) -> None:
    with ledger.read() as outer:
        before = outer.rows("receipt.top")[0][0]
        with sqlite3.connect(ledger.location) as other:
            other.execute("insert into sequence values ('x', 1)")
        other.close()
        with ledger.read() as inner:
            assert inner.rows("receipt.top")[0][0] == before


def test_a_ledger_without_an_identity_is_damaged(ledger: SqliteLedger) -> None:
    tamper(ledger, "delete from meta")
    with pytest.raises(LedgerUnusable):
        _ = SqliteLedger(ledger.location).id


def test_a_change_to_a_row_that_is_not_text_stays_typed(ledger: SqliteLedger) -> None:
    change = Change(
        kind="todo", id="t-1", before={"signed": False, "serves": []}, after={"signed": True, "serves": [1, 2]}
    )
    with ledger.immediate() as transaction:
        transaction.apply(change)
        found = transaction.rows("todo.states", ids='["t-1"]')
    assert found == [("t-1", "open")]
    assert values(todo())["created_at"] < NOW
