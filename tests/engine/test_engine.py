"""The pipeline: one command, one transaction, one receipt in each stream; the same again writes nothing."""

from __future__ import annotations

from engine_kit import Kit, kit

from loopx_engine.model.todo import Todo

__all__ = ["kit"]


def test_a_goal_is_worked_from_its_first_todo_to_proven_done(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal(criterion=(("it works", ("make", "test")),))
    todo = kit.todo(goal, serves=(1,), check=("make", "test"))
    answer = kit.done(agent, todo, check=kit.get(Todo, todo).check, outcome="pass")
    assert answer["proof"] == "proved"
    assert kit.get(Todo, todo).state == "done"
