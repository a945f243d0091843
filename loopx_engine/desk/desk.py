"""Desk: one person at one ledger. Reads, previews, runs (signed where a verb needs the key), waits for changes.

Every surface that stays open sits at one; all of it may be called from any thread. The passphrase is asked for by whoever
sits here; the opened key is kept in memory for the time of an unlock, never the passphrase.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopx_engine.clock import Clock, SystemClock
from loopx_engine.consent.unlock import Unlock
from loopx_engine.desk.background import engine_runs, start_engine
from loopx_engine.desk.opening import engine_lock, founded, ledger_path, open_engine
from loopx_engine.desk.signing import must_sign, run_signed
from loopx_engine.engine import Answer, Engine, Preview
from loopx_engine.errors import Refused
from loopx_engine.host.paths import home, key_folder
from loopx_engine.model.identity import Identity
from loopx_engine.model.record import noun


@noun
class Key:
    """The owner's key as it is: made, sealed by a passphrase, opened for now."""

    made: bool
    sealed: bool
    open: bool


class Desk:
    """Opens the ledger an environment names. Raises what `open_ledger` raises; a person only (`not_for_agents`)."""

    def __init__(self, environ: Mapping[str, str], *, clock: Clock | None = None, here: str = "") -> None:
        self.environ = dict(environ)
        self.clock = clock or SystemClock()
        self.here = here
        self.home: Path = home(environ)
        if environ.get("LOOPX_TOKEN"):
            raise Refused("the workspace is for persons", code="not_for_agents", next="loopx next")
        self.engine: Engine = founded(open_engine(self.environ, clock=self.clock), self.environ)
        self._unlock = Unlock(self.clock)
        self._file = _file_of(ledger_path(self.environ))
        self._who = self.engine.identify(None)
        self._looked = False

    # -- looking ------------------------------------------------------------------------------------------------------

    def read(self, name: str, **arguments: Any) -> dict[str, Any]:
        """A read of `loopx_engine.reading`, as this person sees it."""
        from loopx_engine.reading import read_as

        return read_as(self.engine, self._who, name, arguments)

    def difference(self, id: str) -> dict[str, Any]:
        """What a decision or goal is about: `{"text", "why_not"}`, as `difference_of`."""
        from loopx_engine.desk.difference import difference_of

        return difference_of(self.engine, id)

    def transcript(self, path: str, position: int) -> tuple[list[str], int]:
        """Whole lines of a turn's output since `position` (negative: its last ones), and where the next one begins."""
        from loopx_engine.desk.transcript import more, tail

        return tail(path) if position < 0 else more(path, position)

    def machine(self) -> list[dict[str, Any]]:
        """What is found on this machine, as `machine`."""
        from loopx_engine.desk.machine import machine

        return machine(self.here)

    def enter_project(self, directory: str = "") -> str:
        """The id of the project of a directory, entered into the ledger where it is not known."""
        from loopx_engine.desk.projects import project_arguments

        return str(self.run("project add", project_arguments(directory or self.here)).answer["project"])

    def last(self) -> int:
        """The number of the last receipt."""
        return self.engine.ledger.last_seq()

    def wait(self, after: int, timeout: float) -> bool:
        """Until a receipt past `after` is there (True), `wake()`, or `timeout` seconds passed."""
        return self.engine.ledger.wait_for_change(after, timeout)

    def wake(self) -> None:
        """Every `wait` returns at once."""
        self.engine.ledger.wake_waiters()

    def replaced(self) -> bool:
        """Whether another file stands where this desk's ledger was opened, or none."""
        return self._file is not None and _file_of(ledger_path(self.environ)) != self._file

    # -- changing -----------------------------------------------------------------------------------------------------

    def preview(self, verb: str, arguments: Mapping[str, Any]) -> Preview:
        """Exactly what a command would change; nothing is written."""
        return self.engine.preview(verb, arguments, self._person())

    def run(self, verb: str, arguments: Mapping[str, Any], *, command_id: str = "", basis: str = "") -> Answer:
        """Runs a command; with the basis of a preview only if that still holds.

        Raises `Refused` (`no_key`, `locked`) where the key is needed and not there or not open, and what the engine raises.
        """
        who, identifier = self._person(), command_id or new_command()
        if must_sign(self.engine, verb, arguments, who):
            return run_signed(self.engine, self._signer(), verb, arguments, who, identifier, basis=basis)
        return self.engine.run(verb, arguments, who, command_id=identifier, basis=basis)

    # -- the key ------------------------------------------------------------------------------------------------------

    def key(self) -> Key:
        """How the owner's key stands."""
        from loopx_engine.consent.keys import public_key, sealed

        folder = key_folder(self.environ)
        made = public_key(folder) is not None
        shut = made and sealed(folder)
        return Key(made=made, sealed=shut, open=self._unlock.signer() is not None or (made and not shut))

    def unlock(self, passphrase: str) -> None:
        """Opens the sealed key for a while. Raises `Refused` (`wrong_passphrase` and what the key's file says)."""
        from loopx_engine.consent.keys import load_signer

        self._unlock.keep(load_signer(key_folder(self.environ), passphrase.encode()))

    def lock(self) -> None:
        """Forgets the opened key."""
        self._unlock.forget()

    def make_key(self, passphrase: str) -> None:
        """Makes the owner's key, sealed unless the passphrase is empty, and enters it into the ledger."""
        from loopx_engine.consent.keys import load_signer, make_owner_key, public_key

        folder, secret = key_folder(self.environ), passphrase.encode() or None
        public = public_key(folder) or make_owner_key(folder, secret)
        signer = load_signer(folder, secret)
        run_signed(self.engine, signer, "owner init", {"public_key": public.text}, self._person(), new_command())
        self._unlock.keep(signer)

    # -- the engine ---------------------------------------------------------------------------------------------------

    def engine_runs(self) -> bool:
        """Whether an engine holds this ledger."""
        return engine_runs(engine_lock(self.environ))

    def start_engine(self) -> int:
        """Starts one in the background for good; its pid. Raises `Refused`, `TryAgain`."""
        self._person()
        return start_engine(self.environ)

    def stop(self, goal: str = "") -> dict[str, Any]:
        """Ends what runs of a goal, or of all, with all its processes; says what is left."""
        from loopx_engine.heartbeat.stopping import finish_stop

        answer = self.run("stop", {"goal": goal} if goal else {"all": True})
        goals = sorted({*answer.answer["goals"], *([goal] if goal else [])})
        came = finish_stop(
            self.engine, self.clock, list(answer.answer["turns"]), engine_runs=self.engine_runs(), goals=goals
        )
        return {"receipts": [item.id for item in answer.receipts], "goals": answer.answer["goals"], **came}

    def close(self) -> None:
        """Forgets the key and closes the ledger."""
        self.lock()
        self.engine.ledger.close()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _person(self) -> Identity:
        """The person, refused where this process runs inside a turn. Looked at once: ancestors do not change."""
        if not self._looked:
            from loopx_engine.consent.ancestry import turn_ancestor
            from loopx_engine.model.turn import Turn

            with self.engine.read() as reader:
                turns = reader.records(Turn, "turn.all_live")
            inside = turn_ancestor({turn.pid: turn.pid_started for turn in turns if turn.pid}) or ""
            self._who, self._looked = replace(self._who, ancestor=inside), True
        return self._who

    def _signer(self) -> Any:
        from loopx_engine.consent.keys import load_signer

        key = self.key()
        if not key.made:
            raise Refused("there is no owner key yet", code="no_key", next="loopx owner init")
        if not key.sealed:
            return load_signer(key_folder(self.environ), None)
        signer = self._unlock.signer()
        if signer is None:
            raise Refused("the owner key is sealed", code="locked", next="type its passphrase")
        return signer


def new_command() -> str:
    """A fresh command id."""
    return f"c{secrets.token_hex(8)}"


def _file_of(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
