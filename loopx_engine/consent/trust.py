"""Trust: whether a decision's answer or a grant was really signed, checked when it is used (MODEL.md 6).

A row written straight into the database is worth nothing: every field that matters must be the one that was signed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopx_engine.canonical import canonical, digest
from loopx_engine.errors import LoopxError, Refused, UsageError
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import GRANT_EXPIRES_MS, GRANT_USES, SIGNED_ACT_MS
from loopx_engine.model.grant import Grant

BESIDE_THE_PROOF = ("arguments", "shown")


class Trust:
    """Verifies against one ledger, incarnation and set of public keys (key id -> OpenSSH text). Remembers what it verified."""

    def __init__(self, ledger: str, incarnation: int, keys: Mapping[str, str]) -> None:
        self.ledger = ledger
        self.incarnation = incarnation
        self.keys = dict(keys)
        self._known: set[str] = set()

    def __call__(self, record: Decision | Grant) -> bool:
        """Whether this record's proof verifies and says what the record says."""
        return self.why_not(record) is None

    def why_not(self, record: Decision | Grant) -> str | None:
        """None, or the reason the record is void."""
        proof: Any = record.proof
        arguments = proof.get("arguments") if isinstance(proof, dict) else None
        if not isinstance(arguments, dict):
            return "it carries no signature"
        answers = "decision" in arguments
        if isinstance(record, Decision) and not answers:
            return "it carries the signature of something else"
        basis = str(arguments.get("basis")) if answers else None
        return self._verify(proof, arguments, "decision answer" if answers else "grant add", basis) or (
            _decision(record, arguments) if isinstance(record, Decision) else _grant(record, arguments, proof)
        )

    def _verify(self, proof: dict[str, Any], arguments: dict[str, Any], verb: str, basis: str | None) -> str | None:
        from loopx_engine.consent.act import Proof, verify_proof

        said = {name: proof[name] for name in proof if name not in BESIDE_THE_PROOF}
        try:
            key = digest({"proof": said, "arguments": arguments, "verb": verb})
            if key in self._known:
                return None
            signed = Proof.from_json(said)
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
        self._known.add(key)
        return None


def _decision(decision: Decision, arguments: dict[str, Any]) -> str | None:
    from loopx_engine.commands.asking import shown_by

    said = {
        "decision": decision.id,
        "option": decision.answer,
        "reason": decision.reason,
        "text": decision.answer_text,
        "basis": decision.basis,
    }
    differs = [name for name, value in said.items() if not _same(arguments.get(name), value)]
    if differs:
        return f"its {differs[0]} is not what was signed"
    return None if _same_digest(shown_by(decision), decision.basis) else "what it asks is not what was shown"


def _grant(grant: Grant, arguments: dict[str, Any], proof: dict[str, Any]) -> str | None:
    """Whether a grant whose proof verifies says what was signed: no wider, no longer, no more often."""
    latest = arguments["until"] or proof["act"]["at"] + SIGNED_ACT_MS + GRANT_EXPIRES_MS
    if grant.expires > latest or grant.uses != (arguments["uses"] or GRANT_USES):
        return "its end or its uses are not what was signed"
    said = {"kind": grant.kind, "pattern": grant.pattern, "effect": grant.effect, "goal": grant.goal or ""}
    signed = arguments
    if "decision" in arguments:
        remembered = _remembered(arguments, proof.get("shown"))
        if remembered is None or arguments["decision"] != grant.decision:
            return "it is not what was remembered"
        signed = remembered
    differs = [name for name, value in said.items() if not _same(signed.get(name), value)]
    return f"its {differs[0]} is not what was signed" if differs else None


def _remembered(arguments: dict[str, Any], shown: Any) -> dict[str, Any] | None:
    """What a signed answer grants "from now on": its scope, else exactly the act that was shown."""
    from loopx_engine.commands.effect import action_of

    if arguments["remember"] is not True or not _same_digest(shown, arguments["basis"]) or not shown["effect"]:
        return None
    action = action_of(shown["effect"])
    return {
        "kind": action.kind,
        "pattern": arguments["scope"] or action.text,
        "effect": "deny" if arguments["option"] == "no" else "allow",
        "goal": shown["goal"],
    }


def _same(one: Any, other: Any) -> bool:
    """Whether two values have the same canonical form."""
    return canonical(one) == canonical(other)


def _same_digest(value: Any, expected: str) -> bool:
    """Whether a value has this digest. What has no canonical form has none."""
    try:
        return digest(value) == expected
    except UsageError:
        return False
