"""The first screen: what is there and what is not, with the command that brings it; the key as it stands."""

from __future__ import annotations

from typing import Any

import pytest
from tui.state.texts import EXAMPLES, shown

from loopx_engine import visible
from loopx_engine.desk.desk import Key
from loopx_tui.state.first import first_lines, kept_lines

FOUND: list[dict[str, Any]] = [
    {"mark": "good", "name": "project", "text": "shop-api", "hint": "git"},
    {"mark": "faint", "name": "codex", "text": "not found", "hint": "npm i -g @openai/codex"},
]


def said(key: Key | None, found: list[dict[str, Any]], width: int = 80) -> list[str]:
    return [shown(item, width).rstrip() for item in first_lines(key, found, width)]


def key(*, made: bool = True, sealed: bool = False) -> Key:
    return Key(made=made, sealed=sealed, open=False)


def test_what_is_there_is_marked_and_what_is_not_says_how_it_comes() -> None:
    lines = said(key(), FOUND)
    assert "✓  owner key    not sealed" in lines
    assert "✓  project      shop-api" in [text.removesuffix("git").rstrip() for text in lines]
    missing = next(text for text in lines if "codex" in text)
    assert missing.startswith("◦  codex        not found")
    assert missing.endswith("npm i -g @openai/codex")


@pytest.mark.parametrize(
    ("stands", "words"),
    [
        (key(made=False), "◦  owner key    made when you first sign something"),
        (key(sealed=True), "✓  owner key    sealed by a passphrase"),
        (key(), "✓  owner key    not sealed"),
    ],
)
def test_the_key_is_said_as_it_stands(stands: Key, words: str) -> None:
    assert words in said(stands, FOUND)


def test_while_the_ledger_opens_nothing_is_claimed() -> None:
    assert "◦  looking at this machine" in said(None, [])
    assert not [text for text in said(None, []) if "owner key" in text]


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_what_a_program_says_of_itself_is_text(name: str, width: int) -> None:
    row = {"mark": "good", "name": "codex", "text": EXAMPLES[name], "hint": ""}
    text = next(line for line in said(key(), [row], width) if "codex" in line)
    assert visible(EXAMPLES[name])[:8].rstrip() in text


def test_where_it_would_work_is_short_below_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/ana")
    assert shown(kept_lines("/srv/ana/shop"), 30).rstrip() == "in ~/shop"
    assert shown(kept_lines("/srv/anabel/shop"), 30).rstrip() == "in /srv/anabel/shop"
    assert shown(kept_lines("/srv/ana"), 30).rstrip() == "in /srv/ana"
    monkeypatch.setenv("HOME", "/")
    assert shown(kept_lines("/shop"), 30).rstrip() == "in /shop"
