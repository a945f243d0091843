"""The ledger: `python -m benchmarks.ledger` measures claims by many processes, long histories, a million todos and kills.

It measures and never fails for being slow: the exit code is 0. The sizes are options; the defaults take some minutes.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._bulk import lengthen
from benchmarks._ledgers import House, engine_of, make_house
from benchmarks._measure import ROOT, CallFailed, environment, interleaved, load, machine, median_cpu
from benchmarks._table import NOT_RUN, Row, count_of, lines, show, state_of
from loopx_engine.desk.opening import open_engine
from loopx_engine.ledger.open import open_ledger
from loopx_engine.reading import read_as

TAKES_A_SECOND, WORST_WAIT_S, RATIO, STATUS_MS = 700.0, 0.5, 2.0, 2.0
WARM_READS = 50
WRITERS = 2


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured: processes and claims, lengths of history in receipts, rounds of cold calls, kills."""

    processes: int
    claims: int
    receipts: tuple[int, ...]
    rounds: int
    kills: int


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print. Always 0 once the arguments are understood."""
    sizes = _arguments(words)
    with tempfile.TemporaryDirectory(prefix="loopx-bench-") as place:
        folder = Path(place)
        show([f"the ledger on {machine()}", f"files in {folder.parent}", ""])
        rows = [
            *_measured(_claims, folder / "claims", sizes),
            *_measured(_histories, folder / "history", sizes),
            *_measured(_kills, folder / "kills", sizes),
        ]
        show(["", *lines(rows), ""])
        show(
            [
                f"- load afterwards: {load()}",
                "- a claim is one durable transaction of the store: lease and receipt; its wait counts asking, lock and disk",
                "- histories are written in bulk: valid receipts in one goal, half of its todos done, half open",
                "- the cold ratio is of whole processes; the warm figures are of one process that stays",
            ]
        )
    return 0


def _arguments(words: Sequence[str] | None) -> Sizes:
    parser = argparse.ArgumentParser(prog="benchmarks.ledger", description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--processes", type=int, default=16, help="processes that claim (16)")
    parser.add_argument("--claims", type=int, default=3_200, help="todos they claim (3200)")
    parser.add_argument("--receipts", default="100,10000,1000000", help="lengths of history (100,10000,1000000)")
    parser.add_argument("--rounds", type=int, default=11, help="cold calls of each kind and length (11)")
    parser.add_argument("--kills", type=int, default=200, help="how often writers are killed (200)")
    given = parser.parse_args(words)
    lengths = tuple(sorted(max(20, int(word)) for word in str(given.receipts).split(",")))
    return Sizes(
        max(1, given.processes), max(1, given.claims), lengths, max(1, given.rounds), max(WRITERS, given.kills)
    )


def _measured(measure: Callable[[Path, Sizes], list[Row]], folder: Path, sizes: Sizes) -> list[Row]:
    """The rows of one measurement, or one that says why it could not be made."""
    try:
        return measure(folder, sizes)
    except (CallFailed, OSError, ValueError, subprocess.SubprocessError) as failed:
        return [Row(measure.__name__.strip("_"), f"not run: {failed}", "-", NOT_RUN)]


def _claims(folder: Path, sizes: Sizes) -> list[Row]:
    """Many processes claim the same todos in the same order."""
    show([f"{count_of(sizes.claims)} claims by {sizes.processes} processes ..."])
    folder.mkdir()
    location = folder / "ledger.db"
    ledger = open_ledger(location)
    words = ["take", str(location)]
    workers = [
        _writer(folder, [*words, str(number), str(sizes.claims)]) for number in range(100, 100 + sizes.processes)
    ]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()
    said = [json.loads(worker.communicate(timeout=600)[0]) for worker in workers]
    taken = [name for one in said for name in one["taken"]]
    seconds = max(one["ended"] for one in said) - min(one["began"] for one in said)
    rate, worst, twice = len(taken) / seconds, max(one["worst"] for one in said), len(taken) - len(set(taken))
    problems = ledger.verify()
    ledger.close()
    kept = (
        rate >= TAKES_A_SECOND and worst <= WORST_WAIT_S and not twice and len(taken) == sizes.claims and not problems
    )
    here = f"{rate:,.0f}/s, worst wait {worst:.2f} s, {twice} twice, {len(taken)} of {sizes.claims}"
    aim = f">= {TAKES_A_SECOND:g}/s, <= {WORST_WAIT_S:g} s, none twice"
    return [Row(f"durable claims by {sizes.processes} processes", here, aim, state_of(kept))]


def _histories(folder: Path, sizes: Sizes) -> list[Row]:
    """The hot calls and the status data at each length of history."""
    houses: dict[int, House] = {}
    status: dict[int, float] = {}
    verdicts: dict[int, float] = {}
    made = []
    for length in sizes.receipts:
        show([f"a history of {count_of(length)} receipts ..."])
        since = time.perf_counter()
        house = make_house(folder / str(length))
        with engine_of(house.env) as engine:
            lengthen(engine.ledger, length)  # type: ignore[arg-type]
            made.append(f"{count_of(length)} in {time.perf_counter() - since:.0f} s")
        houses[length] = house
        status[length], verdicts[length] = _warm_reads(house)
    show(["  written: " + ", ".join(made), "cold calls on each, in turn ..."])
    calls = {}
    for length, house in houses.items():
        calls[f"next {length}"] = lambda house=house: house.loopx("next", "g-1", "--json", "--as", "bench")
        calls[f"add {length}"] = lambda house=house: house.loopx("todo", "add", "g-1", "One more todo")
    found = {name: median_cpu(one) for name, one in interleaved(calls, sizes.rounds).items()}
    return [_ratio_row(sizes.receipts, found, verdicts), _status_row(sizes.receipts, status)]


def _ratio_row(lengths: tuple[int, ...], found: dict[str, float], verdicts: dict[int, float]) -> Row:
    costs = {name: [found[f"{name} {length}"] for length in lengths] for name in ("next", "add")}
    ratio = max(cost[-1] / cost[0] for cost in costs.values())
    shown = ", ".join(f"{name} {_each(cost, 0)} ms" for name, cost in costs.items())
    warm = _each([verdicts[length] for length in lengths], 1)
    return Row(
        f"hot calls at {' / '.join(map(count_of, lengths))} receipts",
        f"ratio {ratio:.2f}: {shown}; warm verdict {warm} ms",
        f"CPU ratio <= {RATIO:g}",
        state_of(ratio <= RATIO),
    )


def _status_row(lengths: tuple[int, ...], status: dict[int, float]) -> Row:
    here = f"{status[lengths[-1]]:.2f} ms (at each length {_each([status[length] for length in lengths], 2)})"
    within = state_of(status[lengths[-1]] <= STATUS_MS)
    return Row(f"status data at {count_of(lengths[-1])} todos", here, f"<= {STATUS_MS:g} ms", within)


def _each(figures: Sequence[float], places: int) -> str:
    return " / ".join(f"{figure:.{places}f}" for figure in figures)


def _warm_reads(house: House) -> tuple[float, float]:
    """Median CPU milliseconds of the status data and of a verdict in a process that stays, each after one to warm up."""
    engine = open_engine(house.env)
    try:
        who = engine.identify(None)
        medians = []
        for name, arguments in (("status", {}), ("next", {"goal": "g-1", "actor": "bench"})):
            used = []
            for _ in range(WARM_READS + 1):
                since = time.process_time()
                read_as(engine, who, name, dict(arguments))
                used.append((time.process_time() - since) * 1000)
            medians.append(statistics.median(used[1:]))
        return medians[0], medians[1]
    finally:
        engine.ledger.close()


def _kills(folder: Path, sizes: Sizes) -> list[Row]:
    """Writers killed in the middle of what they do; every receipt that one of them was told of must be there."""
    show([f"{count_of(sizes.kills)} x kill -9 ..."])
    folder.mkdir()
    location = folder / "ledger.db"
    open_ledger(location).close()
    acknowledged: set[int] = set()
    killed = 0
    while killed < sizes.kills:
        writers = [_writer(folder, ["append", str(location), f"g-{number}"]) for number in range(1, WRITERS + 1)]
        for writer in writers:
            assert writer.stdout is not None
            acknowledged.update(int(writer.stdout.readline()) for _ in range(1 + killed % 5))
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
        for writer in writers:
            said = writer.communicate()[0]
            acknowledged.update(int(line) for line in said.splitlines(keepends=True) if line.endswith("\n"))
            killed += 1
    ledger = open_ledger(location)
    present: set[int] = set()
    while batch := ledger.receipts(after=max(present, default=0)):
        present.update(receipt.seq for receipt in batch)
    problems = [*ledger.verify(), *ledger.rebuild()]
    ledger.close()
    lost = len(acknowledged - present)
    here = f"{lost} of {count_of(len(acknowledged))} lost; {len(problems)} problems on the next open"
    return [
        Row(
            f"acknowledged receipts lost in {count_of(killed)} `kill -9`",
            here,
            "0",
            state_of(not lost and not problems),
        )
    ]


def _writer(folder: Path, words: Sequence[str]) -> subprocess.Popen[str]:
    """A process of `_writers`, with pipes to and from it."""
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks._writers", *words],
        env=environment(folder),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
