"""The packet: built from the ledger alone, the same bytes each time, at most 8 KB, and nothing consumed comes again."""

from __future__ import annotations

import pytest
from engine_kit import Kit, kit  # noqa: F401

from loopx_engine.canonical import canonical, digest
from loopx_engine.heartbeat.packet import build_packet, cut
from loopx_engine.model.identity import Identity
from loopx_engine.model.limits import PACKET_BYTES
from loopx_engine.model.message import Message
from loopx_engine.model.todo import Todo
from loopx_engine.model.turn import Turn


def packet_of(kit: Kit, who: Identity) -> dict[str, object]:
    with kit.engine.read() as reader:
        turn = reader.get(Turn, str(who.turn))
        assert turn is not None
        return build_packet(reader, turn, kit.engine.trust_of(reader))


def test_a_packet_holds_what_its_agent_needs_and_a_digest_of_it(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal(objective="make it right", criterion=[["it works", ["make", "test"]]], agent=["bot"])
    todo = kit.todo(goal, check=["make", "one"], body="look at a.py", serves=[1], scope=["src/**"])
    kit.todo(goal, "Later")
    packet = packet_of(kit, kit.begin(agent, todo=todo))
    assert packet["goal"]["title"] == "Fix it"  # type: ignore[index]
    assert packet["goal"]["objective"] == "make it right"  # type: ignore[index]
    assert packet["criteria"] == [{"number": 1, "text": "it works", "state": "open", "check": ["make", "test"]}]
    assert packet["todo"]["check"] == ["make", "one"]  # type: ignore[index]
    assert packet["todo"]["scopes"] == ["src/**"]  # type: ignore[index]
    assert packet["boundaries"]["branch"] == f"loopx/{goal}"  # type: ignore[index]
    assert [item["title"] for item in packet["others"]["next"]] == ["Later"]  # type: ignore[index]
    without = {name: value for name, value in packet.items() if name != "digest"}
    assert packet["digest"] == digest(without)


def test_the_same_ledger_gives_the_same_bytes(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal()
    who = kit.begin(agent, todo=kit.todo(goal))
    assert canonical(packet_of(kit, who)) == canonical(packet_of(kit, who))


def test_what_a_person_did_not_sign_says_so(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal()
    todo = str(kit.say("todo add", goal=goal, title="typed by somebody")["todo"])
    packet = packet_of(kit, kit.begin(agent, todo=todo))
    assert packet["todo"]["origin"] == "unverified"  # type: ignore[index]
    assert packet["goal"]["origin"] == "person"  # type: ignore[index]


def test_a_message_comes_once_and_never_after_it_was_acted_on(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal()
    first, second = kit.todo(goal, "One"), kit.todo(goal, "Two")
    message = str(kit.say("message send", goal=goal, text="mind the gap")["message"])
    who = kit.begin(agent, todo=first)
    assert [item["text"] for item in packet_of(kit, who)["messages"]] == ["mind the gap"]  # type: ignore[attr-defined]
    assert kit.get(Message, message).state == "handed over"
    kit.finish(who)
    kit.settle(who)
    assert kit.get(Message, message).state == "consumed"
    assert packet_of(kit, kit.begin(agent, todo=second))["messages"] == []


def test_a_message_handed_to_a_turn_that_was_lost_comes_again(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal(autonomy="unattended")
    todo = kit.todo(goal)
    kit.sign("message send", goal=goal, text="do it so", correction=True)
    who = kit.begin(agent)
    kit.act("turn lose", turn=who.turn, reason="gone")
    assert len(packet_of(kit, kit.begin(agent, todo=todo))["messages"]) == 1  # type: ignore[arg-type]


def test_what_the_last_turn_left_is_told(kit: Kit) -> None:
    agent = kit.agent()
    goal = kit.goal()
    todo = kit.todo(goal, check=["make"])
    who = kit.begin(agent, todo=todo)
    kit.finish(who, summary="thought it was done")
    kit.settle(
        who, outcome="fail", exit=1, tail="2 failed", check=kit.get(Todo, todo).check, dirty=True, changed=["a.py"]
    )
    left = packet_of(kit, kit.begin(agent, todo=todo))["left_behind"]
    assert left["result"] == "refused"  # type: ignore[index]
    assert left["uncommitted"] is True  # type: ignore[index]


def test_ten_thousand_todos_and_long_texts_still_fit_and_lose_history_first(kit: Kit) -> None:
    agent = kit.agent()
    long = "ü" * 300
    goal = kit.goal(
        objective="o" * 1000, criterion=[[long[:300], ["make", "x" * 500]] for _ in range(12)], agent=["bot"]
    )
    todo = kit.todo(goal, body="b" * 16_000, check=["run", "y" * 3000])
    many(kit, goal, 10_000)
    for number in range(9):
        kit.say("decision ask", goal=goal, question=f"{number} " + "q" * 5000, why="w" * 5000)
        kit.say("message send", goal=goal, text="m" * 9000)
    packet = packet_of(kit, kit.begin(agent, todo=todo))
    assert len(canonical(packet)) <= PACKET_BYTES
    assert packet["goal"]["title"] == "Fix it"  # type: ignore[index]
    assert len(packet["criteria"]) == 12  # type: ignore[arg-type]
    assert packet["todo"]["id"] == todo  # type: ignore[index]
    assert packet["dropped"]
    assert "decisions" not in packet["dropped"]  # type: ignore[operator]


def many(kit: Kit, goal: str, count: int) -> None:
    """Todos straight into the table, as if they had always been there."""
    kit.tamper(
        "with recursive n(i) as (select 100 union all select i + 1 from n where i < 100 + :count) insert into todo select"
        " 't-' || (i + 1000), goal, kind, title, body, state, rank + i, serves, needs, wait, scopes, capabilities, null,"
        ' excluded, successor_of, successor, no_successor, proof, evidence, "commit", wip, stalls, failures, frontiers,'
        " review, claimed_by, signed, added_by, created_at, ended_at from todo, n where id = 't-1'",
        count=count,
    )


@pytest.mark.parametrize("text", ["", "short", "ü" * 5000, "a" * 2049])
def test_a_cut_text_is_whole_characters_and_bounded(text: str) -> None:
    assert len(cut(text, 100).encode()) <= max(100, min(len(text.encode()), 100))
    assert cut(text, 100_000) == text
