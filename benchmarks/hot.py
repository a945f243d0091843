"""The hot calls: `python -m benchmarks.hot` prints the first five rows of the budgets with this machine's figures.

Beside them bare Python, measured in turn with them in the same run, and LoopX 2.1.1 where an environment that has it is named
(`--peer-env DIR` or LOOPX_PEER_ENV). It measures and never fails for being slow: the exit code is 0.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks._ledgers import House, engine_of, fill, make_house
from benchmarks._measure import (
    CallFailed,
    bare_python,
    call,
    interleaved,
    load,
    machine,
    median_cpu,
    percentile,
    program,
)
from benchmarks._peer import VERSION, Peer, PeerAbsent, peer_in
from benchmarks._table import NOT_RUN, Row, bytes_of, count_of, lines, show, state_of

NEXT_MS, NEXT_RATIO, WRITE_MS, WARM_MS = 60.0, 6.0, 90.0, 0.5
VERDICT_BYTES, PACKET_BYTES, TURN_BYTES, TURN_CALLS = 2 * 1024, 8 * 1024, 10 * 1024, 2


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured: rounds of cold calls, todos in the ledgers, commands in the warm process."""

    rounds: int
    todos: int
    many: int
    warm: int
    peer_todos: int


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print. Always 0 once the arguments are understood."""
    sizes, venv = _arguments(words)
    with tempfile.TemporaryDirectory(prefix="loopx-bench-") as place:
        folder = Path(place)
        show(
            [
                f"hot calls on {machine()}",
                f"medians of {sizes.rounds} rounds, A B A B; CPU is user + system of the process",
                "",
            ]
        )
        rows = [*_cold(folder / "cold", sizes), *_large(folder / "large", sizes), _warm(folder / "warm", sizes)]
        rows = [rows[0], rows[2], rows[1], rows[3], rows[4]]
        note = ""
        try:
            with peer_in(venv, folder / "peer", sizes.peer_todos) as peer:
                rows = _with_peer(rows, peer, sizes)
        except PeerAbsent as absent:
            note = str(absent)
        named = f"LoopX {VERSION}" if not note else ""
        show(["", *lines(rows, bare=True, peer=named), ""])
        show(_notes(sizes, note))
    return 0


def _arguments(words: Sequence[str] | None) -> tuple[Sizes, Path | None]:
    parser = argparse.ArgumentParser(prog="benchmarks.hot", description=str(__doc__).split("\n", 1)[0])
    parser.add_argument(
        "--peer-env", metavar="DIR", default=os.environ.get("LOOPX_PEER_ENV"), help="a venv with the peer"
    )
    for name, default, about in (
        ("rounds", 21, "cold calls of each kind"),
        ("todos", 1_000, "todos in the ledger of the cold calls"),
        ("many", 10_000, "todos in the ledger of the sizes"),
        ("warm", 2_000, "commands in the warm process"),
        ("peer-todos", 20, "todos in the peer's state"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{about} ({default})")
    given = parser.parse_args(words)
    sizes = Sizes(*(max(1, value) for value in (given.rounds, given.todos, given.many, given.warm, given.peer_todos)))
    return sizes, Path(given.peer_env) if given.peer_env else None


def _cold(folder: Path, sizes: Sizes) -> list[Row]:
    """Rows 1 and 3: a reading and a writing command, each a process of its own, between bare ones."""
    show([f"cold calls on a ledger of {count_of(sizes.todos)} todos ..."])
    what = ("cold `loopx next --json`, CPU", "cold `loopx todo add`, CPU")
    aims = (f"<= {NEXT_MS:g} ms, <= {NEXT_RATIO:g} x bare", f"<= {WRITE_MS:g} ms")
    try:
        house = make_house(folder)
        with engine_of(house.env) as engine:
            fill(engine, "g-1", sizes.todos - 1)
        found = interleaved(
            {
                "bare": lambda: call(bare_python(), house.env, house.project),
                "next": lambda: house.loopx("next", "g-1", "--json", "--as", "bench"),
                "write": lambda: house.loopx("todo", "add", "g-1", "One more todo"),
            },
            sizes.rounds,
        )
    except CallFailed as failed:
        return [Row(name, f"not run: {failed}", aim, NOT_RUN) for name, aim in zip(what, aims, strict=True)]
    bare, verdict, write = (median_cpu(found[name]) for name in ("bare", "next", "write"))
    kept = (verdict <= NEXT_MS and verdict <= NEXT_RATIO * bare, write <= WRITE_MS)
    return [
        Row(name, f"{cost:.0f} ms ({cost / bare:.1f} x bare)", aim, state_of(within), bare=f"{bare:.1f} ms")
        for name, cost, aim, within in zip(what, (verdict, write), aims, kept, strict=True)
    ]


def _large(folder: Path, sizes: Sizes) -> list[Row]:
    """Rows 2 and 4: what an agent reads, on a goal as large as the limits let it be."""
    show([f"sizes on a goal of {count_of(sizes.many)} todos, at the limits of its texts ..."])
    what = (f"size of verdict / packet, {count_of(sizes.many)} todos", "calls / bytes an agent reads for one turn")
    aims = (
        f"<= {bytes_of(VERDICT_BYTES)} / <= {bytes_of(PACKET_BYTES)}",
        f"{TURN_CALLS} calls, <= {bytes_of(TURN_BYTES)}",
    )
    try:
        house = make_house(folder, full=True)
        with engine_of(house.env) as engine:
            fill(engine, "g-1", sizes.many - 1)
        call([*program(house.folder, "loopx-engine"), "once"], house.env, house.project)
        verdict = len(house.loopx("next", "g-1", "--json", "--as", "bench").out)
        read, packet, ended = _turn(house)
    except CallFailed as failed:
        return [Row(name, f"not run: {failed}", aim, NOT_RUN) for name, aim in zip(what, aims, strict=True)]
    size = state_of(verdict <= VERDICT_BYTES and packet <= PACKET_BYTES)
    turn = state_of(len(read) <= TURN_CALLS and sum(read) <= TURN_BYTES)
    return [
        Row(what[0], f"{bytes_of(verdict)} / {bytes_of(packet)}", aims[0], size),
        Row(what[1], f"{len(read)} calls, {bytes_of(sum(read))}, ended {ended}", aims[1], turn),
    ]


def _turn(house: House) -> tuple[list[int], int, str]:
    """The bytes of each call of a whole turn, the packet's bytes, and what the turn came to (an engine proves it)."""
    engine = subprocess.Popen(
        [*program(house.folder, "loopx-engine"), "run"],
        env=house.env,
        cwd=house.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        begun = house.loopx("turn", "begin", "g-1", "--json", agent=house.token)
        body: dict[str, Any] = json.loads(begun.out)
        words = (
            "--outcome",
            "done",
            "--summary",
            "it was done",
            "--no-successor",
            "there are others",
            "--wait",
            "60",
            "--json",
        )
        finished = house.loopx("turn", "finish", body["turn"], *words, agent=body["token"])
    finally:
        engine.terminate()
        engine.wait(30)
    packet = len(json.dumps(body["packet"], ensure_ascii=False).encode())
    read = [len(one.out) + len(one.err) for one in (begun, finished)]
    return read, packet, str(json.loads(finished.out)["state"])


def _warm(folder: Path, sizes: Sizes) -> Row:
    """Row 5: ordinary writing commands in one process, on a file, without waiting for the disk."""
    show([f"{count_of(sizes.warm)} commands in a warm process ..."])
    what, aim = "work per command, warm, without fsync", f"<= {WARM_MS:g} ms"
    try:
        house = make_house(folder)
    except CallFailed as failed:
        return Row(what, f"not run: {failed}", aim, NOT_RUN)
    cpu: list[float] = []
    wall: list[float] = []

    def timed(once: Any) -> None:
        used, since = time.process_time(), time.perf_counter()
        once()
        cpu.append((time.process_time() - used) * 1000)
        wall.append((time.perf_counter() - since) * 1000)

    with engine_of(house.env) as engine:
        fill(engine, "g-1", sizes.todos)
        fill(engine, "g-1", sizes.warm, timed)
    middle = statistics.median(cpu)
    here = f"{middle:.2f} ms CPU p50, {percentile(cpu, 0.95):.2f} p95 ({statistics.median(wall):.2f} wall p50)"
    return Row(what, here, aim, state_of(middle <= WARM_MS))


def _with_peer(rows: list[Row], peer: Peer, sizes: Sizes) -> list[Row]:
    """The same rows with the peer's figures for the same jobs, measured now."""
    show([f"LoopX {VERSION} with {count_of(sizes.peer_todos)} todos ..."])
    numbers = iter(range(10_000))
    found = interleaved(
        {
            "decide": peer.should_run,
            "status": peer.status,
            "write": lambda: peer.todo_add(f"One more todo, number {next(numbers)}"),
        },
        max(3, sizes.rounds // 3),
    )
    decide, status, write = (median_cpu(found[name]) for name in ("decide", "status", "write"))
    answer = statistics.median(len(one.out) for one in found["decide"])
    turn = peer.turn()
    said = f"{turn.calls} calls, {bytes_of(turn.bytes)}" + (f" ({turn.refused} refused)" if turn.refused else "")
    figures = [
        f"{decide:.0f} ms (should-run; status {status:.0f} ms)",
        f"{bytes_of(int(answer))} (should-run)",
        f"{write:.0f} ms",
        said,
        "",
    ]
    return [replace(row, peer=figure) for row, figure in zip(rows, figures, strict=True)]


def _notes(sizes: Sizes, absent: str) -> list[str]:
    notes = [
        f"load afterwards: {load()}",
        "cold calls run the script an installer writes, with their bytecode compiled; bare Python is `python -c pass`",
        f"the goal of the sizes has {count_of(sizes.many)} todos, 12 criteria, a body of 16 KB and 10 messages",
        "the turn is proved by a running engine; its bytes are all that the two calls print",
    ]
    if absent:
        notes.append(f"LoopX {VERSION} not run: {absent}")
    else:
        notes.append(
            f"LoopX {VERSION} was measured with {count_of(sizes.peer_todos)} todos, its helper process included"
        )
    return [f"- {note}" for note in notes]


if __name__ == "__main__":
    sys.exit(main())
