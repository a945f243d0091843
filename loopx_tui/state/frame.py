"""The lines around the panes: the head with what is live, the panes at the side or in a strip, the foot with its keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from loopx_engine import visible
from loopx_tui.keys import foot, shown
from loopx_tui.state.lines import BLANK, Line, Span, cut, line, width_of
from loopx_tui.state.when import clock, counted, stopwatch

STALE_MS = 3000
PANES = (("1", "needs", "Needs you"), ("2", "goals", "Goals"))


@dataclass(frozen=True)
class Standing:
    """What the head and the side say. `heard_ms` is how long ago the ledger was last looked at; `fault` why it cannot be."""

    status: dict[str, Any] | None = None
    engine: bool | None = None
    heard_ms: int = 0
    fault: str = ""


def head_line(standing: Standing, width: int, now: int) -> Line:
    """`loopx  shop-api  ~/code/shop-api` and at the right what is live."""
    status = standing.status
    left = [Span("loopx", "accent", bold=True)]
    project = status["project"] if status else None
    if project:
        left.append(Span(f"  {project['name']}"))
        left += [Span(f"  {_short(project['root'])}", "faint")] if width >= 100 else []
    return Line(tuple(left), tuple(_right(standing, width, now)), "side")


def _right(standing: Standing, width: int, now: int) -> list[Span]:
    """What is live and what waits for a person; between them, where there is room, what runs and the next look."""
    status, live = standing.status, _live(standing)
    if status is None:
        return [live]
    count = status["needs_you_count"]
    needs = Span(f"  needs {count}", "accent" if count else "faint", bold=bool(count))
    between = _between(standing, status, width, now)
    room = width // 2 - width_of(live.text) - width_of(needs.text)
    while between and sum(width_of(span.text) for span in between) > room:
        between.pop()
    return [replace(live, text=cut(live.text, width // 2 - width_of(needs.text))), *between, needs]


def _between(standing: Standing, status: dict[str, Any], width: int, now: int) -> list[Span]:
    spans, wide = [], width >= 100
    if status["running"]:
        spans.append(Span(f"  {len(status['running'])} {'running' if wide else 'run'}", "run"))
    if status["next_look"] and not standing.fault and standing.engine:
        look = clock(max(status["next_look"], now), now)
        spans.append(Span(f"  next {look}" if wide else f"  {look}", "soft"))
    return spans


def _live(standing: Standing) -> Span:
    if standing.fault:
        return Span(f"✗ {standing.fault} · {standing.heard_ms // 1000}s", "bad", bold=True)
    if standing.heard_ms > STALE_MS:
        return Span(f"✗ stale {standing.heard_ms // 1000}s", "bad", bold=True)
    if standing.engine is None:
        return Span("opening", "faint")
    return Span("live", "good") if standing.engine else Span("✗ no engine", "bad", bold=True)


def side_lines(standing: Standing, active: str, width: int, now: int) -> list[Line]:
    """The panes, and who works now."""
    lines = [BLANK]
    for number, name, title in PANES:
        on = name == active
        count = _count(standing, name)
        right = Span(count, "accent" if name == "needs" and count != "0" else "faint", bold=name == "needs")
        lines.append(
            Line(
                (Span(f"{number} ", "accent" if on else "faint"), Span(title, "text" if on else "soft", bold=on)),
                (right,) if count else (),
                "select" if on else "side",
            )
        )
    running = standing.status["running"] if standing.status else []
    if running:
        lines += [BLANK, BLANK, line(Span("RUNNING NOW", "faint", bold=True))]
    for turn in running[:8]:
        ran = Span(stopwatch(turn["for_ms"]), "soft")
        lines += [BLANK, line(Span("▸ ", "run"), Span(turn["actor"], bold=True), right=ran)]
        lines.append(line(Span("  "), Span(turn["title_todo"], "soft")))
    broken = standing.status["broken_count"] if standing.status else 0
    if broken:
        lines += [BLANK, BLANK, line(Span(counted(broken, "finding"), "bad"))]
    return lines


def strip_line(standing: Standing, active: str) -> Line:
    """The panes in one line, where there is no side."""
    spans: list[Span] = []
    for number, name, title in PANES:
        count = _count(standing, name)
        said = f" {number} {title}" + (f" {count}" if count else "") + " "
        on = name == active
        spans.append(Span(said, "text" if on else "faint", bold=on, ground="select" if on else "side"))
    return Line(tuple(spans), (), "side")


def foot_line(
    scope: str,
    disabled: frozenset[str],
    said: Line | None,
    width: int,
    *,
    narrow: bool = False,
    own: Mapping[str, tuple[str, ...]] | None = None,
) -> Line:
    """The keys that work here, most used first, and at the right what was just done. `own` are keys of one's own, by action."""
    right = said.right if said else ()
    room = width - sum(width_of(visible(span.text)) for span in right) - 2
    keys = [(key, (own or {}).get(key.action, key.keys)) for key in foot(scope) if key.action not in disabled]
    *most, last = [(shown(names[0]), key.short if narrow else key.word) for key, names in keys] or [("?", "help")]
    kept: list[tuple[str, str]] = []
    room -= _size(*last)
    for name, word in most:
        room -= _size(name, word)
        if room < 0:
            break
        kept.append((name, word))
    spans = [
        part for name, word in (*kept, last) for part in (Span(name, "accent", bold=True), Span(f" {word}   ", "soft"))
    ]
    return Line(tuple(spans), right, "side")


def _size(name: str, word: str) -> int:
    return width_of(name) + width_of(word) + 4


def _count(standing: Standing, name: str) -> str:
    if standing.status is None:
        return ""
    if name == "needs":
        return str(standing.status["needs_you_count"])
    counts = standing.status["counts"]
    return str(sum(counts.get(f"goal.{phase}", 0) for phase in ("active", "draft", "paused", "done")))


def _short(path: str) -> str:
    from os.path import expanduser

    home = expanduser("~")
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + "/") else path
