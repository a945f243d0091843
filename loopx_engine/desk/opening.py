"""Opening what an environment names: its ledger with the pipeline on it, its owner, and the lock of its engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loopx_engine.clock import Clock
from loopx_engine.engine import Engine, found
from loopx_engine.host.paths import home, key_folder
from loopx_engine.model.actor import Actor

MEMORY = ":memory:"


def open_engine(environ: Mapping[str, str], *, sandbox: str = "none", clock: Clock | None = None) -> Engine:
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

    return Engine(ledger, owner_key=owner_key, redact=redact, sandbox=sandbox, clock=clock)


def founded(engine: Engine, environ: Mapping[str, str]) -> Engine:
    """The same pipeline; a new ledger gets its owner and engine at once."""
    with engine.read() as reader:
        known = reader.records(Actor, "actor.owner")
    if not known:
        import socket

        from loopx_engine.consent.keys import public_key

        key = public_key(key_folder(environ))
        found(engine, name=_user(), host=socket.gethostname(), public_key=key.text if key else "")
    return engine


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


def nothing_there(environ: Mapping[str, str]) -> bool:
    """No ledger, and no trace of one that is gone: opening it would make it, or say what happened to it."""
    if "://" in environ.get("LOOPX_LEDGER", "").removeprefix("sqlite:///"):
        return False
    path = ledger_path(environ)
    traces = (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-journal"))
    return not any(trace.exists() for trace in traces)


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"
