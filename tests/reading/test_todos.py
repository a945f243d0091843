"""`todos`: every mark, who and note, the order, windows and `at`, poisoned rows, and 100,000 of them at the same cost."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import Kit, kit  # noqa: F401
from reading.scene import BAD_TEXT, bulk_todos, poison, read, statements

from loopx_engine.errors import NotFound, Refused, UsageError
from loopx_engine.model.defaults import HOUR
from loopx_engine.model.identity import Identity

KEYS = {
    "id", "title", "body", "kind", "state", "proof", "mark", "who", "note", "voice", "due", "needs", "serves", "scopes", "wait",
    "argv", "lease", "decision", "receipt", "commit", "signed",
}  # fmt: skip


def row(kit: Kit, name: str, goal: str = "g-1") -> dict[str, Any]:
    items = {item["id"]: item for item in read(kit, "todos", goal=goal)["items"]}
    item: dict[str, Any] = items[name]
    assert set(item) == KEYS
    return item


def told(kit: Kit, name: str) -> tuple[str, str, str, str]:
    item = row(kit, name)
    return item["mark"], item["who"], item["note"], item["voice"]


def test_an_open_one_is_open_with_all_that_belongs_to_it(kit: Kit) -> None:
    goal = kit.goal(criterion=[["by eye", []]])
    kit.sign(
        "todo add", goal=goal, title="One", body="look here", serves=[1], scope=["src/**"], check=["pytest", "-q x"]
    )
    assert row(kit, "t-1") == {
        "id": "t-1", "title": "One", "body": "look here", "kind": "work", "state": "open", "proof": "", "mark": "open", "who": "",
        "note": "open", "voice": "soft", "due": None, "needs": [], "serves": [1], "scopes": ["src/**"], "wait": None,
        "argv": ["pytest", "-q x"], "lease": None, "decision": None, "receipt": None, "commit": "", "signed": True,
    }  # fmt: skip


def test_what_nobody_signed_says_so(kit: Kit) -> None:
    kit.say("todo add", goal=kit.goal(), title="One")
    assert row(kit, "t-1")["signed"] is False


def test_a_running_one_is_held_by_its_agent(kit: Kit) -> None:
    kit.todo(kit.goal())
    who = kit.begin(kit.agent("ada"))
    assert told(kit, "t-1") == ("running", "ada", "running", "run")
    lease = row(kit, "t-1")["lease"]
    assert lease == {"actor": "ada", "turn": who.turn, "expires": kit.clock.now() + HOUR}


def test_an_expired_lease_holds_nothing(kit: Kit) -> None:
    kit.todo(kit.goal())
    kit.begin(kit.agent("ada"))
    kit.clock.advance(HOUR)
    assert row(kit, "t-1")["lease"] is None
    assert row(kit, "t-1")["mark"] == "running", "its turn is still open"


def test_a_claim_is_being_proved(kit: Kit) -> None:
    kit.todo(kit.goal())
    kit.finish(kit.begin(kit.agent("ada")))
    assert told(kit, "t-1") == ("proving", "ada", "is being proved", "run")


def test_a_claim_that_waits_for_a_review_says_so_and_whose_it_is(kit: Kit) -> None:
    kit.agent("ada")
    kit.agent("rev")
    goal = kit.goal(agent=["ada"], reviewer=["rev"])
    kit.done("a-3", kit.todo(goal))
    assert told(kit, "t-1") == ("proving", "ada", "waits for a review", "run")
    kit.begin("a-4", goal=goal, todo="t-1")
    assert told(kit, "t-1") == ("proving", "rev", "is being reviewed", "run")


def test_a_reviewed_one_is_of_the_one_who_did_it(kit: Kit) -> None:
    kit.agent("ada")
    kit.agent("rev")
    goal = kit.goal(agent=["ada"], reviewer=["rev"])
    kit.done("a-3", kit.todo(goal))
    who = kit.begin("a-4", goal=goal, todo="t-1")
    kit.turn(who, "turn finish", turn=who.turn, outcome="done", result="pass", summary="read it")
    kit.settle(who)
    assert told(kit, "t-1") == ("done", "ada", "reviewed", "good")


def test_a_proved_one_names_who_the_proof_and_the_receipt(kit: Kit) -> None:
    goal = kit.goal()
    kit.done(kit.agent("ada"), kit.todo(goal, check=["true"]), outcome="pass", check="k-1", changed=["a"])
    settled = kit.engine.ledger.last_receipts(subject="t-1", limit=1)[0].id
    assert told(kit, "t-1") == ("done", "ada", "proved", "good")
    assert row(kit, "t-1")["receipt"] == settled
    kit.act("effect attempt", effect="x-1")
    kit.act("effect settle", effect="x-1", state="done", value="c" * 40)
    assert row(kit, "t-1")["commit"] == "c" * 40
    assert row(kit, "t-1")["receipt"] == settled, "the commit's receipt does not settle it"


def test_one_without_a_check_is_done_but_not_proved(kit: Kit) -> None:
    kit.done(kit.agent("ada"), kit.todo(kit.goal()))
    assert told(kit, "t-1") == ("done", "ada", "not proved", "soft")


def test_one_that_several_tried_is_of_the_last_who_did_it(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    first = kit.begin(kit.agent("ada"))
    kit.turn(first, "turn abandon", turn=first.turn)
    kit.clock.advance(1)
    kit.done(kit.agent("bob"), "t-1")
    assert row(kit, "t-1")["who"] == "bob"


def test_an_open_question_that_blocks_it_waits_for_you(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    kit.say("decision ask", goal=goal, question="Which?", blocks=["t-1"])
    kit.clock.advance(1)
    kit.say("decision ask", goal=goal, question="And?", blocks=["t-1"])
    assert told(kit, "t-1") == ("you", "", "waits for you", "accent")
    assert row(kit, "t-1")["decision"] == "d-1", "the oldest"


def test_a_claim_with_a_question_waits_for_you_and_a_running_one_runs(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    who = kit.begin(kit.agent("ada"))
    kit.say("decision ask", goal=goal, question="Which?", blocks=["t-1"])
    assert told(kit, "t-1")[:2] == ("running", "ada")
    assert row(kit, "t-1")["decision"] == "d-1"
    kit.turn(who, "turn abandon", turn=who.turn)
    kit.tamper("update todo set state = 'proving', review = 'due', claimed_by = 'a-3'")
    assert told(kit, "t-1") == ("you", "ada", "waits for you", "accent")


def test_an_answered_question_stands_in_no_way(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    kit.say("decision ask", goal=goal, question="Which?", blocks=["t-1"])
    kit.sign("decision answer", decision="d-1", option="yes", basis=read(kit, "decision", id="d-1")["item"]["basis"])
    assert told(kit, "t-1")[0] == "open"
    assert row(kit, "t-1")["decision"] is None


def test_needs_name_what_is_missing(kit: Kit) -> None:
    goal = kit.goal()
    one, two = kit.todo(goal), kit.todo(goal)
    kit.todo(goal, needs=[one])
    kit.todo(goal, needs=[one, two])
    assert told(kit, "t-3") == ("waiting", "", "needs t-1", "soft")
    assert told(kit, "t-4") == ("waiting", "", "needs t-1 and 1 more", "soft")
    kit.done(kit.agent(), one)
    assert told(kit, "t-3") == ("open", "", "open", "soft")
    assert told(kit, "t-4") == ("waiting", "", "needs t-2", "soft")
    kit.say("todo drop", todo=two)
    assert told(kit, "t-4") == ("waiting", "", "needs t-2, which was dropped", "bad")
    kit.tamper("""update todo set needs = '["t-77"]' where id = 't-4'""")
    assert told(kit, "t-4")[2] == "needs t-77, which was dropped"


@pytest.mark.parametrize(
    ("wait", "note"),
    [
        ("done:t-1", "waits for t-1"), ("decided:d-4", "waits for d-4"), ("changed:w-1", "waits for a change"),
        ("file:src/**", "waits for a file"), ("command:true", "waits for a command"), ("at:5", "is due"),
    ],
)  # fmt: skip
def test_a_condition_is_said_in_words(kit: Kit, wait: str, note: str) -> None:
    goal = kit.goal()
    kit.todo(goal)
    kit.todo(goal, wait=wait)
    assert told(kit, "t-2") == ("waiting", "", note, "soft")
    assert row(kit, "t-2")["wait"] == wait


def test_a_time_is_given_as_a_number(kit: Kit) -> None:
    due = kit.clock.now() + 7
    kit.todo(kit.goal(), wait=f"at:{due}")
    assert told(kit, "t-1")[2] == "waits until"
    assert row(kit, "t-1")["due"] == due


def test_waiting_for_nothing_is_waiting(kit: Kit) -> None:
    kit.todo(kit.goal())
    kit.tamper("update todo set state = 'waiting'")
    assert told(kit, "t-1")[0] == "waiting"


@pytest.mark.parametrize(
    ("stalls", "failures", "note", "voice"),
    [(3, 0, "stalled after 3 turns", "bad"), (2, 1, "failed 1 time", "soft"), (0, 2, "failed 2 times", "soft")],
)
def test_what_went_wrong_before_stands_beside_it(kit: Kit, stalls: int, failures: int, note: str, voice: str) -> None:
    kit.todo(kit.goal())
    kit.tamper("update todo set stalls = :stalls, failures = :failures", stalls=stalls, failures=failures)
    assert told(kit, "t-1") == ("open", "", note, voice)


def test_a_dropped_one_is_dropped_and_last(kit: Kit) -> None:
    goal = kit.goal()
    for title in ("One", "Two", "Three"):
        kit.todo(goal, title)
    kit.say("todo drop", todo="t-1")
    kit.say("todo order", todo="t-3", before="t-2")
    found = read(kit, "todos", goal=goal)
    assert [item["id"] for item in found["items"]] == ["t-3", "t-2", "t-1"]
    assert found["total"] == 3
    assert told(kit, "t-1") == ("dropped", "", "dropped", "soft")


# -- windows --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 3, 7, 10])
def test_windows_side_by_side_are_the_whole_list(kit: Kit, limit: int) -> None:
    goal = kit.goal()
    for number in range(10):
        kit.todo(goal, str(number))
    for name in ("t-2", "t-9"):
        kit.say("todo drop", todo=name)
    whole = [item["id"] for item in read(kit, "todos", goal=goal)["items"]]
    assert whole == ["t-1", "t-3", "t-4", "t-5", "t-6", "t-7", "t-8", "t-10", "t-2", "t-9"]
    pages = [read(kit, "todos", goal=goal, offset=offset, limit=limit)["items"] for offset in range(0, 10, limit)]
    assert [item["id"] for page in pages for item in page] == whole
    for index, name in enumerate(whole):
        found = read(kit, "todos", goal=goal, at=name, offset=4, limit=limit)
        assert found["at"] == index
        assert [item["id"] for item in found["items"]] == whole[found["offset"] : found["offset"] + limit]
        assert name in [item["id"] for item in found["items"]]


def test_at_of_another_goal_or_of_nothing_is_none(kit: Kit) -> None:
    kit.todo(kit.goal())
    kit.todo(kit.draft())
    for at in ("t-2", "t-99", "nothing"):
        assert read(kit, "todos", goal="g-1", at=at)["at"] is None


def test_there_must_be_such_a_goal_and_an_agent_must_be_on_it(kit: Kit) -> None:
    kit.agent("ada")
    kit.agent("bob")
    kit.draft(agent=["bob"])
    with pytest.raises(NotFound):
        read(kit, "todos", goal="g-9")
    with pytest.raises(UsageError):
        read(kit, "todos", goal="t-1")
    with pytest.raises(Refused):
        read(kit, "todos", Identity(kind="agent", actor="a-3"), goal="g-1")
    assert read(kit, "todos", Identity(kind="agent", actor="a-4"), goal="g-1")["items"] == []


def test_arguments_have_their_types(kit: Kit) -> None:
    kit.draft()
    for wrong in ({"offset": "1"}, {"limit": None}, {"at": 3}, {"offset": True}, {"more": 1}, {"goal": 1}):
        with pytest.raises(UsageError):
            read(kit, "todos", **{"goal": "g-1", **wrong})


# -- poison -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "sql", "why"),
    [
        ("state", "'sideways'", "state 'sideways'"),
        ("needs", "'[1'", "cannot be read"),
        ("needs", "'[[1]]'", "its needs"),
        ("serves", "'3'", "its serves"),
        ("kind", "'play'", "its kind"),
        ("title", BAD_TEXT, "cannot be read"),
        ("body", BAD_TEXT, "cannot be read"),
    ],
)
def test_a_poisoned_todo_is_one_row(kit: Kit, field: str, sql: str, why: str) -> None:
    goal = kit.goal()
    for title in ("One", "Two", "Three"):
        kit.todo(goal, title)
    poison(kit, "todo", "t-2", field, sql)
    found = read(kit, "todos", goal=goal, at="t-2")
    assert [item["id"] for item in found["items"]] == ["t-1", "t-2", "t-3"]
    assert set(found["items"][1]) == {"id", "poisoned"}
    assert why in found["items"][1]["poisoned"]
    assert found["at"] == 1


def test_a_condition_that_is_none_is_one_row(kit: Kit) -> None:
    kit.todo(kit.goal(), wait="at:5")
    kit.tamper("update todo set wait = 'whenever'")
    assert "is not a condition" in read(kit, "todos", goal="g-1")["items"][0]["poisoned"]


def test_what_stands_beside_a_todo_may_be_poisoned_too(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal, check=["true"])
    kit.begin(kit.agent("ada"))
    kit.say("decision ask", goal=goal, question="Which?", blocks=["t-1"])
    poison(kit, "check", "k-1", "argv", "'['")
    poison(kit, "lease", "t-1", "state", "'odd'")
    poison(kit, "actor", "a-3", "kind", "'ghost'")
    poison(kit, "decision", "d-1", "blocks", "'['")
    item = row(kit, "t-1")
    assert (item["argv"], item["lease"], item["who"], item["decision"]) == (None, None, "a-3", None)


def test_the_todos_of_a_goal_that_cannot_be_read_are_still_listed(kit: Kit) -> None:
    kit.todo(kit.goal())
    poison(kit, "goal", "g-1", "agents", "'['")
    assert row(kit, "t-1")["mark"] == "open"


# -- 100,000 ------------------------------------------------------------------------------------------------------------


def test_a_hundred_thousand_todos_are_asked_for_like_ten(kit: Kit) -> None:
    goal = kit.goal()
    for _ in range(12):
        kit.todo(goal)
    small = {name: len(statements(kit, name, **given)) for name, given in asked(goal, "t-8").items()}
    bulk_todos(kit, goal, 100_000)
    large = {name: len(statements(kit, name, **given)) for name, given in asked(goal, "t-60001").items()}
    assert large == small
    found = read(kit, "todos", goal=goal, at="t-100998", limit=5)
    assert found["total"] == 100_012
    assert found["at"] == 90_010
    assert len(found["items"]) == 5
    assert read(kit, "todos", goal=goal, offset=100_007, limit=50)["items"][-1]["id"] == "t-100990"
    assert read(kit, "card", goal=goal)["counts"]["todos"] == 90_012


def asked(goal: str, at: str) -> dict[str, dict[str, Any]]:
    return {
        "todos": {"goal": goal, "at": at, "limit": 5},
        "goals": {"at": goal},
        "inbox": {},
        "status": {},
        "findings": {},
    }


@pytest.mark.parametrize("name", ["todo.listed", "todo.before", "todo.not_dropped"])
def test_a_window_of_todos_is_read_off_an_index_alone(kit: Kit, name: str) -> None:
    from loopx_engine.ledger.statements import statement

    given = {"goal": "g-1", "limit": 10, "offset": 0, "at": "t-1"}
    wanted = {key: value for key, value in given.items() if f":{key}" in statement(name)}
    plan = kit.engine.ledger.connection().execute(f"explain query plan {statement(name)}", wanted).fetchall()  # type: ignore[attr-defined]
    told = [line[3] for line in plan if "PRIMARY KEY (id=?)" not in line[3]]
    assert len(told) == 1
    assert "COVERING INDEX todo_listed (goal=?" in told[0]
