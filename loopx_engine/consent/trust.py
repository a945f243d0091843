"""Trust: whether a decision's answer or a grant was really signed, checked when it is used (MODEL.md 6).

A row written straight into the database is worth nothing: every field that matters must be the one that was signed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopx_engine.canonical import digest
from loopx_engine.errors import LoopxError, Refused
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import GRANT_EXPIRES_MS, GRANT_USES, SIGNED_ACT_MS
from loopx_engine.model.grant import Grant


class Trust:
    """Verifies against one ledger, incarnation and set of public keys (key id -> OpenSSH text). Remembers what it verified."""

    def __init__(self, ledger: str, incarnation: int, keys: Mapping[str, str]) -> None:
        self.ledger = ledger
        self.incarnation = incarnation
        self.keys = dict(keys)
        self._known: dict[str, bool] = {}

    def __call__(self, record: Decision | Grant) -> bool:
        """Whether this record's proof verifies and says what the record says."""
        return self.why_not(record) is None

    def why_not(self, record: Decision | Grant) -> str | None:
        """None, or the reason the record is void."""
        proof = record.proof
        arguments = proof.get("arguments") if proof else None
        if proof is None or not isinstance(arguments, dict):
            return "it carries no signature"
        said = _decision(record, arguments) if isinstance(record, Decision) else _grant(record, arguments, proof)
        if said is not None:
            return said
        basis = str(arguments["basis"]) if "basis" in arguments else None
        verb = "decision answer" if "decision" in arguments else "grant add"
        return self._verify(proof, arguments, verb, basis)

    def _verify(self, proof: dict[str, Any], arguments: dict[str, Any], verb: str, basis: str | None) -> str | None:
        from loopx_engine.consent.act import Proof, verify_proof

        key = digest({"proof": proof, "verb": verb, "basis": basis})
        if self._known.get(key):
            return None
        try:
            signed = Proof.from_json({name: proof[name] for name in proof if name != "arguments"})
            verify_proof(
                signed,
                public_keys=self.keys,
                ledger=self.ledger,
                incarnation=self.incarnation,
                verb=verb,
                args=digest(arguments),
                basis=basis,
                actor=signed.act.actor,
                command=None,
                now=None,
            )
        except Refused as error:
            return error.message
        except LoopxError as error:
            return f"its proof cannot be read: {error.message}"
        self._known[key] = True
        return None


def _decision(decision: Decision, arguments: dict[str, Any]) -> str | None:
    said = {
        "decision": decision.id,
        "option": decision.answer,
        "reason": decision.reason,
        "text": decision.answer_text,
        "basis": decision.basis,
    }
    differs = [name for name, value in said.items() if arguments.get(name) != value]
    return f"its {differs[0]} is not what was signed" if differs else None


def _grant(grant: Grant, arguments: dict[str, Any], proof: dict[str, Any]) -> str | None:
    act = proof.get("act")
    at = act.get("at") if isinstance(act, dict) else None
    if not isinstance(at, int):
        return "its proof cannot be read"
    latest = arguments.get("until") or at + SIGNED_ACT_MS + GRANT_EXPIRES_MS
    if grant.expires > latest or grant.uses != (arguments.get("uses") or GRANT_USES):
        return "its end or its uses are not what was signed"
    if "decision" in arguments:
        remembered = arguments.get("remember") is True and arguments.get("decision") == grant.decision
        widened = bool(arguments.get("scope")) and arguments["scope"] != grant.pattern
        denied = (grant.effect == "deny") == (arguments.get("option") == "no")
        return None if remembered and not widened and denied else "it is not what was remembered"
    said = {"kind": grant.kind, "pattern": grant.pattern, "effect": grant.effect, "goal": grant.goal or ""}
    differs = [name for name, value in said.items() if arguments.get(name) != value]
    return f"its {differs[0]} is not what was signed" if differs else None
