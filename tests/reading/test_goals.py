"""`goals`: every word and line, their order, windows and `at`, poisoned rows, and a cost that does not grow."""

from __future__ import annotations

from typing import Any

import pytest
from engine_kit import OWNER, Kit, kit  # noqa: F401
from reading.scene import BAD_TEXT, PUSH, bulk_todos, poison, read, statements

from loopx_engine.model.identity import Identity

KEYS = {
    "id", "title", "phase", "stopped", "project", "project_name", "word", "line", "voice", "due", "done", "todos", "met",
    "criteria", "needs", "running", "created_at", "since",
}  # fmt: skip


def only(kit: Kit) -> dict[str, Any]:
    found = read(kit, "goals")
    assert found["total"] == len(found["items"]) == 1
    item: dict[str, Any] = found["items"][0]
    assert set(item) == KEYS
    return item


def said(kit: Kit) -> tuple[str, str, str]:
    item = only(kit)
    return item["word"], item["line"], item["voice"]


def test_no_goal_is_an_empty_list(kit: Kit) -> None:
    assert read(kit, "goals") == {"total": 0, "offset": 0, "at": None, "items": []}


def test_a_draft_is_not_started(kit: Kit) -> None:
    kit.draft()
    assert said(kit) == ("DRAFT", "not started", "soft")


def test_an_active_goal_waits_for_its_next_look(kit: Kit) -> None:
    goal = kit.goal()
    assert said(kit) == ("WAIT", "is looked at next", "soft")
    assert only(kit)["due"] is None
    kit.tamper("update wake set due = :due where id = :goal", due=kit.clock.now() + 5, goal=goal)
    assert said(kit) == ("WAIT", "next look", "soft")
    assert only(kit)["due"] == kit.clock.now() + 5


def test_a_running_turn_says_who_does_what(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal, "Rank by recency")
    who = kit.begin(kit.agent("claude-1"))
    kit.clock.advance(4_000)
    assert said(kit) == ("RUN", "claude-1 · Rank by recency", "run")
    turn = {
        "turn": who.turn,
        "actor_name": "claude-1",
        "todo_title": "Rank by recency",
        "state": "running",
        "for_ms": 4_000,
    }
    assert only(kit)["running"] == [turn]
    kit.finish(who)
    assert only(kit)["running"][0]["state"] == "proving"


def test_two_turns_are_counted_and_a_planning_one_has_no_todo(kit: Kit) -> None:
    one = kit.agent("one", capability=["plan"])
    goal = kit.draft()
    kit.begin(one, goal=goal)
    assert said(kit) == ("RUN", "one · plans", "run")
    kit.tamper("update turn set purpose = 'work'")
    kit.tamper(
        "insert into \"turn\" select 'u-9', goal, actor, runtime, session, todo, place, purpose, basis, generation, epoch, state,"
        " result, reason, summary, attended, claim, claimed_by, mends, tries, tag, '', pid, pid_started, sandbox, tree, frontier,"
        ' transcript, input_tokens, output_tokens, cost, begun_at + 1, deadline, ended_at from "turn"'
    )
    assert said(kit) == ("RUN", "one · work and 1 more", "run")


def test_a_person_who_is_needed_comes_before_all_else(kit: Kit) -> None:
    goal = kit.goal()
    done, open_one = kit.todo(goal, "One", check=["true"]), kit.todo(goal, "Two")
    kit.say("todo drop", todo=kit.todo(goal, "Three"))
    kit.done(kit.agent(), done, outcome="pass", check="k-1")
    kit.begin("a-3", todo=open_one)
    kit.say("decision ask", goal=goal, question="Which?")
    assert said(kit) == ("RUN", "needs you · 1/2 proved", "accent")
    item = only(kit)
    assert (item["needs"], item["done"], item["todos"]) == (1, 1, 2)
    kit.say("decision snooze", decision="d-1", hours=1)
    assert only(kit)["needs"] == 0
    assert said(kit)[2] == "run"
    kit.clock.advance(3_600_001)
    assert only(kit)["needs"] == 1


def test_what_is_done_is_not_yet_proved(kit: Kit) -> None:
    goal = kit.goal()
    kit.done(kit.agent(), kit.todo(goal))
    kit.say("decision ask", goal=goal, question="Which?")
    assert said(kit)[1] == "needs you · 0/1 proved"
    assert only(kit)["done"] == 1


def test_a_goal_without_todos_that_needs_a_person_says_no_count(kit: Kit) -> None:
    kit.say("decision ask", goal=kit.draft(), question="Which?")
    assert said(kit) == ("DRAFT", "needs you", "accent")


def test_a_lost_turn_is_a_finding(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    who = kit.begin(kit.agent())
    kit.act("turn lose", turn=who.turn, reason="its process is gone")
    assert said(kit) == ("WAIT", "1 finding · turn lost", "bad")
    kit.clock.advance(1)
    kit.act("place settle", place="pl-1", state="broken", reason="no disk")
    assert said(kit) == ("WAIT", "2 findings · turn lost", "bad")


def test_a_goal_nothing_wakes_is_a_finding(kit: Kit) -> None:
    kit.goal()
    kit.tamper("delete from wake")
    assert said(kit) == ("WAIT", "1 finding · nothing will wake it", "bad")


def test_paused_and_stopped_are_two_words_for_a_hold(kit: Kit) -> None:
    goal = kit.goal()
    kit.say("goal pause", goal=goal)
    assert said(kit) == ("HOLD", "paused", "soft")
    kit.sign("goal resume", goal=goal)
    kit.say("stop", goal=goal)
    assert said(kit) == ("HOLD", "stopped", "soft")
    assert only(kit)["stopped"] is True


def test_a_closed_goal_says_what_was_met_and_what_given_up(kit: Kit) -> None:
    goal = kit.goal(criterion=[["by eye", []], ["by ear", []]])
    kit.sign("criterion meet", criterion="c-1", reason="seen")
    kit.sign("criterion waive", criterion="c-2", reason="not needed")
    kit.clock.advance(1_000)
    kit.sign("goal close", goal=goal)
    assert said(kit) == ("DONE", "closed, 1/2 criteria met, 1 given up", "soft")
    item = only(kit)
    assert (item["met"], item["criteria"], item["since"]) == (1, 2, kit.clock.now())
    assert item["created_at"] == kit.clock.now() - 1_000


def test_a_closed_goal_without_criteria_is_just_closed(kit: Kit) -> None:
    kit.sign("goal close", goal=kit.goal())
    assert said(kit) == ("DONE", "closed", "soft")


def test_all_criteria_met_gives_nothing_up(kit: Kit) -> None:
    goal = kit.goal(criterion=[["by eye", []]])
    kit.sign("criterion meet", criterion="c-1", reason="seen")
    kit.sign("goal close", goal=goal)
    assert said(kit)[1] == "closed, 1/1 criteria met"


# -- order ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def many(kit: Kit) -> Kit:
    """Goals of two projects in every phase: g-1..g-6 of /one, g-7..g-12 of /two, g-13 archived."""
    for root in ("/one", "/two"):
        project = kit.project(root, identity=("1" if root == "/one" else "2") * 40)
        names = [kit.draft(f"{root} {number}", project=project) for number in range(5)]
        names.append(kit.draft(f"{root} first", project=project, priority=0))
        for goal in names[1:]:
            kit.sign("goal resume", goal=goal)
        kit.say("goal pause", goal=names[1])
        kit.sign("goal close", goal=names[2])
    gone = kit.draft("gone", project="p-1")
    kit.sign("goal archive", goal=gone)
    return kit


ORDER = ["g-6", "g-5", "g-4", "g-1", "g-2", "g-3"]
OTHERS = ["g-12", "g-11", "g-10", "g-7", "g-8", "g-9"]


def ids(found: dict[str, Any]) -> list[str]:
    return [item["id"] for item in found["items"]]


def test_own_project_first_then_phase_priority_and_newest(many: Kit) -> None:
    assert ids(read(many, "goals", here="/one/deep")) == ORDER + OTHERS
    assert ids(read(many, "goals", here="/two")) == OTHERS + ORDER
    assert [item["word"] for item in read(many, "goals", here="/one")["items"]][:6] == [
        "WAIT", "WAIT", "WAIT", "DRAFT", "HOLD", "DONE",
    ]  # fmt: skip


def test_nowhere_in_particular_all_projects_are_one_list(many: Kit) -> None:
    found = ids(read(many, "goals", here="/elsewhere"))
    assert found == ["g-12", "g-6", "g-11", "g-10", "g-5", "g-4", "g-7", "g-1", "g-8", "g-2", "g-9", "g-3"]
    assert found == ids(read(many, "goals"))


def test_archived_goals_are_not_listed_nor_counted(many: Kit) -> None:
    found = read(many, "goals", at="g-13")
    assert found["total"] == 12
    assert found["at"] is None


@pytest.mark.parametrize("here", ["", "/one", "/two", "/elsewhere"])
@pytest.mark.parametrize("limit", [1, 4, 5, 7, 12, 50])
def test_windows_side_by_side_are_the_whole_list(many: Kit, here: str, limit: int) -> None:
    whole = ids(read(many, "goals", here=here))
    pages = [ids(read(many, "goals", here=here, offset=offset, limit=limit)) for offset in range(0, 12, limit)]
    assert [name for page in pages for name in page] == whole
    assert all(len(page) <= limit for page in pages)


@pytest.mark.parametrize("here", ["", "/one", "/two"])
def test_at_is_the_index_in_the_whole_list_and_the_window_contains_it(many: Kit, here: str) -> None:
    whole = ids(read(many, "goals", here=here))
    for index, name in enumerate(whole):
        for offset in (0, 5, 11, 90):
            found = read(many, "goals", here=here, at=name, offset=offset, limit=3)
            assert found["at"] == index
            assert name in ids(found)
            assert ids(found) == whole[found["offset"] : found["offset"] + 3]


def test_a_window_that_has_it_already_does_not_move(many: Kit) -> None:
    whole = ids(read(many, "goals"))
    assert read(many, "goals", at=whole[6], offset=4, limit=3)["offset"] == 4


@pytest.mark.parametrize("at", ["g-99", "nothing", "t-1", "' or 1=1 --"])
def test_at_of_nothing_is_none_and_moves_nothing(many: Kit, at: str) -> None:
    found = read(many, "goals", at=at, offset=2, limit=2)
    assert (found["at"], found["offset"]) == (None, 2)


def test_odd_windows_are_bounded(many: Kit) -> None:
    assert read(many, "goals", offset=-5)["offset"] == 0
    assert ids(read(many, "goals", offset=100)) == []
    assert len(read(many, "goals", limit=0)["items"]) == 1
    assert len(read(many, "goals", limit=10**9)["items"]) == 12


def test_ten_comes_after_nine_when_the_newest_is_first(kit: Kit) -> None:
    for number in range(11):
        kit.draft(str(number))
    assert ids(read(kit, "goals")) == [f"g-{number}" for number in range(11, 0, -1)]


# -- who looks ------------------------------------------------------------------------------------------------------------


def test_an_agent_sees_the_goals_it_may_work_on(kit: Kit) -> None:
    ada, bob = kit.agent("ada"), kit.agent("bob")
    kit.draft("for ada", agent=["ada"])
    kit.draft("for bob", agent=["bob"])
    kit.draft("for all")
    for actor, expected in ((ada, ["g-3", "g-1"]), (bob, ["g-3", "g-2"])):
        found = read(kit, "goals", Identity(kind="agent", actor=actor))
        assert (ids(found), found["total"]) == (expected, 2)
        assert read(kit, "goals", Identity(kind="agent", actor=actor), at="g-3")["at"] == 0
        hidden = "g-2" if actor == ada else "g-1"
        assert read(kit, "goals", Identity(kind="agent", actor=actor), at=hidden)["at"] is None
    assert ids(read(kit, "goals", OWNER, actor="ada")) == ["g-3", "g-1"]
    turn = Identity(kind="agent", actor=ada, goal="g-1", turn="u-1")
    assert ids(read(kit, "goals", turn)) == ["g-1"]


# -- poison ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "sql", "why"),
    [
        ("phase", "'sideways'", "phase 'sideways'"),
        ("agents", "'[1'", "cannot be read"),
        ("agents", "'{\"a\":1}'", "its agents"),
        ("title", BAD_TEXT, "cannot be read"),
        ("autonomy", "'total'", "its autonomy"),
        ("place_kind", "''", "its place_kind"),
    ],
)
def test_a_poisoned_goal_is_one_row(kit: Kit, field: str, sql: str, why: str) -> None:
    names = [kit.draft(str(number)) for number in range(3)]
    poison(kit, "goal", names[1], field, sql)
    found = read(kit, "goals")
    assert found["total"] == 3
    rows = {item["id"]: item for item in found["items"]}
    assert set(rows) == set(names)
    assert set(rows[names[1]]) == {"id", "poisoned"}
    assert why in rows[names[1]]["poisoned"]
    assert all(set(rows[name]) == KEYS for name in (names[0], names[2]))


def test_what_stands_beside_a_goal_may_be_poisoned_too(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal, "Rank")
    kit.begin(kit.agent("bot"))
    kit.say("decision ask", goal=goal, question="Which?")
    poison(kit, "todo", "t-1", "title", BAD_TEXT)
    poison(kit, "actor", "a-3", "argv", "'{'")
    poison(kit, "turn", "u-1", "claim", "'['")
    poison(kit, "decision", "d-1", "options", "'['")
    poison(kit, "project", "p-1", "remotes", "'['")
    item = only(kit)
    assert (item["word"], item["needs"]) == ("RUN", 1)
    assert item["running"][0]["todo_title"] == "t-1"
    assert item["running"][0]["actor_name"] == "a-3"
    assert read(kit, "goals", here="/project")["total"] == 1


# -- cost -----------------------------------------------------------------------------------------------------------------


def test_what_is_asked_of_the_database_grows_with_the_window_alone(kit: Kit) -> None:
    project = kit.project()
    for number in range(12):
        kit.draft(str(number), project=project)
    few = len(statements(kit, "goals", limit=3))
    bulk_todos(kit, "g-12", 2_000)
    kit.tamper(
        """insert into goal with recursive n(i) as (select 100 union all select i + 1 from n where i < 2099)
        select 'g-' || i, g.title, g.objective, g.project, g.place_kind, g.phase, g.priority, 1, 1, g.autonomy, '[]', '[]', null,
        1, 100, 14, null, null, '', 'a-1', 1, null, null, 0, '' from goal g, n where g.id = 'g-1'"""
    )
    assert len(statements(kit, "goals", limit=3)) == few
    assert len(statements(kit, "goals", limit=3, at="g-1", here="/project")) <= few + 8
    assert len(statements(kit, "goals", limit=6)) == few + 3, "one statement more a row more"


@pytest.mark.parametrize("name", ["goal.own_listed", "goal.other_listed", "goal.own_before", "goal.other_before"])
def test_the_window_is_read_off_an_index_in_its_order(kit: Kit, name: str) -> None:
    from loopx_engine.ledger.statements import statement

    given = {"own": "p-1", "limit": 10, "offset": 0, "at": "g-1"}
    asked = {key: value for key, value in given.items() if f":{key}" in statement(name)}
    plan = kit.engine.ledger.connection().execute(f"explain query plan {statement(name)}", asked).fetchall()  # type: ignore[attr-defined]
    told = " / ".join(row[3] for row in plan)
    assert "goal_own" in told or "goal_listed" in told
    assert "TEMP B-TREE" not in told


def test_an_effect_nobody_saw_the_end_of_is_a_finding(kit: Kit) -> None:
    goal = kit.goal()
    kit.todo(goal)
    who = kit.begin(kit.agent())
    kit.turn(who, "decision ask", goal=goal, question="push it?", effect=PUSH)
    basis = read(kit, "decision", id="d-1")["item"]["basis"]
    kit.sign("decision answer", decision="d-1", option="yes", basis=basis, goal=goal, reason="go")
    kit.act("effect attempt", effect="x-1")
    kit.act("effect settle", effect="x-1", state="uncertain", detail="cut off")
    assert said(kit) == ("RUN", "1 finding · uncertain effect", "bad")
