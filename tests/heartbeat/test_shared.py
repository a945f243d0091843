"""A worktree shares refs, configuration and hooks with its repository: without a box a turn's changes to them are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from heart_kit import NO_BOX, House, need_box

from loopx_engine.model.message import Message

CHANGES = """
subprocess.run(["git", "config", "user.name", "mallory"], check=False)
subprocess.run(["git", "branch", "planted"], check=False)
write("a", "ho\\n")
done("it says ho")
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.real
def test_what_a_turn_without_a_box_changed_in_the_repository_is_told(house: House) -> None:
    goal, _ = house.ready(CHANGES)
    house.once(box=NO_BOX)
    said = [
        item.text for item in house.records(Message, "message.of_goal", goal=goal, limit=10) if item.origin == "engine"
    ]
    assert len(said) == 1
    assert "not sandboxed" in said[0]
    assert "planted" in said[0]
    assert "user.name" in said[0]


@pytest.mark.real
def test_a_turn_that_leaves_the_repository_alone_is_not_mentioned(house: House) -> None:
    goal, _ = house.ready()
    house.once(box=NO_BOX)
    assert house.records(Message, "message.of_goal", goal=goal, limit=10) == []


@pytest.mark.real
def test_a_box_keeps_the_repository_as_it_is(house: House) -> None:
    need_box()
    goal, _ = house.ready(CHANGES)
    house.once()
    assert "planted" not in house.git("branch", "--list")
    assert house.records(Message, "message.of_goal", goal=goal, limit=10) == []
