"""How many tests a check says it ran: a number that must not quietly fall (PAINS A7.2). Unknown is None."""

from __future__ import annotations

import re

PATTERNS = (
    re.compile(r"^Ran (\d+) tests? in", re.MULTILINE),
    re.compile(r"(\d+) passed"),
    re.compile(r"^# pass (\d+)$", re.MULTILINE),
    re.compile(r"test result: ok\. (\d+) passed"),
    re.compile(r"Tests run: (\d+)"),
)


def tests_counted(output: str) -> int | None:
    """The last count that one of the usual test runners printed."""
    for pattern in PATTERNS:
        found = pattern.findall(output)
        if found:
            return int(found[-1])
    return None
