"""The demo by hand: the same goal, and whoever sits at the terminal answers in the workspace with real keys.

The workspace is a module that is named to it: the engine does not know it.
"""

from __future__ import annotations

import subprocess
import sys

from loopx_engine.demo.leaving import end_processes
from loopx_engine.demo.stage import Stage
from loopx_engine.demo.standing import said_of, standing_of
from loopx_engine.desk.background import start_engine
from loopx_engine.desk.opening import open_engine
from loopx_engine.places.sandbox import Box, probe

AGENT = ("--slowly", "--dies-once")
BEFORE = """\
LoopX demo: an agent mends a shop in four todos, each proved by its tests.
  watch   2 shows it at work; once it is killed in the middle, and goes on
  answer  1, y: a push of high risk (d, esc, a reason, enter, {goal}, enter)
          2, tab, j, m: a criterion only you can meet (a reason, F2, enter)
          1, y, y: the end of the goal
  leave   q, at any time: engine, folder and throw-away key go with you"""


def by_hand(stage: Stage, workspace: str, *, sandbox: bool = True) -> bool:
    """Opens the workspace on the stage, and says how the goal stands once it was left. False when something is broken."""
    stage.plan(agent=AGENT)
    stage.engine.ledger.close()
    print(BEFORE.format(goal=stage.goal))
    box = probe() if sandbox else Box(kind="none", reason="asked for with --no-sandbox")
    if box.kind == "none":
        print(f"not sandboxed: {box.reason}")
    if not _wanted():
        return True
    if not sandbox:
        start_engine(stage.environ, sandboxed=False)
    argv = [sys.executable, "-P", "-m", workspace]
    code = subprocess.Popen(argv, cwd=stage.root, env=stage.environ).wait()
    end_processes(stage.home, stage.tag)
    print("the engine was ended with the demo\n", flush=True)
    return _conclude(stage, [f"the workspace ended with {code}"] if code else [])


def _wanted() -> bool:
    """Whether the person opens the workspace, having read what is said before."""
    try:
        input("Enter opens the workspace ")
    except EOFError:
        print("\nleft before it began")
        return False
    return True


def _conclude(stage: Stage, failures: list[str]) -> bool:
    engine = open_engine(stage.environ)
    now = standing_of(stage, engine)
    engine.ledger.close()
    failures += now.broken
    print("\n".join(said_of(now, failures, left=now.goal.phase != "done")), flush=True)
    return not failures
