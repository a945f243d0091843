"""What a yes does, as a person would type it; whether it leaves the machine; and whether it can be taken back."""

from __future__ import annotations

import json
import shlex
from typing import Any

from loopx_engine.commands.fields import specs
from loopx_engine.commands.verbs import VERBS
from loopx_engine.model.decision import Decision
from loopx_engine.rules.patterns import canonical_exec

SHA = 10
LEAVES = frozenset({"push", "post", "command"})
FINAL = {
    "push": "not by us: a remote has it",
    "post": "not by us: it was read",
    "command": "not by us: a program ran outside the box",
    "merge": "not by us: git revert -m 1 of the merge takes it back",
    "write": "not by us: the file is written outside the place",
}
BACK = {
    "goal close": "goal reopen {goal}", "goal reopen": "goal pause {goal}", "goal pause": "goal resume {goal}",
    "goal resume": "goal pause {goal}", "goal edit": "goal edit {goal}", "todo drop": "todo reopen {todo}",
    "todo reopen": "todo drop {todo}", "todo edit": "todo edit {todo}", "todo order": "todo order {todo}",
    "todo add": "todo drop TODO", "check set": "check set {subject}", "criterion add": "criterion waive CRITERION",
    "message send": "",
}  # fmt: skip
STAYS = frozenset({"place retry"})


def acts_of(decision: Decision) -> list[str]:
    """The exact commands, one a line. A choice does nothing by itself."""
    if decision.effect is not None:
        return _effect_lines(decision.effect)
    return [command_line(item) for item in decision.commands]


def leaves(decision: Decision) -> bool:
    """Whether a yes reaches beyond this machine, or may."""
    return decision.effect is not None and decision.effect.get("action") not in ("merge", "write", "commit")


def undo_of(decision: Decision) -> dict[str, Any]:
    """`can`: whether what a yes does can be taken back here; `text`: how, or why not."""
    if decision.effect is not None:
        return {"can": False, "text": FINAL.get(str(decision.effect.get("action")), "not by us")}
    if decision.kind != "proposal":
        return {"can": True, "text": "nothing is done by it; what follows can be told otherwise"}
    ways = [_way_back(item) for item in decision.commands]
    if any(way is None for way in ways):
        return {"can": False, "text": "not as a whole: some of it stays"}
    back = list(dict.fromkeys(f"loopx {way}" for way in ways if way))
    return {"can": True, "text": "with " + ", ".join(back) if back else "there is nothing to take back"}


def command_line(item: dict[str, Any]) -> str:
    """One command of a proposal as it would be typed; one that is none of ours is shown as it is."""
    verb, given = VERBS.get(str(item.get("verb"))), item.get("arguments")
    if verb is None or not isinstance(given, dict):
        return json.dumps(item, ensure_ascii=False, sort_keys=True)
    known = specs(verb.load())
    words: dict[bool, list[str]] = {True: [], False: []}
    for name, (field, spec) in known.items():
        if name in given and given[name] != field.default:
            words[spec.form == "argument"] += _words(name, str(field.type), spec.form, given[name])
    for name in given:
        if name not in known:
            words[False] += [f"--{name}", json.dumps(given[name], ensure_ascii=False)]
    subjects, options = words[True], words[False]
    dashed = any(word.startswith("-") for word in subjects)
    rest = [*options, "--", *subjects] if dashed else [*subjects, *options]
    return " ".join(["loopx", verb.name, *map(shlex.quote, rest)])


def _words(name: str, annotation: str, form: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag if value else f"--no-{name.replace('_', '-')}"]
    if isinstance(value, list | tuple):
        argv = name in ("check", "argv") and annotation.startswith("tuple[str")
        parts = [shlex.join(map(str, value))] if argv else [_part(item) for item in value]
    else:
        parts = [_part(value)]
    return parts if form == "argument" else [word for part in parts for word in (flag, part)]


def _part(value: Any) -> str:
    """A text, a number, a line of words, or a criterion with the check that proves it."""
    if isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[1], list | tuple):
        return f"{value[0]} :: {shlex.join(map(str, value[1]))}" if value[1] else str(value[0])
    if isinstance(value, list | tuple):
        return shlex.join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _effect_lines(effect: dict[str, object]) -> list[str]:
    said = {name: str(value) for name, value in effect.items() if isinstance(value, str)}
    sha = said.get("sha", "")[:SHA]
    action = said.get("action", "")
    if action == "push":
        return [f"git push {shlex.quote(said.get('remote', ''))} {shlex.quote(sha + ':' + said.get('ref', ''))}"]
    if action == "merge":
        return [f"git switch {shlex.quote(said.get('into', ''))}", f"git merge --no-ff {sha}"]
    argv = effect.get("argv")
    if action == "command" and isinstance(argv, list | tuple):
        return [canonical_exec(tuple(map(str, argv)))]
    if action == "write":
        return [f"write {len(said.get('text', '').encode())} bytes to {said.get('path', '')}"]
    if action == "post":
        return [f"post to {said.get('to', '')}: {said.get('text', '')}"]
    return [json.dumps(effect, ensure_ascii=False, sort_keys=True)]


def _way_back(item: dict[str, Any]) -> str | None:
    """What takes one command back; empty: it leaves nothing; None: nothing does."""
    verb, given = str(item.get("verb")), item.get("arguments")
    if verb in STAYS:
        return ""
    if verb not in BACK:
        return None
    subjects = given if isinstance(given, dict) else {}
    return BACK[verb].format_map({name: str(subjects.get(name, name.upper())) for name in ("goal", "todo", "subject")})
