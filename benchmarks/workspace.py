"""The workspace in a real terminal: `python -m benchmarks.workspace` prints the budgets of the screen with their figures.

The program `loopx` runs on a pseudo terminal of 160x48 over a ledger with 100,000 todos; it starts its own engine, as it does for
a person. It measures and never fails for being slow: the exit code is 0.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks._bulk import lengthen
from benchmarks._ledgers import House, engine_of, make_house
from benchmarks._measure import call, machine, median_cpu, percentile, program
from benchmarks._table import Row, bytes_of, count_of, lines, show, state_of
from benchmarks._terminal import FRAME_END, Terminal
from loopx_engine.desk.opening import engine_lock, open_engine

PAINT_RATIO, KEY_MS, SCREEN_MS, IDLE_SHARE, IDLE_BYTES_A_MINUTE, MEMORY_MB = 1.6, 16.0, 100.0, 0.5, 1000, 100.0
TEXTUAL = [sys.executable, "-c", "from textual.app import App"]
QUESTION, TITLE = b"Which way?", b"A goal to measure on"
KEYS = (b"j", b"j", b"j", b"k", b"\x1b[6~", b"\x1b[6~", b"\x1b[5~", b"G", b"g")  # down, up, pages, both ends


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    todos: int
    starts: int
    keys: int
    changes: int
    idle_s: int


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print. Always 0 once the arguments are understood."""
    sizes = _arguments(words)
    with tempfile.TemporaryDirectory(prefix="loopx-bench-") as place:
        show([f"the workspace on {machine()}", f"a terminal of 160x48, {count_of(sizes.todos)} todos in one goal", ""])
        house = _house(Path(place), sizes.todos)
        with _workspace(house) as terminal:
            rows = [_first_paint(house, sizes.starts)]
            rows += [_keys(terminal, sizes.keys), _changes(house, terminal, sizes.changes)]
            rows += [*_idle(house, terminal, sizes.idle_s), _memory(house, terminal)]
        show(lines(rows))
    return 0


def _arguments(words: Sequence[str] | None) -> Sizes:
    parser = argparse.ArgumentParser(prog="benchmarks.workspace", description=str(__doc__).split("\n", 1)[0])
    for name, default, about in (
        ("todos", 100_000, "todos in the goal"),
        ("starts", 11, "starts, each beside a bare import of Textual"),
        ("keys", 300, "keys pressed in the list"),
        ("changes", 150, "changes made beside it"),
        ("idle", 60, "seconds in which nothing happens"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{about} ({default})")
    given = parser.parse_args(words)
    return Sizes(*(max(1, value) for value in (given.todos, given.starts, given.keys, given.changes, given.idle)))


def _house(folder: Path, todos: int) -> House:
    house = make_house(folder)
    with engine_of(house.env) as engine:
        lengthen(engine.ledger, engine.ledger.last_seq() + todos)  # type: ignore[arg-type]
    house.loopx("decision", "ask", "g-1", QUESTION.decode(), "--why", "both are there")
    return house


def _open(house: House) -> Terminal:
    return Terminal(program(house.folder, "loopx"), house.env, house.project)


@contextmanager
def _workspace(house: House) -> Iterator[Terminal]:
    """A workspace that stands still, and the engine it started; both end here."""
    terminal = _open(house)
    try:
        terminal.until(QUESTION)
        terminal.until(b"live")
        terminal.quiet()
        yield terminal
    finally:
        engine = _engine(house)
        terminal.end()
        engine.terminate()
        engine.wait(30)


def _engine(house: House) -> psutil.Process:
    """The one that the workspace started, by what its lock says."""
    return psutil.Process(json.loads(engine_lock(house.env).read_text(encoding="utf-8"))["pid"])


# -- the rows -------------------------------------------------------------------------------------------------------------


def _first_paint(house: House, starts: int) -> Row:
    """Process start to the decision on the screen, interleaved with a bare import of Textual."""
    show([f"first paint, {starts} times ..."])
    call(TEXTUAL, house.env, house.project)
    spent, bare, wall = [], [], []
    for _ in range(starts):
        bare.append(call(TEXTUAL, house.env, house.project))
        terminal = _open(house)
        try:
            wall.append(terminal.until(QUESTION) - terminal.started)
            spent.append(terminal.cpu_s() * 1000)
        finally:
            terminal.end()
    cost, least = statistics.median(spent), median_cpu(bare)
    return Row(
        "first paint with its decision, CPU",
        f"{cost:.0f} ms = {cost / least:.2f} x Textual's import ({least:.0f} ms); {statistics.median(wall) * 1000:.0f} ms wall",
        f"<= {PAINT_RATIO:g} x",
        state_of(cost <= PAINT_RATIO * least),
    )


def _keys(terminal: Terminal, keys: int) -> Row:
    """From a key in the list of todos to the end of the frame that shows it."""
    show([f"{keys} keys in the list ..."])
    terminal.press(b"2")
    terminal.until(TITLE)
    terminal.quiet()
    terminal.press(b"\t")
    terminal.quiet()
    took = []
    for number in range(keys):
        at = terminal.press(KEYS[number % len(KEYS)])
        took.append((terminal.until(FRAME_END) - at) * 1000)
        terminal.quiet(0.03)
    late = percentile(took, 0.95)
    return Row(
        "key -> painted, p95", f"{late:.1f} ms (median {statistics.median(took):.1f} ms, most {max(took):.1f} ms)",
        f"<= {KEY_MS:g} ms", state_of(late <= KEY_MS),
    )  # fmt: skip


def _changes(house: House, terminal: Terminal, changes: int) -> Row:
    """From a commit in another process to its words on the screen."""
    show([f"{changes} changes beside it ..."])
    engine = open_engine(house.env)
    who, took = engine.identify(None), []
    try:
        for number in range(changes):
            word = f"changed {number} times"
            terminal.forget()
            engine.run("goal edit", {"goal": "g-1", "title": word}, who)
            at = time.perf_counter()
            took.append((terminal.until(word.encode()) - at) * 1000)
            terminal.quiet(0.02 + (number % 7) / 50)
    finally:
        engine.ledger.close()
    late = percentile(took, 0.99)
    return Row(
        "change committed -> on screen, p99", f"{late:.0f} ms (median {statistics.median(took):.0f} ms)",
        f"<= {SCREEN_MS:g} ms", state_of(late <= SCREEN_MS),
    )  # fmt: skip


def _idle(house: House, terminal: Terminal, seconds: int) -> list[Row]:
    """What standing still costs: bytes to the terminal, and CPU of the workspace and of its engine."""
    show([f"{seconds} s in which nothing happens ..."])
    terminal.quiet(1.0)
    engine = _engine(house)

    def used() -> tuple[float, float]:
        spent = engine.cpu_times()
        return terminal.cpu_s(), spent.user + spent.system

    before = used()
    written = terminal.idle(seconds)
    screen, beside = ((now - then) / seconds * 100 for now, then in zip(used(), before, strict=True))
    minute = written * 60 / seconds
    return [
        Row("written to the terminal while idle, 60 s", bytes_of(round(minute)), f"<= {IDLE_BYTES_A_MINUTE} B",
            state_of(minute <= IDLE_BYTES_A_MINUTE)),
        Row("CPU while idle, of one core", f"{screen:.2f} % (its engine {beside:.2f} %)", f"<= {IDLE_SHARE:g} %",
            state_of(screen <= IDLE_SHARE)),
    ]  # fmt: skip


def _memory(house: House, terminal: Terminal) -> Row:
    """Both processes after all of it; pages they share are counted once where the system tells."""
    both = [terminal.child, _engine(house)]
    whole = [process.memory_full_info() for process in both]
    shared = all(hasattr(info, "pss") for info in whole)
    sizes = [(info.pss if shared else info.rss) / 1e6 for info in whole]
    return Row(
        f"memory of workspace and engine ({'PSS' if shared else 'RSS'})",
        f"{sum(sizes):.0f} MB ({sizes[0]:.0f} + {sizes[1]:.0f})",
        f"<= {MEMORY_MB:g} MB",
        state_of(sum(sizes) <= MEMORY_MB),
    )


if __name__ == "__main__":
    raise SystemExit(main())
