"""Restore, signed: the owner's key must open before a ledger is put in the place of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_engine.cli.local import LocalCaller
from loopx_engine.cli.signing import signer_of
from loopx_engine.consent.ancestry import turn_ancestor
from loopx_engine.desk.background import engine_runs
from loopx_engine.desk.opening import engine_lock, ledger_path, open_engine
from loopx_engine.errors import NotFound, Refused, TryAgain
from loopx_engine.ledger.backup import restore as restore_ledger
from loopx_engine.model.goal import Goal


def restore_signed(caller: LocalCaller, source: Path) -> dict[str, Any]:
    """Puts a backup in place as a new incarnation. Active goals are paused: what was signed before must be signed anew."""
    if not source.is_file():
        raise NotFound(f"there is no backup {source}", code="no_backup", next="loopx backup")
    if caller.environ.get("LOOPX_TOKEN") or turn_ancestor():
        raise Refused("restoring is for the owner", code="not_for_agents", next="run it from a terminal of your own")
    if engine_runs(engine_lock(caller.environ)):
        raise TryAgain("an engine runs on this ledger", code="engine_running", next="end loopx-engine first")
    signer_of(caller)
    target = ledger_path(caller.environ)
    made = target.with_name(f".{target.name}.restored")
    made.unlink(missing_ok=True)
    try:
        restore_ledger(source, made)
        kept = _set_aside(caller)
        made.rename(target)
    finally:
        made.unlink(missing_ok=True)
    engine = open_engine(caller.environ)
    who = engine.identify(None)
    with engine.read() as reader:
        active = reader.records(Goal, "goal.active")
    for goal in active:
        engine.run("goal pause", {"goal": goal.id}, who)
    return {
        "incarnation": engine.ledger.incarnation,
        "kept": str(kept) if kept else None,
        "paused": [goal.id for goal in active],
    }


def kept_as(caller: LocalCaller) -> Path:
    """The name under which the ledger that is there is kept: one that is free."""
    target = ledger_path(caller.environ)
    number = 1
    while (kept := target.with_name(f"{target.name}.before-restore-{number}")).exists():
        number += 1
    return kept


def _set_aside(caller: LocalCaller) -> Path | None:
    """The ledger that is there, kept under another name with its side files."""
    target, kept = ledger_path(caller.environ), kept_as(caller)
    if not target.exists():
        return None
    for suffix in ("", "-wal", "-shm"):
        side = target.with_name(target.name + suffix)
        if side.exists():
            side.rename(kept.with_name(kept.name + suffix))
    return kept
