"""Finding: something that needs recovery. Derived from ledger, process table and files; never stored as truth."""

from __future__ import annotations

from loopx_engine.model.record import noun


@noun
class Choice:
    """One numbered way out: a sentence, and the command that takes it (argv after `loopx`, empty: nothing to do)."""

    text: str
    command: tuple[str, ...] = ()


@noun
class Finding:
    kind: str
    subject: str
    goal: str = ""
    since: int
    happened: str
    safe: str = ""
    lost: str = ""
    choices: tuple[Choice, ...] = ()
