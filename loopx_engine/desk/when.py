"""Times as people write them: `24h`, `3d`, `2027-01-31T18:00` (this machine's zone), or UTC milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime

from loopx_engine.clock import SystemClock
from loopx_engine.errors import UsageError
from loopx_engine.model.defaults import DAY, HOUR, MINUTE

UNITS = {"m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}


def parse_when(text: str, now: int | None = None) -> int:
    """UTC milliseconds. Raises `UsageError` (`bad_time`)."""
    given = text.strip()
    moment = SystemClock().now() if now is None else now
    if given[-1:] in UNITS and given[:-1].isascii() and given[:-1].isdigit() and 0 < int(given[:-1]) < 10_000:
        return moment + int(given[:-1]) * UNITS[given[-1]]
    if given.isascii() and given.isdigit() and len(given) in (13, 14):
        return int(given)
    try:
        return int(datetime.fromisoformat(given).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"'{given[:40]}' is no time; expected like 24h, 3d or 2027-01-31T18:00", code="bad_time"
        ) from None


def age(ms: int) -> str:
    """A duration in the largest fitting unit: `38s`, `12m`, `4h`, `3d`."""
    for unit, size in (("d", DAY), ("h", HOUR), ("m", MINUTE)):
        if ms >= size:
            return f"{ms // size}{unit}"
    return f"{max(0, ms) // 1000}s"


def clock_text(ms: int, now: int | None = None) -> str:
    """An instant as this machine's wall clock shows it, with the day where it is not within the next 20 hours."""
    seen = SystemClock().now() if now is None else now
    return _local(ms).strftime("%H:%M" if abs(ms - seen) < 20 * HOUR else "%a %H:%M")


def moment(ms: int, *, seconds: bool = False) -> str:
    """Day and time of an instant: `01-31 18:00`, or in full."""
    return _local(ms).strftime("%Y-%m-%d %H:%M:%S" if seconds else "%m-%d %H:%M")


def _local(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, tz=UTC).astimezone()
