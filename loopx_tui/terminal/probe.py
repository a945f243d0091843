"""Whether this terminal can show the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO


def why_no_screen(environ: Mapping[str, str], stdin: TextIO, stdout: TextIO) -> str | None:
    """None where it can; "" where nobody looks (a pipe); else the reason in a sentence."""
    if not (stdin.isatty() and stdout.isatty()):
        return ""
    if environ.get("TERM", "") in ("dumb", "unknown"):
        return f"TERM={environ['TERM']} cannot show the workspace; the commands work as ever (loopx --help)"
    return None
