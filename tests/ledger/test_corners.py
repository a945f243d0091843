"""What seldom happens to a store: folders that may not be written, copies that are there, kinds without a machine."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest
from ledger.writing import append_many
from strategies import NOW, todo

from loopx_engine.errors import LedgerUnusable, Refused, TryAgain
from loopx_engine.ledger.backup import copy_file, restore
from loopx_engine.ledger.counters import counter_deltas
from loopx_engine.ledger.migrations import split_script
from loopx_engine.ledger.open import open_ledger
from loopx_engine.ledger.sqlite import SqliteLedger
from loopx_engine.model.receipt import Change
from loopx_engine.model.record import values
from loopx_engine.model.session import Session


@pytest.fixture
def ledger(tmp_path: Path) -> SqliteLedger:
    made = open_ledger(tmp_path / "ledger.db")
    append_many(made, 2)
    return made


def deny(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `os.access` says to an unprivileged process in front of a folder it may not write."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)


def test_a_folder_that_may_not_be_written_reads_with_and_without_a_log(
    ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    deny(monkeypatch)
    with_log = open_ledger(ledger.location)
    assert with_log.last_seq() == 2
    with_log.close()
    monkeypatch.undo()
    ledger.close()
    deny(monkeypatch)
    without = open_ledger(ledger.location)
    assert without.last_seq() == 2
    for write in (lambda: append_many(without, 1), lambda: without.renew("t-1", 1, NOW)):
        with pytest.raises(LedgerUnusable) as caught:
            write()
        assert caught.value.code == "read_only"
    without.close()


def test_nothing_is_made_in_a_folder_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deny(monkeypatch)
    with pytest.raises(LedgerUnusable) as caught:
        open_ledger(tmp_path / "new.db")
    assert caught.value.code == "read_only"
    assert not (tmp_path / "new.db").exists()


def test_an_older_ledger_that_can_only_be_read_says_so(ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.close()
    monkeypatch.setattr("loopx_engine.ledger.open.SCHEMA", 2)
    deny(monkeypatch)
    with pytest.raises(LedgerUnusable, match="migrated"):
        open_ledger(ledger.location)


def test_a_file_that_may_not_be_read_says_so(ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(self: Path, *given: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", closed)
    with pytest.raises(LedgerUnusable) as caught:
        open_ledger(ledger.location)
    assert caught.value.code == "cannot_open"


def test_copies_never_overwrite(ledger: SqliteLedger, tmp_path: Path) -> None:
    (tmp_path / "there.db").write_bytes(b"mine")
    with pytest.raises(Refused):
        copy_file(Path(ledger.location), tmp_path / "there.db")
    assert (tmp_path / "there.db").read_bytes() == b"mine"


def test_a_backup_without_an_identity_is_damaged(ledger: SqliteLedger, tmp_path: Path) -> None:
    copy = ledger.backup(tmp_path / "copy.db")
    with sqlite3.connect(copy) as connection:
        connection.execute("delete from meta")
    connection.close()
    with pytest.raises(LedgerUnusable):
        restore(copy, tmp_path / "again.db")


def test_kinds_without_a_machine_are_counted_and_not_searched(ledger: SqliteLedger) -> None:
    session = Session(id="s-1", runtime="command", actor="a-3", goal="g-1")
    assert counter_deltas("session", None, values(session)) == {("g-1", "session"): 1, ("", "session"): 1}
    change = Change(kind="session", id="s-1", before=None, after=values(session))
    with ledger.immediate() as transaction:
        transaction.apply(change)
        assert transaction.get(Session, "s-1") == session


def test_a_thread_that_writes_too_long_is_not_waited_for_for_ever(
    ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loopx_engine.ledger.sqlite.WRITER_WAIT_S", 0.05)
    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        with ledger.immediate():
            holding.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait(10)
    with pytest.raises(TryAgain, match="thread"):
        append_many(ledger, 1, start=10)
    done.set()
    thread.join()


def test_a_failed_write_of_an_open_transaction_rolls_back(ledger: SqliteLedger) -> None:
    connection = ledger.connection()

    def close_inside() -> None:
        with ledger.immediate():
            connection.execute("rollback")
            raise KeyError("after the driver gave up by itself")

    with pytest.raises(KeyError):
        close_inside()
    append_many(ledger, 1, start=20)
    assert ledger.verify() == []


def test_a_read_that_was_ended_inside_is_not_ended_twice(ledger: SqliteLedger) -> None:
    with ledger.read() as reader:
        assert reader.counter("g-1", "todo") == 2
        ledger.connection().execute("rollback")
    assert ledger.last_seq() == 2


def test_damage_in_a_payload_is_named_by_rebuild(ledger: SqliteLedger) -> None:
    with sqlite3.connect(ledger.location) as connection:
        connection.execute("update payload set body = '{' where seq = 2")
    connection.close()
    assert ledger.rebuild()[0].where == "file"
    assert ledger.verify()


def test_a_thing_that_is_gone_is_named_by_rebuild_at_most_a_hundred_times(tmp_path: Path) -> None:
    many = open_ledger(tmp_path / "many.db")
    append_many(many, 120)
    with sqlite3.connect(many.location) as connection:
        connection.execute("delete from todo")
        connection.execute("delete from payload")
    connection.close()
    assert len(many.verify()) == 100
    many.close()


def test_a_script_is_split_at_whole_statements() -> None:
    script = "-- words\n\ncreate table a (b text);\ncreate trigger t after insert on a begin delete from a; end;\n"
    assert len(split_script(script)) == 2
    assert values(todo())["id"] == "t-1"


def test_a_torn_page_is_named_by_verify(ledger: SqliteLedger) -> None:
    ledger.close()
    path = Path(ledger.location)
    whole = path.read_bytes()
    page = 4096
    for number in range(1, len(whole) // page):
        path.write_bytes(whole[: number * page] + b"\xff" * page + whole[(number + 1) * page :])
        torn = SqliteLedger(str(path), writable=False)
        assert torn.verify() or torn.rebuild() or number in unused(whole, number)
        torn.close()


def unused(whole: bytes, number: int) -> list[int]:
    """The page itself where nothing but zeros is in it."""
    return [number] if not whole[number * 4096 : (number + 1) * 4096].strip(b"\0") else []


def test_a_connection_ends_with_its_thread(ledger: SqliteLedger) -> None:
    for number in range(5):
        thread = threading.Thread(target=append_many, args=(ledger, 1), kwargs={"start": 100 + number})
        thread.start()
        thread.join()
    assert len(ledger._open) <= 2
    assert ledger.last_seq() == 7
