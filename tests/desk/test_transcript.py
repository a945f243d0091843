"""A transcript as it grows: whole lines only, from where the reader stood; nothing is read twice and nothing is left out."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from loopx_engine.desk.transcript import READ_BYTES, TAIL_BYTES, more, tail


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "u-1.log"


def test_where_there_is_none_yet_there_are_no_lines(file: Path) -> None:
    assert more(str(file), 0) == ([], 0)
    assert more(str(file), 17) == ([], 17)
    assert more("", 0) == ([], 0)
    assert tail(str(file)) == ([], 0)
    assert tail("") == ([], 0)


def test_a_folder_in_its_place_has_no_lines(tmp_path: Path) -> None:
    assert more(str(tmp_path), 0) == ([], 0)


def test_a_line_that_is_not_whole_waits_until_it_is(file: Path) -> None:
    file.write_bytes(b"one\ntw")
    assert more(str(file), 0) == (["one"], 4)
    assert more(str(file), 4) == ([], 4)
    with file.open("ab") as growing:
        growing.write(b"o\nthree\n")
    assert more(str(file), 4) == (["two", "three"], 14)
    assert more(str(file), 14) == ([], 14)


def test_marks_blank_lines_and_carriage_returns_stay_what_they_are(file: Path) -> None:
    file.write_bytes(b"[note] reads the cart\r\n\n  indented\n10%\r50%\r100%\n")
    assert more(str(file), 0)[0] == ["[note] reads the cart", "", "  indented", "10%\r50%\r100%"]


def test_what_is_no_utf8_is_shown_and_costs_nothing_else(file: Path) -> None:
    file.write_bytes("漢".encode() + b"\xff\xfe\n" + b"\xe6\xbc\n" + "字\n".encode() + b"\x00\n")
    assert more(str(file), 0)[0] == ["漢\ufffd\ufffd", "\ufffd", "字", "\x00"]


def test_a_file_that_was_cut_gives_nothing_until_it_grows_past(file: Path) -> None:
    file.write_bytes(b"one\n")
    assert more(str(file), 100) == ([], 100)


def test_a_line_without_an_end_is_given_in_pieces(file: Path) -> None:
    file.write_bytes(b"x" * (READ_BYTES + 5))
    lines, position = more(str(file), 0)
    assert ([len(text) for text in lines], position) == ([READ_BYTES], READ_BYTES)
    with file.open("ab") as growing:
        growing.write(b"\nnext\n")
    assert more(str(file), position) == (["xxxxx", "next"], READ_BYTES + 11)


def test_a_reader_far_behind_is_given_so_much_at_a_time(file: Path) -> None:
    file.write_bytes(b"".join(b"line %d\n" % number for number in range(100_000)))
    lines, position = more(str(file), 0)
    assert TAIL_BYTES <= position < TAIL_BYTES + 100
    assert lines[0] == "line 0"
    following, _ = more(str(file), position)
    assert following[0] == f"line {len(lines)}"


def test_the_end_of_a_huge_one_is_whole_lines_and_where_the_next_begins(file: Path) -> None:
    file.write_bytes(b"".join(b"line %07d\n" % number for number in range(400_000)) + b"not whole")
    lines, position = tail(str(file))
    assert lines[-1] == "line 0399999"
    assert lines == [f"line {number:07d}" for number in range(400_000 - len(lines), 400_000)]
    assert position == file.stat().st_size - len(b"not whole")
    assert len(lines) * 13 <= TAIL_BYTES


def test_a_small_one_is_given_from_its_first_line(file: Path) -> None:
    file.write_bytes(b"one\ntwo\n")
    assert tail(str(file)) == (["one", "two"], 8)


pieces = st.lists(
    st.sampled_from([b"a", b"\n", b"\r\n", b"[note] x\n", b"\xff", "漢字".encode(), b"\x1b[2J", b" "]), max_size=40
)


@given(pieces, st.lists(st.integers(0, 60), max_size=6))
def test_however_it_grows_every_line_is_read_once_and_in_order(written: list[bytes], stops: list[int]) -> None:
    whole = b"".join(written)
    lines: list[str] = []
    position = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "u.log"
        for stop in [*sorted(min(stop, len(whole)) for stop in stops), len(whole)]:
            path.write_bytes(whole[:stop])
            found, position = more(str(path), position)
            lines += found
    ended = whole[: whole.rfind(b"\n") + 1]
    assert position == len(ended)
    assert lines == [line.decode("utf-8", "replace").rstrip("\r\n") for line in ended.split(b"\n")[:-1]]


@given(pieces, st.integers(1, 30))
def test_the_end_of_any_is_its_last_lines(written: list[bytes], most: int) -> None:
    whole = b"".join(written)
    assume(len(whole) - most <= whole.rfind(b"\n") + 1)  # shorter lines than the tail: longer ones come in pieces
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "u.log"
        path.write_bytes(whole)
        found, position = tail(str(path), most)
        everything, end = more(str(path), 0)
    assert position == end
    assert found == everything[len(everything) - len(found) :]
