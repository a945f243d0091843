"""The processes that write at the same time: `python -m benchmarks._writers take | append LEDGER NAME [TODOS]`.

`take` claims todos until none is left: lease and receipt in one durable transaction. `append` adds todos for ever and prints
each acknowledged sequence number: to be killed.
"""

from __future__ import annotations

import json
import sys
import time

from loopx_engine.commands.draft import Draft
from loopx_engine.commands.taking import take_lease
from loopx_engine.ledger.open import open_ledger
from loopx_engine.ledger.protocol import Entry
from loopx_engine.ledger.sqlite import SqliteLedger
from loopx_engine.model.lease import Lease
from loopx_engine.model.record import values
from loopx_engine.model.todo import Todo

GOAL, NO_INTENT, FAR = "g-1", "0" * 64, 10**15


def write_draft(ledger_view: object, draft: Draft, stream: str, command: str, verb: str) -> int:
    """Applies a draft's changes with their receipt; returns its sequence number."""
    changes = draft.changes()
    for change in changes:
        ledger_view.apply(change)  # type: ignore[attr-defined]
    payload = {"arguments": {}, "changes": [values(change) for change in changes], "answer": {}}
    entry = Entry(stream=stream, at=1, actor="a-1", command=command, verb=verb, intent=NO_INTENT, payload=payload)
    return int(ledger_view.append(entry).seq)  # type: ignore[attr-defined]


def new_todo(name: str, state: str = "open", rank: int = 1) -> Todo:
    """A plain todo of the measured goal."""
    return Todo(
        id=name, goal=GOAL, kind="work", title=f"{name} of the many that are waiting", state=state, rank=rank,
        no_successor="measured only", added_by="a-1", created_at=1,
    )  # fmt: skip


def take(ledger: SqliteLedger, name: str, todos: int) -> dict[str, object]:
    """Claims todos t-1 to t-`todos` in order with all the others; says which, when, and the longest that one took."""
    print("ready", flush=True)
    sys.stdin.readline()
    began, worst, taken, at = time.monotonic(), 0.0, list[str](), 1
    while at <= todos:
        asked = time.monotonic()
        with ledger.immediate((GOAL,)) as view:
            while at <= todos and view.get(Lease, f"t-{at}") is not None:
                at += 1
            if at <= todos:
                draft = Draft(view, view.next_id)
                take_lease(draft, f"t-{at}", GOAL, f"u-{name}", f"a-{name}", None, 1, FAR)
                write_draft(view, draft, GOAL, f"take-{at}", "turn begin")
                taken.append(f"t-{at}")
        worst = max(worst, time.monotonic() - asked)
    return {"began": began, "ended": time.monotonic(), "worst": worst, "taken": taken}


def append(ledger: SqliteLedger, name: str) -> None:
    """Adds todos for ever in the stream of the goal `name`."""
    number = 0
    while True:
        number += 1
        with ledger.immediate((name,)) as view:
            draft = Draft(view, view.next_id)
            made = draft.create(new_todo(draft.new_id("todo")))
            seq = write_draft(view, draft, name, f"{name}-{made.id}-{number}", "todo add")
        print(seq, flush=True)


def main() -> None:
    what, location, name = sys.argv[1:4]
    ledger = open_ledger(location)
    if what == "append":
        append(ledger, name)
    print(json.dumps(take(ledger, name, int(sys.argv[4]))), flush=True)


if __name__ == "__main__":
    main()
