"""`loopx-engine`: its words, one engine a ledger, nobody's agent, and a clean end within its time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.calls import House, actor_token
from conftest import Home
from support import ROOT

from loopx_engine.cli.engine_main import main
from loopx_engine.host.lock import single_instance
from loopx_engine.model.defaults import SHUTDOWN_DEADLINE_MS

PROGRAM = [sys.executable, "-m", "loopx_engine.cli.engine_main"]


def engine(*words: str, **env: str) -> subprocess.Popen[str]:
    given = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    return subprocess.Popen(
        [*PROGRAM, *words], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--help"], 0),
        ([], 2),
        (["run", "--help"], 0),
        (["walk"], 2),
        (["run", "--turns", "0"], 2),
        (["once", "--turns", "x"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_its_words(words: list[str], code: int, capsys: pytest.CaptureFixture[str], home: Home) -> None:
    assert main(words) == code
    assert not home.data.exists()


def test_service_is_not_built_and_says_what_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["service", "install", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["code"] == "not_built"


def test_a_second_engine_is_told_who_runs(owned: House, home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    with single_instance(home.data / "engine.lock"):
        capsys.readouterr()
        assert main(["once", "--json"]) == 75
    error = json.loads(capsys.readouterr().out)
    assert error["code"] == "engine_running"
    assert str(os.getpid()) in error["message"]


def test_an_agent_starts_no_engine(
    at_work: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOPX_TOKEN", actor_token(at_work))
    assert main(["once"]) == 3
    monkeypatch.delenv("LOOPX_TOKEN")
    monkeypatch.setenv("LOOPX_TAG", "some/turn")
    assert main(["once"]) == 3
    assert "turn starts no engine" in capsys.readouterr().err


def test_two_ledgers_may_each_have_an_engine(
    house: House, tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.well("goal", "add", "T")
    monkeypatch.setenv("LOOPX_LEDGER", str(tmp_path / "other.db"))
    with single_instance(home.data / "engine.lock"):
        assert house.json("status")["engine"] is False
        assert main(["once"]) == 0
    assert (tmp_path / "other.db.engine.lock").exists()


@pytest.mark.real
def test_run_says_that_it_lives_and_ends_cleanly_on_a_signal(owned: House, home: Home) -> None:
    with engine("run", "--json") as child:
        assert child.stderr is not None
        first = child.stderr.readline()
        assert f"pid {child.pid}" in first
        assert owned.json("status")["engine"] is True
        assert engine("once").wait(timeout=60) == 75
        started = time.monotonic()
        child.send_signal(signal.SIGTERM)
        out, _ = child.communicate(timeout=60)
        assert time.monotonic() - started < SHUTDOWN_DEADLINE_MS / 1000
    assert child.returncode == 0
    assert json.loads(out)["schema"] == "loopx.engine.run/1"
    assert owned.json("status")["engine"] is False
    log = "".join(path.read_text(encoding="utf-8") for path in sorted((home.data / "logs").iterdir()))
    assert [json.loads(line)["event"] for line in log.splitlines()][-1] == "engine.stopped"


@pytest.mark.real
@pytest.mark.parametrize("damaged", [b"not a ledger", b""])
def test_an_engine_does_not_start_on_what_is_no_ledger(owned: House, home: Home, damaged: bytes) -> None:
    owned.well("backup")
    ledger = home.data / "ledger.db"
    for side in ("-wal", "-shm"):
        ledger.with_name(ledger.name + side).unlink(missing_ok=True)
    ledger.write_bytes(damaged)
    with engine("once", "--json") as child:
        out, _ = child.communicate(timeout=60)
    assert child.returncode == 7
    assert json.loads(out)["code"] == "ledger_damaged"
    assert ledger.read_bytes() == damaged
