"""Named statements: `-- name: todo.ready` and the SQL below it, in `sql/<noun>.sql`; read when first needed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from loopx_engine.errors import Fault

FOLDER = Path(__file__).with_name("sql")
MARK = "-- name: "


@cache
def statements_of(noun: str) -> dict[str, str]:
    """All statements of one file."""
    found: dict[str, str] = {}
    name = ""
    for line in (FOLDER / f"{noun}.sql").read_text(encoding="utf-8").splitlines():
        if line.startswith(MARK):
            name = line[len(MARK) :].strip()
            found[name] = ""
        elif name and line.strip():
            found[name] += line.strip() + " "
    return found


@cache
def statement(name: str) -> str:
    """The SQL of a named statement. Raises `Fault` for an unknown name."""
    noun = name.partition(".")[0]
    found = statements_of(noun).get(name) if (FOLDER / f"{noun}.sql").is_file() else None
    if found is None:
        raise Fault(f"there is no statement {name}")
    return found


def quoted(name: str) -> str:
    """A table or column name, always quoted: several nouns are words of SQL."""
    return f'"{name}"'
