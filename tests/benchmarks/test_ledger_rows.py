"""`benchmarks.ledger` on tiny sizes: it prints its four rows. Speed is not tested here."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import require

from benchmarks import ledger

ROWS = ("durable claims by", "hot calls at", "status data at", "acknowledged receipts lost in")
TINY = ["--processes", "2", "--claims", "6", "--receipts", "40,20", "--rounds", "1", "--kills", "2"]


@pytest.mark.real
def test_it_prints_the_four_rows(capsys: pytest.CaptureFixture[str]) -> None:
    require("git")
    assert ledger.main(TINY) == 0
    printed = capsys.readouterr().out
    rows = [next(line for line in printed.splitlines() if line.startswith(what)) for what in ROWS]
    assert all(row.split("  ")[-1].strip() in ("ok", "over") for row in rows)
    assert "0 twice, 6 of 6" in rows[0]
    assert rows[1].startswith("hot calls at 20 / 40 receipts")
    assert rows[3].startswith("acknowledged receipts lost in 2 `kill -9`")
    assert " 0 of " in rows[3]


def test_a_measurement_that_cannot_be_made_is_one_row_that_says_so(tmp_path: Path) -> None:
    def _claims(_folder: Path, _sizes: ledger.Sizes) -> list[object]:
        raise OSError("no room")

    rows = ledger._measured(_claims, tmp_path, ledger.Sizes(1, 1, (20,), 1, 2))  # type: ignore[arg-type]
    assert [(row.what, row.here, row.state) for row in rows] == [("claims", "not run: no room", "not run")]


def test_lengths_are_measured_from_the_shortest_to_the_longest() -> None:
    assert ledger._arguments(["--receipts", "500,3,90"]).receipts == (20, 90, 500)
