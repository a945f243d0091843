"""Every error the product raises on purpose, with what a person or a script needs to go on.

    LoopxError
    ├── Fault            1   a bug of ours, reported as such
    ├── UsageError       2   the words of the call are wrong
    ├── Refused          3   a rule says no
    ├── NotFound         4   nothing has this id
    ├── StateMoved       5   the state is not the one that was previewed
    ├── WaitsForPerson   6   a decision was opened; its id is in `details`
    ├── LedgerUnusable   7   damaged, newer or read-only
    ├── CheckFailed      8   a check did not pass
    ├── FindingsExist    9   doctor or verify found something
    └── TryAgain        75   busy, disk full, an engine runs elsewhere

`code` is stable and for scripts, `exit_code` is JOURNEYS.md 2, `retry` says whether the same call may succeed later,
`message` says what happened and what was expected, `next` names the next step (a command where there is one).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class LoopxError(Exception):
    """Base of all: `code`, `message`, `next`, `details` (JSON values only)."""

    exit_code: ClassVar[int] = 1
    retry: ClassVar[bool] = False
    default_code: ClassVar[str] = "fault"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        next: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.next = next
        self.details = dict(details or {})


class Fault(LoopxError):
    exit_code = 1
    default_code = "fault"


class UsageError(LoopxError):
    exit_code = 2
    default_code = "usage"


class Refused(LoopxError):
    exit_code = 3
    default_code = "refused"


class NotFound(LoopxError):
    exit_code = 4
    default_code = "not_found"


class StateMoved(LoopxError):
    exit_code = 5
    default_code = "state_moved"
    retry = True


class WaitsForPerson(LoopxError):
    exit_code = 6
    default_code = "waits_for_person"


class LedgerUnusable(LoopxError):
    exit_code = 7
    default_code = "ledger_unusable"


class CheckFailed(LoopxError):
    exit_code = 8
    default_code = "check_failed"


class FindingsExist(LoopxError):
    exit_code = 9
    default_code = "findings"


class TryAgain(LoopxError):
    exit_code = 75
    default_code = "try_again"
    retry = True
