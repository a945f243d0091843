"""An unlock ends by itself; a passphrase comes in by a descriptor and by nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import ROOT, clean_environment

from loopx_engine.clock import FakeClock
from loopx_engine.consent.keys import Signer, load_signer, make_owner_key
from loopx_engine.consent.unlock import MOST_BYTES, Unlock, read_passphrase_fd
from loopx_engine.errors import UsageError
from loopx_engine.model.defaults import UNLOCK_MS


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    make_owner_key(tmp_path / "keys", None)
    return load_signer(tmp_path / "keys", None)


class TestUnlock:
    def test_it_lasts_fifteen_minutes(self, signer: Signer) -> None:
        clock = FakeClock()
        unlock = Unlock(clock)
        assert unlock.signer() is None
        unlock.keep(signer)
        clock.advance(UNLOCK_MS - 1)
        assert unlock.signer() is signer
        clock.advance(1)
        assert unlock.signer() is None
        assert UNLOCK_MS == 15 * 60 * 1000

    def test_use_does_not_lengthen_it(self, signer: Signer) -> None:
        clock = FakeClock()
        unlock = Unlock(clock)
        unlock.keep(signer)
        for _ in range(15):
            assert unlock.signer() is signer
            clock.advance(60_000)
        assert unlock.signer() is None

    def test_it_does_not_come_back(self, signer: Signer) -> None:
        clock = FakeClock()
        unlock = Unlock(clock)
        unlock.keep(signer)
        clock.advance(UNLOCK_MS)
        assert unlock.signer() is None
        clock.set(clock.now() - 10 * UNLOCK_MS)
        assert unlock.signer() is None

    def test_forgetting_ends_it_at_once(self, signer: Signer) -> None:
        unlock = Unlock(FakeClock())
        unlock.keep(signer)
        unlock.forget()
        assert unlock.signer() is None
        assert signer not in vars(unlock).values()

    def test_keeping_again_begins_anew(self, signer: Signer) -> None:
        clock = FakeClock()
        unlock = Unlock(clock)
        unlock.keep(signer)
        clock.advance(UNLOCK_MS - 1)
        unlock.keep(signer)
        clock.advance(UNLOCK_MS - 1)
        assert unlock.signer() is signer

    def test_night_in_which_the_laptop_slept_ends_it(self, signer: Signer) -> None:
        clock = FakeClock()
        unlock = Unlock(clock)
        unlock.keep(signer)
        clock.set(clock.now() + UNLOCK_MS)
        assert unlock.signer() is None

    def test_wall_clock_set_back_does_not_lengthen_it(self, signer: Signer) -> None:
        clock = FakeClock()
        unlock = Unlock(clock)
        unlock.keep(signer)
        clock.set(clock.now() - 100 * UNLOCK_MS)
        clock.advance(UNLOCK_MS - 1)
        assert unlock.signer() is signer
        clock.advance(1)
        assert unlock.signer() is None


def descriptor(data: bytes) -> int:
    """The reading end of a pipe that holds `data` and has ended."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    return reading


def is_open(handle: int) -> bool:
    try:
        os.fstat(handle)
    except OSError:
        return False
    return True


class TestPassphraseDescriptor:
    @pytest.mark.parametrize("environ", [{}, {"LOOPX_PASSPHRASE_FD": ""}, {"LOOPX_PASSPHRASE": "secret"}])
    def test_unset_is_none(self, environ: dict[str, str]) -> None:
        assert read_passphrase_fd(environ) is None

    @pytest.mark.parametrize(
        ("data", "passphrase"),
        [
            (b"pass word\n", b"pass word"),
            (b"pass word", b"pass word"),
            (b"pass word\r\n", b"pass word"),
            (b" kept \t\n", b" kept \t"),
            (b"first\nsecond\n", b"first"),
            (b"\xff\x00bytes\n", b"\xff\x00bytes"),
            (b"x" * MOST_BYTES + b"\r\n", b"x" * MOST_BYTES),
            (b"x" * MOST_BYTES, b"x" * MOST_BYTES),
        ],
        ids=[
            "line",
            "no newline",
            "windows line",
            "spaces",
            "two lines",
            "bytes",
            "longest",
            "longest without newline",
        ],
    )
    def test_one_line_is_read_as_it_is_and_the_descriptor_closed(self, data: bytes, passphrase: bytes) -> None:
        handle = descriptor(data)
        assert read_passphrase_fd({"LOOPX_PASSPHRASE_FD": str(handle)}) == passphrase
        assert not is_open(handle)

    def test_line_that_comes_in_pieces_is_read_whole(self) -> None:
        reading, writing = os.pipe()
        code = (
            "import os, sys; [os.write(int(sys.argv[1]), b'ab') for _ in range(5)]; os.write(int(sys.argv[1]), b'\\n')"
        )
        child = subprocess.Popen([sys.executable, "-c", code, str(writing)], pass_fds=(writing,))
        os.close(writing)
        assert read_passphrase_fd({"LOOPX_PASSPHRASE_FD": str(reading)}) == b"ab" * 5
        assert child.wait(10) in (0, 1)

    def test_file_serves_as_a_descriptor(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_bytes(b"from a file\n")
        handle = os.open(tmp_path / "secret", os.O_RDONLY)
        assert read_passphrase_fd({"LOOPX_PASSPHRASE_FD": str(handle)}) == b"from a file"

    def test_shell_gives_it_as_standard_input(self) -> None:
        code = (
            "import os, sys; from loopx_engine.consent.unlock import read_passphrase_fd;"
            "print(read_passphrase_fd(os.environ)); print(sys.stdin.read() == '', os.open('/', os.O_RDONLY) > 2)"
        )
        said = subprocess.run(
            [sys.executable, "-c", code],
            input="pass word\nmore\n", capture_output=True, encoding="utf-8", check=True, cwd=ROOT,
            env=clean_environment({"LOOPX_PASSPHRASE_FD": "0"}),
        )  # fmt: skip
        assert said.stdout.splitlines() == ["b'pass word'", "True True"]

    @pytest.mark.parametrize("data", [b"", b"\n", b"\r\n", b"\nsecond\n", b"x" * (MOST_BYTES + 1), b"x" * 60_000])
    def test_empty_or_endless_line_is_refused_and_the_descriptor_closed(self, data: bytes) -> None:
        handle = descriptor(data)
        self.refused(str(handle), "bad_passphrase")
        assert not is_open(handle)

    @pytest.mark.parametrize(
        "named",
        [
            "x",
            "-1",
            "3.0",
            " 3",
            "1",
            "2",
            "01",
            "²",
            "٣",
            "999999",
            "99999999999999999999",
            "/dev/stdin",
            "hunter2\ud800",
        ],
    )
    def test_what_is_no_open_descriptor_is_refused(self, named: str) -> None:
        self.refused(named, "bad_descriptor")

    @pytest.mark.parametrize(
        "opened",
        [
            lambda folder: os.open(folder, os.O_RDONLY),
            lambda folder: os.open(folder / "new", os.O_WRONLY | os.O_CREAT),
        ],
        ids=["folder", "only for writing"],
    )
    def test_descriptor_that_cannot_be_read_is_refused(self, tmp_path: Path, opened: Callable[[Path], int]) -> None:
        handle = opened(tmp_path)
        self.refused(str(handle), "bad_descriptor")
        assert not is_open(handle)

    def test_second_reading_finds_it_closed(self) -> None:
        handle = descriptor(b"pass\n")
        read_passphrase_fd({"LOOPX_PASSPHRASE_FD": str(handle)})
        self.refused(str(handle), "bad_descriptor")

    def refused(self, named: str, code: str) -> None:
        with pytest.raises(UsageError) as caught:
            read_passphrase_fd({"LOOPX_PASSPHRASE_FD": named})
        assert caught.value.code == code
        assert "LOOPX_PASSPHRASE_FD must" in caught.value.message
        assert named == "x" or len(named) < 3 or named not in caught.value.message
