"""What every store promises (`ledger/protocol.py`). The store is a parameter; a new one joins by a line in `STORES`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import NOW, decision, evidence_row, goal, lease, todo, turn

from loopx_engine.errors import Fault, NotFound, Refused, StateMoved
from loopx_engine.ledger.counters import counter_deltas
from loopx_engine.ledger.open import open_ledger
from loopx_engine.ledger.protocol import Entry, Ledger
from loopx_engine.model.decision import Decision
from loopx_engine.model.goal import Goal
from loopx_engine.model.lease import Lease
from loopx_engine.model.receipt import GENESIS, Change
from loopx_engine.model.record import values
from loopx_engine.model.todo import Todo

STORES = ("memory", "file")


@pytest.fixture(params=STORES)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    made = open_ledger(":memory:" if request.param == "memory" else tmp_path / "home" / "ledger.db")
    yield made
    made.close()


def made(record: Any) -> Change:
    return Change(kind=record.KIND, id=record.id, before=None, after=values(record))


def changed(kind: str, identifier: str, before: dict[str, Any], after: dict[str, Any]) -> Change:
    return Change(kind=kind, id=identifier, before=before, after=after)


def entry(*changes: Change, stream: str = "g-1", command: str = "c1", **over: Any) -> Entry:
    given: dict[str, Any] = {"stream": stream, "at": NOW, "actor": "a-1", "command": command, "verb": "todo add"}
    payload = {"arguments": {}, "changes": [values(item) for item in changes], "answer": {}}
    return Entry(**{**given, "intent": "0" * 64, "payload": payload, **over})


def write(ledger: Ledger, *changes: Change, **over: Any) -> Any:
    with ledger.immediate() as transaction:
        for change in changes:
            transaction.apply(change)
        return transaction.append(entry(*changes, **over))


def crash_inside(ledger: Ledger) -> None:
    with ledger.immediate() as transaction:
        transaction.apply(made(todo("t-2")))
        transaction.append(entry(command="c2"))
        raise RuntimeError("crash")


def test_a_change_and_its_receipt_are_there_together_or_not_at_all(ledger: Ledger) -> None:
    write(ledger, made(goal()), made(todo()))
    with pytest.raises(RuntimeError, match="crash"):
        crash_inside(ledger)
    with ledger.read() as reader:
        assert reader.get(Todo, "t-1") == todo()
        assert reader.get(Todo, "t-2") is None
        assert reader.get(Goal, "g-9") is None
    assert ledger.last_seq() == 1


def test_lists_and_objects_come_back_as_they_were(ledger: Ledger) -> None:
    asked = decision(options=(("1", "left"), ("2", "right")), effect={"argv": ["a", "b"], "n": 1})
    write(ledger, made(todo(serves=(1, 2), needs=("t-2",), signed=True)), made(asked))
    with ledger.read() as reader:
        found = reader.get(Decision, "d-1")
        again = reader.get(Todo, "t-1")
    assert found is not None
    assert again is not None
    assert (found.options, found.effect) == (asked.options, {"argv": ["a", "b"], "n": 1})
    assert (again.serves, again.needs, again.signed) == ((1, 2), ("t-2",), True)


def test_a_preview_leaves_nothing(ledger: Ledger) -> None:
    with ledger.immediate(keep=False) as transaction:
        transaction.apply(made(todo()))
        assert transaction.next_id("todo") == "t-1"
        assert transaction.get(Todo, "t-1") is not None
    with ledger.read() as reader:
        assert reader.get(Todo, "t-1") is None
        assert reader.counter("g-1", "todo") == 0


def test_ids_are_typed_and_never_given_twice(ledger: Ledger) -> None:
    with ledger.immediate() as transaction:
        assert [transaction.next_id("todo"), transaction.next_id("todo"), transaction.next_id("goal")] == [
            "t-1",
            "t-2",
            "g-1",
        ]


def test_an_update_is_compared_with_what_it_saw(ledger: Ledger) -> None:
    write(ledger, made(goal()), made(todo()))
    write(ledger, changed("todo", "t-1", {"title": "todo t-1"}, {"title": "new"}), command="c2")
    with pytest.raises(StateMoved):
        write(ledger, changed("todo", "t-1", {"title": "todo t-1"}, {"title": "lost"}), command="c3")
    with ledger.read() as reader:
        found = reader.get(Todo, "t-1")
    assert found is not None
    assert (found.title, found.rank) == ("new", 10)
    assert ledger.last_seq() == 2


def test_what_is_not_there_cannot_be_changed_and_nothing_is_removed(ledger: Ledger) -> None:
    with pytest.raises(NotFound):
        write(ledger, changed("todo", "t-9", {"title": "a"}, {"title": "b"}))
    write(ledger, made(todo()))
    with pytest.raises(Fault):
        write(ledger, Change(kind="todo", id="t-1", before=values(todo()), after=None), command="c2")


def test_a_reading_view_refuses_to_write(ledger: Ledger) -> None:
    with ledger.read() as reader:
        for attempt in (
            lambda: reader.apply(made(todo())),
            lambda: reader.append(entry()),
            lambda: reader.next_id("todo"),
        ):
            with pytest.raises(Fault):
                attempt()


def test_an_unknown_statement_is_a_fault(ledger: Ledger) -> None:
    with ledger.read() as reader:
        for name in ("todo.nonsense", "nonsense.x"):
            with pytest.raises(Fault):
                reader.rows(name)


def test_receipts_are_chained_in_each_stream(ledger: Ledger) -> None:
    one = write(ledger, made(todo()))
    two = write(ledger, command="c2", stream="")
    three = write(ledger, command="c3")
    assert (one.previous, two.previous, three.previous) == (GENESIS, GENESIS, one.hash)
    assert (one.number, two.number, three.number) == (1, 1, 2)
    assert ledger.verify() == []
    assert ledger.receipt(3) == three
    assert ledger.receipt(4) is None


def test_a_command_id_is_used_once_in_a_stream(ledger: Ledger) -> None:
    write(ledger, made(todo()))
    with pytest.raises(Refused, match="used already"):
        write(ledger)
    write(ledger, stream="")
    with ledger.read() as reader:
        assert [item.stream for item in reader.receipts_of("c1")] == ["g-1", ""]
        assert reader.receipts_of("never") == []


def test_the_change_feed_is_in_order_and_by_stream_and_subject(ledger: Ledger) -> None:
    write(ledger, made(todo()))
    write(ledger, made(todo("t-2")), command="c2", stream="")
    write(ledger, changed("todo", "t-1", {"rank": 10}, {"rank": 11}), command="c3")
    assert [item.seq for item in ledger.receipts()] == [1, 2, 3]
    assert [item.seq for item in ledger.receipts(after=1, limit=1)] == [2]
    assert [item.seq for item in ledger.receipts(stream="g-1")] == [1, 3]
    assert [item.seq for item in ledger.last_receipts(limit=2)] == [3, 2]
    assert [item.seq for item in ledger.last_receipts(stream="g-1")] == [3, 1]
    assert [item.seq for item in ledger.last_receipts(subject="t-1")] == [3, 1]
    assert len(list(ledger.export())) == 3


def test_a_wait_ends_by_a_receipt_by_a_call_or_by_time(ledger: Ledger) -> None:
    assert ledger.wait_for_change(0, 0.01) is False
    write(ledger, made(todo()))
    assert ledger.wait_for_change(0, 5) is True
    for release in (ledger.wake_waiters, lambda: write(ledger, command="c2")):
        answers: list[bool] = []
        thread = threading.Thread(target=lambda kept: kept.append(ledger.wait_for_change(1, 30)), args=(answers,))
        thread.start()
        release()
        while thread.is_alive():
            ledger.wake_waiters()
            thread.join(0.02)
        assert answers in ([False], [True])
    assert ledger.wait_for_change(1, 0) is True


def test_a_wake_before_the_wait_is_not_slept_over(ledger: Ledger) -> None:
    before = ledger.wakes()
    ledger.wake_waiters()
    assert ledger.wait_for_change(0, 30, before) is False


def test_a_lease_is_renewed_without_a_receipt_by_its_epoch_only(ledger: Ledger) -> None:
    write(ledger, made(lease(epoch=2)))
    assert ledger.renew("t-1", 2, NOW + 99_000)
    assert not ledger.renew("t-1", 1, NOW)
    assert not ledger.renew("t-9", 1, NOW)
    with ledger.read() as reader:
        found = reader.get(Lease, "t-1")
    assert found is not None
    assert found.expires == NOW + 99_000
    assert ledger.last_seq() == 1
    assert ledger.rebuild() == []
    write(
        ledger,
        changed("lease", "t-1", {"state": "held", "expires": NOW}, {"state": "free", "expires": NOW}),
        command="c2",
    )


def test_search_takes_words_literally_newest_first(ledger: Ledger) -> None:
    write(ledger, made(goal(title="fix the parser")), made(todo(title="parser tests", body='say "hello" (NOT x)')))
    write(ledger, made(todo("t-2", title="parser docs")), command="c2")
    assert [row[1] for row in ledger.search("parser")] == ["t-2", "t-1", "g-1"]
    assert [row[1] for row in ledger.search("pars", goal="g-1", limit=1)] == ["t-2"]
    assert ledger.search("parser", goal="g-2") == []
    assert [row[1] for row in ledger.search('"hello" (NOT')] == ["t-1"]
    for hostile in ('"', "* OR *", "a\0b", "NEAR(", "-", "parser AND", "'; drop table todo", ""):
        ledger.search(hostile)
    write(ledger, changed("todo", "t-1", {"title": "parser tests"}, {"title": "lexer tests"}), command="c3")
    assert [row[1] for row in ledger.search("parser")] == ["t-2", "g-1"]
    assert [row[1] for row in ledger.search("lexer")] == ["t-1"]


def test_counters_follow_states_and_usage(ledger: Ledger) -> None:
    write(ledger, made(goal()), made(todo()), made(turn(input_tokens=5, output_tokens=2)), made(evidence_row()))
    write(ledger, changed("todo", "t-1", {"state": "open"}, {"state": "done"}), command="c2")
    with ledger.read() as reader:
        counted = {
            name: reader.counter("g-1", name)
            for name in ("todo", "todo.open", "todo.done", "turn.tokens", "evidence.pass")
        }
        assert counted == {"todo": 1, "todo.open": 0, "todo.done": 1, "turn.tokens": 7, "evidence.pass": 1}
        assert reader.counter("", "todo.done") == 1
        assert reader.counter("", "goal.active") == 1
    assert counter_deltas("turn", None, values(turn(state="settled")))[("g-1", "turn.usage_unknown")] == 1
    assert counter_deltas("todo", values(todo()), values(todo(title="x"))) == {}


OPERATIONS = st.lists(st.tuples(st.sampled_from(["add", "title", "state", "decide"]), st.integers(1, 4)), max_size=25)


@given(OPERATIONS)
@settings(max_examples=60, deadline=None)
def test_state_and_counters_equal_the_fold_of_the_receipts(operations: list[tuple[str, int]]) -> None:
    ledger = open_ledger(":memory:")
    write(ledger, made(goal()))
    known: dict[str, Todo] = {}
    for step, (what, number) in enumerate(operations):
        name, command = f"t-{number}", f"o{step}"
        if what == "add" and name not in known:
            known[name] = todo(name)
            write(ledger, made(known[name]), command=command)
        elif what == "decide":
            write(ledger, made(decision(f"d-{step + 1}")), command=command, stream="")
        elif name in known:
            before = values(known[name])
            after = (
                {"title": f"title {step}"}
                if what == "title"
                else {"state": "done" if before["state"] == "open" else "open"}
            )
            write(ledger, changed("todo", name, {key: before[key] for key in after}, after), command=command)
            with ledger.read() as reader:
                known[name] = reader.get(Todo, name) or known[name]
    with ledger.immediate() as transaction:
        for _ in range(9):
            transaction.next_id("todo")
            transaction.next_id("decision")
            transaction.next_id("goal")
        for _ in range(30):
            transaction.next_id("decision")
    assert ledger.rebuild() == []
    assert ledger.verify() == []
    ledger.close()
