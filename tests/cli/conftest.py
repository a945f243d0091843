"""A house with a project around the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.calls import House, git_project


@pytest.fixture
def house(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """In a plain directory that is no git repository; no ledger and no key yet."""
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return House(capsys, folder)


@pytest.fixture
def owned(house: House) -> House:
    """With an unsealed owner key."""
    house.well("owner", "init", "--no-passphrase")
    return house


@pytest.fixture
def at_work(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """In a git project, with a key, an agent `ada` that comes by itself, and the active goal g-1 with the todo t-1."""
    monkeypatch.chdir(git_project(tmp_path / "shop-api"))
    house.well("owner", "init", "--no-passphrase")
    token = house.json("actor", "add", "ada", "--kind", "agent")["token"]
    (tmp_path / "token").write_text(token, encoding="utf-8")
    house.well("goal", "add", "Fix it", "--agent", "ada", "--criterion", "a says ho :: grep -q ho a")
    house.well("todo", "add", "g-1", "Write ho", "--check", "grep -q ho a", "--serves", "1")
    house.well("goal", "resume", "g-1")
    return house
