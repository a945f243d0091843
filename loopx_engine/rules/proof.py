"""Proof: what a check's outcome is worth, by who set the check, who did the work, and what the work changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from posixpath import normpath

from loopx_engine.model.check import Check
from loopx_engine.rules.scopes import covers

TEST_FILES = (
    "tests/**", "test/**", "**/tests/**", "**/test/**", "**/__tests__/**", "**/test_*", "**/*_test.*", "**/*.test.*",
    "**/*.spec.*", "**/conftest.py",
)  # fmt: skip
PROVED, SELF_CHECKED, NOT_PROVED = "proved", "self-checked", "not proved"
NEEDS_REVIEW, REFUSED = "needs review", "refused"


def proof_of(
    *,
    check: Check | None,
    outcome: str,
    taken_at: int,
    executor: str,
    current: bool,
    changed: Sequence[str] = (),
    review: str = "",
) -> str:
    """`proved`, `self-checked`, `not proved` (no check), `needs review` or `refused`.

    `taken_at`: when the work was taken (UTC ms); `current`: the check saw the tree that is there now. A check that the
    executor set, or that was set after the work was taken, proves no more than *self-checked*; a change to the files it
    protects counts only after a review.
    """
    if check is None:
        return NOT_PROVED
    if outcome != "pass" or not current:
        return REFUSED
    if protected(check, changed) and review != "pass":
        return NEEDS_REVIEW
    if check.set_by == executor or check.set_at > taken_at:
        return SELF_CHECKED
    return PROVED


def protected(check: Check, changed: Iterable[str]) -> tuple[str, ...]:
    """The changed files that the check protects: its own globs, else the usual test files and the files its argv names."""
    globs, named = check.protects or TEST_FILES, () if check.protects else named_files(check)
    return tuple(path for path in changed if any(covers(glob, path) for glob in globs) or below(path, named))


def named_files(check: Check) -> tuple[str, ...]:
    """The paths, from the place's root, that a check's argv names: its own script, `file::test`, `--config=file.toml`.

    A word without `/` and `.`, and a folder that is an option's value (`--cov=src/app`), is what the check looks over.
    """
    found = []
    for number, word in enumerate(check.argv):
        option = word.startswith("-")
        name = normpath((word.partition("=")[2] if option else word).partition("::")[0])
        file = "." in PurePosixPath(name).name if option else "/" in name or "." in name
        if (file or (number == 0 and "/" in word)) and name != "." and not name.startswith("/"):
            found.append(normpath(f"{check.cwd}/{name}"))
    return tuple(found)


def below(path: str, named: Iterable[str]) -> bool:
    """Whether a path is one of these, or lies in one."""
    return any(path == name or path.startswith(f"{name}/") for name in named)


def serves_criterion(proof: str) -> bool:
    """Whether a todo's proof may count for a criterion."""
    return proof in (PROVED, "reviewed", "confirmed")


def count_dropped(last: int | None, now: int | None) -> str:
    """A sentence where fewer tests ran than at the last accepted run; empty where that is unknown or not so."""
    if last is None or now is None or now >= last:
        return ""
    return f"{now} tests ran, {last} at the last accepted run"
