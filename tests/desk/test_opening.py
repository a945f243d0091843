"""Opening what an environment names: made where nothing is, never over what is damaged, newer, locked or read-only."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Home
from support import clean_environment

from loopx_engine import Desk
from loopx_engine.desk.opening import engine_lock, founded, ledger_path, nothing_there, open_engine
from loopx_engine.errors import LedgerUnusable, LoopxError, Refused, TryAgain, UsageError
from loopx_engine.ledger import open as opening
from loopx_engine.ledger.migrations import SCHEMA
from loopx_engine.model.actor import Actor

HOLDS = """
import sys
from pathlib import Path
from loopx_engine.host.lock import exclusive
with exclusive(Path(sys.argv[1]), 5):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def environ(home: Home) -> dict[str, str]:
    return {"LOOPX_HOME": str(home.data), "LOOPX_KEYS": str(home.keys)}


def made(environ: dict[str, str]) -> Path:
    """The file of a ledger that was founded and closed again."""
    Desk(environ).close()
    return ledger_path(environ)


def files(folder: Path) -> dict[str, bytes]:
    """The files of a folder with their bytes, but for those that SQLite keeps beside an open database."""
    kept = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.endswith("db-shm")]
    return {path.name: path.read_bytes() for path in kept if path.name != "ledger.db-wal" or path.stat().st_size}


def unopened(environ: dict[str, str], kind: type[LoopxError]) -> LoopxError:
    """The error a desk comes to; no file of the home may differ after it."""
    before = files(ledger_path(environ).parent)
    with pytest.raises(kind) as refused:
        Desk(environ)
    assert files(ledger_path(environ).parent) == before
    assert refused.value.next, "a next step"
    return refused.value


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another process that holds the writer's lock."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment(),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield
        process.communicate(b"")
    assert process.returncode == 0


def test_where_nothing_is_a_ledger_is_made_and_founded_once(environ: dict[str, str], home: Home) -> None:
    assert nothing_there(environ)
    assert not home.data.exists()
    path = made(environ)
    assert path == home.data / "ledger.db"
    assert not nothing_there(environ)
    engine = founded(open_engine(environ), environ)
    with engine.read() as reader:
        [owner] = reader.records(Actor, "actor.owner")
    assert owner.name
    assert engine.ledger.last_seq() == 1
    engine.ledger.close()


def test_asking_whether_something_is_there_makes_nothing(environ: dict[str, str], home: Home) -> None:
    nothing_there(environ)
    engine_lock(environ)
    ledger_path(environ)
    assert not home.data.exists()


@pytest.mark.parametrize("trace", ["ledger.db-wal", "ledger.db-journal"])
def test_a_ledger_that_is_gone_is_not_nothing(environ: dict[str, str], home: Home, trace: str) -> None:
    home.data.mkdir()
    (home.data / trace).write_bytes(b"frames")
    assert not nothing_there(environ)
    assert unopened(environ, LedgerUnusable).code == "ledger_damaged"


@pytest.mark.parametrize("content", [b"not a ledger", b"SQLite format 3\0" + b"\xff" * 5000, b"SQLite format 3\0"])
def test_what_is_no_ledger_is_damage_and_keeps_its_bytes(environ: dict[str, str], home: Home, content: bytes) -> None:
    home.data.mkdir()
    (home.data / "ledger.db").write_bytes(content)
    assert unopened(environ, LedgerUnusable).code == "ledger_damaged"


def test_a_newer_ledger_is_refused_without_writing(environ: dict[str, str]) -> None:
    path = made(environ)
    with sqlite3.connect(path) as database:
        database.execute(f"pragma user_version = {SCHEMA + 1}")
    database.close()
    assert unopened(environ, LedgerUnusable).code == "newer_ledger"


def test_a_folder_where_the_ledger_should_be_is_refused(environ: dict[str, str], home: Home) -> None:
    (home.data / "ledger.db").mkdir(parents=True)
    assert unopened(environ, Refused).code == "cannot_open"


def test_a_home_that_is_a_file_is_refused(environ: dict[str, str], home: Home) -> None:
    home.data.write_bytes(b"a file")
    with pytest.raises(Refused) as refused:
        Desk(environ)
    assert refused.value.code == "no_folder"
    assert home.data.read_bytes() == b"a file"


def test_a_writer_that_keeps_the_lock_is_said_and_reading_goes_on(
    environ: dict[str, str], home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loopx_engine.ledger import sqlite

    made(environ)
    monkeypatch.setattr(sqlite, "WRITER_WAIT_S", 0.2)
    desk = Desk(environ)
    with held(home.data / "ledger.db.lock"):
        assert desk.read("status")["needs_you_count"] == 0
        with pytest.raises(TryAgain) as busy:
            desk.run("project add", {"root": str(home.data), "identity": ""})
        assert busy.value.code == "busy"
        assert desk.last() == 1
    desk.run("project add", {"root": str(home.data), "identity": ""})
    assert desk.last() == 2
    desk.close()


def test_a_new_ledger_waits_for_whoever_makes_it_and_says_when_it_takes_too_long(
    environ: dict[str, str], home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.data.mkdir()
    monkeypatch.setattr(opening, "WRITER_WAIT_S", 0.2)
    with held(home.data / "ledger.db.lock"), pytest.raises(TryAgain) as busy:
        Desk(environ)
    assert busy.value.code == "busy"
    assert not (home.data / "ledger.db").exists()


def test_keys_inside_the_home_are_refused(environ: dict[str, str], home: Home) -> None:
    with pytest.raises(Refused) as refused:
        Desk({**environ, "LOOPX_KEYS": str(home.data / "keys")})
    assert refused.value.code == "keys_inside_home"


# -- where it is -------------------------------------------------------------------------------------------------------------


def test_a_ledger_elsewhere_has_its_own_engine_lock_beside_it(
    environ: dict[str, str], home: Home, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "other" / "shared.db"
    for given in (str(elsewhere), f"sqlite:///{elsewhere}"):
        named = {**environ, "LOOPX_LEDGER": given}
        assert ledger_path(named) == elsewhere
        assert engine_lock(named) == elsewhere.with_name("shared.db.engine.lock")
    assert engine_lock(environ) == home.data / "engine.lock"
    assert made({**environ, "LOOPX_LEDGER": str(elsewhere)}) == elsewhere
    assert elsewhere.exists()
    assert not (home.data / "ledger.db").exists()


def test_a_ledger_nobody_serves_is_a_usage_error_and_not_nothing(environ: dict[str, str]) -> None:
    named = {**environ, "LOOPX_LEDGER": "postgres://host/loopx"}
    assert not nothing_there(named)
    with pytest.raises(UsageError) as refused:
        Desk(named)
    assert refused.value.code == "bad_ledger"


# -- a folder that can only be read ----------------------------------------------------------------------------------------


@pytest.fixture
def read_only(environ: dict[str, str], home: Home) -> Iterator[Path]:
    """A home with a ledger that this account can only read; root may write all the same, so there it is skipped."""
    made(environ)
    home.data.chmod(0o500)
    for path in home.data.iterdir():
        path.chmod(0o400)
    try:
        (home.data / "probe").touch()
    except PermissionError:
        yield home.data
    else:
        (home.data / "probe").unlink()
        pytest.skip("this account writes everywhere")
    finally:
        home.data.chmod(0o700)


def test_a_home_that_can_only_be_read_is_read_and_refuses_to_write(environ: dict[str, str], read_only: Path) -> None:
    before = files(read_only)
    desk = Desk(environ)
    assert desk.read("status")["needs_you_count"] == 0
    with pytest.raises(LedgerUnusable) as refused:
        desk.run("project add", {"root": str(read_only), "identity": ""})
    assert refused.value.code == "read_only"
    desk.close()
    assert files(read_only) == before
