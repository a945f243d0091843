"""What keeps an actor from taking a todo: each obstacle by itself."""

from __future__ import annotations

import pytest
from strategies import NOW, agent, check, decision, goal, lease, limit, place, todo, turn, world

from loopx_engine.rules.snapshot import Snapshot
from loopx_engine.rules.take import blocking, free_to_take, obstacle


def code(snapshot: Snapshot, name: str = "t-1") -> str | None:
    chosen = next(item for item in snapshot.todos if item.id == name)
    assert snapshot.actor is not None
    found = obstacle(chosen, snapshot, snapshot.actor, NOW)
    return found.code if found else None


CASES = [
    (world(), None),
    (world(todos=(todo(kind="watch"),)), "other_kind"),
    (world(todos=(todo(state="proving"),)), "proving"),
    (world(todos=(todo(state="done"),)), "done"),
    (world(todos=(todo(state="waiting", wait=f"at:{NOW + 1}"),)), "condition_open"),
    (world(todos=(todo(state="waiting", wait=f"at:{NOW}"),)), None),
    (world(todos=(todo(state="waiting", wait=None),)), "waiting"),
    (world(todos=(todo(needs=("t-2",)),), needs={"t-2": "open"}), "need_open"),
    (world(todos=(todo(needs=("t-2",)),), needs={"t-2": "dropped"}), "need_dropped"),
    (world(todos=(todo(needs=("t-2",)),), needs={"t-2": "done"}), None),
    (world(todos=(todo(needs=("t-2",)),)), "need_open"),
    (world(leases=(lease(actor="a-4"),)), "held_by_other"),
    (world(leases=(lease(actor="a-4", expires=NOW),)), None),
    (world(leases=(lease(),)), None),
    (world(turns=(turn(actor="a-4"),)), "held_by_other"),
    (world(turns=(turn(actor="a-4", todo="t-2", place="pl-9"),)), None),
    (world(todos=(todo(stalls=3),)), "stalled"),
    (world(actor=agent(state="retired")), "not_an_agent"),
    (world(actor=agent(kind="person")), "not_an_agent"),
    (world(agents=(agent("a-4"),)), "not_of_goal"),
    (world(todos=(todo(excluded=("a-3",)),)), "excluded"),
    (world(todos=(todo(capabilities=("gpu",)),)), "capability_missing"),
    (world(todos=(todo(capabilities=("gpu",)),), actor=agent(capabilities=("gpu",))), None),
    (world(limits=(limit(),)), "limit_until"),
    (world(limits=(limit(until=NOW),)), None),
    (world(decisions=(decision(blocks=("t-1",)),)), "decision_open"),
    (world(decisions=(decision(blocks=("t-1",), state="expired"),)), "decision_open"),
    (world(decisions=(decision(blocks=("t-1",), state="withdrawn"),)), "decision_open"),
    (world(decisions=(decision(blocks=("t-1",), state="expired", outcome="asked anew"),)), None),
    (world(decisions=(decision(blocks=("t-1",), state="carried out", answer="no"),)), None),
    (world(decisions=(decision(blocks=("t-2",)),)), None),
    (world(places=()), None),
    (world(places=(place(state="new"),)), None),
    (world(places=(place(state="broken"),)), "place_broken"),
    (world(places=(place(state="broken"), place("pl-2"))), None),
    (world(busy_places=("pl-1",)), "place_held"),
    (world(todos=(todo(), todo("t-2")), places=(place(holds="t-2"),)), "place_held"),
    (world(todos=(todo(), todo("t-2", stalls=3)), places=(place(holds="t-2"),)), None),
    (world(todos=(todo(), todo("t-2", state="proving")), places=(place(holds="t-2"),)), "place_held"),
    (world(places=(place(holds="t-9"),)), None),
    (world(places=(place(holds="t-1"),)), None),
    (world(turns=(turn(actor="a-4", todo="t-2", place="pl-1"),)), "place_held"),
    (world(todos=(todo(check="k-1"),), checks={"k-1": check(baseline="cannot run")}), "place_broken"),
    (world(goal=goal(check="k-1"), checks={"k-1": check(baseline="cannot run")}), "place_broken"),
    (world(goal=None), None),
    (world(agents=(agent("a-4"), agent())), "held_by_other"),
    (world(agents=(agent(), agent("a-4"))), None),
    (world(agents=(agent("a-4", state="retired"), agent())), None),
]


@pytest.mark.parametrize(("snapshot", "expected"), CASES)
def test_each_obstacle_by_itself(snapshot: Snapshot, expected: str | None) -> None:
    assert code(snapshot) == expected


def test_a_blocking_decision_is_named() -> None:
    asked = decision(blocks=("t-1", "t-2"))
    assert blocking(world(decisions=(decision("d-2"), asked)), "t-2") == asked
    assert blocking(world(), "t-1") is None


def test_an_agent_with_a_live_turn_is_not_free() -> None:
    assert free_to_take(todo(), agent("a-4"), world(), NOW)
    assert not free_to_take(todo(), agent("a-4"), world(turns=(turn(actor="a-4", todo="t-5"),)), NOW)
