"""The risk of grants, what a check protects, and scopes that no path can make slow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import check, grant

from loopx_engine.model.grant import PERMISSION_KINDS
from loopx_engine.rules.patterns import matches
from loopx_engine.rules.proof import named_files, protected
from loopx_engine.rules.risk import OF_KIND, risk_of, risk_of_grant
from loopx_engine.rules.scopes import covers, outside


@pytest.mark.parametrize(
    "ref", ["", "+main", "+x", "HEAD:main", "x:refs/heads/main", "heads/main", "refs/heads/main", "main"]
)
def test_a_push_whose_ref_is_no_plain_name_of_an_unprotected_branch_is_high(ref: str) -> None:
    assert risk_of("push", {"ref": ref}) == "high"


def test_every_kind_of_permission_has_a_risk() -> None:
    assert set(OF_KIND) == set(PERMISSION_KINDS)


@pytest.mark.parametrize(
    ("pattern", "protected_refs", "expected"),
    [
        ("origin/loopx/*", (), "medium"), ("origin/feature", (), "medium"), ("origin/*", (), "high"), ("*", (), "high"),
        ("*/loopx/*", (), "medium"), ("*/main", (), "high"), ("origin/m*", (), "high"), ("origin/main", (), "high"),
        ("up/refs/heads/main", (), "high"), ("up/dev*", (), "medium"), ("up/dev*", ("develop",), "high"),
    ],
)  # fmt: skip
def test_a_grant_of_pushes_has_the_risk_of_the_gravest_branch_it_reaches(
    pattern: str, protected_refs: tuple[str, ...], expected: str
) -> None:
    assert risk_of_grant("push", pattern, protected_refs) == expected


def test_other_grants_have_the_risk_of_their_kind() -> None:
    assert [risk_of_grant(kind, "*") for kind in ("read", "exec", "merge", "publish", "grant")] == [
        "low", "medium", "medium", "high", "high",
    ]  # fmt: skip


@given(st.text(st.sampled_from("origmanfe/*?"), min_size=1, max_size=14))
def test_no_grant_of_medium_risk_covers_a_push_of_high_risk(pattern: str) -> None:
    assert grant(pattern=pattern).pattern == pattern
    if risk_of_grant("push", pattern) == "medium":
        assert not matches(pattern, "origin/main")
        assert not matches(pattern, "origin/refs/heads/main")


@pytest.mark.parametrize(
    ("argv", "cwd", "named"),
    [
        (("./verify.sh",), ".", ("verify.sh",)),
        (("./run",), ".", ("run",)),
        (("./run",), "pkg", ("pkg/run",)),
        (("python", "verify/run.py"), "pkg", ("pkg/verify/run.py",)),
        (("python", "../run.py"), "pkg", ("run.py",)),
        (("pytest", "checks/a.py::test_b", "-x"), ".", ("checks/a.py",)),
        (("pytest", "--config=verify/a.toml", "--cov=src/app", "-q"), ".", ("verify/a.toml",)),
        (("ruff", "check", "src/", ".", "./"), ".", ()),
        (("/usr/bin/make", "test"), ".", ()),
        (("make", ""), ".", ()),
    ],
)
def test_the_files_an_argv_names_are_known_from_the_places_root(
    argv: tuple[str, ...], cwd: str, named: tuple[str, ...]
) -> None:
    assert named_files(check(argv=argv, cwd=cwd)) == named


def test_a_check_protects_its_own_script_and_what_it_names_but_not_what_it_looks_over() -> None:
    assert protected(check(argv=("./verify.sh",)), ("verify.sh", "src/a.py")) == ("verify.sh",)
    assert protected(check(argv=("sh", "verify/unit")), ("verify/unit/a", "verify/other")) == ("verify/unit/a",)
    assert protected(check(argv=("ruff", "check", "src/")), ("src/a.py",)) == ()
    assert protected(check(argv=("x", "src/[id].test/run.py")), ("src/[id].test/run.py",)) == ("src/[id].test/run.py",)
    assert protected(check(argv=("./verify.sh",), protects=("spec/**",)), ("verify.sh", "spec/a")) == ("spec/a",)


def test_a_scope_is_decided_in_few_steps_however_many_folders_it_leaves_open() -> None:
    deep = "/".join(["a"] * 400)
    hostile = "/".join(["**", "a"] * 100)
    assert covers(hostile, deep)
    assert not covers(f"{hostile}/b", deep)
    assert not covers("/".join(["**"] * 200 + ["b"]), deep)


def test_a_scope_is_anchored_and_covers_what_lies_below() -> None:
    assert covers("src/**/x", "src/a/b/x/y")
    assert covers("**", "a")
    assert not covers("a/**", "a")
    assert not covers("**/x", "a/b")
    assert outside(("src/a", "b"), ("src", "c")) == ("b",)
