"""An answer or a grant is verified when it is used: a row written straight into the database is worth nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine_kit import Kit, file_kit, kit

from loopx_engine.cli.keeping import problems_of
from loopx_engine.errors import Refused, WaitsForPerson
from loopx_engine.ledger.backup import restore
from loopx_engine.ledger.driver import sqlite3
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import GRANT_EXPIRES_MS, SIGNED_ACT_MS
from loopx_engine.model.effect import Effect
from loopx_engine.model.goal import Goal
from loopx_engine.model.grant import Grant
from loopx_engine.model.todo import Todo

__all__ = ["file_kit", "kit"]

PUSH = {"action": "push", "remote": "origin", "ref": "loopx/x", "sha": "1" * 40, "remote_has": "", "protected": []}


def asked(kit: Kit, **given: Any) -> tuple[str, str, str]:
    """(agent, todo, decision): a turn asked whether it may push, blocks its todo, and gave the turn back."""
    agent = kit.agent()
    goal = kit.goal()
    todo = kit.todo(goal)
    who = kit.begin(agent, todo=todo)
    decision = kit.turn(
        who, "decision ask", **{"goal": goal, "question": "Push?", "effect": PUSH, "blocks": [todo], **given}
    )["decision"]
    kit.turn(who, "turn abandon", turn=who.turn)
    return agent, todo, str(decision)


def blocked(kit: Kit, agent: str, todo: str) -> str:
    """The decision that keeps this agent from its todo."""
    goal = kit.get(Todo, todo).goal
    ruling = kit.engine.verdict(goal, agent)
    assert (ruling.kind, ruling.reason) == ("ask", "decision_open")
    with pytest.raises(Refused) as caught:
        kit.begin(agent, todo=todo)
    assert caught.value.code == "decision_open"
    with pytest.raises(WaitsForPerson):
        kit.begin(agent, goal=goal)
    return str(ruling.decision)


def named(kit: Kit, record: str) -> list[str]:
    """What `loopx verify` says of one record."""
    return [item["what"] for item in problems_of(kit.engine) if item["where"] == record]


@pytest.mark.parametrize("state", ["answered", "carried out"])
@pytest.mark.parametrize(
    "proof", ["null", "[1]", "{}", '{"arguments": []}', '{"arguments": {"decision": "d-1"}, "x": 1.5}']
)
def test_an_answer_written_straight_into_the_database_is_void(file_kit: Kit, state: str, proof: str) -> None:
    kit = file_kit
    agent, todo, decision = asked(kit)
    kit.tampered = True
    connection = sqlite3.connect(kit.location)
    connection.execute(
        "update decision set state = ?, answer = 'yes', answered_at = 1, proof = ? where id = ?",
        (state, None if proof == "null" else proof, decision),
    )
    connection.commit()
    connection.close()
    assert blocked(kit, agent, todo) == decision
    assert any(text.startswith("void: ") for text in named(kit, decision))
    assert any("not what its receipts say" in text for text in named(kit, decision))


def test_a_forged_intent_is_not_carried_out(kit: Kit) -> None:
    _, _, decision = asked(kit)
    goal = kit.get(Decision, decision).goal
    kit.tamper("update decision set state = 'answered', answer = 'yes' where id = :id", id=decision)
    for effect, of, grant in (
        ("x-1", decision, None),
        ("x-2", None, "gr-9"),
        ("x-3", None, None),
        ("x-4", "d-99", None),
    ):
        kit.tamper(
            "insert into effect (id, goal, decision, \"grant\", action, params, digest, key, state, detail, value, created_at)"
            " values (:id, :goal, :decision, :grant, 'push', :params, '', :id, 'intent', '', '', 1)",
            id=effect, goal=goal, decision=of, grant=grant, params=json.dumps(PUSH),
        )  # fmt: skip
        with pytest.raises(Refused) as caught:
            kit.act("effect attempt", effect=effect)
        assert caught.value.code == "effect_void"
        kit.act("effect settle", effect=effect, state="failed", detail="it is void")
        assert kit.get(Effect, effect).state == "failed"
    assert kit.get(Decision, decision).state == "void"


def test_an_answer_is_carried_out_only_for_exactly_what_was_shown(kit: Kit) -> None:
    _, _, decision = asked(kit)
    basis = kit.get(Decision, decision).basis
    effect = kit.sign("decision answer", decision=decision, option="yes", basis=basis)["effect"]
    kit.tamper(
        "update effect set params = :params where id = :id", id=effect, params=json.dumps({**PUSH, "ref": "main"})
    )
    with pytest.raises(Refused, match="about something else"):
        kit.act("effect attempt", effect=effect)
    other = json.dumps({**PUSH, "ref": "main"})
    kit.tamper("update decision set effect = :effect where id = :id", id=decision, effect=other)
    with pytest.raises(Refused, match="no answer that verifies"):
        kit.act("effect attempt", effect=effect)
    assert "void: what it asks is not what was shown" in named(kit, decision)
    kit.tamper("update decision set effect = :effect where id = :id", id=decision, effect=json.dumps(PUSH))
    kit.tamper("update effect set params = :params where id = :id", id=effect, params=json.dumps(PUSH))
    kit.act("effect attempt", effect=effect)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("answer", "no"),
        ("reason", "because"),
        ("answer_text", "go on"),
        ("basis", "0" * 64),
        ("question", "May I push to the branch that is yours?"),
        ("kind", "choice"),
        ("rule", "preset unattended"),
        ("goal", "g-2"),
        ("options", '[["1", "yes, all of it"]]'),
        ("commands", '[{"verb": "goal archive"}]'),
        ("effect", '{"action": "push", "ref": 1.5}'),
    ],
)
def test_every_part_of_an_answered_decision_that_matters_is_bound_by_its_signature(
    kit: Kit, column: str, value: str
) -> None:
    _, _, decision = asked(kit)
    basis = kit.get(Decision, decision).basis
    kit.sign("decision answer", decision=decision, option="yes", basis=basis)
    assert named(kit, decision) == []
    kit.tamper(f'update decision set "{column}" = :value where id = :id', id=decision, value=value)
    assert any(text.startswith("void: ") for text in named(kit, decision))


def test_a_proof_of_one_answer_does_not_serve_another_decision(kit: Kit) -> None:
    _, _, decision = asked(kit)
    other = str(kit.say("decision ask", goal=kit.get(Decision, decision).goal, question="Really?")["decision"])
    for name in (decision, other):
        kit.sign("decision answer", decision=name, option="yes", basis=kit.get(Decision, name).basis)
    kit.tamper(
        "update decision set proof = (select proof from decision where id = :of) where id = :id", id=decision, of=other
    )
    assert "void: its decision is not what was signed" in named(kit, decision)
    grant = kit.sign("grant add", kind="push", pattern="origin/x")["grant"]
    kit.tamper(
        'update decision set proof = (select proof from "grant" where id = :of) where id = :id', id=decision, of=grant
    )
    assert "void: it carries the signature of something else" in named(kit, decision)


def test_a_tampered_signature_is_named(kit: Kit) -> None:
    _, _, decision = asked(kit)
    kit.sign("decision answer", decision=decision, option="yes", basis=kit.get(Decision, decision).basis)
    proof: Any = kit.get(Decision, decision).proof
    proof["signature"] = "A" * 86 + "=="
    kit.tamper("update decision set proof = :proof where id = :id", id=decision, proof=json.dumps(proof))
    assert "void: the signature does not verify" in named(kit, decision)


def test_a_grant_written_straight_into_the_database_covers_nothing(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal()
    todo = kit.todo(goal)
    kit.tamper(
        'insert into "grant" (id, kind, pattern, effect, goal, expires, uses, state, decision, proof, created_by, created_at)'
        " values ('gr-1', 'push', '*', 'allow', null, :expires, 99, 'live', null, null, 'a-1', 1)",
        expires=kit.clock.now() + 10**9,
    )
    who = kit.begin(agent, todo=todo)
    answer = kit.turn(who, "decision ask", goal=goal, question="Push?", effect=PUSH)
    assert answer["decision"] == "d-1"
    assert "void: it carries no signature" in named(kit, "gr-1")


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("kind", "production", "its kind is not what was signed"),
        ("pattern", "*", "its pattern is not what was signed"),
        ("effect", "deny", "its effect is not what was signed"),
        ("goal", "g-7", "its goal is not what was signed"),
        ("uses", 1000, "its end or its uses are not what was signed"),
        ("expires", 10**15, "its end or its uses are not what was signed"),
    ],
)
@pytest.mark.parametrize("remembered", [False, True])
def test_a_grant_cannot_be_widened_behind_its_signature(
    kit: Kit, column: str, value: Any, why: str, remembered: bool
) -> None:
    if remembered:
        _, _, decision = asked(kit)
        basis = kit.get(Decision, decision).basis
        grant = kit.sign("decision answer", decision=decision, option="yes", basis=basis, remember=True)["grant"]
    else:
        grant = kit.sign("grant add", kind="push", pattern="origin/loopx/x")["grant"]
    assert named(kit, grant) == []
    kit.tamper(f'update "grant" set "{column}" = :value where id = :id', id=grant, value=value)
    assert f"void: {why}" in named(kit, grant)


def test_an_answer_that_was_not_to_be_remembered_leaves_no_grant_that_verifies(kit: Kit) -> None:
    _, _, decision = asked(kit)
    kit.sign("decision answer", decision=decision, option="yes", basis=kit.get(Decision, decision).basis)
    proof: Any = kit.get(Decision, decision).proof
    kit.tamper(
        'insert into "grant" (id, kind, pattern, effect, goal, expires, uses, state, decision, proof, created_by, created_at)'
        " values ('gr-1', 'push', 'origin/loopx/x', 'allow', 'g-1', :expires, 20, 'live', :decision, :proof, 'a-1', 1)",
        expires=kit.clock.now() + 1, decision=decision, proof=json.dumps(proof),
    )  # fmt: skip
    assert "void: it is not what was remembered" in named(kit, "gr-1")


def test_a_remembered_grant_stands_only_with_what_was_shown(kit: Kit) -> None:
    _, _, decision = asked(kit)
    basis = kit.get(Decision, decision).basis
    grant = kit.sign("decision answer", decision=decision, option="yes", basis=basis, remember=True)["grant"]
    proof: Any = kit.get(Grant, grant).proof
    for shown in (None, {}, {**proof["shown"], "effect": {**PUSH, "ref": "main"}}, {**proof["shown"], "goal": "g-2"}):
        kit.tamper(
            'update "grant" set proof = :proof where id = :id', id=grant, proof=json.dumps({**proof, "shown": shown})
        )
        assert "void: it is not what was remembered" in named(kit, grant)
    kit.tamper(
        'update "grant" set proof = :proof, decision = :other where id = :id',
        id=grant,
        proof=json.dumps(proof),
        other="d-9",
    )
    assert "void: it is not what was remembered" in named(kit, grant)


def test_what_was_signed_before_a_restore_is_void_after_it(file_kit: Kit, tmp_path: Path) -> None:
    kit = file_kit
    agent, todo, decision = asked(kit)
    grant = str(kit.sign("grant add", kind="merge", pattern="main")["grant"])
    effect = kit.sign("decision answer", decision=decision, option="yes", basis=kit.get(Decision, decision).basis)[
        "effect"
    ]
    kept = kit.engine.ledger.backup(tmp_path / "backup.db")
    kit.engine.ledger.close()
    kit.location = str(tmp_path / "again.db")
    restore(kept, tmp_path / "again.db")
    kit.engine = kit.open()
    assert blocked(kit, agent, todo) == decision
    with pytest.raises(Refused) as caught:
        kit.act("effect attempt", effect=effect)
    assert caught.value.code == "effect_void"
    for name in (decision, grant):
        assert "void: it was signed before this ledger was restored" in named(kit, name)
    assert kit.problems() == []


def test_a_grant_that_ended_its_life_longer_than_it_was_signed_for_is_void(kit: Kit) -> None:
    until = kit.clock.now() + 1000
    grant = str(kit.sign("grant add", kind="push", pattern="x", until=until)["grant"])
    assert kit.get(Grant, grant).expires == until
    plain = str(kit.sign("grant add", kind="push", pattern="y")["grant"])
    assert kit.get(Grant, plain).expires == kit.clock.now() + GRANT_EXPIRES_MS
    kit.tamper('update "grant" set expires = expires + :more', more=SIGNED_ACT_MS)
    assert named(kit, plain) == ["expires is not what its receipts say"]
    kit.tamper('update "grant" set expires = expires + 1')
    assert "void: its end or its uses are not what was signed" in named(kit, plain)
    assert "void: its end or its uses are not what was signed" in named(kit, grant)


def test_the_verdict_of_a_goal_survives_any_proof_in_the_database(kit: Kit) -> None:
    agent, todo, decision = asked(kit)
    kit.sign("decision answer", decision=decision, option="yes", basis=kit.get(Decision, decision).basis, remember=True)
    good: Any = kit.get(Decision, decision).proof
    for proof in (
        {**good, "act": 1},
        {**good, "act": {**good["act"], "at": "x"}},
        {**good, "arguments": {**good["arguments"], "until": "x"}},
        {**good, "signature": 1.5},
        {**good, "more": {}},
        {"arguments": {"decision": decision}},
    ):
        kit.tamper("update decision set proof = :proof where id = :id", id=decision, proof=json.dumps(proof))
        kit.tamper('update "grant" set proof = :proof', proof=json.dumps(proof))
        assert kit.engine.verdict(kit.get(Todo, todo).goal, agent).reason == "decision_open"
    assert kit.get(Goal, "g-1").phase == "active"
