"""How the demo's goal stands, read from the ledger and from git: what both ways of the demo say last."""

from __future__ import annotations

from dataclasses import dataclass

from loopx_engine.cli.keeping import problems_of
from loopx_engine.demo.stage import Stage
from loopx_engine.engine import Engine
from loopx_engine.errors import Refused
from loopx_engine.model.criterion import Criterion
from loopx_engine.model.goal import Goal
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.places.commits import CommitLine, log


@dataclass(frozen=True, slots=True)
class Standing:
    """`commits` are those of proved todos, newest first; `problems` what `verify` found."""

    goal: Goal
    criteria: list[Criterion]
    todos: list[Todo]
    turns: list[Turn]
    commits: list[CommitLine]
    problems: list[dict[str, str]]
    receipts: int
    untouched: bool

    @property
    def broken(self) -> list[str]:
        """What must hold whenever the demo is left, and does not."""
        found = [] if self.untouched else ["the person's checkout changed"]
        return [*found, f"verify found {self.problems[:1]}"] if self.problems else found


def standing_of(stage: Stage, engine: Engine) -> Standing:
    """Reads it once. Raises what the ledger raises where it cannot be read."""
    with engine.read() as reader:
        goal = reader.get(Goal, stage.goal)
        criteria = reader.records(Criterion, "criterion.of_goal", goal=stage.goal)
        todos = reader.records(Todo, "todo.of_goal", goal=stage.goal, limit=100)
        turns = reader.records(Turn, "turn.of_goal", goal=stage.goal, limit=100)
    assert goal is not None
    return Standing(
        goal=goal,
        criteria=criteria,
        todos=todos,
        turns=turns,
        commits=_commits(stage),
        problems=problems_of(engine),
        receipts=engine.ledger.last_seq(),
        untouched=stage.untouched(),
    )


def said_of(standing: Standing, failures: list[str], *, left: bool = False) -> list[str]:
    """The last lines of a demo; `left`: by a person, before the goal was done."""
    met = sum(item.state == "met" for item in standing.criteria)
    verified = f"receipts verified: {standing.receipts}"
    return [
        *(
            f"commit  {item.sha[:10]}  {item.trailers['LoopX-Todo']}  {item.trailers['LoopX-Receipt']:>6}  {item.subject}"
            for item in reversed(standing.commits)
        ),
        f"the person's checkout with its unsaved edit: {'untouched' if standing.untouched else 'CHANGED'}",
        *(f"FAILED: {failure}" for failure in failures),
        *(["left before the goal was done"] if left else []),
        f"goal {standing.goal.id} {standing.goal.phase}",
        f"criteria met: {met} of {len(standing.criteria)}",
        f"receipts NOT verified: {len(standing.problems)} findings" if standing.problems else verified,
    ]


def _commits(stage: Stage) -> list[CommitLine]:
    try:
        found = log(stage.root, f"loopx/{stage.goal}", None)
    except Refused:  # no place was made yet, so there is no branch
        return []
    return [item for item in found if "LoopX-Todo" in item.trailers]
