"""The caller on the ledger itself: opens it, knows who this process is, and signs where a verb needs the key."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loopx_engine.cli.caller import Outcome
from loopx_engine.commands.verbs import verb_of
from loopx_engine.engine import Answer, Engine, Preview, found
from loopx_engine.host.paths import home, key_folder
from loopx_engine.model.identity import Identity


class LocalCaller:
    """One process's way to its ledger. Nothing is opened before it is needed."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.home: Path = home(environ)
        self._engine: Engine | None = None
        self._who: Identity | None = None

    @property
    def engine(self) -> Engine:
        """The pipeline on this ledger; a new ledger gets its owner and engine at once."""
        if self._engine is None:
            self._engine = open_engine(self.environ)
            found(self._engine, name=_user(), host=socket.gethostname(), public_key=self._public_key())
        return self._engine

    def who(self, *, writing: bool) -> Identity:
        """Who this process is; for a person's change also whether it runs inside a turn."""
        if self._who is None:
            self._who = self.engine.identify(self.environ.get("LOOPX_TOKEN"))
        if writing and self._who.person and not self._who.ancestor:
            from dataclasses import replace

            from loopx_engine.consent.ancestry import turn_ancestor

            self._who = replace(self._who, ancestor=turn_ancestor(self._recorded()) or "")
        return self._who

    def run(
        self, verb: str, arguments: Mapping[str, Any], *, command_id: str = "", proof: dict[str, Any] | None = None
    ) -> Outcome:
        who = self.who(writing=True)
        if proof is None and who.person and self._must_sign(verb, arguments):
            from loopx_engine.cli.signing import signed_run

            return _outcome(signed_run(self, verb, arguments, who, command_id))
        return _outcome(self.engine.run(verb, arguments, who, command_id=command_id, proof=proof))

    def preview(self, verb: str, arguments: Mapping[str, Any]) -> Preview:
        """What a command would change."""
        return self.engine.preview(verb, arguments, self.who(writing=True))

    def read(self, name: str, **arguments: Any) -> dict[str, Any]:
        from loopx_engine.reading import read_as

        return read_as(self.engine, self.who(writing=False), name, arguments)

    def _must_sign(self, verb: str, arguments: Mapping[str, Any]) -> bool:
        from loopx_engine.commands.fields import build
        from loopx_engine.commands.verbs import authority_of

        row = verb_of(verb)
        if row.name == "undo":
            authority = self.preview(verb, arguments).authority
        else:
            authority = authority_of(row, build(row.load(), dict(arguments)))
        return "signed" in authority

    def _recorded(self) -> dict[int, str]:
        from loopx_engine.model.turn import Turn

        with self.engine.read() as reader:
            turns = reader.records(Turn, "turn.all_live")
        return {turn.pid: turn.pid_started for turn in turns if turn.pid}

    def _public_key(self) -> str:
        from loopx_engine.consent.keys import public_key

        key = public_key(key_folder(self.environ))
        return key.text if key else ""


def open_engine(environ: Mapping[str, str], *, sandbox: str = "none") -> Engine:
    """The pipeline on the ledger this environment names."""
    from loopx_engine.host.redaction import redact_value, secret_values
    from loopx_engine.ledger.open import open_ledger

    folder = home(environ)
    ledger = open_ledger(environ.get("LOOPX_LEDGER") or folder / "ledger.db")
    keys = key_folder(environ)
    secrets = secret_values(environ)

    def owner_key() -> tuple[str, str] | None:
        from loopx_engine.consent.keys import public_key

        key = public_key(keys)
        return (key.id, key.text) if key else None

    return Engine(ledger, owner_key=owner_key, redact=lambda value: redact_value(value, secrets), sandbox=sandbox)


def _outcome(answer: Answer) -> Outcome:
    return Outcome(
        answer=answer.answer,
        receipts=tuple(item.id for item in answer.receipts),
        reveal=answer.reveal,
        replayed=answer.replayed,
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"
