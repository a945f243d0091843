"""A process inside a turn is no person: without a box, without its token, from a grandchild shell, every such verb is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from heart_kit import NO_BOX, SAYS_HO, House
from support import ROOT

from loopx_engine.commands.verbs import TABLE

pytestmark = pytest.mark.real

# One call a verb of a person, as the command line spells it. GOAL, TODO, DECISION, ACTOR are filled in.
CALLS: dict[str, list[str]] = {
    "owner init": ["owner", "init", "--no-passphrase"],
    "owner rotate": ["owner", "rotate", "--no-passphrase"],
    "actor add": ["actor", "add", "planted", "--kind", "agent"],
    "actor retire": ["actor", "retire", "ACTOR"],
    "project add": ["project", "add", "."],
    "project setup": ["project", "setup", ".", "--argv", "true"],
    "goal add": ["goal", "add", "planted"],
    "goal edit": ["goal", "edit", "GOAL", "--title", "planted"],
    "goal pause": ["goal", "pause", "GOAL"],
    "goal resume": ["goal", "resume", "GOAL"],
    "goal close": ["goal", "close", "GOAL"],
    "goal reopen": ["goal", "reopen", "GOAL"],
    "goal archive": ["goal", "archive", "GOAL"],
    "criterion add": ["criterion", "add", "GOAL", "planted"],
    "criterion waive": ["criterion", "waive", "CRITERION"],
    "criterion meet": ["criterion", "meet", "CRITERION"],
    "check set": ["check", "set", "TODO", "true"],
    "todo edit": ["todo", "edit", "TODO", "--title", "planted"],
    "todo order": ["todo", "order", "TODO"],
    "todo split": ["todo", "split", "TODO", "--into", "a", "--into", "b"],
    "todo drop": ["todo", "drop", "TODO"],
    "todo reopen": ["todo", "reopen", "TODO"],
    "decision snooze": ["decision", "snooze", "DECISION"],
    "decision answer": ["answer", "DECISION", "yes", "--basis", "BASIS"],
    "grant add": ["grant", "add", "push", "*"],
    "grant revoke": ["grant", "revoke", "GRANT"],
    "lease take": ["lease", "take", "TODO"],
    "place drop": ["place", "drop", "PLACE"],
    "place retry": ["place", "retry", "PLACE"],
    "stop": ["stop", "--all"],
    "undo": ["undo", "r-4"],
}
# Verbs that an agent may say too: without its token it is nobody, and says them as no person either.
ALSO_AGENTS: dict[str, list[str]] = {
    "todo add": ["todo", "add", "GOAL", "planted"],
    "decision ask": ["decision", "ask", "GOAL", "planted?"],
    "decision withdraw": ["decision", "withdraw", "DECISION"],
    "message send": ["message", "send", "GOAL", "planted"],
}
ENGINE = ["once"]

PROGRAM = """
import concurrent.futures

calls = json.loads(pathlib.Path(CALLS_FILE).read_text())
env = {name: value for name, value in os.environ.items() if not name.startswith("LOOPX_")}
env |= HOUSE
# A shell of a shell, in a session of its own, with every trace in its environment removed.
inner = 'unset LOOPX_TOKEN LOOPX_TURN LOOPX_TAG LOOPX_SOCKET; exec "$@"'

def call(words):
    module = "engine_main" if words == ["once"] else "main"
    argv = ["setsid", "-w", "sh", "-c", 'sh -c "$0" sh "$@"', inner, PYTHON, "-m", f"loopx_engine.cli.{module}", *words]
    ran = subprocess.run(argv, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return [words, ran.returncode, ran.stdout, ran.stderr]

with concurrent.futures.ThreadPoolExecutor(3) as pool:
    for came in pool.map(call, calls):
        print("CAME", json.dumps(came), flush=True)
"""


def test_every_verb_of_a_person_has_a_call_here() -> None:
    person = {verb.name for verb in TABLE if {"person", "signed"} & set(verb.authority)}
    assert set(CALLS) == {
        verb.name for verb in TABLE if {"person", "signed"} & set(verb.authority) and "agent" not in verb.authority
    }
    assert set(ALSO_AGENTS) <= person


def test_a_grandchild_shell_of_a_turn_is_refused_every_verb_of_a_person(tmp_path: Path) -> None:
    house = House(tmp_path)
    goal, todo = house.ready("")
    criterion = house.person.signs("criterion add", goal=goal, text="a person looked").answer["criterion"]
    decision = house.person.says("decision ask", goal=goal, question="really?").answer["decision"]
    grant = house.person.signs("grant add", kind="push", pattern="origin/x", goal=goal).answer["grant"]
    (asked,) = house.asked(goal)
    names = {
        "GOAL": goal, "TODO": todo, "DECISION": decision, "CRITERION": criterion, "GRANT": grant, "PLACE": "pl-1",
        "ACTOR": "a-3", "BASIS": asked.basis,
    }  # fmt: skip
    calls = [[str(names.get(word, word)) for word in words] for words in [*CALLS.values(), *ALSO_AGENTS.values()]]
    file = tmp_path / "calls.json"
    file.write_text(json.dumps([*calls, ENGINE]), encoding="utf-8")
    environ = {"LOOPX_HOME": str(house.home), "LOOPX_KEYS": str(house.keys), "PYTHONPATH": str(ROOT)}
    body = f"CALLS_FILE = {str(file)!r}\nHOUSE = {environ!r}\nPYTHON = {sys.executable!r}\n{PROGRAM}\n{SAYS_HO}"
    house.program("bot", body)
    until_turn = house.engine.ledger.last_seq()
    house.once(box=NO_BOX)
    (turn,) = house.turns(goal)
    lines = [line for line in house.transcript(turn).splitlines() if line.startswith("CAME ")]
    came = [json.loads(line.removeprefix("CAME ")) for line in lines]
    assert len(came) == len(calls) + 1, house.transcript(turn)
    for words, code, out, err in came:
        assert code == 3, (words, code, out, err)
        assert "inside" in err or "turn" in err, (words, err)
    receipts = house.engine.ledger.receipts(after=until_turn)
    assert not [item for item in receipts if item.actor == "a-1"], [
        item.verb for item in receipts if item.actor == "a-1"
    ]
    assert house.goal_now(goal).title == "Say ho"
    assert house.goal_now(goal).phase == "active"
    house.sound()
