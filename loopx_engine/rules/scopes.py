"""Write scopes: a turn's changes must lie in its todo's scopes, checked when the todo is settled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase


def outside(changed: Iterable[str], scopes: Sequence[str]) -> tuple[str, ...]:
    """The changed paths that no scope covers; without scopes nothing is outside."""
    if not scopes:
        return ()
    return tuple(path for path in changed if not any(covers(scope, path) for scope in scopes))


def covers(glob: str, path: str) -> bool:
    """Whether an anchored glob covers a path: `*` stays in one name, `**` is any folders, a folder covers what is below it."""
    return _fits(tuple(part for part in glob.strip("/").removeprefix("./").split("/") if part), tuple(path.split("/")))


def _fits(glob: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Walks the glob once with the set of positions in the path it may have reached: never more than glob x path steps."""
    reached = {0}
    for number, part in enumerate(glob, 1):
        if part == "**":
            reached = set(range(min(reached) + (number == len(glob)), len(path) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(path) and fnmatchcase(path[at], part)}
        if not reached:
            return False
    return True
