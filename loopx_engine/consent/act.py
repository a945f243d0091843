"""A signed act: the exact bytes a person's key signs for one command, and their verification (MODEL.md 6, Signature)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from loopx_engine.canonical import canonical
from loopx_engine.consent.keys import Signer, verify
from loopx_engine.errors import Refused, UsageError
from loopx_engine.model.record import noun, values

DOMAIN = b"loopx-signed-act/1\0"
SKEW_MS = 120_000
STRENGTHS = ("passphrase", "key file", "channel")


@noun
class Act:
    """`args` and `basis` are sha256 hex; `at` and `not_after` UTC milliseconds."""

    ledger: str
    incarnation: int
    key: str
    command: str
    verb: str
    args: str
    basis: str
    actor: str
    at: int
    not_after: int


@noun
class Proof:
    """An act with its signature (base64) and the strength of the key that made it."""

    act: Act
    signature: str
    strength: str

    def to_json(self) -> dict[str, Any]:
        """The proof as JSON values."""
        return {"act": values(self.act), "signature": self.signature, "strength": self.strength}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Proof:
        """The proof again. Raises `UsageError` (`bad_proof`) for missing, unknown or mistyped parts."""
        whole = isinstance(said, Mapping) and set(said) == {"act", "signature", "strength"}
        act = said["act"] if whole else None
        if not isinstance(act, Mapping) or set(act) != set(Act.__dataclass_fields__):
            raise UsageError("a proof has an act, a signature and a strength, and nothing else", code="bad_proof")
        if not isinstance(said["signature"], str) or said["strength"] not in STRENGTHS:
            raise UsageError(f"the strength of a proof is one of {', '.join(STRENGTHS)}", code="bad_proof")
        for name, field in Act.__dataclass_fields__.items():
            if type(act[name]) is not (int if field.type == "int" else str):
                raise UsageError(f"{name} of a proof has the wrong type", code="bad_proof")
        return cls(act=Act(**act), signature=said["signature"], strength=said["strength"])


def signed_bytes(act: Act) -> bytes:
    """The bytes that are signed: the domain and the canonical JSON of the act."""
    return DOMAIN + canonical(values(act))


def sign(signer: Signer, act: Act) -> Proof:
    """The proof of an act."""
    signature = base64.b64encode(signer.sign(signed_bytes(act))).decode()
    return Proof(act=act, signature=signature, strength=signer.strength)


def verify_proof(
    proof: Proof,
    *,
    public_keys: Mapping[str, str],
    ledger: str,
    incarnation: int,
    verb: str,
    args: str,
    basis: str | None,
    actor: str,
    command: str | None,
    now: int | None,
) -> None:
    """Raises `Refused` unless the proof is a valid signature of exactly this act, by a known key, in time.

    `basis`, `command` and `now` of None are not compared (a stored answer is verified long after it was given).
    Codes: `wrong_ledger old_incarnation wrong_verb wrong_arguments wrong_actor wrong_command basis_moved act_expired
    unknown_key bad_signature`. `strength` is what the signer said of itself; no signature covers it.
    """
    act = proof.act
    for code, wrong, message in (
        ("wrong_ledger", act.ledger != ledger, "it was signed for another ledger"),
        ("old_incarnation", act.incarnation != incarnation, "it was signed before this ledger was restored"),
        ("wrong_verb", act.verb != verb, f"it was signed for {act.verb}, not {verb}"),
        ("wrong_arguments", act.args != args, "its arguments are not what was signed"),
        ("wrong_actor", act.actor != actor, "it was signed by another actor"),
        ("wrong_command", command is not None and act.command != command, "it was signed for another command"),
        ("basis_moved", basis is not None and act.basis != basis, "what it was signed for has changed"),
        ("act_expired", now is not None and not act.at - SKEW_MS <= now <= act.not_after, "the signed act has expired"),
        ("unknown_key", act.key not in public_keys, "it was signed with a key that is not the owner's"),
    ):
        if wrong:
            raise Refused(message, code=code, next="sign it again")
    if not _holds(proof, public_keys[act.key]):
        raise Refused("the signature does not verify", code="bad_signature", next="sign it again")


def _holds(proof: Proof, public_text: str) -> bool:
    try:
        signature = base64.b64decode(proof.signature, validate=True)
        data = signed_bytes(proof.act)
    except (binascii.Error, ValueError, UsageError):
        return False
    return base64.b64encode(signature).decode() == proof.signature and verify(public_text, signature, data)
