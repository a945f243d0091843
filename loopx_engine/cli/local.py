"""The caller on the ledger itself: opens it, knows who this process is, and signs where a verb needs the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopx_engine.cli.caller import Outcome
from loopx_engine.engine import Answer, Engine, Preview, found
from loopx_engine.host.paths import home, key_folder
from loopx_engine.model.actor import Actor
from loopx_engine.model.identity import Identity

MEMORY = ":memory:"


class LocalCaller:
    """One process's way to its ledger. Nothing is opened before it is needed, nothing is made by looking."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        if environ.get("LOOPX_PASSPHRASE_FD"):
            from loopx_engine.consent.unlock import without_stray_descriptor

            self.environ = without_stray_descriptor(environ)
        self.home: Path = home(environ)
        self._engine: Engine | None = None
        self._empty: Engine | None = None
        self._who: Identity | None = None

    @property
    def engine(self) -> Engine:
        """The pipeline on this ledger; a new ledger gets its owner and engine at once."""
        if self._engine is None:
            self._engine = self._founded(open_engine(self.environ))
        return self._engine

    @property
    def reading(self) -> Engine:
        """The pipeline for reads: where there is no ledger yet, an empty one in memory."""
        if self._engine is None and _nothing_there(self.environ):
            if self._empty is None:
                self._empty = self._founded(open_engine({**self.environ, "LOOPX_LEDGER": MEMORY}))
            return self._empty
        return self.engine

    def who(self, *, writing: bool) -> Identity:
        """Who this process is; for a person's change also whether it runs inside a turn."""
        if self._who is None:
            self._who = self.engine.identify(self.environ.get("LOOPX_TOKEN"))
        if writing and self._who.person and not self._who.ancestor:
            from loopx_engine.consent.ancestry import turn_ancestor

            self._who = replace(self._who, ancestor=turn_ancestor(self._recorded()) or "")
        return self._who

    def run(
        self, verb: str, arguments: Mapping[str, Any], *, command_id: str = "", proof: dict[str, Any] | None = None
    ) -> Outcome:
        who = self.who(writing=True)
        if proof is None and who.person and not who.ancestor and self._must_sign(verb, arguments):
            from loopx_engine.cli.signing import signed_run

            return _outcome(signed_run(self, verb, arguments, who, command_id))
        return _outcome(self.engine.run(verb, arguments, who, command_id=command_id, proof=proof))

    def preview(self, verb: str, arguments: Mapping[str, Any]) -> Preview:
        """What a command would change."""
        return self.engine.preview(verb, arguments, self.who(writing=True))

    def read(self, name: str, **arguments: Any) -> dict[str, Any]:
        from loopx_engine.reading import read_as

        engine = self.reading
        who = self.who(writing=False) if engine is self._engine else engine.identify(self.environ.get("LOOPX_TOKEN"))
        return read_as(engine, who, name, arguments)

    def _founded(self, engine: Engine) -> Engine:
        with engine.read() as reader:
            known = reader.records(Actor, "actor.owner")
        if not known:
            import socket

            found(engine, name=_user(), host=socket.gethostname(), public_key=self._public_key())
        return engine

    def _must_sign(self, verb: str, arguments: Mapping[str, Any]) -> bool:
        from loopx_engine.commands.fields import build
        from loopx_engine.commands.verbs import authority_of, verb_of

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
    from loopx_engine.ledger.open import open_ledger

    ledger = open_ledger(environ.get("LOOPX_LEDGER") or home(environ) / "ledger.db")
    keys = key_folder(environ)

    def owner_key() -> tuple[str, str] | None:
        from loopx_engine.consent.keys import public_key

        key = public_key(keys)
        return (key.id, key.text) if key else None

    def redact(value: Any) -> Any:
        from loopx_engine.host.redaction import redact_value, secret_values

        return redact_value(value, secret_values(environ))

    return Engine(ledger, owner_key=owner_key, redact=redact, sandbox=sandbox)


def ledger_path(environ: Mapping[str, str]) -> Path:
    """The file of this environment's ledger."""
    given = environ.get("LOOPX_LEDGER")
    return Path(given.removeprefix("sqlite:///")).expanduser().absolute() if given else home(environ) / "ledger.db"


def engine_lock(environ: Mapping[str, str]) -> Path:
    """The one-engine lock of this environment's ledger: in the home, or beside a ledger that lies elsewhere."""
    if not environ.get("LOOPX_LEDGER"):
        return home(environ) / "engine.lock"
    path = ledger_path(environ)
    return path.with_name(f"{path.name}.engine.lock")


def _nothing_there(environ: Mapping[str, str]) -> bool:
    """No ledger, and no trace of one that is gone: opening it would make it, or say what happened to it."""
    if "://" in environ.get("LOOPX_LEDGER", "").removeprefix("sqlite:///"):
        return False
    path = ledger_path(environ)
    traces = (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-journal"))
    return not any(trace.exists() for trace in traces)


def _outcome(answer: Answer) -> Outcome:
    return Outcome(
        answer=answer.answer,
        receipts=tuple(item.id for item in answer.receipts),
        reveal=answer.reveal,
        replayed=answer.replayed,
    )


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"
