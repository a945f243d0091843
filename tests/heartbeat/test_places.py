"""Where a goal's work happens: made, prepared and inspected by the engine; what cannot be used waits for a person."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from heart_kit import NO_BOX, SAYS_HO, House, need_box, until

from loopx_engine.model.check import Check
from loopx_engine.model.evidence import Evidence
from loopx_engine.model.place import Place

pytestmark = pytest.mark.real


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def checks(house: House, goal: str) -> list[Check]:
    return house.records(Check, "check.of_goal", goal=goal)


@pytest.mark.parametrize("boxed", [True, False])
def test_a_check_whose_program_is_missing_is_no_failing_check(house: House, boxed: bool) -> None:
    if boxed:
        need_box()
    box = None if boxed else NO_BOX
    program = house.folder / "checker"
    goal, todo = house.ready(check=(str(program), "a"))
    house.once(box=box)
    place = house.place(goal)
    assert place.state == "broken"
    assert "cannot run" in place.reason
    assert [item.baseline for item in checks(house, goal)] == ["cannot run"]
    assert checks(house, goal)[0].baseline_tail
    assert house.turns(goal) == []
    assert house.todo_now(todo).failures == 0
    (asked,) = house.asked(goal)
    assert asked.cause.startswith("place_broken:")
    assert "cannot run" in asked.why
    program.write_text("#!/bin/sh\ngrep -q ho $1\n", encoding="utf-8")
    program.chmod(0o755)
    house.person.says("place retry", place=place.id)
    house.once(box=box)
    assert house.todo_now(todo).state == "done"
    assert house.asked(goal) == []
    house.sound()


def test_the_question_about_a_broken_place_tries_it_again(house: House) -> None:
    house.person.signs("project setup", project=house.project, argv=[["sh", "-c", "echo no wheel for you; exit 4"]])
    goal, todo = house.ready()
    house.once()
    assert house.place(goal).state == "broken"
    assert "set-up step 1" in house.place(goal).reason
    assert "exit 4" in house.place(goal).reason
    assert "no wheel for you" in house.place(goal).reason
    (asked,) = house.asked(goal)
    house.person.signs("project setup", project=house.project, argv=[["sh", "-c", "echo made > built"]])
    house.answer(asked, "yes")
    house.once()
    assert house.todo_now(todo).state == "done"
    assert (Path(house.place(goal).path) / "built").read_text(encoding="utf-8") == "made\n"


def test_a_set_up_runs_in_the_box_with_the_place_writable_and_the_home_hidden(house: House) -> None:
    need_box()
    house.person.signs(
        "project setup",
        project=house.project,
        argv=[["sh", "-c", f"touch ready; ls {house.keys} > seen; touch {house.root}/no; true"]],
    )
    goal, _ = house.ready()
    house.once()
    place = Path(house.place(goal).path)
    assert (place / "ready").exists()
    assert (place / "seen").read_text(encoding="utf-8") == ""
    assert not (house.root / "no").exists()


def test_a_check_that_went_missing_since_leaves_the_claim_open_and_the_place_to_be_mended(house: House) -> None:
    program = house.folder / "checker"
    program.write_text("#!/bin/sh\ngrep -q ho a\n", encoding="utf-8")
    program.chmod(0o755)
    away = house.folder / "away"
    goal, todo = house.ready(
        f"""
        os.rename({str(program)!r}, {str(away)!r})
        {SAYS_HO}
    """,
        check=(str(program),),
    )
    house.once(box=NO_BOX)
    assert house.place(goal).state == "broken"
    assert house.turns(goal)[0].reason.startswith("its check cannot run")
    assert house.todo_now(todo).state == "open"
    outcomes = {item.outcome for item in house.records(Evidence, "evidence.of_todo", todo=todo, limit=9)}
    assert outcomes == {"cannot run"}
    away.rename(program)
    house.program("bot", SAYS_HO)
    house.person.says("place retry", place=house.place(goal).id)
    house.once(box=NO_BOX)
    assert house.todo_now(todo).state == "done"


def test_a_check_that_the_work_itself_took_away_failed(house: House) -> None:
    """127 on the base commit would say that a program is missing; where it ran there, the work broke it: mend it."""
    (house.root / "check.sh").write_text("grep -q ho a\n", encoding="utf-8")
    house.git("add", "-A")
    house.git("commit", "-q", "-m", "a check")
    goal, todo = house.ready(
        """
        text = open("check.sh").read()
        os.remove("check.sh")
        write("a", "ho\\n")
        done("x")
        assert hear()["type"] == "refused"
        write("check.sh", text)
        done("put back")
    """,
        check=("sh", "check.sh"),
    )
    house.once()
    assert house.place(goal).state == "ready"
    assert house.turns(goal)[0].mends == 1
    assert house.todo_now(todo).state == "done"


@pytest.mark.parametrize("how", ["vanished", "no repository", "another repository"])
def test_a_project_that_is_not_what_it_was_says_so_and_works_again_when_it_is(house: House, how: str) -> None:
    goal, todo = house.ready()
    away = house.folder / "away"
    house.root.rename(away)
    if how != "vanished":
        house.root.mkdir()
    if how == "another repository":
        house.git("init", "-q", "-b", "main")
        house.git("commit", "-q", "--allow-empty", "-m", "other")
    house.once()
    assert house.todo_now(todo).state == "open"
    assert house.turns(goal) == []
    found = [(place.state, place.reason) for place in house.places(goal)]
    asked = house.asked(goal)
    assert asked, (found, house.events[-6:])
    assert str(house.root) in asked[0].why or "repository" in asked[0].why
    if how != "vanished":
        shutil.rmtree(house.root)
    away.rename(house.root)
    for place in house.places(goal):
        house.person.says("place retry", place=place.id)
    house.once()
    assert house.todo_now(todo).state == "done"
    house.sound()


def test_a_project_that_vanishes_while_its_goal_runs_breaks_the_place_and_loses_nothing(house: House) -> None:
    house.agent("""
        with open("a", "a") as file:
            file.write(title + "\\n")
        done(title)
    """)
    goal = house.goal()
    first = house.todo(goal, "one", check=("grep", "-q", "one", "a"))
    house.resume(goal)
    house.once()
    second = house.todo(goal, "two", check=("grep", "-q", "two", "a"))
    away = house.folder / "away"
    house.root.rename(away)
    house.once()
    assert house.place(goal).state == "broken"
    assert house.todo_now(second).state == "open"
    away.rename(house.root)
    house.person.says("place retry", place=house.place(goal).id)
    house.once()
    assert [house.todo_now(item).state for item in (first, second)] == ["done", "done"]
    assert house.subjects(f"loopx/{goal}") == ["two", "one", "begin"]


def test_a_place_whose_folder_is_gone_is_broken_not_made_again_unseen(house: House) -> None:
    house.agent(SAYS_HO)
    goal = house.goal()
    house.todo(goal)
    house.resume(goal)
    house.once()
    house.todo(goal, "two", check=())
    shutil.rmtree(house.place(goal).path)
    house.once()
    assert house.place(goal).state == "broken"
    assert [item.cause.partition(":")[0] for item in house.asked(goal)] == ["place_broken"]


@pytest.mark.parametrize("kind", ["clone", "in-place"])
def test_other_kinds_of_place_prove_and_commit_as_well(house: House, kind: str) -> None:
    house.agent(SAYS_HO)
    goal = house.goal(place=kind)
    todo = house.todo(goal)
    house.resume(goal)
    house.once()
    assert house.todo_now(todo).state == "done"
    assert house.place(goal).kind == kind
    assert house.subjects(f"loopx/{goal}") == ["Write ho", "begin"]
    assert house.git("rev-parse", "main") == house.git("rev-parse", f"loopx/{goal}~1")
    in_place = kind == "in-place"
    assert (house.root / "a").read_text(encoding="utf-8") == ("ho\n" if in_place else "hi\n")
    assert house.git("symbolic-ref", "HEAD") == "refs/heads/main"
    house.sound()


def test_a_directory_without_git_is_a_place_too(tmp_path: Path) -> None:
    house = House(tmp_path, git=False)
    goal, todo = house.ready()
    house.once()
    assert house.todo_now(todo).state == "done"
    assert house.todo_now(todo).proof == "proved"
    assert house.place(goal).kind == "directory"
    assert (house.root / "a").read_text(encoding="utf-8") == "ho\n"
    house.sound()


def test_a_blocked_todos_work_is_set_aside_and_other_work_goes_on_in_a_fresh_place(house: House) -> None:
    house.agent("""
        if title == "Ask first" and not packet["decisions"]:
            write("draft", "half\\n")
            say(type="ask", id="q", question="this way?", options=["this", "that"], blocks=True)
            say(type="result", outcome="blocked", summary="a person must say")
        elif title == "Ask first":
            say(type="note", text=str(packet["left_behind"]))
            saved = packet["left_behind"]["saved_as"] + ":draft"
            shown = subprocess.run(["git", "show", saved], capture_output=True, text=True)
            say(type="note", text=shown.stdout)
            write("asked", "yes")
            done("now")
        else:
            write("a", "ho\\n")
            done("other")
    """)
    goal = house.goal()
    first = house.todo(goal, "Ask first", check=("test", "-e", "asked"))
    second = house.todo(goal, "Other")
    house.resume(goal)
    house.once()
    assert house.todo_now(first).state == "open"
    assert house.todo_now(second).state == "done"
    wip = house.todo_now(first).wip
    assert wip == f"refs/loopx/wip/{house.turns(goal)[0].id}"
    assert house.git("show", f"{wip}:draft") == "half"
    assert house.git("ls-tree", "--name-only", f"loopx/{goal}") == "a"
    everything = house.records(Place, "place.all", limit=9)
    assert sorted(place.state for place in everything) == ["dropped", "ready"]
    assert len({place.path for place in everything}) == 2
    old = next(place for place in everything if place.state == "dropped")
    assert (Path(old.path) / "draft").read_text(encoding="utf-8") == "half\n"
    house.answer(house.asked(goal)[0], "1")
    house.once()
    assert house.todo_now(first).state == "done"
    said = house.transcript(house.turns(goal)[-1])
    assert f"'saved_as': '{wip}'" in said
    assert "[note] half" in said
    assert house.subjects(f"loopx/{goal}") == ["Ask first", "Other", "begin"]
    house.sound()


def test_a_fresh_place_of_a_clone_keeps_the_saved_work_in_the_project(house: House) -> None:
    house.agent("""
        if title == "Ask first":
            write("draft", "half\\n")
            say(type="ask", id="q", question="this way?", blocks=True)
            say(type="result", outcome="blocked", summary="a person must say")
        else:
            write("a", "ho\\n")
            done("other")
    """)
    goal = house.goal(place="clone")
    first = house.todo(goal, "Ask first", check=("test", "-e", "asked"))
    second = house.todo(goal, "Other")
    house.resume(goal)
    house.once()
    assert house.todo_now(second).state == "done"
    assert house.git("show", f"{house.todo_now(first).wip}:draft") == "half"
    assert house.subjects(f"loopx/{goal}") == ["Other", "begin"]


def test_where_a_person_works_too_other_work_waits_and_nothing_spins(house: House) -> None:
    house.agent("""
        write("draft", "half\\n")
        say(type="ask", id="q", question="this way?", blocks=True)
        say(type="result", outcome="blocked", summary="a person must say")
    """)
    goal = house.goal(place="in-place")
    house.todo(goal, "Ask first", check=("test", "-e", "asked"))
    second = house.todo(goal, "Other")
    house.resume(goal)
    house.once()
    assert len(house.turns(goal)) == 1
    assert house.todo_now(second).state == "open"
    assert (house.root / "draft").exists()


def test_a_new_check_is_tried_on_the_base_commit_not_on_the_work(house: House) -> None:
    goal, _todo = house.ready()
    house.once()
    second = house.todo(goal, "again", check=("grep", "-q", "ho", "a"))
    house.once()
    assert house.todo_now(second).state == "done"
    assert {item.baseline for item in checks(house, goal)} == {"red"}


def test_a_guard_was_green_before(house: House) -> None:
    goal, _todo = house.ready(SAYS_HO, check=("test", "-e", "a"))
    house.once()
    assert [(item.baseline, item.role) for item in checks(house, goal)] == [("green", "guard")]


def test_the_persons_unsaved_edits_and_index_are_as_they_were(house: House) -> None:
    (house.root / "a").write_text("an unsaved edit\n", encoding="utf-8")
    (house.root / "new").write_text("untracked\n", encoding="utf-8")
    house.git("add", "new")
    before = house.git("status", "--porcelain=v2")
    _goal, todo = house.ready()
    house.once()
    assert house.todo_now(todo).state == "done"
    assert house.git("status", "--porcelain=v2") == before
    assert (house.root / "a").read_text(encoding="utf-8") == "an unsaved edit\n"


def test_a_criterion_is_proved_by_the_engine_and_made_stale_by_later_work(house: House) -> None:
    from loopx_engine.model.criterion import Criterion

    house.agent("""
        write("a", "ho\\n" if title == "Write ho" else "broken\\n")
        if title == "Break it":
            write("b", "x")
        done(title)
    """)
    goal = house.goal(criterion=[["a says ho", ["grep", "-q", "ho", "a"]]])
    house.todo(goal, serves=[1])
    house.resume(goal)
    house.once()

    def criterion() -> Criterion:
        return house.records(Criterion, "criterion.of_goal", goal=goal)[0]

    assert criterion().state == "met"
    assert [item.cause.partition(":")[0] for item in house.asked(goal)] == ["ready_to_close"]
    house.todo(goal, "Break it", check=("test", "-e", "b"))
    with house.running():
        until(lambda: criterion().state == "open", "the criterion to be refuted")
        until(lambda: any(item.cause.startswith("criterion_gap") for item in house.asked(goal)), "the gap to be asked")
    assert not [item for item in house.asked(goal) if item.cause.startswith("ready_to_close")]
