"""The desk: what was shown is what is done, or nothing is; the key is asked for when it is needed and never before."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Home
from support import ROOT

from loopx_engine import Desk
from loopx_engine.clock import FakeClock
from loopx_engine.consent.keys import protect, public_key
from loopx_engine.errors import LoopxError, Refused, StateMoved, UsageError
from loopx_engine.model.actor import Actor
from loopx_engine.model.decision import Decision
from loopx_engine.model.defaults import UNLOCK_MS
from loopx_engine.model.goal import Goal

PASSPHRASE = "a long enough passphrase"


class Seat:
    """A desk in a home of its own, on a clock that is moved by hand."""

    def __init__(self, home: Home, folder: Path) -> None:
        self.environ = {"LOOPX_HOME": str(home.data), "LOOPX_KEYS": str(home.keys)}
        self.folder = folder
        folder.mkdir()
        self.clock = FakeClock()
        self.desk = Desk(self.environ, clock=self.clock, here=str(folder))

    def goal(self, title: str = "Fix it") -> str:
        """A draft; its id."""
        project = self.desk.enter_project()
        return str(self.desk.run("goal add", {"title": title, "project": project}).answer["goal"])

    def title(self, goal: str) -> str:
        with self.desk.engine.read() as reader:
            found = reader.get(Goal, goal)
        assert found is not None
        return found.title

    def basis(self, name: str) -> str:
        with self.desk.engine.read() as reader:
            found = reader.get(Decision, name)
        assert found is not None
        return found.basis

    def ask(self, goal: str, question: str = "Which?") -> str:
        return str(self.desk.run("decision ask", {"goal": goal, "question": question}).answer["decision"])

    def refused(self, kind: type[LoopxError], verb: str, arguments: dict[str, Any], **more: Any) -> LoopxError:
        """The error a command comes to, after which nothing may be written."""
        before = self.desk.last()
        with pytest.raises(kind) as refusal:
            self.desk.run(verb, arguments, **more)
        assert self.desk.last() == before
        return refusal.value


@pytest.fixture
def seat(home: Home, tmp_path: Path) -> Iterator[Seat]:
    """With an owner's key that is not sealed; afterwards the ledger must be sound."""
    made = Seat(home, tmp_path / "shop")
    made.desk.make_key("")
    yield made
    assert made.desk.engine.ledger.verify() == []
    assert made.desk.engine.ledger.rebuild() == []
    made.desk.close()


@pytest.fixture
def keyless(home: Home, tmp_path: Path) -> Iterator[Seat]:
    made = Seat(home, tmp_path / "shop")
    yield made
    made.desk.close()


# -- what was shown is what is done ------------------------------------------------------------------------------------------


def test_a_preview_writes_nothing(seat: Seat) -> None:
    goal, before = seat.goal(), seat.desk.last()
    preview = seat.desk.preview("goal edit", {"goal": goal, "title": "Mend it"})
    assert [change.after["title"] for change in preview.changes if change.kind == "goal" and change.after] == [
        "Mend it"
    ]
    assert seat.desk.last() == before
    assert seat.title(goal) == "Fix it"


def test_what_was_previewed_is_done_by_its_basis(seat: Seat) -> None:
    goal = seat.goal()
    given = {"goal": goal, "title": "Mend it"}
    seat.desk.run("goal edit", given, basis=seat.desk.preview("goal edit", given).basis)
    assert seat.title(goal) == "Mend it"


def test_a_preview_that_no_longer_holds_is_refused_and_nothing_is_written(seat: Seat) -> None:
    goal = seat.goal()
    given = {"goal": goal, "title": "Mend it"}
    basis = seat.desk.preview("goal edit", given).basis
    seat.desk.run("goal edit", {"goal": goal, "title": "Somebody was faster"})
    error = seat.refused(StateMoved, "goal edit", given, basis=basis)
    assert "previewed" in error.message
    assert seat.title(goal) == "Somebody was faster"


def test_a_signed_command_is_bound_to_what_was_shown_too(seat: Seat) -> None:
    goal = seat.goal()
    given = {"goal": goal, "text": "it works"}
    basis = seat.desk.preview("criterion add", given).basis
    assert "signed" in seat.desk.preview("criterion add", given).authority
    seat.desk.run("goal edit", {"goal": goal, "title": "Another goal now"})
    seat.refused(StateMoved, "criterion add", given, basis=basis)
    fresh = seat.desk.preview("criterion add", given).basis
    answer = seat.desk.run("criterion add", given, basis=fresh)
    assert [receipt.strength for receipt in answer.receipts] == ["key file"]


def test_a_basis_of_another_command_is_refused(seat: Seat) -> None:
    goal = seat.goal()
    basis = seat.desk.preview("goal edit", {"goal": goal, "title": "Mend it"}).basis
    seat.refused(StateMoved, "goal edit", {"goal": goal, "title": "Break it"}, basis=basis)
    seat.refused(StateMoved, "criterion add", {"goal": goal, "text": "it works"}, basis=basis)


def test_an_answer_is_bound_to_the_question_that_was_read(seat: Seat) -> None:
    goal = seat.goal()
    name = seat.ask(goal)
    given = {"decision": name, "option": "yes", "basis": "0" * 64}
    seat.refused(StateMoved, "decision answer", given)
    seat.desk.run("decision answer", {**given, "basis": seat.basis(name)})
    assert seat.desk.read("decision", id=name)["signature"] == "verified"


def test_a_command_said_twice_under_one_id_is_done_once(seat: Seat) -> None:
    goal = seat.goal()
    given = {"goal": goal, "title": "a todo"}
    first = seat.desk.run("todo add", given, command_id="c-1")
    again = seat.desk.run("todo add", given, command_id="c-1")
    assert (again.replayed, again.answer) == (True, first.answer)
    assert seat.desk.read("todos", goal=goal)["total"] == 1


def test_what_was_done_can_be_taken_back(seat: Seat) -> None:
    goal = seat.goal()
    receipt = seat.desk.run("goal edit", {"goal": goal, "title": "Mend it"}).receipts[0].id
    seat.desk.run("undo", {"receipt": receipt})
    assert seat.title(goal) == "Fix it"


# -- the key -----------------------------------------------------------------------------------------------------------------


def test_without_a_key_what_needs_one_says_so_and_the_rest_is_done(keyless: Seat) -> None:
    goal = keyless.goal()
    key = keyless.desk.key()
    assert (key.made, key.sealed, key.open) == (False, False, False)
    assert keyless.refused(Refused, "criterion add", {"goal": goal, "text": "it works"}).code == "no_key"
    keyless.desk.run("goal edit", {"goal": goal, "title": "Mend it"})


def test_a_key_that_is_not_sealed_signs_at_once(seat: Seat) -> None:
    key = seat.desk.key()
    assert (key.made, key.sealed, key.open) == (True, False, True)
    seat.desk.run("criterion add", {"goal": seat.goal(), "text": "it works"})


def test_a_sealed_key_signs_while_it_is_open_and_is_forgotten_after_its_time(home: Home, keyless: Seat) -> None:
    keyless.desk.make_key(PASSPHRASE)
    goal = keyless.goal()
    keyless.desk.run("criterion add", {"goal": goal, "text": "one"})
    keyless.clock.advance(UNLOCK_MS + 1)
    key = keyless.desk.key()
    assert (key.sealed, key.open) == (True, False)
    assert keyless.refused(Refused, "criterion add", {"goal": goal, "text": "two"}).code == "locked"
    with pytest.raises(LoopxError):
        keyless.desk.unlock("another passphrase altogether")
    assert not keyless.desk.key().open
    keyless.desk.unlock(PASSPHRASE)
    keyless.desk.run("criterion add", {"goal": goal, "text": "two"})
    keyless.desk.lock()
    assert keyless.refused(Refused, "criterion add", {"goal": goal, "text": "three"}).code == "locked"


def test_a_key_that_somebody_sealed_meanwhile_is_asked_for(home: Home, seat: Seat) -> None:
    goal = seat.goal()
    protect(home.keys, None, PASSPHRASE.encode())
    seat.desk.lock()
    assert seat.refused(Refused, "criterion add", {"goal": goal, "text": "x"}).code == "locked"


def test_a_key_that_is_made_again_is_the_same(seat: Seat, home: Home) -> None:
    before = public_key(home.keys)
    seat.desk.make_key("")
    assert public_key(home.keys) == before
    seat.desk.run("criterion add", {"goal": seat.goal(), "text": "it works"})


# -- looking and waiting ---------------------------------------------------------------------------------------------------


def test_reads_are_those_of_the_engine_and_nothing_else(seat: Seat) -> None:
    goal = seat.goal()
    assert [item["id"] for item in seat.desk.read("goals", here=seat.desk.here)["items"]] == [goal]
    with pytest.raises(UsageError):
        seat.desk.read("everything")
    with pytest.raises(UsageError):
        seat.desk.read("card")


def test_the_project_of_a_directory_is_entered_once(seat: Seat) -> None:
    assert seat.desk.enter_project() == seat.desk.enter_project(str(seat.folder))


def test_a_directory_that_is_not_there_is_no_project(seat: Seat) -> None:
    with pytest.raises(LoopxError) as missing:
        seat.desk.enter_project(str(seat.folder / "gone"))
    assert missing.value.code == "project_missing"


def test_a_wait_ends_with_what_comes_or_when_it_is_woken(seat: Seat) -> None:
    goal, before, came = seat.goal(), seat.desk.last(), []
    assert seat.desk.wait(before, 0.0) is False

    def listen() -> None:
        came.append(seat.desk.wait(before, 30.0))
        came.append(seat.desk.wait(seat.desk.last(), 30.0))

    thread = threading.Thread(target=listen)
    thread.start()
    seat.desk.run("todo add", {"goal": goal, "title": "a todo"})
    while len(came) < 1 and thread.is_alive():
        thread.join(0.01)
    while thread.is_alive():
        seat.desk.wake()
        thread.join(0.01)
    assert came == [True, False]


def test_a_desk_may_be_used_from_any_thread(seat: Seat) -> None:
    goal, wrong = seat.goal(), []

    def work(number: int) -> None:
        try:
            seat.desk.run("todo add", {"goal": goal, "title": f"todo {number}"})
            seat.desk.read("todos", goal=goal)
        except LoopxError as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert seat.desk.read("todos", goal=goal)["total"] == 8


def test_another_file_in_the_place_of_the_ledger_is_noticed(seat: Seat, home: Home, tmp_path: Path) -> None:
    assert not seat.desk.replaced()
    ledger = home.data / "ledger.db"
    aside = tmp_path / "aside.db"
    shutil.copy(ledger, aside)
    ledger.rename(tmp_path / "first.db")
    assert seat.desk.replaced(), "there is none"
    shutil.move(aside, ledger)
    assert seat.desk.replaced(), "there is another"
    ledger.unlink()
    (tmp_path / "first.db").rename(ledger)
    assert not seat.desk.replaced()


def test_a_transcript_is_read_from_its_end_and_on(seat: Seat, tmp_path: Path) -> None:
    path = tmp_path / "u.log"
    path.write_text("one\ntwo\n", encoding="utf-8")
    lines, position = seat.desk.transcript(str(path), -1)
    assert lines == ["one", "two"]
    path.write_text("one\ntwo\nthree\n", encoding="utf-8")
    assert seat.desk.transcript(str(path), position)[0] == ["three"]


def test_stopping_what_does_not_run_stops_nothing_and_says_the_goals(seat: Seat) -> None:
    goal = seat.goal()
    assert seat.desk.stop(goal)["goals"] == []
    assert not seat.desk.engine_runs()


# -- who may sit here --------------------------------------------------------------------------------------------------------


def test_an_agents_token_opens_no_desk_and_makes_nothing(home: Home) -> None:
    environ = {"LOOPX_HOME": str(home.data), "LOOPX_KEYS": str(home.keys), "LOOPX_TOKEN": "a-3.secret"}
    with pytest.raises(Refused) as refused:
        Desk(environ)
    assert refused.value.code == "not_for_agents"
    assert not home.data.exists()


def test_a_new_ledger_is_founded_with_its_owner_and_its_engine(keyless: Seat) -> None:
    with keyless.desk.engine.read() as reader:
        assert len(reader.records(Actor, "actor.owner")) == len(reader.records(Actor, "actor.engine")) == 1
    second = Desk(keyless.environ)
    assert second.last() == keyless.desk.last()
    second.close()


def test_nothing_of_the_desk_asks_or_prints() -> None:
    import ast

    for path in (ROOT / "loopx_engine" / "desk").glob("*.py"):
        called = {
            ast.unparse(node.func)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call)
        }
        assert not called & {"print", "input", "getpass.getpass", "click.echo", "click.prompt"}, path.name
