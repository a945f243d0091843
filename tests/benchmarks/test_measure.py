"""How a benchmark measures and what it prints: processes by their CPU, in turn; a table whose columns stand below each other."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks._measure import (
    Call,
    CallFailed,
    bare_python,
    call,
    environment,
    interleaved,
    machine,
    median_cpu,
    percentile,
)
from benchmarks._table import NOT_RUN, Row, bytes_of, count_of, lines, state_of

BUSY = "sum(range(30_000_000))"


def cost(cpu_ms: float) -> Call:
    return Call(cpu_ms, cpu_ms, b"", b"", 0)


def test_a_busy_process_costs_more_than_a_bare_one(tmp_path: Path) -> None:
    env = environment(tmp_path)
    bare = min((call(bare_python(), env, tmp_path) for _ in range(3)), key=lambda found: found.cpu_ms)
    busy = call([sys.executable, "-c", BUSY], env, tmp_path)
    assert 0 < bare.cpu_ms < busy.cpu_ms


def test_a_call_keeps_what_was_printed_and_how_it_ended(tmp_path: Path) -> None:
    done = call([sys.executable, "-c", "print('said'); exit(3)"], environment(tmp_path), tmp_path, allowed=(0, 3))
    assert (done.out.split(), done.err, done.code) == ([b"said"], b"", 3)


def test_a_call_that_ends_badly_is_named_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(CallFailed, match=r"ended 1: .*no such thing"):
        call([sys.executable, "-c", "raise SystemExit('no such thing')"], environment(tmp_path), tmp_path)


def test_a_measured_process_sees_no_setting_of_the_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPX_TOKEN", "x")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    env = environment(tmp_path, {"LOOPX_MORE": "given"})
    assert "LOOPX_TOKEN" not in env
    assert "PYTHONDONTWRITEBYTECODE" not in env
    assert env["LOOPX_HOME"] == str(tmp_path / "home")
    assert env["LOOPX_MORE"] == "given"
    assert env["PATH"] == os.environ["PATH"]


def test_calls_are_made_in_turn_after_one_each_to_warm_up() -> None:
    made: list[str] = []

    def of(name: str) -> Call:
        made.append(name)
        return cost(len(made))

    found = interleaved({"a": lambda: of("a"), "b": lambda: of("b")}, rounds=2)
    assert made == ["a", "b", "a", "b", "a", "b"]
    assert [one.cpu_ms for one in found["a"]] == [3, 5]


def test_the_median_is_not_moved_by_one_slow_call() -> None:
    assert median_cpu([cost(3), cost(900), cost(4)]) == 4


@pytest.mark.parametrize(("share", "value"), [(0.0, 1), (0.5, 2), (0.95, 3), (1.0, 3)])
def test_a_percentile_is_one_of_the_values(share: float, value: float) -> None:
    assert percentile([3, 1, 2], share) == value


def test_the_machine_is_named_with_its_python_its_sqlite_and_its_load() -> None:
    said = machine()
    assert all(word in said for word in ("cores", "Python", "SQLite", "load"))


def test_the_columns_of_a_table_stand_below_each_other() -> None:
    rows = [
        Row("short", "1 ms", "<= 2 ms", state_of(True), bare="1 ms", peer="5 ms"),
        Row("a longer one", "not run: x", "-", NOT_RUN),
    ]
    head, first, second = lines(rows, bare=True, peer="other")
    assert head.split() == ["what", "here", "bare", "Python", "aim", "other"]
    at = head.index("here")
    assert first[at:].startswith("1 ms")
    assert second[at:].startswith("not run: x")
    assert first.rstrip().endswith("5 ms")
    assert second.rstrip().endswith("-")


def test_a_column_that_nobody_asked_for_is_not_there() -> None:
    head, row = lines([Row("what it is", "3 ms", "<= 2 ms", state_of(False), bare="1 ms", peer="9 ms")])
    assert head.split() == ["what", "here", "aim"]
    assert row.split() == ["what", "it", "is", "3", "ms", "<=", "2", "ms", "over"]


@pytest.mark.parametrize(("count", "said"), [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KB"), (8100, "7.9 KB")])
def test_a_size_is_said_in_bytes_or_kilobytes(count: int, said: str) -> None:
    assert bytes_of(count) == said


def test_a_large_number_has_its_thousands_apart() -> None:
    assert count_of(1_000_000) == "1,000,000"
