"""The transcript of a turn as it grows: whole lines from where the reader stood, or the last of them."""

from __future__ import annotations

from pathlib import Path

READ_BYTES = 64_000
TAIL_BYTES = 256_000


def more(path: str, position: int, most: int = TAIL_BYTES) -> tuple[list[str], int]:
    """The whole lines that were added since `position` (at most about `most` bytes), and where the next one begins."""
    lines: list[str] = []
    if not path:
        return lines, position
    began = position
    try:
        with Path(path).open("rb") as transcript:
            transcript.seek(position)
            while position - began < most:
                line = transcript.readline(READ_BYTES)
                if not line or (not line.endswith(b"\n") and len(line) < READ_BYTES):
                    break
                position += len(line)
                lines.append(line.decode("utf-8", "replace").rstrip("\r\n"))
    except OSError:
        return lines, position
    return lines, position


def tail(path: str, most: int = TAIL_BYTES) -> tuple[list[str], int]:
    """The last whole lines of about `most` bytes, and where the next one begins."""
    try:
        size = Path(path).stat().st_size if path else 0
    except OSError:
        return [], 0
    start = max(0, size - most)
    lines, position = more(path, start, most)
    return (lines[1:] if start else lines), position
