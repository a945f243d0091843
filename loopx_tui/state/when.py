"""Times as people read them: ages, durations, clock times. Everything in cells that align."""

from __future__ import annotations

from datetime import UTC, datetime

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def age(ms: int) -> str:
    """In the largest fitting unit: `38s`, `12m`, `4h`, `3d`."""
    for unit, size in (("d", DAY), ("h", HOUR), ("m", MINUTE)):
        if ms >= size:
            return f"{ms // size}{unit}"
    return f"{max(0, ms) // 1000}s"


def calm_age(ms: int) -> str:
    """An age that does not change each second: `now` for the first minute."""
    return "now" if ms < MINUTE else age(ms)


def stopwatch(ms: int) -> str:
    """A running time: `0:38`, `4:12`, `1:02:07`."""
    seconds = max(0, ms) // 1000
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def clock(ms: int, now: int) -> str:
    """An instant on this machine's clock; with its day where it is not within 20 hours."""
    try:
        local = datetime.fromtimestamp(ms / 1000, tz=UTC).astimezone()
    except (OverflowError, OSError, ValueError):
        return "unknown"
    return local.strftime("%H:%M" if abs(ms - now) < 20 * HOUR else "%a %d %H:%M")


def tokens(count: int | None) -> str:
    """`unknown`, `870`, `412k`, `3.1M`."""
    if count is None:
        return "unknown"
    if count < 1000:
        return str(count)
    return f"{count // 1000}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def money(millionths: int | None) -> str:
    """`$2.10`, or nothing while no cost was reported."""
    return "" if millionths is None else f"${millionths / 1_000_000:.2f}"


def counted(number: int, what: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{number} {what}" + ("" if number == 1 else "s")
