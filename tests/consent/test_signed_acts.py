"""A signed act counts once, for exactly what it was signed for: command, arguments, basis, time, ledger, incarnation, key."""

from __future__ import annotations

import base64
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from engine_kit import ENGINE, OWNER, Kit, file_kit, kit

from loopx_engine.consent.act import DOMAIN, SKEW_MS, Act, Proof, sign, signed_bytes
from loopx_engine.consent.keys import Signer, load_signer, make_owner_key, rotate
from loopx_engine.engine import Engine
from loopx_engine.errors import LoopxError, NotFound, Refused, StateMoved, UsageError
from loopx_engine.ledger.backup import restore
from loopx_engine.ledger.open import open_ledger
from loopx_engine.model.actor import Actor
from loopx_engine.model.defaults import SIGNED_ACT_MS
from loopx_engine.model.goal import Goal

__all__ = ["file_kit", "kit"]

VERB, GIVEN = "grant add", {"kind": "merge", "pattern": "main"}


def refused(kit: Kit, code: str, proof: Any, *, verb: str = VERB, command: str = "cmd", **given: Any) -> None:
    before = kit.seq()
    with pytest.raises(LoopxError) as caught:
        kit.engine.run(verb, {**GIVEN, **given} if verb == VERB else given, OWNER, command_id=command, proof=proof)
    assert caught.value.code == code
    assert kit.seq() == before


def test_a_signed_act_is_carried_out_and_its_receipt_says_how_strongly(kit: Kit) -> None:
    answer = kit.engine.run(VERB, GIVEN, OWNER, command_id="cmd", proof=kit.proof(VERB, GIVEN, "cmd"))
    assert (answer.receipts[0].strength, answer.receipts[0].actor) == ("key file", "a-1")
    assert kit.engine.run("goal pause", {"goal": kit.goal()}, OWNER).receipts[0].strength == ""


def test_the_same_proof_is_refused_under_another_command_id(kit: Kit) -> None:
    proof = kit.proof(VERB, GIVEN, "cmd")
    kit.engine.run(VERB, GIVEN, OWNER, command_id="cmd", proof=proof)
    refused(kit, "wrong_command", proof, command="cmd-again")
    refused(kit, "wrong_command", proof, command="")


def test_the_same_command_again_is_the_same_receipt_and_nothing_is_done_twice(kit: Kit) -> None:
    proof = kit.proof(VERB, GIVEN, "cmd")
    first = kit.engine.run(VERB, GIVEN, OWNER, command_id="cmd", proof=proof)
    again = kit.engine.run(VERB, GIVEN, OWNER, command_id="cmd", proof=proof)
    assert again.replayed
    assert [item.id for item in again.receipts] == [item.id for item in first.receipts]


def test_changed_arguments_are_refused(kit: Kit) -> None:
    proof = kit.proof(VERB, GIVEN, "cmd")
    refused(kit, "wrong_arguments", proof, pattern="*")
    refused(kit, "wrong_arguments", proof, uses=100)


def test_a_proof_for_another_verb_is_refused(kit: Kit) -> None:
    goal = kit.goal()
    refused(
        kit,
        "wrong_verb",
        kit.proof("goal archive", {"goal": kit.draft(project="p-1")}, "cmd"),
        verb="goal close",
        goal=goal,
    )


def test_a_moved_basis_is_refused_and_says_what_it_is_now(kit: Kit) -> None:
    goal = kit.draft()
    proof = kit.proof("goal resume", {"goal": goal}, "cmd")
    kit.say("goal edit", goal=goal, objective="something else altogether")
    before = kit.seq()
    with pytest.raises(StateMoved) as caught:
        kit.engine.run("goal resume", {"goal": goal}, OWNER, command_id="cmd", proof=proof)
    assert caught.value.details["basis"] == kit.engine.preview("goal resume", {"goal": goal}, OWNER).basis
    assert (kit.seq(), kit.get(Goal, goal).phase) == (before, "draft")


def test_what_was_added_to_a_plan_after_the_preview_voids_the_signature(kit: Kit) -> None:
    goal = kit.draft()
    proof = kit.proof("goal resume", {"goal": goal}, "cmd")
    kit.say("todo add", goal=goal, title="slipped in")
    refused(kit, "state_moved", proof, verb="goal resume", goal=goal)


def test_an_expired_act_is_refused_and_one_from_the_future_too(kit: Kit) -> None:
    late = kit.proof(VERB, GIVEN, "cmd")
    kit.clock.advance(SIGNED_ACT_MS + 1)
    refused(kit, "act_expired", late)
    early = kit.proof(VERB, GIVEN, "cmd", at=kit.clock.now() + SKEW_MS + 1)
    refused(kit, "act_expired", early)
    skewed = kit.proof(VERB, GIVEN, "cmd", at=kit.clock.now() + SKEW_MS)
    assert kit.engine.run(VERB, GIVEN, OWNER, command_id="cmd", proof=skewed).receipts


def test_an_act_for_another_ledger_or_by_another_actor_is_refused(kit: Kit) -> None:
    refused(kit, "wrong_ledger", kit.proof(VERB, GIVEN, "cmd", ledger="0" * 32))
    refused(kit, "wrong_actor", kit.proof(VERB, GIVEN, "cmd", actor="a-2"))
    refused(kit, "old_incarnation", kit.proof(VERB, GIVEN, "cmd", incarnation=kit.engine.ledger.incarnation + 1))
    refused(kit, "unknown_key", kit.proof(VERB, GIVEN, "cmd", key="SHA256:somebodyelse"))


def test_a_signature_that_is_not_the_owners_is_refused(kit: Kit, tmp_path: Path) -> None:
    make_owner_key(tmp_path / "eve", None)
    eve = load_signer(tmp_path / "eve", None)
    act = Act(**kit.proof(VERB, GIVEN, "cmd")["act"])
    refused(kit, "bad_signature", sign(eve, act).to_json())
    theirs = Act(**{**{item.name: getattr(act, item.name) for item in fields(act)}, "key": eve.public.id})
    refused(kit, "unknown_key", sign(eve, theirs).to_json())


def test_a_signature_that_cannot_be_read_is_refused(kit: Kit) -> None:
    good = kit.proof(VERB, GIVEN, "cmd")
    raw = base64.b64decode(good["signature"])
    for bad in ("", "not base64!", base64.b64encode(raw[:-1]).decode(), base64.b64encode(b"\0" * 64).decode(), "é",
                good["signature"] + "=", good["signature"].rstrip("=")):  # fmt: skip
        refused(kit, "bad_signature", {**good, "signature": bad})


@pytest.mark.parametrize(
    "spoilt",
    [
        {},
        {"act": {}, "signature": "", "strength": "key file"},
        {"act": None, "signature": "", "strength": "key file"},
        {"act": "SAME", "signature": 5, "strength": "key file"},
        {"act": "SAME", "signature": "", "strength": "very strong"},
        {"act": "SAME", "signature": "", "strength": "key file", "more": 1},
        {"act": {"at": "soon"}, "signature": "", "strength": "key file"},
        {"act": {"at": True}, "signature": "", "strength": "key file"},
        {"act": {"verb": 7}, "signature": "", "strength": "key file"},
    ],
)
def test_a_proof_of_another_shape_is_a_clear_error(kit: Kit, spoilt: dict[str, Any]) -> None:
    act = kit.proof(VERB, GIVEN, "cmd")["act"]
    said = spoilt.get("act")
    whole = act if said == "SAME" else {**act, **said} if said else said
    refused(kit, "bad_proof", {**spoilt, **({"act": whole} if "act" in spoilt else {})})


def test_a_text_without_utf8_in_a_proof_is_a_bad_signature(kit: Kit) -> None:
    good = kit.proof(VERB, GIVEN, "cmd")
    refused(kit, "wrong_command", {**good, "act": {**good["act"], "command": "\ud800"}})
    with pytest.raises(UsageError):
        signed_bytes(Act(**{**good["act"], "command": "\ud800"}))


def test_what_is_signed_names_everything_that_matters_under_its_own_domain(kit: Kit) -> None:
    act = Act(**kit.proof(VERB, GIVEN, "cmd")["act"])
    data = signed_bytes(act)
    assert data.startswith(DOMAIN)
    for item in fields(act):
        assert f'"{item.name}":'.encode() in data
    assert Proof.from_json(sign(kit.signer, act).to_json()).act == act


def test_every_signed_act_of_a_restored_ledger_must_be_signed_anew(file_kit: Kit, tmp_path: Path) -> None:
    kit = file_kit
    goal = kit.draft()
    kept = kit.engine.ledger.backup(tmp_path / "backup.db")
    proof = kit.proof(VERB, GIVEN, "cmd")
    kit.engine.run(VERB, GIVEN, OWNER, command_id="cmd", proof=proof)
    restore(kept, tmp_path / "again.db")
    ledger = open_ledger(tmp_path / "again.db")
    engine = Engine(ledger, clock=kit.clock, owner_key=kit.anchor)
    assert (ledger.id, ledger.incarnation) == (kit.engine.ledger.id, kit.engine.ledger.incarnation + 1)
    before = ledger.last_seq()
    for verb, given, old in (
        (VERB, GIVEN, proof),
        ("goal archive", {"goal": goal}, kit.proof("goal archive", {"goal": goal}, "cmd")),
    ):
        with pytest.raises(Refused) as caught:
            engine.run(verb, given, OWNER, command_id="cmd", proof=old)
        assert caught.value.code == "old_incarnation"
    assert ledger.last_seq() == before
    assert ledger.verify() == ledger.rebuild() == []
    ledger.close()


def test_the_owners_first_act_is_signed_by_the_key_it_enters(tmp_path: Path) -> None:
    kit = Kit(tmp_path)
    given = {"public_key": kit.public}
    good = kit.proof("owner init", given, "cmd")
    make_owner_key(tmp_path / "eve", None)
    eve = load_signer(tmp_path / "eve", None)
    forged = sign(eve, Act(**good["act"])).to_json()
    refused(kit, "bad_signature", forged, verb="owner init", **given)
    refused(kit, "key_damaged", {**good}, verb="owner init", public_key="ssh-rsa AAAA")
    refused(kit, "wrong_arguments", good, verb="owner init", public_key=kit.public + " comment")
    kit.engine.run("owner init", given, OWNER, command_id="cmd", proof=good)
    assert kit.get(Actor, "a-1").public_key == kit.public


def test_a_ledger_that_has_an_owner_takes_no_second_one(kit: Kit, tmp_path: Path) -> None:
    kit.sign("owner init", public_key=kit.public)
    eve = make_owner_key(tmp_path / "eve", None)
    kit.signer = load_signer(tmp_path / "eve", None)
    with pytest.raises(Refused) as caught:
        kit.proof("owner init", {"public_key": eve.text}, "cmd")
    assert caught.value.code == "owner_exists"
    with pytest.raises(Refused, match="has an owner"):
        kit.act("ledger found", name="eve")


def test_the_owners_key_is_replaced_by_an_act_of_the_old_one(kit: Kit) -> None:
    old = kit.signer

    def record(signer: Signer, public: Any) -> None:
        kit.signer = signer
        kit.sign("owner rotate", public_key=public.text)

    _, public = rotate(kit.keys, None, None, record=record)
    assert kit.get(Actor, "a-1").public_key == public.text
    kit.signer = old
    refused(kit, "unknown_key", kit.proof(VERB, GIVEN, "cmd"))
    kit.signer = load_signer(kit.keys, None)
    assert kit.sign(VERB, **GIVEN)["grant"] == "gr-1"


def test_the_owners_key_is_not_replaced_by_what_is_no_key_nor_by_another_person(kit: Kit) -> None:
    given = {"public_key": "ssh-ed25519 AAAA"}
    refused(kit, "key_damaged", kit.proof("owner rotate", given, "cmd"), verb="owner rotate", **given)
    from loopx_engine.commands.context import Context
    from loopx_engine.commands.draft import Draft
    from loopx_engine.commands.owner import OwnerRotate
    from loopx_engine.consent.tokens import new_token

    with kit.engine.read() as reader:
        context = Context(who=ENGINE, now=0, trusted=bool, token=new_token)
        with pytest.raises(Refused, match="only the owner"):
            OwnerRotate(public_key=kit.public).decide(Draft(reader, str), context)


def test_the_key_beside_the_private_one_overrules_the_row_in_the_ledger(kit: Kit, tmp_path: Path) -> None:
    eve = make_owner_key(tmp_path / "eve", None)
    kit.tamper("update actor set public_key = :key where id = 'a-1'", key=eve.text)
    signer, kit.signer = kit.signer, load_signer(tmp_path / "eve", None)
    refused(kit, "unknown_key", kit.proof(VERB, GIVEN, "cmd"))
    kit.signer = signer
    assert kit.engine.run(VERB, GIVEN, OWNER, command_id="cmd", proof=kit.proof(VERB, GIVEN, "cmd")).receipts


def test_without_that_file_the_key_in_the_ledger_is_the_one_that_counts(kit: Kit) -> None:
    kit.engine.owner_key = lambda: None
    assert kit.sign(VERB, **GIVEN)["grant"] == "gr-1"
    kit.tamper("update actor set public_key = '' where id = 'a-1'")
    refused(kit, "unknown_key", kit.proof(VERB, GIVEN, "cmd"))


def test_a_ledger_without_an_owner_says_how_to_begin() -> None:
    engine = Engine(open_ledger(":memory:"))
    with pytest.raises(NotFound) as person:
        engine.identify(None)
    with pytest.raises(NotFound) as itself:
        engine.engine_identity()
    for caught in (person, itself):
        assert (caught.value.code, caught.value.next) == ("no_owner", "loopx owner init")
