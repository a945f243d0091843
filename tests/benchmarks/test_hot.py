"""`benchmarks.hot` on tiny sizes: it prints its five rows and says what it could not measure. Speed is not tested here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support import absent, require

from benchmarks import hot
from benchmarks._measure import CallFailed
from benchmarks._peer import VERSION, PeerAbsent, peer_in

TINY = ["--rounds", "1", "--todos", "3", "--many", "3", "--warm", "2", "--peer-todos", "2"]
ROWS = (
    "cold `loopx next --json`",
    "size of verdict / packet",
    "cold `loopx todo add`",
    "calls / bytes",
    "work per command",
)


def row_of(printed: str, what: str) -> str:
    return next(line for line in printed.splitlines() if line.startswith(what))


@pytest.mark.real
def test_it_prints_the_five_rows_with_bare_python_beside_them(capsys: pytest.CaptureFixture[str]) -> None:
    require("git")
    assert hot.main(TINY) == 0
    printed = capsys.readouterr().out
    for what in ROWS:
        row = row_of(printed, what)
        assert "not run" not in row
        assert row.split("  ")[-1].strip() in ("ok", "over")
    assert "x bare)" in row_of(printed, ROWS[0])
    assert "2 calls" in row_of(printed, ROWS[3])
    assert "ended done" in row_of(printed, ROWS[3])
    assert [printed.index(row_of(printed, what)) for what in ROWS] == sorted(
        printed.index(row_of(printed, what)) for what in ROWS
    )
    assert f"LoopX {VERSION} not run: no environment was named" in printed


def test_what_cannot_be_measured_is_said_and_the_end_is_still_0(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_given: object, **_more: object) -> None:
        raise CallFailed("loopx owner init ended 1: no room")

    monkeypatch.setattr(hot, "make_house", fails)
    assert hot.main(TINY) == 0
    printed = capsys.readouterr().out
    for what in ROWS:
        assert "not run: loopx owner init ended 1: no room" in row_of(printed, what)


def test_an_environment_without_the_peer_is_named(tmp_path: Path) -> None:
    with pytest.raises(PeerAbsent, match="no bin/loopx in empty"), peer_in(tmp_path / "empty", tmp_path / "home", 1):
        pass


@pytest.mark.parametrize("found", ["2.0.0", ""])
def test_another_version_than_the_compared_one_is_not_measured(tmp_path: Path, found: str) -> None:
    venv = environment_with(tmp_path, found)
    with pytest.raises(PeerAbsent, match=f"; {VERSION} is compared"), peer_in(venv, tmp_path / "home", 1):
        pass


def test_a_peer_that_does_not_run_is_absent_with_its_words(tmp_path: Path) -> None:
    require("git")
    venv = environment_with(tmp_path, VERSION, "#!/bin/sh\necho needs something newer >&2\nexit 1\n")
    with pytest.raises(PeerAbsent, match="needs something newer"), peer_in(venv, tmp_path / "home", 1):
        pass


@pytest.mark.real
def test_the_peer_stands_beside_where_an_environment_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    named = os.environ.get("PEER_ENV")
    if not named:
        pytest.skip("PEER_ENV names no environment with the peer")
    if not Path(named, "bin", "loopx").exists():
        absent("PEER_ENV has no bin/loopx")
    assert hot.main([*TINY, "--peer-env", named]) == 0
    printed = capsys.readouterr().out
    assert f"LoopX {VERSION}" in row_of(printed, "what")
    assert "should-run" in row_of(printed, ROWS[0])


def environment_with(folder: Path, version: str, script: str = "#!/bin/sh\n") -> Path:
    """A folder that looks like a virtual environment with this version of the peer."""
    venv = folder / "venv"
    program = venv / "bin" / "loopx"
    program.parent.mkdir(parents=True)
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    if version:
        (venv / "lib" / "python3.11" / "site-packages" / f"loopx-{version}.dist-info").mkdir(parents=True)
    return venv
