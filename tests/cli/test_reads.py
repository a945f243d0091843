"""Reads: they change nothing, are the same in two calls, put this project first, and end where an agent's goal ends."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from cli.calls import House, actor_token, agent_turn, git_project, ready
from conftest import Home

from loopx_engine.engine import Engine
from loopx_engine.errors import UsageError
from loopx_engine.host.lock import single_instance
from loopx_engine.ledger.open import open_ledger
from loopx_engine.model.identity import Identity
from loopx_engine.model.limits import VERDICT_BYTES
from loopx_engine.reading import READS, read_as

CALLS = [
    ["status"], ["inbox"], ["next"], ["next", "g-1", "--as", "ada"], ["show", "g-1"], ["list", "todo"], ["why", "t-1"],
    ["search", "ho"], ["history"], ["findings"], ["place", "g-1"], ["verify"], ["project", "setup"],
]  # fmt: skip


def rows(home: Home) -> str:
    """Every row of the ledger, as one digest."""
    import sqlite3

    connection = sqlite3.connect(home.data / "ledger.db")
    dump = "\n".join(connection.iterdump())
    connection.close()
    return hashlib.sha256(dump.encode()).hexdigest()


@pytest.mark.real
@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_reading_changes_nothing_and_says_the_same_twice(at_work: House, home: Home, words: list[str]) -> None:
    ready(at_work)
    before = rows(home)
    first = at_work.do(*words, "--json")
    again = at_work.do(*words, "--json")
    assert first.code == again.code
    assert {**first.json, "now": 0} == {**again.json, "now": 0}
    at_work.do(*words)
    assert rows(home) == before


def test_a_preview_of_every_kind_changes_nothing(at_work: House, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows(home)
    for words in (
        ["goal", "add", "T"], ["todo", "add", "g-1", "T"], ["goal", "pause", "g-1"], ["goal", "resume", "g-1"],
        ["actor", "add", "x", "--kind", "agent"], ["stop", "--all"], ["undo", "r-6"], ["backup"], ["owner", "rotate"],
        ["project", "setup", "--argv", "true"], ["project", "check"], ["decision", "ask", "g-1", "Q"],
        ["check", "set", "t-1", "true"], ["grant", "add", "push", "origin/x"],
    ):  # fmt: skip
        said = at_work.do(*words, "--dry-run", "--json")
        assert said.code in (0, 2), said
        assert said.json["schema"] == ("loopx.preview/1" if said.code == 0 else "loopx.error/1"), said
    assert rows(home) == before


def test_a_dry_run_in_a_directory_that_is_no_project_yet_enters_nothing(house: House) -> None:
    said = house.well("goal", "add", "T", "--dry-run", "--json").json
    assert said["verb"] == "project add"
    assert house.json("list", "project")["items"] == []


def test_a_goal_in_a_known_project_writes_no_second_receipt_for_it(house: House) -> None:
    house.well("goal", "add", "One")
    house.well("goal", "add", "Two")
    verbs = [row["verb"] for row in house.json("history")["items"]]
    assert verbs == ["goal add", "goal add", "project add", "ledger found"]


def test_what_belongs_to_the_directory_comes_first(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.well("owner", "init", "--no-passphrase")
    for name in ("one", "two"):
        (tmp_path / name / "deep").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / name)
        goal = house.json("goal", "add", f"Goal of {name}")["goal"]
        house.well("decision", "ask", goal, f"Asked in {name}")
        house.well("goal", "resume", goal)
    for name, other in (("one", "two"), ("two", "one")):
        monkeypatch.chdir(tmp_path / name / "deep")
        status = house.json("status")
        assert status["project"]["name"] == name
        assert [item["title"] for item in status["active"]] == [f"Goal of {name}", f"Goal of {other}"]
        assert [item["question"] for item in status["needs_you"]] == [f"Asked in {name}", f"Asked in {other}"]
        assert [item["question"] for item in house.json("inbox")["items"]] == [f"Asked in {name}", f"Asked in {other}"]
        assert house.well("status").out.startswith(f"{name} ")
    monkeypatch.chdir(tmp_path)
    assert house.json("status")["project"] is None
    assert house.well("status").out.startswith("loopx ")


@pytest.mark.real
def test_a_place_belongs_to_its_project(at_work: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(at_work)
    monkeypatch.chdir(at_work.well("place", "g-1").out.strip())
    assert at_work.json("status")["project"]["name"] == "shop-api"


def test_status_says_live_while_an_engine_holds_the_lock_and_leaves_it_alone(at_work: House, home: Home) -> None:
    lock = home.data / "engine.lock"
    assert at_work.json("status")["engine"] is False
    assert not lock.exists(), "looking makes no lock file"
    with single_instance(lock):
        said = lock.read_bytes()
        assert at_work.json("status")["engine"] is True
        assert at_work.well("status").out.splitlines()[0].split("  ")[-1].strip().startswith("live · 0 running")
        assert lock.read_bytes() == said
    assert at_work.json("status")["engine"] is False
    assert lock.read_bytes() == said


def test_an_agent_sees_its_own_goals_and_no_others(at_work: House, monkeypatch: pytest.MonkeyPatch) -> None:
    at_work.well("actor", "add", "bob", "--kind", "agent")
    at_work.well("goal", "add", "Secret", "--agent", "bob")
    at_work.well("todo", "add", "g-2", "Secret todo")
    at_work.well("decision", "ask", "g-2", "Secret question")
    monkeypatch.setenv("LOOPX_TOKEN", actor_token(at_work))
    for words in (
        ["show", "g-2"],
        ["show", "t-2"],
        ["list", "todo", "g-2"],
        ["why", "t-2"],
        ["next", "g-2"],
        ["history", "g-2"],
    ):
        assert at_work.refused(*words, code=3)["code"] == "other_goal"
    for words in (
        ["status"],
        ["inbox"],
        ["list", "todo"],
        ["list", "goal"],
        ["search", "secret"],
        ["history"],
        ["history", "t-2"],
    ):
        assert "Secret" not in at_work.do(*words, "--json").out, words
    assert at_work.refused("next", "--as", "bob", code=3)["code"] == "not_for_agents"
    assert at_work.json("next", "--as", "ada")["actor"] == "a-3"


def test_a_person_may_look_as_an_agent(at_work: House) -> None:
    at_work.well("actor", "add", "bob", "--kind", "agent")
    at_work.well("goal", "add", "Other", "--agent", "bob")
    assert [row["id"] for row in at_work.json("list", "goal", "--as", "ada")["items"]] == ["g-1"]
    assert [row["id"] for row in at_work.json("list", "goal", "--as", "a-4")["items"]] == ["g-2"]
    assert at_work.json("next", "g-1", "--as", "ada")["actor"] == "a-3"


@pytest.mark.real
def test_with_a_turns_token_reads_end_at_its_goal(at_work: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(at_work)
    at_work.well("goal", "add", "Other")
    monkeypatch.setenv("LOOPX_TOKEN", agent_turn(at_work, monkeypatch))
    assert at_work.refused("show", "g-2", code=3)["code"] == "other_goal"
    assert at_work.json("next")["kind"] == "resume"
    assert [row["goal"] for row in at_work.json("list", "todo")["items"]] == ["g-1"]


def test_next_without_a_goal_prefers_one_that_can_be_worked_on(at_work: House, tmp_path: Path) -> None:
    at_work.well("goal", "add", "Empty and first", "--priority", "0", "--agent", "ada", "--criterion", "it is so")
    at_work.well("goal", "resume", "g-2")
    said = at_work.json("next", "--as", "ada")
    assert said["kind"] not in ("wait", "ask", "stop")


@pytest.mark.parametrize("text", ["漢" * 200, "\x01" * 200, "🚀" * 200, '"' * 200])
def test_a_verdict_is_at_most_2_kb_as_it_is_printed(at_work: House, text: str) -> None:
    for _ in range(6):
        at_work.well("decision", "ask", "g-1", text)
    at_work.well("todo", "edit", "t-1", "--title", text)
    said = at_work.well("next", "g-1", "--json").out
    assert len(said.encode()) <= VERDICT_BYTES


def test_read_as_checks_what_scripts_and_boxed_agents_give_it(home: Home) -> None:
    engine = Engine(open_ledger(":memory:"))
    who = Identity(kind="person", actor="a-1", role="owner")
    for name, arguments in (
        ("drop table", {}), ("show", {}), ("show", {"id": 5}), ("show", {"id": "g-1", "x": "y"}),
        ("list", {"noun": "goal", "limit": "5"}),
        ("next", {"actor": 3}), ("list", {"noun": "goal", "limit": True}), ("search", {"text": None}), ("__init__", {}),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            read_as(engine, who, name, arguments)
    by_words = {"next", "show", "list", "why", "history", "search", "inbox", "findings", "status"}
    assert set(READS) == by_words | {"goals", "card", "todos", "decision"}, "the last four are the workspace's"


def test_lists_are_bounded_by_limit(owned: House) -> None:
    owned.well("goal", "add", "Fix it")
    for number in range(7):
        owned.well("todo", "add", "g-1", f"Todo {number}")
    assert len(owned.json("list", "todo", "--limit", "3")["items"]) == 3
    assert len(owned.json("history", "--limit", "2")["items"]) == 2
    assert len(owned.json("list", "todo", "--goal", "g-1")["items"]) == 7
    assert json.loads(owned.do("list", "todo", "g-1", "--json").out) == owned.json("list", "todo", "--goal", "g-1")


@pytest.mark.real
def test_a_project_is_found_again_after_it_moved(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = git_project(tmp_path / "old")
    monkeypatch.chdir(project)
    house.well("goal", "add", "One")
    monkeypatch.chdir(tmp_path)
    project.rename(tmp_path / "new")
    monkeypatch.chdir(tmp_path / "new")
    house.well("goal", "add", "Two")
    projects = house.json("list", "project")["items"]
    assert [(row["id"], row["name"]) for row in projects] == [("p-1", "new")]
