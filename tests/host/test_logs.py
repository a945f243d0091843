"""The engine's log: JSON lines, bounded, closed to others, without secrets, and never in the way."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, a26_1

from loopx_engine.errors import Refused
from loopx_engine.host import logs
from loopx_engine.host.logs import FILE_BYTES, FILES, VALUE_CHARACTERS, PrivateHandler, open_log


@pytest.fixture
def opened() -> Iterator[list[Any]]:
    """Logs to close at the end."""
    found: list[Any] = []
    yield found
    for log in found:
        for handler in log._logger.handlers:
            handler.close()


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "engine.jsonl").read_text(encoding="utf-8").splitlines()]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_event_is_one_object_a_line_with_time_level_and_fields(tmp_path: Path, opened: list[Any]) -> None:
    log = open_log(tmp_path / "logs")
    opened.append(log)
    log.info("turn.begun", goal="g-1", turn="u-2", count=3, left=None, ids=["a", "b"])
    log.warning("turn.lost", goal="g-1")
    first, second = lines(tmp_path / "logs")
    assert first["ts"].endswith("Z")
    assert {**first, "ts": ""} == {
        "ts": "", "level": "info", "event": "turn.begun", "goal": "g-1", "turn": "u-2", "count": 3,
        "left": None, "ids": ["a", "b"],
    }  # fmt: skip
    assert (second["level"], second["event"]) == ("warning", "turn.lost")


def test_debug_is_not_kept(tmp_path: Path, opened: list[Any]) -> None:
    log = open_log(tmp_path)
    opened.append(log)
    log.debug("chatter", text="anything")
    assert lines(tmp_path) == []


def test_file_and_folder_are_closed_whatever_the_umask_and_the_file_before(tmp_path: Path, opened: list[Any]) -> None:
    before = os.umask(0)
    try:
        (tmp_path / "old").mkdir()
        (tmp_path / "old" / "engine.jsonl").touch()
        opened.extend(open_log(tmp_path / name) for name in ("new", "old"))
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o700
    assert [mode(tmp_path / name / "engine.jsonl") for name in ("new", "old")] == [0o600, 0o600]


def test_files_are_few_bounded_and_closed_after_every_roll_over(
    tmp_path: Path, opened: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (FILES, FILE_BYTES) == (5, 2_000_000)
    monkeypatch.setattr(logs, "FILE_BYTES", 5000)
    before = os.umask(0)
    try:
        log = open_log(tmp_path)
        opened.append(log)
        for number in range(400):
            log.info("event", number=number)
    finally:
        os.umask(before)
    found = sorted(path.name for path in tmp_path.glob("engine*"))
    assert found == ["engine.jsonl", *(f"engine.jsonl.{n}" for n in range(1, 5))]
    assert {mode(tmp_path / name) for name in found} == {0o600}
    assert max((tmp_path / name).stat().st_size for name in found) <= 5000
    assert lines(tmp_path)[-1]["number"] == 399


def test_known_values_and_known_shapes_are_masked(tmp_path: Path, opened: list[Any]) -> None:
    log = open_log(tmp_path, known=("open sesame",))
    opened.append(log)
    token = "ghp_" + "a1B2" * 9
    log.info("check.failed", tail=f"said open sesame and {token}", argv=["x", f"--token={token}"])
    text = (tmp_path / "engine.jsonl").read_text(encoding="utf-8")
    assert "sesame" not in text
    assert token not in text


def test_secret_in_a_traceback_is_masked(tmp_path: Path, opened: list[Any]) -> None:
    log = open_log(tmp_path, known=("open sesame",))
    opened.append(log)
    try:
        raise ValueError("open sesame")
    except ValueError:
        log.exception("fault")
    entry = lines(tmp_path)[0]
    assert "ValueError: [redacted value]" in entry["exception"]
    assert "sesame" not in json.dumps(entry)


def test_long_value_is_cut(tmp_path: Path, opened: list[Any]) -> None:
    log = open_log(tmp_path)
    opened.append(log)
    log.info("event", text="x" * 1_000_000, items=["y" * 100_000])
    entry = lines(tmp_path)[0]
    assert len(entry["text"]) == VALUE_CHARACTERS
    assert len(entry["items"]) == VALUE_CHARACTERS


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in a26_1().items()])
def test_any_text_stays_one_line_that_acts_on_no_terminal(tmp_path: Path, opened: list[Any], text: str) -> None:
    log = open_log(tmp_path)
    opened.append(log)
    log.info("event", text=text)
    raw = (tmp_path / "engine.jsonl").read_bytes()
    assert raw.endswith(b"}\n")
    assert raw.count(b"\n") == 1
    assert all(byte == 0x0A or 0x20 <= byte < 0x7F for byte in raw)
    assert json.loads(raw)["text"] == text


def test_value_that_is_no_json_is_written_as_its_text(tmp_path: Path, opened: list[Any]) -> None:
    log = open_log(tmp_path)
    opened.append(log)
    log.info("event", path=tmp_path, odd=1j)
    assert lines(tmp_path)[0]["odd"] == "1j"


def test_full_disk_ends_nothing_and_says_nothing_on_the_terminal(
    tmp_path: Path, opened: list[Any], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log = open_log(tmp_path)
    opened.append(log)
    handler = log._logger.handlers[0]
    assert isinstance(handler, PrivateHandler)

    class Full:
        def write(self, text: str) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        def flush(self) -> None:
            pass

        def seek(self, *given: int) -> None:
            pass

        def tell(self) -> int:
            return 0

    stream = handler.stream
    monkeypatch.setattr(handler, "stream", Full())
    log.info("lost")
    log.info("lost")
    monkeypatch.setattr(handler, "stream", stream)
    log.info("kept")
    assert handler.dropped == 2
    assert [entry["event"] for entry in lines(tmp_path)] == ["kept"]
    assert capfd.readouterr() == ("", "")


def test_two_logs_do_not_write_into_each_other(tmp_path: Path, opened: list[Any]) -> None:
    one, two = open_log(tmp_path / "one"), open_log(tmp_path / "two")
    again = open_log(tmp_path / "one")
    opened.extend([one, two, again])
    one.info("first")
    two.info("second")
    again.info("third")
    assert [entry["event"] for entry in lines(tmp_path / "one")] == ["first", "third"]
    assert [entry["event"] for entry in lines(tmp_path / "two")] == ["second"]


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Refused):
        open_log(tmp_path / "file" / "logs")


def test_importing_it_loads_no_structlog() -> None:
    code = "import sys, loopx_engine.host.logs; print('structlog' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, cwd=ROOT)
    assert said.stdout.strip() == "False"
