"""Permissions, patterns and presets: the most specific rule wins; what is not one plain argv is covered by itself only."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NOW, grant

from loopx_engine.rules.patterns import canonical_exec, matches, plain_argv, specificity
from loopx_engine.rules.permission import Action, Ruling, decide_permission, in_force
from loopx_engine.rules.presets import continues_lost_turns, preset_answer

PUSH = Action(kind="push", text="origin/preview/g-1")


def rule(action: Action, *grants: Any, **over: Any) -> Ruling:
    given: dict[str, Any] = {"preset": "normal", "sandboxed": True, "inside_place": False, "network": True, "uses": {}}
    return decide_permission(action, **{**given, "goal": "g-1", "now": NOW, "grants": grants, **over})


def test_a_push_is_asked_until_it_is_granted() -> None:
    assert rule(PUSH).effect == "ask"
    granted = rule(PUSH, grant())
    assert (granted.effect, granted.rule) == ("allow", "gr-1")


@pytest.mark.parametrize(
    ("over", "uses", "ok"),
    [
        ({}, 0, True), ({}, 2, True), ({}, 3, False), ({"expires": NOW}, 0, False), ({"state": "revoked"}, 0, False),
        ({"goal": "g-1"}, 0, True), ({"goal": "g-2"}, 0, False), ({"effect": "deny"}, 99, True),
    ],
)  # fmt: skip
def test_a_grant_is_bounded_by_goal_expiry_uses_and_revocation(over: dict[str, Any], uses: int, ok: bool) -> None:
    assert in_force(grant(**over), uses, "g-1", NOW) is ok


def test_the_most_specific_rule_wins_and_a_tie_is_denied_then_asked() -> None:
    wide, exact = grant("gr-1", pattern="origin/*"), grant("gr-2", pattern="origin/preview/g-1", effect="deny")
    assert rule(PUSH, wide, exact).effect == "deny"
    assert (
        rule(PUSH, grant("gr-1", pattern="origin/*", effect="deny"), grant("gr-2", pattern="origin/preview/*")).effect
        == "allow"
    )
    tied = [grant("gr-1"), grant("gr-2", effect="ask"), grant("gr-3", effect="deny")]
    assert rule(PUSH, *tied).effect == "deny"
    assert rule(PUSH, *tied[:2]).effect == "ask"


def test_another_kind_is_never_covered() -> None:
    assert rule(Action(kind="merge", text="origin/preview/g-1"), grant()).effect == "ask"


HOSTILE = [
    "git status && rm -rf /", "git status; rm x", "git status | sh", "git status\nrm x", "git status > /etc/x", "git status `id`",
    "git status $(id)", "git status & rm x", "git status < x", "git status $HOME", "git status\rrm", "git (x)", "A=1 git status",
    "git 'unclosed", "git status\u2028rm x", "", "git status\0x",
]  # fmt: skip


@pytest.mark.parametrize("line", HOSTILE)
def test_a_compound_line_matches_only_a_grant_of_exactly_that_text(line: str) -> None:
    assert plain_argv(line) is None
    action = Action(kind="exec", text=line)
    assert rule(action, grant(kind="exec", pattern="git *")).effect == "ask"
    assert rule(action, grant(kind="exec", pattern="*")).effect == "ask"
    assert rule(action, grant(kind="exec", pattern=line)).effect == "allow"


def test_a_plain_line_is_globbed() -> None:
    assert plain_argv("git status --short") == ("git", "status", "--short")
    assert rule(Action(kind="exec", text="git status"), grant(kind="exec", pattern="git *")).effect == "allow"
    argv = ("npm", "run", "a b")
    assert canonical_exec(argv) == "npm run 'a b'"
    assert (
        rule(Action(kind="exec", text=canonical_exec(argv), argv=argv), grant(kind="exec", pattern="npm run *")).effect
        == "allow"
    )


@given(st.text(alphabet="git statu;|&$`<>()\n'\"\\*?[]!{}~#=", max_size=30))
def test_no_tricky_line_slips_through_a_glob(line: str) -> None:
    argv = plain_argv(line)
    if argv is None:
        assert not matches("g*", line, plain=False) or line == "g*"
    else:
        assert not set(line) & set(";|&$`<>()\n")


def test_specificity_counts_literals_after_exactness() -> None:
    assert (
        specificity("origin/main") > specificity("origin/preview/long/*") > specificity("origin/*") > specificity("*")
    )


INSIDE = [
    ("careful", "read", True, "allow"), ("careful", "write", True, "ask"), ("careful", "exec", True, "ask"),
    ("careful", "exec", False, "ask"), ("normal", "write", True, "allow"), ("normal", "exec", True, "allow"),
    ("normal", "exec", False, "ask"), ("normal", "write", False, "allow"), ("unattended", "exec", True, "allow"),
    ("unattended", "exec", False, "ask"), ("unattended", "push", True, "ask"), ("normal", "secret", True, "ask"),
    ("unattended", "close", True, "ask"), ("unattended", "spend", True, "ask"), ("unattended", "publish", False, "ask"),
]  # fmt: skip


@pytest.mark.parametrize(("preset", "kind", "sandboxed", "expected"), INSIDE)
def test_the_preset_table(preset: Any, kind: Any, sandboxed: bool, expected: str) -> None:
    said = preset_answer(preset, kind, sandboxed=sandboxed, inside_place=True, network=True, declared=False)
    assert said == expected


def test_declared_checks_run_without_a_box_and_nothing_outside_the_place_is_free() -> None:
    argv = ("make", "test")
    action = Action(kind="exec", text="make test", argv=argv)
    given: dict[str, Any] = {"sandboxed": False, "inside_place": True, "declared_checks": {argv}}
    assert rule(action, **given).effect == "allow"
    assert rule(action, **{**given, "preset": "careful"}).effect == "ask"
    assert rule(Action(kind="exec", text="make other", argv=("make", "other")), **given).effect == "ask"
    assert rule(action).effect == "ask"


def test_network_is_as_the_goal_says() -> None:
    wire = Action(kind="network", text="example.org:443")
    assert rule(wire).effect == "allow"
    assert rule(wire, network=False).effect == "ask"
    assert rule(wire, preset="careful").effect == "ask"


def test_only_unattended_continues_lost_turns() -> None:
    assert [continues_lost_turns(name) for name in ("careful", "normal", "unattended")] == [False, False, True]
