"""Paths, private files, locks, redaction, the sanitiser and logs: the rim of the machine."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT, a26_1

from loopx_engine.errors import Refused, TryAgain
from loopx_engine.host import lock as locks
from loopx_engine.host.files import BoundedFile, write_private
from loopx_engine.host.lock import exclusive, single_instance
from loopx_engine.host.logs import FILE_BYTES, open_log
from loopx_engine.host.paths import home, inside, key_folder, private_folder, socket_path
from loopx_engine.host.redaction import redact, redact_value, secret_values
from loopx_engine.host.sanitiser import strip_for_title, visible


def test_the_home_and_the_keys_are_where_the_environment_says_and_never_inside_one_another(tmp_path: Path) -> None:
    given = {"LOOPX_HOME": str(tmp_path / "h"), "LOOPX_KEYS": str(tmp_path / "k")}
    assert home(given) == tmp_path / "h"
    assert key_folder(given) == tmp_path / "k"
    assert home({}).name
    assert key_folder({}).name == "keys"
    with pytest.raises(Refused) as caught:
        key_folder({**given, "LOOPX_KEYS": str(tmp_path / "h" / "keys")})
    assert caught.value.code == "keys_inside_home"


def test_a_private_folder_is_0700_and_a_file_in_the_way_is_said(tmp_path: Path) -> None:
    assert stat.S_IMODE(private_folder(tmp_path / "a" / "b").stat().st_mode) == 0o700
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(Refused):
        private_folder(tmp_path / "file" / "x")


def test_a_socket_path_always_fits_the_kernel(tmp_path: Path) -> None:
    near = socket_path(Path("/tmp/x1"), "u-1") if os.access("/tmp", os.W_OK) else None
    assert near is None or len(str(near)) < 104
    deep = tmp_path / ("d" * 90)
    assert len(os.fsencode(socket_path(deep, "u-1"))) < 104


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../x", "CON", "nul.txt", "a\0b", "\\\\server\\x", "x" * 5000]
)
def test_what_leaves_the_root_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(Refused) as caught:
        inside(tmp_path, path)
    assert caught.value.code == "path_outside"


def test_links_out_of_the_root_are_refused_and_inner_paths_resolve(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    with pytest.raises(Refused):
        inside(root, "out/x")
    assert inside(root, "a/b") == root.resolve() / "a" / "b"


def test_a_private_file_is_replaced_whole(tmp_path: Path) -> None:
    path = write_private(tmp_path / "f", b"one")
    write_private(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["f"]


FULL = """
import resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
from loopx_engine.host.files import write_private
try:
    write_private(Path(sys.argv[1]), b"x" * 100)
except OSError as error:
    print("failed", error.errno)
"""


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    assert resource.RLIMIT_FSIZE is not None
    path = write_private(tmp_path / "f", b"old")
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("failed")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_full_disk_is_said_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(TryAgain) as caught:
        write_private(tmp_path / "f", b"x")
    assert caught.value.code == "disk_full"


def test_a_transcript_is_bounded_marked_once_and_private(tmp_path: Path) -> None:
    file = BoundedFile(tmp_path / "t", 300)
    for _ in range(50):
        file.write("a line of text\n")
    file.close()
    text = (tmp_path / "t").read_text(encoding="utf-8")
    assert text.startswith("a line of text\na line of text\n")
    assert len(text) <= 300
    assert text.splitlines()[-1] not in text.splitlines()[:-1]
    assert file.dropped > 0
    assert stat.S_IMODE((tmp_path / "t").stat().st_mode) == 0o600


def test_a_lock_is_held_by_one_and_a_wait_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with exclusive(path, 1):
        began = time.monotonic()
        with pytest.raises(TryAgain) as caught, exclusive(path, 0.1):
            pass
        assert caught.value.code == "busy"
        assert time.monotonic() - began < 5
    with exclusive(path, 5):
        pass


def test_a_waiter_is_served_when_the_holder_leaves(tmp_path: Path) -> None:
    path, order = tmp_path / "lock", []
    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        with exclusive(path, 5):
            holding.set()
            done.wait(5)
            order.append("first")

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait(5)
    threading.Timer(0.05, done.set).start()
    with exclusive(path, 5):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]


@pytest.mark.parametrize("content", [b"", b"garbage", b'{"pid": 1', b'{"pid": "x", "started": null}', b"\xff\xfe"])
def test_a_lock_file_of_any_content_is_no_obstacle(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "engine.lock"
    path.write_bytes(content)
    held = single_instance(path)
    with pytest.raises(TryAgain, match="pid") as caught:
        single_instance(path)
    assert str(os.getpid()) in caught.value.message
    path.write_bytes(content)
    with pytest.raises(TryAgain):
        single_instance(path)
    held.close()
    held.close()
    with single_instance(path, claim=False):
        assert path.read_bytes() == content


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "engine.lock"
    program = (
        "import sys, time; from pathlib import Path; from loopx_engine.host.lock import single_instance;"
        "held = single_instance(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", program, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(TryAgain, match=str(holder.pid)):
        single_instance(path)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    single_instance(path).close()
    assert locks.EngineLock is not None


SECRETS = [
    "AKIAIOSFODNN7EXAMPLE", "ghp_" + "a1B2" * 9, "github_pat_" + "a1B2" * 12, "glpat-" + "x1Y2" * 6, "xoxb-123456789012-abcdef",
    "sk-ant-" + "a1B2" * 8, "AIza" + "a1B2c" * 7, "eyJhbGciOiJI.eyJzdWIiOiIx.abc", "npm_" + "a1B2" * 9, "pypi-" + "a1B2" * 12,
    "lxa_" + "a1B2" * 10 + "abc", "lxt_" + "a1B2" * 10 + "abc", "hf_" + "a1B2" * 9,
    "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----", "Authorization: Bearer abcdef0123456789xyz",
    "https://user:hunter2secret@example.org/x", "password=correct-horse", 'token: "s3cr3t-value-9"', "API_KEY=zzzzzzzzzz",
    "q7Zp2Lk9Xw4Tn8Vb3Ry6Hs1Jd5Fg0Ca7Me",
]  # fmt: skip
HARMLESS = [
    "a" * 40, "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq7Zp2Lk9Xw4Tn8Vb3Ry6Hs1Jd5Fg0Ca7Me9Qw2Er4T", "src/very/long/path/with/Parts1/and2/more3",
    "test_that_a_very_long_name_of_a_function_survives_1", "fix the parser", "tokens: 12", "https://example.org/a?b=c",
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_each_shape_of_secret_is_masked_and_stays_masked(secret: str) -> None:
    once = redact(f"before {secret} after")
    assert secret not in once
    assert "[redacted " in once
    assert once.startswith("before ")
    assert redact(once) == once


@pytest.mark.parametrize("text", HARMLESS)
def test_ids_digests_keys_and_words_survive(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=120))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_known_values_are_masked_everywhere_in_a_value() -> None:
    known = secret_values(
        {"DB_PASSWORD": "open sesame", "SHORT_TOKEN": "abc", "LOOPX_PASSPHRASE_FD": "3", "PATH": "/usr/bin:/bin"}
    )
    assert known == {"open sesame"}
    said = redact_value({"a": ["x open sesame y", 3, None, {"b": ("open sesame",)}]}, known)
    assert said == {"a": ["x [redacted value] y", 3, None, {"b": ("[redacted value]",)}]}


@pytest.mark.parametrize("lines", [False, True])
def test_nothing_that_acts_on_a_terminal_gets_through(lines: bool) -> None:
    for text in a26_1().values():
        shown = visible(text, lines=lines)
        kept = "\n\t" if lines else ""
        assert all(
            character in kept or (ord(character) >= 0x20 and not 0x7F <= ord(character) < 0xA0) for character in shown
        )
        assert not any(0x202A <= ord(character) <= 0x202E or 0xD800 <= ord(character) <= 0xDFFF for character in shown)
        shown.encode("utf-8")


def test_marks_say_what_was_there_and_emoji_and_accents_survive() -> None:
    assert visible("\x1b[31m") == "<1b>[31m"
    assert visible("a\u202eb") == "a<u+202e>b"
    assert visible("a\nb\tc") == "a b c"
    assert visible("a\nb", lines=True) == "a\nb"
    for text in ("\U0001f468\u200d\U0001f469", "e\u0301", "\u2764\ufe0f", "[x] [ ]", "[/"):
        assert visible(text) == text
    assert strip_for_title(" a\x07 " + "x" * 200).startswith("a<07>")
    assert len(strip_for_title("y" * 200)) == 80


def test_the_log_is_json_lines_private_and_bounded_after_a_roll_over(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        log = open_log(tmp_path / "logs")
        log.info("turn.begun", goal="g-1", note="x" * 1000)
        for _ in range(FILE_BYTES // 10_000 + 5):
            log.info("filler", note="y" * 10_000)
    finally:
        os.umask(before)
    files = sorted((tmp_path / "logs").iterdir())
    assert len(files) == 2
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    first = json.loads(files[1].read_text(encoding="utf-8").splitlines()[0])
    assert (first["event"], first["goal"], first["level"]) == ("turn.begun", "g-1", "info")
