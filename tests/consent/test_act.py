"""A signed act: the exact bytes, what one signature is good for, and every way to be refused."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT, a26_1

from loopx_engine.canonical import canonical
from loopx_engine.consent.act import SKEW_MS, Act, Proof, sign, signed_bytes, verify_proof
from loopx_engine.consent.keys import PublicKey, Signer, key_id
from loopx_engine.errors import Refused, UsageError

NOW = 1_800_000_000_000
MINUTE = 60_000
ARGS = "a" * 64
BASIS = "b" * 64


class Expected(TypedDict):
    """What a verification is told to expect."""

    public_keys: Mapping[str, str]
    ledger: str
    incarnation: int
    verb: str
    args: str
    basis: str | None
    actor: str
    command: str | None
    now: int | None


def signer(seed: int = 1, strength: str = "key file") -> Signer:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    text = private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return Signer(private, PublicKey(text=text, id=key_id(text)), strength)


OWNER = signer()
ACT = Act(
    ledger="l-1", incarnation=2, key=OWNER.public.id, command="c7", verb="decision answer", args=ARGS, basis=BASIS,
    actor="a-1", at=NOW, not_after=NOW + 5 * MINUTE,
)  # fmt: skip
EXPECTED: Expected = {
    "public_keys": {OWNER.public.id: OWNER.public.text},
    "ledger": "l-1",
    "incarnation": 2,
    "verb": "decision answer",
    "args": ARGS,
    "basis": BASIS,
    "actor": "a-1",
    "command": "c7",
    "now": NOW + MINUTE,
}


def code_of(proof: Proof, **changes: Any) -> str | None:
    """The code with which the proof is refused, or None when it holds."""
    try:
        verify_proof(proof, **{**EXPECTED, **changes})
    except Refused as error:
        return error.code if error.next else "names no next step"
    return None


class TestSignedBytes:
    def test_they_are_the_domain_and_the_canonical_act(self) -> None:
        assert signed_bytes(ACT) == (
            b"loopx-signed-act/1\0"
            b'{"actor":"a-1","args":"' + b"a" * 64 + b'","at":1800000000000,"basis":"' + b"b" * 64 + b'",'
            b'"command":"c7","incarnation":2,"key":"' + OWNER.public.id.encode() + b'","ledger":"l-1",'
            b'"not_after":1800000300000,"verb":"decision answer"}'
        )

    def test_act_has_exactly_the_fields_of_the_model(self) -> None:
        assert [field.name for field in fields(Act)] == [
            "ledger", "incarnation", "key", "command", "verb", "args", "basis", "actor", "at", "not_after",
        ]  # fmt: skip

    def test_act_cannot_be_changed(self) -> None:
        with pytest.raises(AttributeError):
            ACT.verb = "grant add"  # type: ignore[misc]
        assert not hasattr(ACT, "__dict__")

    @pytest.mark.parametrize("name", [field.name for field in fields(Act)])
    def test_every_field_is_signed(self, name: str) -> None:
        other: Any = 99 if isinstance(getattr(ACT, name), int) else "other"
        assert signed_bytes(replace(ACT, **{name: other})) != signed_bytes(ACT)

    @given(st.text(max_size=20), st.text(max_size=20))
    def test_no_two_texts_can_share_their_bytes_by_moving_between_fields(self, one: str, two: str) -> None:
        try:
            here, there = (
                signed_bytes(replace(ACT, verb=one, command=two)),
                signed_bytes(replace(ACT, verb=two, command=one)),
            )
        except UsageError:
            return
        assert (here == there) == (canonical(one) == canonical(two))

    def test_same_key_and_act_give_the_same_signature(self) -> None:
        assert sign(signer(), ACT) == sign(signer(), ACT)
        assert len(base64.b64decode(sign(OWNER, ACT).signature)) == 64


class TestVerifying:
    def test_signed_act_holds(self) -> None:
        assert code_of(sign(OWNER, ACT)) is None

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"ledger": "l-2"}, "wrong_ledger"),
            ({"incarnation": 3}, "old_incarnation"),
            ({"incarnation": 1}, "old_incarnation"),
            ({"verb": "grant add"}, "wrong_verb"),
            ({"args": "c" * 64}, "wrong_arguments"),
            ({"args": ""}, "wrong_arguments"),
            ({"basis": "c" * 64}, "basis_moved"),
            ({"actor": "a-2"}, "wrong_actor"),
            ({"command": "c8"}, "wrong_command"),
            ({"public_keys": {}}, "unknown_key"),
            ({"public_keys": {signer(2).public.id: signer(2).public.text}}, "unknown_key"),
        ],
    )
    def test_one_signature_is_good_for_one_thing(self, changes: dict[str, Any], code: str) -> None:
        assert code_of(sign(OWNER, ACT), **changes) == code

    @pytest.mark.parametrize(
        "name", ["ledger", "incarnation", "command", "verb", "args", "basis", "actor", "at", "not_after"]
    )
    def test_act_altered_to_what_is_expected_has_no_valid_signature(self, name: str) -> None:
        proof = sign(OWNER, ACT)
        changed: Any = NOW + 2 * MINUTE if name in ("at", "not_after") else 9 if name == "incarnation" else "other"
        forged = replace(proof, act=replace(ACT, **{name: changed}))
        expected = {} if name in ("at", "not_after") else {name: changed}
        assert code_of(forged, **expected) == "bad_signature"

    def test_act_of_another_key_under_the_owners_id_does_not_hold(self) -> None:
        assert code_of(sign(signer(2), ACT)) == "bad_signature"

    def test_key_named_in_the_act_must_be_the_one_that_signed(self) -> None:
        other = signer(2)
        keys = {OWNER.public.id: OWNER.public.text, other.public.id: other.public.text}
        assert code_of(sign(other, replace(ACT, key=other.public.id)), public_keys=keys) is None
        assert code_of(sign(other, ACT), public_keys=keys) == "bad_signature"

    def test_known_id_with_a_damaged_key_does_not_hold(self) -> None:
        assert code_of(sign(OWNER, ACT), public_keys={OWNER.public.id: "junk"}) == "bad_signature"

    @pytest.mark.parametrize(
        ("now", "code"),
        [
            (ACT.not_after, None),
            (ACT.not_after + 1, "act_expired"),
            (ACT.at, None),
            (ACT.at - SKEW_MS, None),
            (ACT.at - SKEW_MS - 1, "act_expired"),
            (0, "act_expired"),
        ],
    )
    def test_act_holds_from_two_minutes_before_it_was_made_to_its_end(self, now: int, code: str | None) -> None:
        assert code_of(sign(OWNER, ACT), now=now) == code

    def test_act_that_ends_before_it_begins_never_holds(self) -> None:
        proof = sign(OWNER, replace(ACT, not_after=NOW - SKEW_MS - 1))
        assert {code_of(proof, now=now) for now in (NOW - SKEW_MS - 1, NOW - SKEW_MS, NOW)} == {"act_expired"}

    def test_stored_answer_is_verified_long_after_without_command_basis_and_time(self) -> None:
        assert code_of(sign(OWNER, ACT), now=None, command=None, basis=None) is None
        assert (
            code_of(sign(OWNER, replace(ACT, args="c" * 64)), now=None, command=None, basis=None) == "wrong_arguments"
        )

    @pytest.mark.parametrize("signature", ["", "AAAA", "not base64!", "ä", "\ud800", "A" * 88, "=" * 88])
    def test_what_is_no_signature_does_not_hold(self, signature: str) -> None:
        assert code_of(replace(sign(OWNER, ACT), signature=signature)) == "bad_signature"

    def test_signature_has_one_spelling(self) -> None:
        proof = sign(OWNER, ACT)
        spare = proof.signature[:-3] + chr(ord(proof.signature[-3]) + 1) + "=="
        assert base64.b64decode(spare) == base64.b64decode(proof.signature)
        for other in (spare, proof.signature + "====", proof.signature + "\n"):
            assert code_of(replace(proof, signature=other)) == "bad_signature"

    def test_act_that_has_no_canonical_form_is_refused_and_never_a_crash(self) -> None:
        broken = replace(sign(OWNER, ACT), act=replace(ACT, basis="\ud800", command="\udfff"))
        assert code_of(broken, basis=None, command=None) == "bad_signature"

    @pytest.mark.parametrize("seed", [3, 4])
    def test_flipped_bit_of_a_signature_is_noticed(self, seed: int) -> None:
        proof = sign(OWNER, ACT)
        raw = bytearray(base64.b64decode(proof.signature))
        for at in range(0, 64, seed):
            raw[at] ^= 1 << (at % 8)
            assert code_of(replace(proof, signature=base64.b64encode(raw).decode())) == "bad_signature"
            raw[at] ^= 1 << (at % 8)


class TestProofAsJson:
    def test_it_comes_back_the_same_through_json(self) -> None:
        for strength in ("passphrase", "key file"):
            proof = sign(signer(strength=strength), ACT)
            assert Proof.from_json(json.loads(json.dumps(proof.to_json()))) == proof
        channel = replace(sign(OWNER, ACT), strength="channel")
        assert Proof.from_json(channel.to_json()) == channel

    @given(st.builds(Act, **{field.name: st.integers() if field.type == "int" else st.text() for field in fields(Act)}))
    def test_any_act_comes_back_the_same(self, act: Act) -> None:
        proof = Proof(act=act, signature="", strength="key file")
        assert Proof.from_json(json.loads(json.dumps(proof.to_json()))) == proof

    @pytest.mark.parametrize("name", ["act", "signature", "strength"])
    def test_missing_part_is_refused(self, name: str) -> None:
        said = sign(OWNER, ACT).to_json()
        del said[name]
        self.refused(said)

    @pytest.mark.parametrize("name", [field.name for field in fields(Act)])
    def test_missing_or_mistyped_field_of_the_act_is_refused(self, name: str) -> None:
        wrongs: tuple[Any, ...] = (None, True, 1.5, [], {}, "text" if isinstance(getattr(ACT, name), int) else 7)
        for wrong in wrongs:
            said = sign(OWNER, ACT).to_json()
            said["act"][name] = wrong
            self.refused(said)
        said = sign(OWNER, ACT).to_json()
        del said["act"][name]
        self.refused(said)

    def test_unknown_part_is_refused(self) -> None:
        self.refused({**sign(OWNER, ACT).to_json(), "more": 1})
        said = sign(OWNER, ACT).to_json()
        self.refused({**said, "act": {**said["act"], "more": 1}})

    @pytest.mark.parametrize(
        "said",
        [
            None,
            [],
            {},
            "text",
            7,
            {"act": None, "signature": "", "strength": "key file"},
            {"act": [], "signature": "", "strength": ""},
        ],
    )
    def test_what_is_no_proof_is_refused(self, said: Any) -> None:
        self.refused(said)

    @pytest.mark.parametrize("strength", ["", "Passphrase", "none", None, 1, ["channel"], {}])
    def test_unknown_strength_is_refused(self, strength: Any) -> None:
        self.refused({**sign(OWNER, ACT).to_json(), "strength": strength})

    @pytest.mark.parametrize("signature", [None, 1, b"", ["x"]])
    def test_signature_that_is_no_text_is_refused(self, signature: Any) -> None:
        self.refused({**sign(OWNER, ACT).to_json(), "signature": signature})

    @pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in a26_1().items()])
    def test_odd_text_in_an_act_is_kept_or_refused_but_never_holds(self, text: str) -> None:
        said = sign(OWNER, ACT).to_json()
        said["act"]["verb"] = text
        assert code_of(Proof.from_json(said), verb=text) == "bad_signature"

    def refused(self, said: Any) -> None:
        with pytest.raises(UsageError) as caught:
            Proof.from_json(said)
        assert caught.value.code == "bad_proof"


def test_importing_it_loads_no_cryptography() -> None:
    code = "import sys, loopx_engine.consent.act; print('cryptography' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, cwd=ROOT)
    assert said.stdout.strip() == "False"
