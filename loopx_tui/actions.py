"""The one action table: what a key, the palette or the mouse may do. Those with a verb are made from the engine's verb table.

`subject` is the kind of thing it acts on, `how` the way: `answer` (through the tiers of a decision), `form` (fields, preview,
confirm), `direct` (preview and run), `view` (changes nothing). Whether it is allowed the engine says, by a preview.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from loopx_engine import TABLE

How = Literal["answer", "form", "direct", "view"]
VERBS = {verb.name: verb for verb in TABLE}
PERSON = tuple(verb.name for verb in TABLE if {"person", "signed"} & set(verb.authority))


@dataclass(frozen=True, slots=True)
class Action:
    """`verbs` are the engine's verbs it may say (none: it only looks); `help` says what it does, in a sentence."""

    id: str
    help: str
    how: How = "view"
    subject: str = ""
    verbs: tuple[str, ...] = ()


def _says(verb: str, how: How, subject: str = "", *, id: str = "", help: str = "") -> Action:
    return Action(id or verb, help or VERBS[verb].help, how, subject, (verb,))


def _looks(id: str, help: str, subject: str = "") -> Action:
    return Action(id, help, subject=subject)


TABLED: tuple[Action, ...] = (
    _says("decision answer", "answer", "decision", id="decision yes", help="answer yes; what its risk asks for comes first"),
    _says("decision answer", "answer", "decision", id="decision no", help="answer no and say why"),
    _says("decision answer", "answer", "decision", id="decision remember", help="answer yes, and from now on, within a rule"),
    _says("decision answer", "answer", "decision", id="decision text", help="answer in words"),
    _says("decision answer", "answer", "decision", id="option", help="choose that answer"),
    _says("decision snooze", "form", "decision"),
    _says("decision withdraw", "form", "decision"),
    _says("goal add", "form", help="a new goal: what should get done, and how you will know"),
    Action("goal run", "pause a goal, or accept its plan and start it", "direct", "goal", ("goal pause", "goal resume")),
    Action("edit", "change what a goal or a todo says", "form", "goal or todo", ("goal edit", "todo edit")),
    Action("reopen", "take up a finished goal or todo again", "direct", "goal or todo", ("goal reopen", "todo reopen")),
    _says("goal close", "form", "goal"),
    _says("goal archive", "form", "goal"),
    _says("criterion add", "form", "goal"),
    _says("criterion meet", "form", "criterion"),
    _says("criterion waive", "form", "criterion"),
    _says("check set", "form", "goal, todo or criterion"),
    _says("todo add", "form", "goal"),
    _says("todo drop", "form", "todo"),
    _says("todo split", "form", "todo"),
    _says("todo order", "direct", "todo", id="todo earlier", help="move a todo before the one above it"),
    _says("todo order", "direct", "todo", id="todo later", help="move a todo behind the one below it"),
    _says("stop", "direct", "goal", help="end what runs for this goal, with all its processes"),
    _says("undo", "direct", help="take back the last change that can be taken back"),
    _looks("difference", "the whole difference", "decision or goal"),
    _looks("go to goal", "show the goal this belongs to", "decision"),
    _looks("live", "the live output of the running turn", "goal"),
    _looks("why", "why it is where it is, and what may happen next", "anything"),
    _looks("open", "look closer"),
    _looks("follow", "stay at the end of the output"),
    _looks("filter", "show only what has these words; field:value and !not work too"),
    _looks("palette", "every action by name"),
    _looks("help", "the keys that work here"),
    _looks("pane needs", "what waits for you"),
    _looks("pane goals", "what is being done"),
    _looks("detail", "into the detail"),
    _looks("other side", "between the list and the detail"),
    _looks("last pane", "the pane you came from"),
    _looks("down", "one down"),
    _looks("up", "one up"),
    _looks("first", "to the first"),
    _looks("last", "to the last"),
    _looks("half down", "half a screen down"),
    _looks("half up", "half a screen up"),
    _looks("detail down", "move the detail without leaving the list"),
    _looks("detail up", "move the detail without leaving the list"),
    _looks("zoom", "the list alone, both, the detail alone"),
    _looks("back", "leave this, or clear the filter"),
    _looks("copy id", "the id to the clipboard", "anything"),
    _looks("copy command", "what you would type to see it", "anything"),
    _looks("theme", "choose a theme, shown as you move"),
    _looks("start engine", "start the engine in the background"),
    _looks("lock key", "forget the opened key; the next signature asks for the passphrase"),
    _looks("redraw", "draw the screen again"),
    _looks("quit", "leave; the engine goes on"),
)  # fmt: skip
ACTIONS: dict[str, Action] = {action.id: action for action in TABLED}
ELSEWHERE: dict[str, str] = {
    "owner init": "asked by the first signed command",
    "owner rotate": "loopx owner rotate",
    "actor add": "loopx actor add",
    "actor retire": "loopx actor retire",
    "project add": "done with the first goal in a folder",
    "project setup": "loopx project setup",
    "decision ask": "loopx decision ask",
    "decision propose": "loopx decision propose",
    "grant add": "loopx grant add",
    "grant revoke": "loopx grant revoke",
    "message send": "loopx message send",
    "message consume": "loopx message consume",
    "lease take": "loopx lease take",
    "place drop": "loopx place drop",
    "place retry": "loopx place retry",
}


def why_not_for(action: Action, subject: tuple[str, Any] | None) -> str:
    """Why an action has nothing to act on; empty where it has. What it may do is the engine's to say."""
    if action.subject in ("", "anything"):
        return "" if subject or not action.subject else "nothing is selected"
    kinds = action.subject.replace(" or ", ", ").split(", ")
    if subject is not None and (
        subject[0] in kinds or ("goal" in kinds and subject[0] in ("todo", "criterion", "decision"))
    ):
        return ""
    return f"select a {action.subject} first"
