"""Signing a person's command without asking anything: whether it must be, and an act bound to exactly what was shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopx_engine.canonical import digest
from loopx_engine.commands.fields import build
from loopx_engine.commands.verbs import authority_of, verb_of
from loopx_engine.consent.act import Act, sign
from loopx_engine.consent.keys import Signer
from loopx_engine.engine import Answer, Engine
from loopx_engine.model.defaults import SIGNED_ACT_MS
from loopx_engine.model.identity import Identity


def must_sign(engine: Engine, verb: str, arguments: Mapping[str, Any], who: Identity) -> bool:
    """Whether this command of a person needs the key."""
    row = verb_of(verb)
    if row.name == "undo":
        authority = engine.preview(verb, arguments, who).authority
    else:
        authority = authority_of(row, build(row.load(), dict(arguments)))
    return "signed" in authority


def run_signed(
    engine: Engine,
    signer: Signer,
    verb: str,
    arguments: Mapping[str, Any],
    who: Identity,
    command_id: str,
    *,
    basis: str = "",
) -> Answer:
    """Previews, signs and runs. The act names the basis of that preview, or of the one that was shown before."""
    preview = engine.preview(verb, arguments, who)
    named = str(preview.arguments["basis"]) if verb == "decision answer" else basis or preview.basis
    proof = make_proof(engine, signer, verb, preview.arguments, named, who, command_id)
    return engine.run(verb, arguments, who, command_id=command_id, proof=proof)


def make_proof(
    engine: Engine, signer: Signer, verb: str, given: Mapping[str, Any], basis: str, who: Identity, command_id: str
) -> dict[str, Any]:
    """The signed act of one command, as JSON values."""
    now = engine.clock.now()
    act = Act(
        ledger=engine.ledger.id,
        incarnation=engine.ledger.incarnation,
        key=signer.public.id,
        command=command_id,
        verb=verb,
        args=digest(dict(given)),
        basis=basis,
        actor=who.actor,
        at=now,
        not_after=now + SIGNED_ACT_MS,
    )
    return sign(signer, act).to_json()
