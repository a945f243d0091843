"""The one key table: it makes the bindings, the help screen, the foot, the palette and the key page of the documentation.

No key needs a modifier to be pressed (but to draw again); those with one are second ways. Letters never act while a field
has the focus.
"""

from __future__ import annotations

from dataclasses import dataclass

SCOPES = {
    "everywhere": "everywhere",
    "needs": "Needs you",
    "goals": "Goals",
    "decision": "a decision on its own screen",
    "live": "live output",
}


@dataclass(frozen=True, slots=True)
class Key:
    """`action` is an id of the action table; `word` what the foot says, `short` where there is little room; `rank` its place
    there (0: not in the foot)."""

    action: str
    keys: tuple[str, ...]
    word: str
    short: str
    scope: str = "everywhere"
    rank: int = 0


def _key(scope: str, action: str, keys: str, word: str, rank: int = 0) -> Key:
    long, _, short = word.partition("|")
    return Key(action, tuple(keys.split()), long, short or long, scope, rank)


KEYS: tuple[Key, ...] = (
    _key("needs", "decision yes", "y", "yes", 1),
    _key("needs", "decision no", "n", "no, with reason|no", 2),
    _key("needs", "decision remember", "Y", "yes and remember|remember", 3),
    _key("needs", "difference", "d", "difference|diff", 4),
    _key("needs", "decision snooze", "s", "snooze", 5),
    _key("needs", "decision text", "e", "answer in words"),
    _key("needs", "decision withdraw", "x", "take the question back"),
    _key("needs", "go to goal", "o", "its goal"),
    _key("goals", "todo add", "a", "add todo", 1),
    _key("goals", "goal run", "p", "pause or resume|pause", 2),
    _key("goals", "edit", "e", "edit", 3),
    _key("goals", "live", "l", "live output|live", 4),
    _key("goals", "stop", "S", "stop now|stop", 5),
    _key("goals", "difference", "d", "difference"),
    _key("goals", "todo drop", "x", "drop todo"),
    _key("goals", "todo earlier", "left_square_bracket", "todo one earlier"),
    _key("goals", "todo later", "right_square_bracket", "todo one later"),
    _key("goals", "todo split", "v", "split todo"),
    _key("goals", "reopen", "r", "take up again"),
    _key("goals", "check set", "t", "set its check"),
    _key("goals", "criterion add", "b", "add criterion"),
    _key("goals", "criterion meet", "m", "criterion is met"),
    _key("goals", "criterion waive", "W", "give criterion up"),
    _key("goals", "goal close", "X", "close goal"),
    _key("goals", "goal archive", "A", "archive goal"),
    _key("decision", "decision yes", "y", "yes", 1),
    _key("decision", "decision no", "n", "no, with reason|no", 2),
    _key("decision", "decision remember", "Y", "yes and remember|remember", 3),
    _key("decision", "difference", "d", "whole difference|diff", 4),
    _key("decision", "option", "1 2 3 4 5 6 7 8 9", "that answer"),
    _key("live", "follow", "F", "follow", 1),
    _key("everywhere", "why", "w", "why", 9),
    _key("everywhere", "goal add", "N", "new goal", 10),
    _key("everywhere", "open", "enter", "open", 8),
    _key("everywhere", "filter", "slash", "filter", 6),
    _key("everywhere", "palette", "colon ctrl+p", "palette", 7),
    _key("everywhere", "help", "question_mark f1", "help", 99),
    _key("everywhere", "undo", "z", "undo"),
    _key("everywhere", "pane needs", "1", "Needs you"),
    _key("everywhere", "pane goals", "2", "Goals"),
    _key("everywhere", "detail", "0", "the detail"),
    _key("everywhere", "other side", "tab right left shift+tab", "list or detail"),
    _key("everywhere", "last pane", "minus", "the pane before"),
    _key("everywhere", "down", "j down", "down"),
    _key("everywhere", "up", "k up", "up"),
    _key("everywhere", "first", "g home", "first"),
    _key("everywhere", "last", "G end", "last"),
    _key("everywhere", "half down", "ctrl+d pagedown", "half a page down"),
    _key("everywhere", "half up", "ctrl+u pageup", "half a page up"),
    _key("everywhere", "detail down", "J", "scroll the detail down"),
    _key("everywhere", "detail up", "K", "scroll the detail up"),
    _key("everywhere", "zoom", "f", "list, both, detail"),
    _key("everywhere", "back", "escape", "back"),
    _key("everywhere", "copy id", "c", "copy id"),
    _key("everywhere", "copy command", "C", "copy as command"),
    _key("everywhere", "theme", "T", "theme"),
    _key("everywhere", "start engine", "R", "start the engine"),
    _key("everywhere", "lock key", "L", "forget the passphrase"),
    _key("everywhere", "redraw", "ctrl+l", "draw again"),
    _key("everywhere", "quit", "q ctrl+q", "quit"),
)
MEETING = ({"needs", "everywhere"}, {"goals", "everywhere"})  # the others are screens of their own
NAMES = {
    "slash": "/", "colon": ":", "question_mark": "?", "minus": "-", "left_square_bracket": "[", "right_square_bracket": "]",
    "right": "→", "left": "←", "up": "↑", "down": "↓", "escape": "esc", "pagedown": "pgdn", "pageup": "pgup",
}  # fmt: skip


def shown(key: str) -> str:
    """A key as it is printed: `/`, `esc`, `ctrl+d`."""
    return NAMES.get(key, key)


def many_shown(keys: tuple[str, ...]) -> str:
    """The keys of an action as they are printed; a run of digits is `1-9`."""
    if len(keys) > 2 and all(key.isdigit() for key in keys):
        return f"{keys[0]}-{keys[-1]}"
    return " ".join(map(shown, keys))


def of_scope(scope: str) -> tuple[Key, ...]:
    """The keys of a scope, in the order of the table."""
    return tuple(key for key in KEYS if key.scope == scope)


def key_for(action: str, scope: str = "") -> Key | None:
    """The first key of an action, in a scope where one is named, else anywhere."""
    found = [key for key in KEYS if key.action == action]
    return next((key for key in found if key.scope == scope), found[0] if found else None)


def meet(action: str, other: str) -> bool:
    """Whether both can be asked for at one place, so that a key can only be one of theirs."""
    pairs = ((one.scope, two.scope) for one in KEYS if one.action == action for two in KEYS if two.action == other)
    return any(one == two or {one, two} in MEETING for one, two in pairs)


def foot(scope: str) -> tuple[Key, ...]:
    """What the foot shows in a scope, most used first."""
    wanted = [key for key in KEYS if key.rank and key.scope in (scope, "everywhere")]
    own = {key.action for key in wanted if key.scope == scope}
    return tuple(
        sorted((k for k in wanted if k.scope == scope or k.action not in own), key=lambda k: (k.rank, k.scope != scope))
    )
