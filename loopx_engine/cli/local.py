"""The caller on the ledger itself: opens it, knows who this process is, and signs where a verb needs the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopx_engine.cli.caller import Outcome
from loopx_engine.desk.opening import MEMORY, founded, nothing_there, open_engine
from loopx_engine.engine import Answer, Engine, Preview
from loopx_engine.host.paths import home
from loopx_engine.model.identity import Identity


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
            self._engine = founded(open_engine(self.environ), self.environ)
        return self._engine

    @property
    def reading(self) -> Engine:
        """The pipeline for reads: where there is no ledger yet, an empty one in memory."""
        if self._engine is None and nothing_there(self.environ):
            if self._empty is None:
                self._empty = founded(open_engine({**self.environ, "LOOPX_LEDGER": MEMORY}), self.environ)
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
        if proof is None and who.person and not who.ancestor:
            from loopx_engine.desk.signing import must_sign, run_signed

            if must_sign(self.engine, verb, arguments, who):
                import secrets

                from loopx_engine.cli.signing import signer_of

                identifier = command_id or f"c{secrets.token_hex(8)}"
                return _outcome(run_signed(self.engine, signer_of(self), verb, arguments, who, identifier))
        return _outcome(self.engine.run(verb, arguments, who, command_id=command_id, proof=proof))

    def preview(self, verb: str, arguments: Mapping[str, Any]) -> Preview:
        """What a command would change."""
        return self.engine.preview(verb, arguments, self.who(writing=True))

    def read(self, name: str, **arguments: Any) -> dict[str, Any]:
        from loopx_engine.reading import read_as

        engine = self.reading
        who = self.who(writing=False) if engine is self._engine else engine.identify(self.environ.get("LOOPX_TOKEN"))
        return read_as(engine, who, name, arguments)

    def _recorded(self) -> dict[int, str]:
        from loopx_engine.model.turn import Turn

        with self.engine.read() as reader:
            turns = reader.records(Turn, "turn.all_live")
        return {turn.pid: turn.pid_started for turn in turns if turn.pid}


def _outcome(answer: Answer) -> Outcome:
    return Outcome(
        answer=answer.answer,
        receipts=tuple(item.id for item in answer.receipts),
        reveal=answer.reveal,
        replayed=answer.replayed,
    )
