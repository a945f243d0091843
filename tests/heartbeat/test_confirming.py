"""A claim that changed the tests its check runs counts only after a review; where nobody can review, a person says."""

from __future__ import annotations

from pathlib import Path

import pytest
from heart_kit import NO_BOX, House

CHECK = ("sh", "tests/verify.sh")
CHANGES_ITS_TEST = 'write("tests/verify.sh", "exit 0\\n"); write("b", "x\\n"); done("made it pass")'


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.real
@pytest.mark.parametrize(("answer", "state"), [("yes", "done"), ("no", "open")])
def test_a_person_is_asked_and_the_answer_settles_the_claim(house: House, answer: str, state: str) -> None:
    goal, todo = house.ready(CHANGES_ITS_TEST, check=CHECK)
    house.once(box=NO_BOX)
    waiting = house.todo_now(todo)
    assert (waiting.state, waiting.review, waiting.proof) == ("proving", "due", "")
    asked = [item for item in house.asked(goal) if item.cause.startswith("unreviewed:")]
    assert len(asked) == 1
    if answer == "no":
        house.person.says("goal pause", goal=goal)
    house.answer(asked[0], answer)
    if answer == "no":
        house.resume(goal)
        house.person.signs("goal edit", goal=goal, budget="turns=1")
    house.once(box=NO_BOX)
    settled = house.todo_now(todo)
    assert settled.state == state
    assert settled.proof == ("confirmed" if answer == "yes" else "")
    assert (settled.commit != "") is (answer == "yes")
    house.sound()
