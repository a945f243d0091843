"""Opening: a ledger is made only where there is no trace of one, and never silently replaced."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from strategies import todo
from support import ROOT

from loopx_engine.errors import LedgerUnusable, Refused, UsageError
from loopx_engine.ledger import migrations
from loopx_engine.ledger.backup import restore
from loopx_engine.ledger.driver import wal_race
from loopx_engine.ledger.open import open_ledger
from loopx_engine.ledger.protocol import Entry
from loopx_engine.ledger.tables import KINDS, schema_of
from loopx_engine.model.receipt import Change
from loopx_engine.model.record import values
from loopx_engine.model.todo import Todo

OPEN = "from loopx_engine.ledger.open import open_ledger; import sys; print(open_ledger(sys.argv[1]).id)"


def filled(path: Path) -> None:
    """A closed ledger with one todo and one receipt."""
    ledger = open_ledger(path)
    change = Change(kind="todo", id="t-1", before=None, after=values(todo()))
    with ledger.immediate() as transaction:
        transaction.apply(change)
        payload = {"arguments": {}, "changes": [values(change)], "answer": {}}
        transaction.append(
            Entry(stream="g-1", at=1, actor="a-1", command="c", verb="v", intent="0" * 64, payload=payload)
        )
        transaction.next_id("todo")
    ledger.close()


def unusable(path: Path) -> str:
    """The code with which opening fails; the bytes are the same afterwards."""
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(LedgerUnusable) as caught:
        open_ledger(path).verify()
    assert (path.read_bytes() if path.exists() else None) == before
    assert caught.value.next
    return caught.value.code


def outcome(path: Path) -> str:
    try:
        return "found by verify" if open_ledger(path).verify() else "sound"
    except LedgerUnusable as error:
        return error.code


def test_a_new_ledger_is_private_and_has_an_identity(tmp_path: Path) -> None:
    path = tmp_path / "home" / "ledger.db"
    ledger = open_ledger(path)
    assert (len(ledger.id), ledger.incarnation) == (32, 1)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for name in os.listdir(path.parent):
        assert stat.S_IMODE((path.parent / name).stat().st_mode) & 0o077 == 0, name
    again = open_ledger(f"sqlite:///{path}", create=False)
    assert again.id == ledger.id
    ledger.close()
    again.close()


def test_the_tables_are_the_records(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    open_ledger(path).close()
    with sqlite3.connect(path) as connection:
        made = dict(connection.execute("select name, sql from sqlite_master where type = 'table'"))
    for kind in KINDS:
        assert (
            " ".join(made[kind].split()).lower().rstrip(";")
            == " ".join(schema_of(kind).split()).lower().rstrip(";").replace("create table", "CREATE TABLE").lower()
        )


@pytest.mark.parametrize(
    "content", [b"garbage", b"SQLite format 3\0" + b"\0" * 50, b"\0" * 5000, b"SQLite", b"PK\x03\x04"]
)
def test_a_file_that_is_no_ledger_is_never_taken_for_an_empty_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    assert unusable(path) in ("ledger_damaged", "cannot_open")


def test_another_programs_database_is_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table notes (text)")
    connection.close()
    assert unusable(path) == "ledger_damaged"


def test_an_empty_file_beside_traces_is_damage_and_without_them_a_start(tmp_path: Path) -> None:
    path = tmp_path / "home" / "ledger.db"
    path.parent.mkdir()
    path.write_bytes(b"")
    (path.parent / "backups").mkdir()
    (path.parent / "backups" / "x.db").write_bytes(b"x")
    assert unusable(path) == "ledger_damaged"
    shutil.rmtree(path.parent / "backups")
    open_ledger(path).close()


def test_a_ledger_that_is_gone_while_its_log_is_there_is_not_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    (tmp_path / "ledger.db-wal").write_bytes(b"frames")
    assert unusable(path) == "ledger_damaged"
    assert not path.exists()


def test_a_truncated_ledger_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    filled(path)
    whole = path.read_bytes()
    for keep in (100, 4096, len(whole) // 2):
        path.write_bytes(whole[:keep])
        assert outcome(path) in ("ledger_damaged", "cannot_open", "found by verify")
        assert path.read_bytes() == whole[:keep]


def test_a_newer_schema_is_refused_without_writing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("pragma journal_mode = delete")
        connection.execute(f"pragma user_version = {migrations.SCHEMA + 1}")
    connection.close()
    assert unusable(path) == "newer_ledger"


@pytest.mark.parametrize("interrupted", [False, True])
def test_an_older_schema_is_copied_before_it_is_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupted: bool
) -> None:
    path = tmp_path / "ledger.db"
    filled(path)
    if interrupted:
        (tmp_path / "ledger.db.schema-1").write_bytes(b"the copy of a start that was interrupted")
    monkeypatch.setattr(migrations, "SCHEMA", 2)
    monkeypatch.setattr("loopx_engine.ledger.open.SCHEMA", 2)
    open_ledger(path).close()
    assert (tmp_path / "ledger.db.schema-1").exists()
    with sqlite3.connect(path) as connection:
        assert connection.execute("pragma user_version").fetchone()[0] == 2
    open_ledger(path).close()


@pytest.mark.parametrize("location", ["postgresql://x", "mysql://y", "", "a\0b"])
def test_what_is_no_ledger_address_says_so(location: str) -> None:
    with pytest.raises(UsageError):
        open_ledger(location)


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        open_ledger(tmp_path)


def test_nothing_is_made_where_only_opening_was_asked(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnusable, match="no ledger"):
        open_ledger(tmp_path / "none.db", create=False)


def test_four_starts_at_once_make_one_ledger(tmp_path: Path) -> None:
    path = tmp_path / "home" / "ledger.db"
    starts = [
        subprocess.Popen([sys.executable, "-c", OPEN, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    ids = {start.communicate(timeout=60)[0].strip() for start in starts}
    assert [start.returncode for start in starts] == [0] * 4
    assert len(ids) == 1


def test_the_standard_driver_reads_what_the_bundled_one_wrote(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    filled(path)
    given = {**os.environ, "LOOPX_SQLITE": "standard"}
    read = OPEN.replace("print(open_ledger(sys.argv[1]).id)", "l = open_ledger(sys.argv[1])")
    read += "; print(l.verify(), l.rebuild(), l.last_seq())"
    done = subprocess.run(
        [sys.executable, "-c", read, str(path)], cwd=ROOT, env=given, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[] [] 1"


def test_which_versions_have_the_wal_race() -> None:
    assert [wal_race(v) for v in ("3.40.1", "3.51.2", "3.44.5", "3.50.6", "3.45.0")] == [True] * 5
    assert [wal_race(v) for v in ("3.51.3", "3.44.6", "3.50.7", "3.53.4", "3.6.0")] == [False] * 5


def test_a_read_only_ledger_reads_and_refuses_to_write(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root ignores folder modes; this runs unprivileged in CI")
    path = tmp_path / "home" / "ledger.db"
    filled(path)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        ledger = open_ledger(path)
        with ledger.read() as reader:
            assert reader.get(Todo, "t-1") is not None
        for write in (lambda: ledger.immediate().__enter__(), lambda: ledger.renew("t-1", 1, 1)):
            with pytest.raises(LedgerUnusable) as caught:
                write()
            assert caught.value.code == "read_only"
    finally:
        path.parent.chmod(0o700)


def test_a_backup_is_whole_private_and_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    filled(path)
    ledger = open_ledger(path)
    copy = ledger.backup(tmp_path / "copy.db")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with pytest.raises(Refused):
        ledger.backup(copy)
    ledger.close()


def test_a_restored_ledger_is_the_next_incarnation(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    filled(path)
    ledger = open_ledger(path)
    copy = ledger.backup(tmp_path / "copy.db")
    ledger.close()
    restore(copy, tmp_path / "again.db")
    again = open_ledger(tmp_path / "again.db")
    assert (again.id, again.incarnation, again.verify(), again.rebuild()) == (ledger.id, 2, [], [])
    with pytest.raises(Refused):
        restore(copy, tmp_path / "again.db")
    again.close()


def test_a_damaged_backup_is_not_restored(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("pragma journal_mode = delete")
        connection.execute("update payload set body = '{}'")
    connection.close()
    with pytest.raises(LedgerUnusable):
        restore(path, tmp_path / "again.db")
    assert not (tmp_path / "again.db").exists()


@pytest.mark.parametrize("absent", [True, False])
def test_where_the_bundled_driver_is_absent_or_not_wanted_the_standard_one_serves(
    monkeypatch: pytest.MonkeyPatch, absent: bool
) -> None:
    if absent:
        monkeypatch.setitem(sys.modules, "pysqlite3", None)
        monkeypatch.delenv("LOOPX_SQLITE", raising=False)
    else:
        monkeypatch.setenv("LOOPX_SQLITE", "standard")
    spec = importlib.util.spec_from_file_location("driver_again", ROOT / "loopx_engine" / "ledger" / "driver.py")
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    assert again.sqlite3 is sqlite3
