"""The line of this very process: a recorded pid counts with its start, a session it began counts too, an unreadable one not."""

from __future__ import annotations

import os
from typing import Any

import pytest

from loopx_engine.consent import ancestry
from loopx_engine.consent.ancestry import boot, started_of, tag_of, turn_ancestor


@pytest.fixture(autouse=True)
def no_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ancestry.TAG_NAME, raising=False)


def test_a_tag_that_an_ancestor_was_started_with_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getppid()
    monkeypatch.setattr(ancestry, "tag_of", lambda pid: "u-7" if pid == parent else "")
    assert turn_ancestor() == "u-7"


def test_a_recorded_pid_counts_only_with_its_start() -> None:
    mine = os.getpid()
    assert turn_ancestor({mine: started_of(mine)}) == f"process {mine}"
    assert turn_ancestor({mine: "1/an earlier process"}) is None


def test_a_recorded_process_owns_the_session_it_began() -> None:
    session = os.getsid(0)
    if session == os.getpid():
        pytest.skip("this process began its session")
    expected = f"process {session}"
    assert turn_ancestor({session: started_of(session)}) == expected
    assert turn_ancestor({session: "1/an earlier process"}) in (None, expected)


def test_elsewhere_the_same_is_asked_of_psutil(monkeypatch: pytest.MonkeyPatch) -> None:
    psutil: Any = pytest.importorskip("psutil")
    monkeypatch.setattr(ancestry, "LINUX", False)
    mine = os.getpid()
    started = started_of(mine)
    assert started == f"{psutil.Process(mine).create_time():.2f}"
    assert turn_ancestor({mine: started}) == f"process {mine}"
    assert turn_ancestor() is None
    gone = 2**22 + 1
    assert (started_of(gone), tag_of(gone)) == ("", "")


def test_a_machine_without_a_boot_id_has_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    boot.cache_clear()

    def fails(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", fails)
    assert boot() == ""
    monkeypatch.undo()
    boot.cache_clear()


def test_a_line_of_ancestors_that_never_ends_is_not_followed_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ancestry, "stat_fields", lambda pid: ["S", str(pid + 1)])
    monkeypatch.setattr(ancestry, "tag_of", lambda pid: "")
    assert turn_ancestor() is None
