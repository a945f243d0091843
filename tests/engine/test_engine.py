"""The pipeline: one command is one transaction and one receipt in each stream; the same again writes nothing (MODEL.md 4)."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OWNER, Kit, file_kit, kit

from loopx_engine.clock import SystemClock
from loopx_engine.commands.verbs import TABLE, verb_of
from loopx_engine.consent.keys import make_owner_key
from loopx_engine.engine import Engine, found
from loopx_engine.errors import NotFound, Refused, StateMoved, UsageError
from loopx_engine.ledger.open import open_ledger
from loopx_engine.model.actor import Actor
from loopx_engine.model.defaults import PREVIEW_EXPIRES_MS
from loopx_engine.model.goal import Goal
from loopx_engine.model.identity import Identity
from loopx_engine.model.limits import COMMAND_ID_LENGTH
from loopx_engine.model.todo import Todo

__all__ = ["file_kit", "kit"]


def test_a_goal_is_worked_from_its_first_todo_to_its_end(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal(criterion=(("it works", ("make", "test")),))
    todo = kit.todo(goal, serves=(1,), check=("make", "test"))
    assert kit.engine.verdict(goal, agent).kind == "work"
    answer = kit.done(agent, todo, check=kit.get(Todo, todo).check, outcome="pass", changed=["a"])
    assert answer["proof"] == "proved"
    kit.act("effect attempt", effect=answer["commit"])
    kit.act("effect settle", effect=answer["commit"], state="done", value="c" * 40)
    kit.act("criterion prove", criterion="c-1", outcome="pass")
    assert kit.engine.verdict(goal, agent).reason == "ready_to_close"
    kit.sign("goal close", goal=goal)
    assert kit.engine.verdict(goal, agent).reason == "done"


# -- one command id -------------------------------------------------------------------------------------------------------


def test_the_same_command_id_with_the_same_intent_is_the_same_receipt_and_writes_nothing(kit: Kit) -> None:
    goal = kit.goal()
    first = kit.engine.run("todo add", {"goal": goal, "title": "Once"}, OWNER, command_id="mine-1")
    before, todos = kit.seq(), len(kit.all(Todo))
    kit.clock.advance(1000)
    again = kit.engine.run("todo add", {"goal": goal, "title": "Once"}, OWNER, command_id="mine-1")
    assert (again.answer, again.replayed, first.replayed) == (first.answer, True, False)
    assert [item.hash for item in again.receipts] == [item.hash for item in first.receipts]
    assert (kit.seq(), len(kit.all(Todo))) == (before, todos)


def test_equal_intents_are_equal_whatever_form_their_words_had(kit: Kit) -> None:
    goal = kit.goal()
    first = kit.engine.run("todo add", {"goal": goal, "title": "Cafe\u0301", "serves": []}, OWNER, command_id="mine")
    again = kit.engine.run("todo add", {"title": "Caf\u00e9", "goal": goal}, OWNER, command_id="mine")
    assert again.replayed
    assert again.answer == first.answer


def test_the_same_command_id_with_another_intent_is_an_error(kit: Kit) -> None:
    goal = kit.goal()
    kit.engine.run("todo add", {"goal": goal, "title": "Once"}, OWNER, command_id="mine")
    before = kit.seq()
    for verb, given in (
        ("todo add", {"goal": goal, "title": "Twice"}),
        ("message send", {"goal": goal, "text": "Once"}),
    ):
        with pytest.raises(Refused) as caught:
            kit.engine.run(verb, given, OWNER, command_id="mine")
        assert caught.value.code == "command_reused"
    assert kit.seq() == before


def test_a_command_id_of_somebody_else_is_no_way_to_his_answer(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    who = kit.begin(agent, todo=kit.todo(goal))
    kit.engine.run("todo add", {"goal": goal, "title": "Once"}, OWNER, command_id="mine")
    with pytest.raises(Refused) as caught:
        kit.engine.run("todo add", {"goal": goal, "title": "Once"}, who, command_id="mine")
    assert caught.value.code == "command_reused"


def test_a_command_that_was_refused_left_its_id_free(kit: Kit) -> None:
    goal = kit.goal()
    with pytest.raises(NotFound):
        kit.engine.run("todo add", {"goal": goal, "title": "x", "needs": ["t-9"]}, OWNER, command_id="mine")
    assert kit.engine.run("todo add", {"goal": goal, "title": "x"}, OWNER, command_id="mine").receipts


def test_a_finish_is_resumed_by_its_command_id(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    who = kit.begin(agent, todo=kit.todo(goal))
    given = {"turn": who.turn, "outcome": "done"}
    first = kit.engine.run("turn finish", given, who, command_id="finish-1")
    kit.settle(who)
    assert kit.engine.run("turn finish", given, who, command_id="finish-1").answer == first.answer


@pytest.mark.parametrize(
    "name", ["x" * (COMMAND_ID_LENGTH + 1), "a b", "a/b", "..\\x", "é", "a\0", "a\n", "\ud800", "١"]
)
def test_a_command_id_is_a_short_plain_word(kit: Kit, name: str) -> None:
    before = kit.seq()
    with pytest.raises(UsageError) as caught:
        kit.engine.run("project add", {"root": "/x"}, OWNER, command_id=name)
    assert (caught.value.code, kit.seq()) == ("bad_id", before)


def test_a_command_over_several_goals_has_one_receipt_in_each_under_one_id(kit: Kit) -> None:
    goals = [kit.goal(), kit.goal("Other", project="p-1")]
    answer = kit.engine.run("stop", {"all": True}, OWNER, command_id="stop-1")
    assert [item.stream for item in answer.receipts] == goals
    assert {item.command for item in answer.receipts} == {"stop-1"}
    again = kit.engine.run("stop", {"all": True}, OWNER, command_id="stop-1")
    assert [item.id for item in again.receipts] == [item.id for item in answer.receipts]


def test_a_receipt_belongs_to_its_goal_or_to_the_ledger(kit: Kit) -> None:
    goal = kit.goal()
    assert kit.engine.run("message send", {"goal": goal, "text": "x"}, OWNER).receipts[0].stream == goal
    assert kit.engine.run("project add", {"root": "/x"}, OWNER).receipts[0].stream == ""
    unchanged = kit.engine.run("project add", {"root": "/x"}, OWNER)
    assert (unchanged.receipts[0].stream, (unchanged.receipts[0].payload or {})["changes"]) == ("", [])
    who = kit.begin(kit.agent(), todo=kit.todo(goal))
    receipt = kit.engine.run("turn extend", {"turn": who.turn}, who).receipts[0]
    assert (receipt.stream, receipt.turn, receipt.actor) == (goal, who.turn, who.actor)


# -- previews -------------------------------------------------------------------------------------------------------------


def test_a_preview_shows_exactly_what_would_change_and_writes_nothing(kit: Kit) -> None:
    goal = kit.goal()
    todo = kit.todo(goal, "Before")
    before = kit.seq()
    preview = kit.engine.preview("todo edit", {"todo": todo, "title": "After"}, OWNER)
    assert (preview.verb, preview.risk, preview.authority, preview.answer) == (
        "todo edit",
        "low",
        ("person",),
        {"todo": todo},
    )
    changes = {item.id: (item.before, item.after) for item in preview.changes if item.kind == "todo"}
    assert changes == {todo: ({"title": "Before", "signed": True}, {"title": "After", "signed": False})}
    assert preview.expires == kit.clock.now() + PREVIEW_EXPIRES_MS
    assert (kit.seq(), kit.get(Todo, todo).title) == (before, "Before")
    kit.say("todo edit", todo=todo, title="After")
    receipt = kit.engine.ledger.last_receipts(limit=1)[0]
    shown = [item for item in (receipt.payload or {})["changes"] if item["kind"] == "todo"]
    assert shown == [{"kind": "todo", "id": todo, "before": changes[todo][0], "after": changes[todo][1]}]


def test_a_preview_gives_no_id_away_for_good(kit: Kit) -> None:
    goal = kit.goal()
    shown = kit.engine.preview("todo add", {"goal": goal, "title": "x"}, OWNER).answer["todo"]
    assert kit.say("todo add", goal=goal, title="x")["todo"] == shown


def test_a_basis_moves_with_the_subjects_it_touches_and_with_nothing_else(kit: Kit) -> None:
    goal = kit.goal()
    todo, other = kit.todo(goal), kit.todo(goal, "Other")
    given: dict[str, Any] = {"subject": todo, "argv": ["make"]}
    basis = kit.engine.preview("check set", given, OWNER).basis
    kit.say("todo edit", todo=other, title="Elsewhere")
    kit.clock.advance(1)
    assert kit.engine.preview("check set", given, OWNER).basis == basis
    kit.say("todo edit", todo=todo, title="Here")
    assert kit.engine.preview("check set", given, OWNER).basis != basis


def test_a_persons_verb_may_be_signed_and_then_binds_like_any_other(kit: Kit) -> None:
    goal = kit.goal()
    todo = kit.todo(goal)
    given = {"todo": todo, "title": "Signed"}
    proof = kit.proof("todo edit", given, "cmd")
    kit.say("todo edit", todo=todo, title="Typed meanwhile")
    with pytest.raises(StateMoved):
        kit.engine.run("todo edit", given, OWNER, command_id="cmd", proof=proof)
    assert kit.sign("todo edit", **given)
    assert kit.get(Todo, todo).signed


# -- what surrounds it ----------------------------------------------------------------------------------------------------


def test_an_unknown_verb_or_argument_is_a_clear_error(kit: Kit) -> None:
    for verb in ("", "goal", "goal  add", "goal destroy", "x" * 10_000, "goal add\0"):
        with pytest.raises(UsageError) as caught:
            kit.engine.run(verb, {}, OWNER)
        assert (caught.value.code, len(caught.value.message) < 100) == ("unknown_verb", True)
    with pytest.raises(UsageError) as missing:
        kit.engine.run("goal pause", {}, OWNER)
    assert missing.value.code == "missing_argument"
    with pytest.raises(UsageError) as unknown:
        kit.engine.run("goal pause", {"goal": "g-1", "force": True}, OWNER)
    assert unknown.value.code == "unknown_argument"


def test_secrets_are_masked_before_anything_is_digested_or_stored(kit: Kit) -> None:
    kit.engine.redact = lambda value: {name: str(item).replace("hunter2", "[redacted]") for name, item in value.items()}
    goal = kit.goal()
    kit.engine.run("message send", {"goal": goal, "text": "it is hunter2"}, OWNER)
    kit.engine.preview("message send", {"goal": goal, "text": "it is hunter2"}, OWNER)
    assert "hunter2" not in str(kit.engine.ledger.last_receipts(limit=5))
    assert "[redacted]" in str(kit.engine.ledger.last_receipts(limit=5))


def test_reading_writes_nothing(kit: Kit) -> None:
    agent, goal = kit.agent(), kit.goal()
    kit.todo(goal)
    before = (kit.seq(), kit.engine.ledger.connection().execute("select total_changes()").fetchone())  # type: ignore[attr-defined]
    for _ in range(3):
        kit.engine.verdict(goal, agent)
        kit.engine.snapshot(goal, agent)
        kit.engine.identify(None)
        kit.engine.engine_identity()
    assert kit.engine.verdict("g-99", agent).reason == "unknown_goal"
    assert kit.engine.verdict(goal, "a-99").reason == "unknown_actor"
    after = (kit.seq(), kit.engine.ledger.connection().execute("select total_changes()").fetchone())  # type: ignore[attr-defined]
    assert before == after


def test_a_ledger_is_founded_once_also_by_two_at_a_time(kit: Kit) -> None:
    before = kit.seq()
    found(kit.engine, name="eve", host="there")
    assert (kit.seq(), kit.get(Actor, "a-1").name) == (before, "ana")
    engine = Engine(open_ledger(":memory:"))
    assert isinstance(engine.clock, SystemClock)
    run = engine.run

    def another_was_faster(verb: str, given: Any, who: Identity, **more: Any) -> Any:
        engine.run = run  # type: ignore[method-assign]
        found(engine, name="first", host="here")
        return run(verb, given, who, **more)

    engine.run = another_was_faster  # type: ignore[assignment, method-assign]
    found(engine, name="second", host="here")
    with engine.read() as reader:
        assert [item.name for item in reader.records(Actor, "actor.owner")] == ["first"]


def test_founding_fails_aloud_for_any_other_reason() -> None:
    engine = Engine(open_ledger(":memory:"))
    with pytest.raises(UsageError):
        found(engine, name="x" * 100, host="here")

    def refuse(*_: Any, **__: Any) -> Any:
        raise Refused("no", code="some_other_rule")

    engine.run = refuse  # type: ignore[method-assign]
    with pytest.raises(Refused):
        found(engine, name="x", host="here")


def test_without_a_key_outside_the_ledger_the_founders_key_is_trusted(kit: Kit) -> None:
    engine = Engine(open_ledger(":memory:"), clock=kit.clock)
    key = make_owner_key(kit.folder / "other", None)
    found(engine, name="ana", host="here", public_key=key.text)
    with engine.read() as reader:
        assert engine.trust_of(reader).keys == {key.id: key.text}
        assert engine.trust_of(reader) is engine.trust_of(reader)


def test_two_engines_on_one_file_see_each_others_commands(file_kit: Kit) -> None:
    kit = file_kit
    goal = kit.goal()
    other = kit.open()
    answer = other.run("todo add", {"goal": goal, "title": "from the other"}, OWNER, command_id="mine")
    assert kit.get(Todo, answer.answer["todo"]).title == "from the other"
    assert kit.engine.run("todo add", {"goal": goal, "title": "from the other"}, OWNER, command_id="mine").replayed
    other.ledger.close()


def test_every_verb_of_the_table_has_a_command_and_a_word_of_help() -> None:
    for verb in TABLE:
        assert verb.load().__doc__
        assert verb.help
        assert set(verb.authority) <= {"agent", "person", "signed", "engine"}
        assert verb_of(verb.name) is verb


def test_a_goals_stream_is_closed_over_its_own_changes(kit: Kit) -> None:
    first, second = kit.goal(), kit.goal("Other", project="p-1")
    kit.todo(first)
    kit.todo(second)
    for goal in (first, second):
        for receipt in kit.engine.ledger.receipts(stream=goal):
            for change in (receipt.payload or {})["changes"]:
                of = change["id"] if change["kind"] in ("goal", "wake") else (change["after"] or {}).get("goal")
                assert of in (goal, None)
    assert kit.get(Goal, first).phase == kit.get(Goal, second).phase == "active"
    assert kit.engine.run("goal pause", {"goal": first}, OWNER).receipts[0].stream == first
