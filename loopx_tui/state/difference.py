"""A unified difference as lines: files, hunks, what went and what came. Git wrote it; here it is only read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loopx_tui.state.lines import BLANK, Line, Span, line
from loopx_tui.state.when import counted

NOISE = ("index ", "--- ", "+++ ", "old mode", "similarity", "dissimilarity", "new file mode", "deleted file mode")


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


def difference(text: str, *, cut: bool = False, why_not: str = "") -> Difference:
    """The difference a text of `git diff` holds."""
    if why_not or not text.strip():
        return Difference(why_not=why_not or "nothing differs")
    lines: list[Line] = []
    files = added = removed = 0
    inside = False
    for raw in text.split("\n"):
        if raw.startswith("diff --git "):
            files, inside = files + 1, False
            lines += [*([BLANK] if lines else []), line(Span(_name(raw), "soft", bold=True))]
        elif raw.startswith("@@"):
            inside = True
            lines.append(line(Span(raw, "faint")))
        elif not inside and raw.startswith(NOISE):
            lines += [line(Span(raw, "faint"))] if raw.startswith(("old", "new file", "deleted")) else []
        elif inside and raw.startswith("+"):
            added += 1
            lines.append(_came(raw[1:]))
        elif inside and raw.startswith("-"):
            removed += 1
            lines.append(_went(raw[1:]))
        elif raw:
            lines.append(line(Span("   ", "faint"), Span(raw[1:] if inside else raw, "soft")))
    return Difference(tuple(lines), files, added, removed, cut)


def _came(text: str) -> Line:
    return line(Span(" + ", "good"), Span(_tabs(text), "text"), ground="good_ground")


def _went(text: str) -> Line:
    return line(Span(" - ", "bad"), Span(_tabs(text), "soft"), ground="bad_ground")


def _tabs(text: str) -> str:
    return text.expandtabs(4)


def _name(header: str) -> str:
    """`src/cart.py` from `diff --git a/src/cart.py b/src/cart.py`; both names where they differ."""
    halves = header.removeprefix("diff --git ").split(" b/", 1)
    old, new = halves[0].removeprefix("a/"), halves[-1]
    return new if old == new or len(halves) == 1 else f"{old} → {new}"


def first_lines(shown: Difference, most: int) -> Iterable[Line]:
    """The beginning of a difference, as it stands under a decision."""
    return shown.lines[:most]
