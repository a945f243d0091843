"""The threads of an engine: one a goal, failures counted, and nobody forgotten between a thread's end and what follows."""

from __future__ import annotations

import threading

from loopx_engine.heartbeat.jobs import Jobs


class Followed:
    """What was told after each thread."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.jobs = Jobs(self)

    def __call__(self, name: str, failures: int) -> None:
        self.gate.wait(10)
        self.told.append((name, failures))


def test_failures_in_a_row_are_counted_and_forgotten_after_one_that_went_well() -> None:
    made = Followed()
    for well in (False, False, True, False):
        made.jobs.start("g-1", lambda well=well: well)
        assert made.jobs.join(5)
    assert made.told == [("g-1", 1), ("g-1", 2), ("g-1", 0), ("g-1", 1)]


def test_a_goal_is_free_before_what_follows_is_said_and_counted_until_then() -> None:
    made = Followed()
    made.gate.clear()
    begun = threading.Event()
    made.jobs.start("g-1", lambda: begun.set() or True)
    assert begun.wait(5)
    deadline = threading.Event()
    while made.jobs.busy("g-1"):
        deadline.wait(0.01)
    assert made.jobs.any()
    made.gate.set()
    assert made.jobs.join(5)
    assert not made.jobs.any()


def test_goals_do_not_wait_for_each_other() -> None:
    made = Followed()
    gate = threading.Event()
    made.jobs.start("g-1", lambda: gate.wait(10))
    made.jobs.start("g-2", lambda: True)
    while made.jobs.busy("g-2"):
        gate.wait(0.01)
    assert made.jobs.names() == ["g-1"]
    gate.set()
    assert made.jobs.join(5)


def test_join_waits_for_all_of_them_together_at_most_so_long() -> None:
    made = Followed()
    gate = threading.Event()
    for number in range(5):
        made.jobs.start(f"g-{number}", lambda: gate.wait(30))
    assert not made.jobs.join(0.3)
    gate.set()
    assert made.jobs.join(5)


def test_a_bug_in_a_thread_frees_its_goal_and_counts_as_a_failure() -> None:
    made = Followed()
    met = []
    before = threading.excepthook
    threading.excepthook = lambda args: met.append(args.exc_type)
    try:

        def broken() -> bool:
            raise AttributeError("a bug")

        made.jobs.start("g-1", broken)
        made.jobs.join(5)
    finally:
        threading.excepthook = before
    assert met == [AttributeError]
    assert made.told == [("g-1", 1)]
    assert not made.jobs.any()
