"""Canonical texts and globs of acts, and what no spelling of a line can do."""

from __future__ import annotations

import shlex
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DAY, NOW, grant

from loopx_engine.rules.patterns import canonical_exec, matches, plain_argv, specificity
from loopx_engine.rules.permission import Action, Ruling, decide_permission

TRICKY = st.text(st.sampled_from("git push-;|&$`<>()\n\r\t\0'\"\\*?[]!{}~#= \u00a0\u2003\u2028\u200b😀"), max_size=24)
ARGV = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8), min_size=1, max_size=4
)


def rule(action: Action, *grants: Any, **over: Any) -> Ruling:
    given_: dict[str, Any] = {"preset": "normal", "sandboxed": True, "inside_place": True, "network": True, "uses": {}}
    return decide_permission(action, **{**given_, "goal": "g-1", "now": NOW, "grants": grants, **over})


@pytest.mark.parametrize(
    "line", ["git push origin", "git  push origin", "git 'push' origin", 'git "pu"sh origin', "git pus\\h origin"]
)
def test_a_denial_meets_every_spelling_of_the_same_argv(line: str) -> None:
    denied = grant(kind="exec", pattern="git push*", effect="deny")
    assert rule(Action(kind="exec", text=line), denied).effect == "deny"
    assert rule(Action(kind="exec", text=line, argv=tuple(shlex.split(line))), denied).effect == "deny"


def test_a_declared_check_is_known_by_its_argv_however_it_is_written() -> None:
    declared: dict[str, Any] = {"sandboxed": False, "declared_checks": {("make", "test")}}
    for line in ("make test", "make  test", "make 'test'"):
        assert rule(Action(kind="exec", text=line), **declared).effect == "allow"
    for line in ("make test; rm x", "make test x", "make 'test x'", "make"):
        assert rule(Action(kind="exec", text=line), **declared).effect == "ask"


def test_an_empty_argv_is_not_plain() -> None:
    assert rule(Action(kind="exec", text="a; b", argv=()), grant(kind="exec", pattern="*")).rule == "preset normal"


@given(TRICKY)
@settings(max_examples=400)
def test_what_is_not_one_plain_argv_is_covered_by_its_own_text_only(line: str) -> None:
    if plain_argv(line) is not None:
        return
    action = Action(kind="exec", text=line)
    for pattern in ("*", "git *", "git*", "?*", f"{line}*", f"*{line}"):
        if pattern != line:
            assert rule(action, grant(kind="exec", pattern=pattern), sandboxed=False).effect == "ask"
    assert rule(action, grant(kind="exec", pattern=line)).effect == "allow"


@given(TRICKY)
@settings(max_examples=400)
def test_a_plain_argv_has_no_character_that_joins_commands(line: str) -> None:
    argv = plain_argv(line)
    if argv is not None:
        assert argv == tuple(shlex.split(line))
        assert plain_argv(canonical_exec(argv)) in (argv, None)
        assert line.isprintable()


@given(ARGV)
def test_an_argv_keeps_its_words_in_its_text(argv: list[str]) -> None:
    assert shlex.split(canonical_exec(tuple(argv))) == argv


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\u2028", "\u200b", "\t", "\v", "\u0085"])
def test_an_odd_space_makes_a_line_that_is_not_plain(space: str) -> None:
    assert plain_argv(f"git{space}status") is None


def test_brackets_in_a_path_are_covered_by_the_very_path() -> None:
    assert matches("src/[id]/page.tsx", "src/[id]/page.tsx")
    assert not matches("src/[id]/page.tsx", "src/[slug]/page.tsx")


GRANTS = st.lists(
    st.builds(
        grant,
        st.integers(1, 9).map(lambda n: f"gr-{n}"),
        pattern=st.sampled_from(["*", "origin/*", "origin/main", "up/*", "origin/m?in"]),
        effect=st.sampled_from(["allow", "ask", "deny"]),
        expires=st.sampled_from([NOW, NOW + DAY]),
        uses=st.integers(1, 2),
        goal=st.sampled_from([None, "g-1", "g-2"]),
        state=st.sampled_from(["live", "revoked"]),
    ),
    max_size=4,
    unique_by=lambda item: item.id,
)


@given(GRANTS, st.dictionaries(st.integers(1, 9).map(lambda n: f"gr-{n}"), st.integers(0, 3)))
@settings(max_examples=300)
def test_a_ruling_rests_on_a_grant_in_force_and_on_no_order(grants: list[Any], uses: dict[str, int]) -> None:
    push = Action(kind="push", text="origin/main")
    rulings = {repr(rule(push, *order, uses=uses)) for order in permutations(grants)}
    assert len(rulings) == 1
    found = rule(push, *grants, uses=uses)
    if found.rule == "preset normal":
        assert found.effect == "ask"
        return
    cited = next(item for item in grants if item.id == found.rule)
    assert cited.effect == found.effect
    assert cited.state == "live"
    assert cited.expires > NOW
    assert cited.goal in (None, "g-1")
    assert matches(cited.pattern, "origin/main")
    assert cited.effect != "allow" or uses.get(cited.id, 0) < cited.uses
    live = [item for item in grants if item.state == "live" and item.expires > NOW and item.goal in (None, "g-1")]
    equal = [
        item
        for item in live
        if matches(item.pattern, "origin/main") and specificity(item.pattern) == specificity(cited.pattern)
    ]
    assert found.effect == "deny" or all(item.effect != "deny" for item in equal)
