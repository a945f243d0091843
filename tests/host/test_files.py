"""Private files: whole or not at all, 0600, and transcripts that are bounded and outlive a full disk."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT, a26_1, absent, require

from loopx_engine.errors import TryAgain
from loopx_engine.host import files
from loopx_engine.host.files import FULL, BoundedFile, write_private

MARKER = FULL.decode()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def fail_writing(monkeypatch: pytest.MonkeyPatch, number: int, *, after: int = 0) -> None:
    """`os.write` takes `after` bytes in all and then fails with this error."""
    left = [after]
    write = os.write

    def failing(handle: int, data: bytes) -> int:
        if left[0] <= 0:
            raise OSError(number, os.strerror(number))
        done = write(handle, bytes(data)[: left[0]])
        left[0] -= done
        return done

    monkeypatch.setattr(os, "write", failing)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 256 KB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    tool = require("mount")
    made = subprocess.run(
        [tool, "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if made.returncode:
        absent("no file system can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run([require("umount"), str(disk)], check=True)


class TestWritingWhole:
    def test_file_is_closed_to_others_whatever_the_umask_allows(self, tmp_path: Path) -> None:
        before = os.umask(0)
        try:
            path = write_private(tmp_path / "file", b"data")
        finally:
            os.umask(before)
        assert (path.read_bytes(), mode(path)) == (b"data", 0o600)

    def test_replacing_closes_a_file_that_was_open(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"old")
        (tmp_path / "file").chmod(0o644)
        write_private(tmp_path / "file", b"new")
        assert ((tmp_path / "file").read_bytes(), mode(tmp_path / "file")) == (b"new", 0o600)
        assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["file"]

    def test_link_is_replaced_and_what_it_leads_to_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "other").write_bytes(b"other")
        (tmp_path / "file").symlink_to("other")
        write_private(tmp_path / "file", b"new")
        assert not (tmp_path / "file").is_symlink()
        assert (tmp_path / "other").read_bytes() == b"other"

    @pytest.mark.parametrize("size", [0, 1, 1_000_000])
    def test_any_amount_is_written(self, tmp_path: Path, size: int) -> None:
        assert write_private(tmp_path / "file", b"x" * size).stat().st_size == size

    def test_system_that_takes_little_at_a_time_is_asked_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write = os.write
        monkeypatch.setattr(os, "write", lambda handle, data: write(handle, bytes(data)[:3]))
        assert write_private(tmp_path / "file", b"0123456789").read_bytes() == b"0123456789"

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
    @pytest.mark.parametrize("after", [0, 4])
    def test_full_disk_leaves_the_old_file_whole_and_no_rest(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, after: int
    ) -> None:
        path = write_private(tmp_path / "file", b"old")
        names = sorted(os.listdir(tmp_path))
        fail_writing(monkeypatch, number, after=after)
        with pytest.raises(TryAgain) as caught:
            write_private(path, b"new data")
        assert (caught.value.code, caught.value.exit_code) == ("disk_full", 75)
        assert path.read_bytes() == b"old"
        assert sorted(os.listdir(tmp_path)) == names

    def test_other_failure_is_what_it_is_and_leaves_no_rest(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        names = sorted(os.listdir(tmp_path))
        fail_writing(monkeypatch, errno.EIO)
        with pytest.raises(OSError, match="Input/output"):
            write_private(tmp_path / "file", b"data")
        assert sorted(os.listdir(tmp_path)) == names

    def test_interruption_leaves_the_old_file_and_no_rest(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(handle: int) -> None:
            raise KeyboardInterrupt

        path = write_private(tmp_path / "file", b"old")
        names = sorted(os.listdir(tmp_path))
        monkeypatch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_private(path, b"new")
        assert path.read_bytes() == b"old"
        assert sorted(os.listdir(tmp_path)) == names

    def test_data_is_on_disk_before_the_name_and_the_name_before_the_return(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        done: list[str] = []
        fsync, replace = os.fsync, os.replace

        def sync(handle: int) -> None:
            done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "data")
            fsync(handle)

        def rename(source: Path, target: Path) -> None:
            done.append("name")
            replace(source, target)

        monkeypatch.setattr(os, "fsync", sync)
        monkeypatch.setattr(os, "replace", rename)
        write_private(tmp_path / "file", b"data")
        assert done == ["data", "name", "folder"]

    @pytest.mark.parametrize(("number", "fails"), [(errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)])
    def test_folder_that_cannot_be_synced_is_no_failure(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, fails: bool
    ) -> None:
        fsync = os.fsync

        def sync(handle: int) -> None:
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                raise OSError(number, os.strerror(number))
            fsync(handle)

        monkeypatch.setattr(os, "fsync", sync)
        if fails:
            with pytest.raises(OSError, match="Input/output"):
                write_private(tmp_path / "file", b"data")
        else:
            write_private(tmp_path / "file", b"data")
        assert (tmp_path / "file").read_bytes() == b"data"

    def test_missing_folder_and_a_folder_of_that_name_are_errors(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            write_private(tmp_path / "missing" / "file", b"data")
        (tmp_path / "folder").mkdir()
        names = sorted(os.listdir(tmp_path))
        with pytest.raises(IsADirectoryError):
            write_private(tmp_path / "folder", b"data")
        assert sorted(os.listdir(tmp_path)) == names

    def test_new_file_never_replaces_one(self, tmp_path: Path) -> None:
        path = write_private(tmp_path / "file", b"first", replace=False)
        with pytest.raises(FileExistsError):
            write_private(path, b"second", replace=False)
        assert (path.read_bytes(), mode(path)) == (b"first", 0o600)
        assert [item.name for item in tmp_path.iterdir() if item.is_file()] == ["file"]

    def test_busy_reader_on_windows_is_waited_for_and_any_other_refusal_is_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        replace = os.replace
        refusals = [32, 5]

        def busy(source: Path, target: Path) -> None:
            if not refusals:
                return replace(source, target)
            error = PermissionError(13, "Permission denied")
            error.winerror = refusals.pop()  # type: ignore[attr-defined]
            raise error

        monkeypatch.setattr(os, "replace", busy)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        assert write_private(tmp_path / "file", b"data").read_bytes() == b"data"
        refusals.append(99)
        with pytest.raises(PermissionError):
            write_private(tmp_path / "file", b"new")
        monkeypatch.setattr(files, "REPLACE_WAIT_S", 0.0)
        refusals.append(32)
        with pytest.raises(PermissionError):
            write_private(tmp_path / "file", b"new")
        assert (tmp_path / "file").read_bytes() == b"data"

    @pytest.mark.real
    def test_killed_writer_leaves_one_of_the_two_whole_files(self, tmp_path: Path) -> None:
        code = (
            "import itertools, sys; from pathlib import Path; from loopx_engine.host.files import write_private;"
            "path = Path(sys.argv[1]); print('go', flush=True);"
            "[write_private(path, bytes([65 + n % 2]) * 200_000) for n in itertools.count()]"
        )
        path = write_private(tmp_path / "file", b"A" * 200_000)
        for _ in range(10):
            child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, cwd=ROOT)
            assert child.stdout is not None
            child.stdout.readline()
            before = path.stat().st_ino
            while path.stat().st_ino == before:
                pass
            child.send_signal(signal.SIGKILL)
            child.wait(20)
            child.stdout.close()
            assert path.read_bytes() in (b"A" * 200_000, b"B" * 200_000)

    @pytest.mark.needs_root
    def test_really_full_disk(self, small_disk: Path) -> None:
        path = write_private(small_disk / "file", b"old")
        with pytest.raises(TryAgain) as caught:
            write_private(path, b"x" * 1_000_000)
        assert caught.value.code == "disk_full"
        assert path.read_bytes() == b"old"
        assert os.listdir(small_disk) == ["file"]
        assert write_private(path, b"new").read_bytes() == b"new"


class TestBoundedFile:
    def test_text_is_appended_in_a_closed_file(self, tmp_path: Path) -> None:
        before = os.umask(0)
        try:
            file = BoundedFile(tmp_path / "log", 1000)
        finally:
            os.umask(before)
        file.write("one\n")
        file.write("zwei ü\n")
        file.close()
        assert (tmp_path / "log").read_text(encoding="utf-8") == "one\nzwei ü\n"
        assert (mode(tmp_path / "log"), file.dropped) == (0o600, 0)

    def test_opened_again_it_goes_on(self, tmp_path: Path) -> None:
        for text in ("one\n", "two\n"):
            file = BoundedFile(tmp_path / "log", 1000)
            file.write(text)
            file.close()
        assert (tmp_path / "log").read_text(encoding="utf-8") == "one\ntwo\n"

    def test_at_the_limit_it_says_so_once_and_counts_the_rest(self, tmp_path: Path) -> None:
        file = BoundedFile(tmp_path / "log", 20 + len(FULL))
        for _ in range(10):
            file.write("012345678\n")
        file.close()
        assert (tmp_path / "log").read_text(encoding="utf-8") == "012345678\n" * 2 + MARKER
        assert file.dropped == 80

    def test_opened_again_a_full_file_stays_as_it_is(self, tmp_path: Path) -> None:
        for _ in range(3):
            file = BoundedFile(tmp_path / "log", 20 + len(FULL))
            file.write("012345678\n" * 3)
            file.close()
        assert (tmp_path / "log").read_text(encoding="utf-8") == "012345678\n" * 2 + MARKER
        assert file.dropped == 30

    def test_one_large_piece_keeps_the_lines_that_fit(self, tmp_path: Path) -> None:
        file = BoundedFile(tmp_path / "log", 25 + len(FULL))
        file.write("012345678\n" * 1000)
        file.close()
        assert (tmp_path / "log").read_text(encoding="utf-8") == "012345678\n" * 2 + MARKER
        assert file.dropped == 10_000 - 20

    def test_line_that_does_not_fit_is_dropped_whole_and_no_character_is_cut(self, tmp_path: Path) -> None:
        file = BoundedFile(tmp_path / "log", 10 + len(FULL))
        file.write("ü" * 100)
        file.close()
        assert (tmp_path / "log").read_text(encoding="utf-8") == MARKER
        assert file.dropped == 200

    @pytest.mark.parametrize("limit", [0, 1, len(FULL) - 1, len(FULL)])
    def test_limit_below_the_marker_keeps_the_marker_alone(self, tmp_path: Path, limit: int) -> None:
        file = BoundedFile(tmp_path / "log", limit)
        file.write("text\n")
        file.close()
        assert (tmp_path / "log").read_bytes() == FULL

    @given(
        limit=st.integers(len(FULL), 400),
        pieces=st.lists(st.text(max_size=60), max_size=20),
    )
    def test_it_never_grows_past_its_limit_and_loses_nothing_uncounted(
        self, tmp_path_factory: pytest.TempPathFactory, limit: int, pieces: list[str]
    ) -> None:
        path = tmp_path_factory.mktemp("bounded") / "log"
        file = BoundedFile(path, limit)
        for piece in pieces:
            file.write(piece)
        file.close()
        kept = path.read_bytes()
        given_bytes = "".join(pieces).encode("utf-8", "replace")
        assert len(kept) <= limit
        if file.dropped:
            assert kept.endswith(FULL)
            assert given_bytes.startswith(kept.removesuffix(FULL))
            assert len(kept) - len(FULL) + file.dropped == len(given_bytes)
        else:
            assert kept == given_bytes or kept == given_bytes + FULL

    @pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in a26_1().items()])
    def test_any_text_can_be_written(self, tmp_path: Path, text: str) -> None:
        file = BoundedFile(tmp_path / "log", 100_000)
        file.write(text)
        file.close()
        assert (tmp_path / "log").read_bytes() == text.encode("utf-8", "replace")

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
    def test_full_disk_ends_nothing_and_is_said_when_there_is_room_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        file = BoundedFile(tmp_path / "log", 1000)
        file.write("before\n")
        with monkeypatch.context() as patched:
            fail_writing(patched, number, after=3)
            file.write("lost one\n")
            file.write("lost two\n")
            assert (tmp_path / "log").read_text(encoding="utf-8") == "before\n"
        file.write("after\n")
        file.close()
        assert (tmp_path / "log").read_text(encoding="utf-8").splitlines() == [
            "before", "[engine] 18 bytes are missing here; the disk was full", "after",
        ]  # fmt: skip
        assert file.dropped == 18

    def test_writing_after_the_end_is_an_error_and_closing_twice_is_none(self, tmp_path: Path) -> None:
        file = BoundedFile(tmp_path / "log", 1000)
        file.close()
        file.close()
        with pytest.raises(ValueError, match="closed"):
            file.write("late")

    def test_lines_of_several_threads_stay_whole(self, tmp_path: Path) -> None:
        file = BoundedFile(tmp_path / "log", 1_000_000)

        def write(letter: str) -> None:
            for _ in range(50):
                file.write(letter * 99 + "\n")

        threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        file.close()
        lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
        assert sorted(lines) == sorted(letter * 99 for letter in "abcd" for _ in range(50))

    @pytest.mark.needs_root
    def test_really_full_disk(self, small_disk: Path) -> None:
        (small_disk / "ballast").write_bytes(b"x" * 200_000)
        file = BoundedFile(small_disk / "log", 1_000_000)
        for _ in range(200):
            file.write("y" * 999 + "\n")
        assert file.dropped > 0
        (small_disk / "ballast").unlink()
        file.write("after\n")
        file.close()
        lines = (small_disk / "log").read_text(encoding="utf-8").splitlines()
        said = [int(line.split()[1]) for line in lines if line.startswith("[engine] ")]
        assert sum(said) == file.dropped
        assert lines[-1] == "after"
        assert set(lines[:-1]) == {"y" * 999, *(files.LOST.format(count=count).strip() for count in said)}
