"""Real processes on one real file: nothing is taken twice, nobody starves, no acknowledged receipt is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import ROOT

from loopx_engine.ledger.open import open_ledger

PROCESSES, TAKES, WORST_WAIT_S = 16, 200, 5.0
KILLS = 200
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
TAKE = """
import sys, time
from loopx_engine.commands.draft import Draft
from loopx_engine.commands.taking import take_lease
from loopx_engine.ledger.open import open_ledger
from loopx_engine.ledger.protocol import Entry
from loopx_engine.model.lease import Lease
from loopx_engine.model.record import values
from loopx_engine.model.todo import Todo
ledger, me, worst, taken = open_ledger(sys.argv[1]), sys.argv[2], 0.0, []
print("ready", flush=True); sys.stdin.readline()
while True:
    began = time.monotonic()
    with ledger.immediate() as tx:
        waited = time.monotonic() - began
        free = [t for t in tx.records(Todo, "todo.ready", goal="g-1", limit=1)]
        if not free:
            break
        draft = Draft(tx, tx.next_id)
        take_lease(draft, free[0].id, "g-1", f"u-{me}", f"a-{me}", None, 1, 10**15)
        from dataclasses import replace
        draft.put(replace(free[0], state="proving"))
        changes = draft.changes()
        for change in changes: tx.apply(change)
        tx.append(Entry(stream="g-1", at=1, actor=f"a-{me}", command=f"take-{free[0].id}", verb="turn begin", intent="0"*64,
                        payload={"arguments": {}, "changes": [values(c) for c in changes], "answer": {}}))
    worst = max(worst, waited); taken.append(free[0].id)
print(f"{worst:.3f} " + " ".join(taken), flush=True)
"""


@pytest.mark.real
def test_sixteen_processes_take_each_todo_once_and_nobody_starves(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = open_ledger(path)
    many_todos(ledger, PROCESSES * TAKES)
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", TAKE, str(path), str(number)],
            env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(100, 100 + PROCESSES)
    ]  # fmt: skip
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()
    said = [worker.communicate(timeout=240)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * PROCESSES
    taken = [name for line in said for name in line[1:]]
    assert len(taken) == len(set(taken)) == PROCESSES * TAKES
    assert max(float(line[0]) for line in said) < WORST_WAIT_S
    assert min(len(line) - 1 for line in said) > 0
    assert ledger.verify() == []
    assert ledger.rebuild() == []


@pytest.mark.real
def test_two_writers_killed_again_and_again_lose_no_acknowledged_receipt(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    open_ledger(path).close()
    acknowledged: set[int] = set()
    for round_ in range(KILLS):
        writers = [
            subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("writing.py")), str(path), f"g-{n}"],
                env=ENVIRONMENT, stdout=subprocess.PIPE, text=True,
            )
            for n in (1, 2)
        ]  # fmt: skip
        for writer in writers:
            assert writer.stdout is not None
            for _ in range(1 + round_ % 4):
                acknowledged.add(int(writer.stdout.readline()))
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
        for writer in writers:
            assert writer.stdout is not None
            acknowledged.update(
                int(line) for line in writer.stdout.read().splitlines(keepends=True) if line.endswith("\n")
            )
            writer.wait()
            writer.stdout.close()
    began = time.monotonic()
    ledger = open_ledger(path)
    present = {receipt.seq for receipt in every_receipt(ledger)}
    assert time.monotonic() - began < 30
    assert acknowledged <= present
    assert ledger.verify() == []
    assert ledger.rebuild() == []
    ledger.close()


def many_todos(ledger: object, count: int) -> None:
    """`count` open todos in one transaction and one receipt."""
    from strategies import NOW, todo

    from loopx_engine.ledger.protocol import Entry
    from loopx_engine.model.receipt import Change
    from loopx_engine.model.record import values

    with ledger.immediate() as transaction:  # type: ignore[attr-defined]
        changes = []
        for _ in range(count):
            name = transaction.next_id("todo")
            changes.append(Change(kind="todo", id=name, before=None, after=values(todo(name))))
            transaction.apply(changes[-1])
        payload = {"arguments": {}, "changes": [values(item) for item in changes], "answer": {}}
        transaction.append(
            Entry(stream="g-1", at=NOW, actor="a-1", command="many", verb="todo add", intent="0" * 64, payload=payload)
        )


def every_receipt(ledger: object) -> list[object]:
    found: list[object] = []
    while batch := ledger.receipts(after=found[-1].seq if found else 0):  # type: ignore[attr-defined]
        found.extend(batch)
    return found
