"""A unified difference as lines: files, hunks, what went and what came. Git wrote it; here it is only read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from loopx_tui.state.lines import BLANK, Line, Span, line
from loopx_tui.state.when import counted

NOISE = ("index ", "--- ", "+++ ", "similarity", "dissimilarity", "rename ", "copy ")
CUT = "... cut after "
QUOTED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
ESCAPES = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


@dataclass(frozen=True)
class Difference:
    """`lines` as they are painted; `files`, `added`, `removed` counted over all of it; `why_not` where there is none."""

    lines: tuple[Line, ...] = ()
    files: int = 0
    added: int = 0
    removed: int = 0
    cut: bool = False
    why_not: str = ""

    @property
    def summary(self) -> tuple[Span, ...]:
        """`9 files  +212 -40`, or why there is none."""
        if self.why_not:
            return (Span(self.why_not, "soft"),)
        spans = [
            Span(counted(self.files, "file"), "soft"),
            Span(f"  +{self.added}", "good"),
            Span(f" -{self.removed}", "bad"),
        ]
        return (*spans, *((Span("  cut: it is larger", "accent"),) if self.cut else ()))


def difference(text: str, *, why_not: str = "") -> Difference:
    """The difference a text of `git diff` holds; the engine's last line says where it had to cut it."""
    if why_not or not text.strip():
        return Difference(why_not=why_not or "nothing differs")
    lines: list[Line] = []
    files = added = removed = 0
    inside = False
    *rows, last = text.rstrip("\n").split("\n")
    cut = last.startswith(CUT)
    for raw in rows if cut else [*rows, last]:
        if raw.startswith("diff --git "):
            files, inside = files + 1, False
            lines += [*([BLANK] if lines else []), line(Span(_name(raw), "soft", bold=True))]
        elif raw.startswith("@@"):
            inside = True
            lines.append(line(Span(raw, "faint")))
        elif not inside:
            lines += _about(raw)
        elif raw.startswith("+"):
            added += 1
            lines.append(_came(raw[1:]))
        elif raw.startswith("-"):
            removed += 1
            lines.append(_went(raw[1:]))
        elif raw.startswith("\\"):
            lines.append(line(Span("   no newline at its end", "faint")))
        elif raw:
            lines.append(line(Span("   ", "faint"), Span(_tabs(raw[1:]), "soft")))
    return Difference(tuple(lines), files, added, removed, cut)


def _about(raw: str) -> list[Line]:
    """What is said of a file before its first hunk."""
    if not raw or raw.startswith(NOISE):
        return []
    if raw.startswith("Binary files "):
        return [line(Span("   a binary file: no lines to show", "soft"))]
    return [line(Span(raw, "faint"))]


def _came(text: str) -> Line:
    return line(Span(" + ", "good"), Span(_tabs(text), "text"), ground="good_ground")


def _went(text: str) -> Line:
    return line(Span(" - ", "bad"), Span(_tabs(text), "soft"), ground="bad_ground")


def _tabs(text: str) -> str:
    return text.expandtabs(4)


def _name(header: str) -> str:
    """`src/cart.py` from `diff --git a/src/cart.py b/src/cart.py`; both names where they differ."""
    said = header.removeprefix("diff --git ")
    middle = len(said) // 2
    if _plain(said[:middle], "a/") != _plain(said[middle + 1 :], "b/"):
        found = re.search(r'" (?="?b/)' if said.startswith('"') else r' (?="?b/)', said)
        middle = found.end() - 1 if found else len(said)
    old, new = _plain(said[:middle], "a/"), _plain(said[middle + 1 :], "b/")
    return f"{old} → {new}" if new and old != new else old


def _plain(name: str, side: str) -> str:
    """A name as it is: git quotes what is not ASCII, and what could end a line."""
    if len(name) > 1 and name[0] == name[-1] == '"':
        raw = name[1:-1].encode("utf-8", "replace")
        name = QUOTED.sub(_unquoted, raw).decode("utf-8", "replace")
    return name.removeprefix(side)


def _unquoted(found: re.Match[bytes]) -> bytes:
    said = found[1]
    return bytes([int(said, 8) & 0xFF if len(said) == 3 else ESCAPES.get(said[0], said[0])])


def first_lines(shown: Difference, most: int) -> Iterable[Line]:
    """The beginning of a difference, as it stands under a decision."""
    return shown.lines[:most]
