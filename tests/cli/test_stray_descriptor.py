"""A passphrase descriptor that nobody handed over must never become a file of our own: the ledger stays whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT, clean_environment

from loopx_engine.consent.unlock import STRAY, VARIABLE, without_stray_descriptor
from loopx_engine.ledger.open import open_ledger


def loopx(folder: Path, *words: str, **over: str) -> subprocess.CompletedProcess[str]:
    given = {"LOOPX_HOME": str(folder / "home"), "LOOPX_KEYS": str(folder / "keys"), "PYTHONPATH": str(ROOT), **over}
    return subprocess.run(
        [sys.executable, "-m", "loopx_engine.cli.main", *words],
        env=clean_environment(given), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip


@pytest.mark.parametrize("number", ["3", "4", "5", "6", "7", "8", "9", "63"])
def test_a_number_that_was_not_open_is_refused_and_the_ledger_is_whole(tmp_path: Path, number: str) -> None:
    assert loopx(tmp_path, "owner", "init", "--no-passphrase").returncode == 0
    made = tmp_path / "sealed"
    sealed = loopx(
        tmp_path, "owner", "init", LOOPX_KEYS=str(made), LOOPX_HOME=str(tmp_path / "other"), **{VARIABLE: number}
    )
    assert sealed.returncode == 2
    assert VARIABLE in sealed.stderr
    assert not (made / "owner").exists()
    loopx(tmp_path, "actor", "add", "bot", **{VARIABLE: number})
    for home in ("home", "other"):
        path = tmp_path / home / "ledger.db"
        if path.exists():
            ledger = open_ledger(path)
            assert ledger.verify() == []
            ledger.close()


def test_only_a_number_nobody_opened_is_struck_out() -> None:
    assert without_stray_descriptor({}) == {}
    assert without_stray_descriptor({VARIABLE: "three"}) == {VARIABLE: "three"}
    assert without_stray_descriptor({VARIABLE: "999999"}) == {VARIABLE: STRAY}
    read, write = os.pipe()
    try:
        assert without_stray_descriptor({VARIABLE: str(read)}) == {VARIABLE: str(read)}
    finally:
        os.close(read)
        os.close(write)
