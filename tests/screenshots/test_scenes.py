"""The scenes: what stands in their ledgers, that it verifies, and that it is the same each time."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from support import require

from loopx_engine.desk.background import engine_runs
from loopx_engine.desk.opening import engine_lock
from loopx_engine.engine import Engine
from loopx_engine.errors import LedgerUnusable, NotFound
from loopx_engine.ledger.tables import column_names
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.lease import Lease
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn
from loopx_engine.places.git import run_git
from loopx_engine.reading import read_as
from screenshots.morning import AGENTS
from screenshots.scenes import SCENES, Scene, build
from screenshots.stage import HOUR, MINUTE, NOW, PROJECT, Still

CLEAN = ["empty", "needs", "cjk", "many:500"]
PRIVATE = {"token_hash", "public_key", "proof"}
"""Columns that hold keys, tokens and signatures: the only things that differ between two builds."""


def problems(engine: Engine) -> list[str]:
    return [f"{item.where}: {item.what}" for item in [*engine.ledger.verify(), *engine.ledger.rebuild()]]


def rows(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    return list(engine.ledger.connection().execute(sql).fetchall())  # type: ignore[attr-defined]


def contents(engine: Engine, folder: Path) -> dict[str, list[str]]:
    """Every row of every noun, without keys and tokens, and without where it lies."""
    found = {}
    for noun in (
        "actor",
        "check",
        "criterion",
        "decision",
        "effect",
        "evidence",
        "goal",
        "grant",
        "lease",
        "place",
        "todo",
        "turn",
        "wake",
    ):
        names = [name for name in column_names(noun) if name not in PRIVATE]
        listed = rows(engine, f'select {", ".join(map(repr_of, names))} from "{noun}" order by id')
        found[noun] = [json.dumps([str(value) for value in row]).replace(str(folder), "HERE") for row in listed]
    told = rows(engine, "select seq, at, actor, turn, verb, stream from receipt order by seq")
    return {**found, "receipt": [json.dumps(row) for row in told]}


def repr_of(name: str) -> str:
    return f'"{name}"'


def record(engine: Engine, cls: type[Any], name: str) -> Any:
    with engine.read() as reader:
        return reader.get(cls, name)


def look(engine: Engine, view: str, **arguments: Any) -> dict[str, Any]:
    return read_as(engine, engine.identify(None), view, arguments)


def decisions(engine: Engine) -> dict[str, Decision]:
    """The open decisions by what they ask."""
    with engine.read() as reader:
        return {item.question: item for item in reader.records(Decision, "decision.all_open", limit=100)}


def goals(engine: Engine) -> dict[str, Goal]:
    with engine.read() as reader:
        return {item.title: item for item in reader.records(Goal, "goal.all", limit=100)}


# -- all of them -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLEAN)
def test_every_receipt_verifies_and_their_fold_is_the_state(
    name: str, made: Callable[[str], Scene], opening: Any
) -> None:
    with opening(made(name)) as engine:
        assert problems(engine) == []


@pytest.mark.parametrize("name", ["empty", "needs", "cjk", "many:50"])
def test_two_builds_differ_in_keys_and_tokens_alone(name: str, made: Callable[[str], Scene], opening: Any) -> None:
    told = []
    for _ in range(2):
        scene = made(name)
        with opening(scene) as engine:
            told.append(contents(engine, scene.folder))
    assert told[0] == told[1]


def test_an_unknown_scene_is_refused_with_the_names_that_exist(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as refused:
        build("evening", tmp_path / "ana")
    assert "evening" in refused.value.message
    assert all(name in refused.value.next for name in SCENES)
    assert not (tmp_path / "ana").exists()


def test_a_scene_names_its_home_its_keys_and_a_project_without_the_machine(morning: Scene) -> None:
    assert Path(morning.environ["LOOPX_HOME"]).is_dir()
    assert Path(morning.environ["LOOPX_KEYS"]).is_dir()
    assert morning.root.name == PROJECT
    assert morning.root.parent == Path(morning.environ["HOME"])


def test_a_scenes_clock_stands_still_and_its_waiting_is_real(morning: Scene) -> None:
    assert morning.now == NOW
    done = threading.Event()
    threading.Timer(0.05, done.set).start()
    assert morning.clock.wait(done, 10)
    assert not Still(NOW).wait(threading.Event(), 0.01)
    assert morning.now == NOW


def test_a_screen_sees_an_engine_only_while_the_scene_says_one_runs(morning: Scene) -> None:
    lock = engine_lock(morning.environ)
    with morning.engine_runs():
        assert engine_runs(lock)
    assert not engine_runs(lock)


def test_the_programs_of_the_agents_only_say_their_version(morning: Scene) -> None:
    first = Path(morning.environ["PATH"].split(os.pathsep)[0])
    assert sorted(path.name for path in first.iterdir()) == ["claude", "codex"]
    assert all(path.stat().st_mode & stat.S_IXUSR for path in first.iterdir())


# -- the morning: needs you --------------------------------------------------------------------------------------------


def test_four_questions_wait_one_of_high_two_of_medium_one_of_low_risk(engine: Engine) -> None:
    assert sorted((item.risk, item.kind) for item in decisions(engine).values()) == [
        ("high", "effect"), ("low", "choice"), ("medium", "effect"), ("medium", "effect"),
    ]  # fmt: skip


def test_their_ages_are_the_ones_of_the_look(engine: Engine) -> None:
    minutes = {question: (NOW - item.created_at) // MINUTE for question, item in decisions(engine).items()}
    assert minutes == {
        "Publish 3 commits to origin/main": 4,
        "Run npm i left-pad": 12,
        "Run npm i pad-start": 31,
        "Keep the old URL alive?": 64,
    }


def test_the_push_is_of_three_real_commits_that_origin_has_not(engine: Engine, morning: Scene) -> None:
    asked = decisions(engine)["Publish 3 commits to origin/main"]
    effect = dict(asked.effect or {})
    head = run_git(morning.root, "rev-parse", f"refs/heads/loopx/{asked.goal}").out.strip()
    ahead = run_git(morning.root, "rev-list", "--count", f"origin/main..{head}").out.strip()
    assert (effect["sha"], ahead) == (head, "3")
    assert effect["remote_has"] == run_git(morning.root, "rev-parse", "origin/main").out.strip()
    assert (effect["remote"], effect["ref"]) == ("origin", "main")


def test_each_of_those_commits_names_its_todo_and_its_receipt(engine: Engine, morning: Scene) -> None:
    goal = goals(engine)["checkout totals"].id
    bodies = run_git(morning.root, "log", "--format=%B%x00", f"main..loopx/{goal}").out.split("\0")[:3]
    assert all("LoopX-Todo: t-" in body and "LoopX-Receipt: r-" in body for body in bodies)


def test_the_difference_has_the_lines_of_the_look(engine: Engine, morning: Scene) -> None:
    goal = goals(engine)["checkout totals"].id
    text = run_git(morning.root, "diff", f"main...loopx/{goal}").out
    assert "-    return sum(i.price for i in items)" in text
    assert "+    return sum(i.price * i.quantity for i in items)" in text


def test_the_push_stands_in_the_way_of_the_todo_that_asks_and_its_turn_waits(engine: Engine) -> None:
    asked = decisions(engine)["Publish 3 commits to origin/main"]
    assert [record(engine, Todo, name).title for name in asked.blocks] == ["release the fix"]
    assert record(engine, Turn, str(asked.turn)).live


def test_the_choice_has_two_answers_and_nothing_waits_for_it(engine: Engine) -> None:
    asked = decisions(engine)["Keep the old URL alive?"]
    assert [text for _, text in asked.options] == ["redirect it for a year", "let it go"]
    assert asked.blocks == ()
    assert not record(engine, Turn, str(asked.turn)).live


def test_three_were_answered_today_one_left_a_grant_one_was_a_no_one_a_plan(engine: Engine) -> None:
    told = rows(engine, "select question, answer, reason from decision where answered_at > 0 order by answered_at")
    assert [row[:2] for row in told] == [
        ("The plan for search relevance: 9 todos", "yes"),
        ("Delete legacy/?", "no"),
        ("Run pytest -x", "yes"),
    ]
    assert told[1][2] == "keep until May"
    assert rows(engine, 'select kind, pattern, uses from "grant"') == [("exec", "pytest *", 6)]


def test_answers_that_were_given_verify(engine: Engine) -> None:
    with engine.read() as reader:
        trusted = engine.trust_of(reader)
        answered = [item for item in reader.records(Decision, "decision.of_goal", goal="g-5", limit=50) if item.answer]
    assert answered
    assert all(trusted(item) for item in answered)


def test_one_turn_was_lost_and_its_goal_is_held(engine: Engine) -> None:
    found = look(engine, "findings")["items"]
    assert [(item["kind"], item["goal"]) for item in found] == [("lost turn", goals(engine)["auth rewrite"].id)]
    assert found[0]["since"] == NOW - 39 * MINUTE
    assert "the laptop slept past its deadline" in found[0]["happened"]


# -- the morning: goals ------------------------------------------------------------------------------------------------


def test_six_goals_stand_where_the_look_has_them(engine: Engine) -> None:
    with engine.read() as reader:
        told = {
            title: (goal.phase, reader.counter(goal.id, "todo.done"), reader.counter(goal.id, "todo"))
            for title, goal in goals(engine).items()
        }
    assert told == {
        "checkout totals": ("active", 4, 6),
        "search relevance": ("active", 2, 9),
        "docs site": ("active", 7, 8),
        "queue migration": ("active", 0, 5),
        "auth rewrite": ("paused", 3, 7),
        "flaky tests": ("done", 9, 9),
    }


def test_checkout_has_three_criteria_two_of_them_met(engine: Engine) -> None:
    told = rows(engine, "select number, text, state from criterion where goal = 'g-5' order by number")
    assert told == [
        (1, "all tests pass", "met"),
        (2, "API and page agree on 40 carts", "met"),
        (3, "released on main", "open"),
    ]


def test_its_todos_are_proved_reviewed_asked_about_and_needed(engine: Engine) -> None:
    told = rows(engine, "select title, state, proof, needs from todo where goal = 'g-5' order by rank")
    assert [row[1:3] for row in told] == [("done", "proved")] * 3 + [("done", "reviewed")] + [("open", "")] * 2
    assert [record(engine, Todo, name).title for name in json.loads(told[5][3])] == ["release the fix"]


def test_two_turns_run_with_a_live_lease_and_a_transcript_only_their_owner_reads(engine: Engine) -> None:
    with engine.read() as reader:
        live = reader.records(Turn, "turn.all_live")
    assert sorted(turn.goal for turn in live) == ["g-5", "g-6"]
    for turn in live:
        lease = record(engine, Lease, str(turn.todo))
        assert lease.live(NOW)
        assert lease.turn == turn.id
        path = Path(turn.transcript)
        assert path.read_text(encoding="utf-8").startswith("[note] ")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert not turn.pid


def test_one_claim_was_refused_by_its_check_and_mended_in_the_same_turn(engine: Engine) -> None:
    assert rows(engine, "select mends, result, goal from turn where mends > 0") == [(1, "done", "g-5")]


def test_another_agent_than_the_one_that_claimed_reviewed_it(engine: Engine) -> None:
    [(made_by, verified)] = rows(engine, "select made_by, verified_by from evidence where kind = 'review'")
    claimed = rows(engine, "select claimed_by from todo where review = 'pass'")
    assert made_by == verified
    assert claimed != [(made_by,)]


def test_every_active_goal_has_a_wake_to_come(engine: Engine) -> None:
    due = rows(engine, "select wake.due from wake join goal on goal.id = wake.id where goal.phase = 'active'")
    assert len(due) == 4
    assert all(NOW < row[0] < NOW + 12 * HOUR for row in due)


def test_the_receipts_of_the_whole_morning_are_in_the_order_of_their_time(engine: Engine) -> None:
    told = [row[0] for row in rows(engine, "select at from receipt order by seq")]
    assert told == sorted(told)
    assert told[-1] <= NOW


def test_three_agents_work_and_no_person_is_named_but_the_owner(engine: Engine) -> None:
    told = {tuple(row) for row in rows(engine, "select kind, name from actor")}
    assert told == {("person", "ana"), ("engine", "engine"), *(("agent", name) for name, _ in AGENTS)}


def test_nothing_that_is_said_names_a_path_of_the_machine(engine: Engine, morning: Scene) -> None:
    texts = rows(engine, "select title from todo union select question from decision union select why from decision")
    texts += [(path.read_text(encoding="utf-8"),) for path in (morning.folder / "home" / "transcripts").iterdir()]
    assert not [text for (text,) in texts if str(morning.folder) in text]


def test_the_places_are_worktrees_on_the_branches_of_their_goals(engine: Engine, morning: Scene) -> None:
    told = rows(engine, "select goal, path, branch, state from place order by id")
    assert len(told) == 6
    for goal, path, branch, state in told:
        assert (branch, state) == (f"loopx/{goal}", "ready")
        assert run_git(morning.root, "-C", path, "symbolic-ref", "--short", "HEAD", check=False).out.strip() in (
            branch,
            "",
        )
        assert (Path(path) / "src" / "cart.py").is_file()


# -- the others --------------------------------------------------------------------------------------------------------


def test_the_empty_scene_has_its_founding_and_nothing_else(made: Callable[[str], Scene], opening: Any) -> None:
    scene = made("empty")
    assert (scene.root / ".git").is_dir()
    assert not Path(scene.environ["LOOPX_KEYS"]).exists()
    with opening(scene) as engine:
        assert engine.ledger.last_seq() == 1
        assert goals(engine) == {}


def test_other_scripts_have_the_shape_of_the_morning(
    made: Callable[[str], Scene], engine: Engine, opening: Any
) -> None:
    shape = "select goal, state, kind, needs, serves from todo order by id"
    with opening(made("cjk")) as other:
        assert rows(other, shape) == rows(engine, shape)
        titles = "".join(goals(other)) + "".join(decisions(other))
        assert cell_len(titles) > len(titles)
        assert any("\u0590" <= character <= "\u05ff" for character in titles), "no Hebrew"
        assert any("\u0600" <= character <= "\u06ff" for character in titles), "no Arabic"
        assert "\u0301" in titles or "é" in titles
        assert "\u200d" in titles, "no emoji of several code points"


def test_poison_makes_exactly_one_record_unreadable(made: Callable[[str], Scene], opening: Any) -> None:
    scene = made("poison")
    with opening(scene) as engine:
        assert rows(engine, "select question from decision where not json_valid(options)") == [
            ("Keep the old URL alive?",)
        ]
        assert len(rows(engine, "select id from decision where state = 'open'")) == 4
        with pytest.raises(LedgerUnusable):
            record(engine, Decision, rows(engine, "select id from decision where not json_valid(options)")[0][0])


def test_poison_is_nowhere_but_in_that_record(
    made: Callable[[str], Scene], opening: Any, engine: Engine, morning: Scene
) -> None:
    scene = made("poison")
    with opening(scene) as poisoned:
        there, here = contents(poisoned, scene.folder), contents(engine, morning.folder)
    differ = {noun: [row for row, other in zip(there[noun], here[noun], strict=True) if row != other] for noun in here}
    assert {noun: len(found) for noun, found in differ.items() if found} == {"decision": 1}


@pytest.mark.parametrize("number", [1, 2000])
def test_many_adds_so_many_todos_to_one_goal(number: int, made: Callable[[str], Scene], opening: Any) -> None:
    with opening(made(f"many:{number}")) as engine, engine.read() as reader:
        assert reader.counter("g-1", "todo") == number
        assert reader.counter("g-1", "todo.done") == number // 2


def test_a_scene_needs_no_setting_of_the_person_who_builds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("git")
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_AUTHOR_DATE", "1999-01-01T00:00:00 +0000")
    scene = build("needs", tmp_path / "ana")
    dates = run_git(scene.root, "log", "--format=%aI %an", "main").out.split()
    assert dates == ["2026-10-20T09:00:00+00:00", "Ana"]
