"""The plain forms that skip the parser mean exactly what the parser would have made of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from cli.calls import House
from support import ROOT

from loopx_engine.cli import quick, tree

PLAIN = [
    ["next", "--json"],
    ["next", "g-1", "--json"],
    ["next", "--json", "g-1"],
    ["next", "--as", "ada", "--json"],
    ["next", "--json", "--as", "ada", "g-1"],
    ["todo", "add", "g-1", "Title"],
    ["todo", "add", "g-1", "[x] done", "--json"],
    ["todo", "add", "--body", "more words", "g-1", "Title", "--kind", "work"],
    ["todo", "add", "g-1", "Title", "--serves", "1", "--needs", "t-1", "--needs", "t-2", "--scope", "src/**", "--json"],
    ["todo", "add", "g-1", "Title", "--wait", "done:t-1"],
    ["todo", "add", "g-1", ""],
    ["next", "", "--json"],
]
LEFT = [
    ["next"],
    ["next", "g-1", "g-2", "--json"],
    ["next", "--as=ada", "--json"],
    ["next", "--as", "--json"],
    ["next", "--json", "--help"],
    ["next", "--json", "--", "g-1"],
    ["todo", "add", "g-1"],
    ["todo", "add", "g-1", "a", "b"],
    ["todo", "add", "g-1", "a", "--check", "true"],
    ["todo", "add", "g-1", "a", "--dry-run"],
    ["todo", "add", "g-1", "a", "--kind", "play"],
    ["todo", "add", "g-1", "a", "--serves", "one"],
    ["todo", "add", "g-1", "a", "--serves", "-1"],
    ["todo", "add", "g-1", "a", "--wait", "at:24h"],
    ["todo", "add", "g-1", "--help -rf"],
    ["todo", "list"],
    ["status", "--json"],
]
HEAVY = {"click", "rich", "pydantic", "cryptography", "psutil", "structlog", "sqlite_utils", "platformdirs", "textual"}
TRACE = """
import json, sys
sys.path.insert(0, sys.argv[1])
sys.argv = ["loopx", *sys.argv[2:]]
from loopx_engine.cli.main import main
code = main()
sys.stderr.write(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
raise SystemExit(code)
"""


class Recorder:
    """Stands where the ledger would: keeps what it was asked."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def read(self, name: str, **arguments: Any) -> dict[str, Any]:
        self.calls.append((name, {key: value for key, value in arguments.items() if value}))
        return {"kind": "wait", "text": "", "goal": "", "actions": [], "notices": []}

    def run(self, verb: str, arguments: Any, *, command_id: str = "", proof: Any = None) -> Any:
        from loopx_engine.cli.caller import Outcome

        self.calls.append((verb, dict(arguments), command_id))
        return Outcome(answer={"todo": "t-1", "title": ""}, receipts=("r-1",))


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_a_plain_form_asks_exactly_what_the_parser_asks(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, said = [], []
    for how in (quick.answered, tree.call):
        recorder = Recorder()
        monkeypatch.setattr("loopx_engine.cli.caller.caller", lambda recorder=recorder: recorder)
        assert how(words) == 0
        asked.append(recorder.calls)
        said.append(capsys.readouterr())
    assert asked[0] == asked[1]
    assert said[0] == said[1]


@pytest.mark.parametrize("words", LEFT, ids=" ".join)
def test_every_other_form_is_left_to_the_parser_untouched(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setattr("loopx_engine.cli.caller.caller", lambda: recorder)
    assert quick.answered(words) is None
    assert not recorder.calls


@pytest.mark.real
@pytest.mark.parametrize(
    "words",
    [["next", "g-1", "--json"], ["todo", "add", "g-1", "More"], ["todo", "add", "g-1", "More", "--json"]],
    ids=" ".join,
)
def test_the_cold_calls_load_nothing_heavy(owned: House, words: list[str]) -> None:
    owned.well("goal", "add", "Fix it")
    argv = [sys.executable, "-c", TRACE, str(ROOT), *words]
    done = subprocess.run(argv, env=os.environ, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert not set(json.loads(done.stderr)) & HEAVY
