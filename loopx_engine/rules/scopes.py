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
    if not glob:
        return True
    if not path:
        return all(part == "**" for part in glob)
    if glob[0] == "**":
        return _fits(glob[1:], path) or _fits(glob, path[1:])
    return fnmatchcase(path[0], glob[0]) and _fits(glob[1:], path[1:])
