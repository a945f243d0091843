"""Where things are: the home, the key folder outside it, private folders, sockets, and paths that stay inside their root."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT, a26_1

from loopx_engine.errors import Refused, TryAgain
from loopx_engine.host import paths
from loopx_engine.host.paths import (
    home,
    inside,
    key_folder,
    ledger_path,
    logs,
    places,
    private_folder,
    socket_path,
    transcripts,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


class TestHome:
    def test_it_is_what_the_environment_says(self, tmp_path: Path) -> None:
        assert home({"LOOPX_HOME": str(tmp_path / "h")}) == tmp_path / "h"
        assert not (tmp_path / "h").exists()

    def test_relative_and_tilde_paths_become_whole(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path / "me"))
        assert home({"LOOPX_HOME": "h"}) == tmp_path / "h"
        assert home({"LOOPX_HOME": "~/h"}) == tmp_path / "me" / "h"

    def test_unset_or_empty_is_the_platforms_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        for environ in ({}, {"LOOPX_HOME": "", "LOOPX_KEYS": ""}):
            assert home(environ).name == "loopx-workspace"
            assert key_folder(environ).name == "keys"
            assert not key_folder(environ).is_relative_to(home(environ))

    @pytest.mark.parametrize("value", ["a\0b", "~nobody-of-this-name/h"])
    def test_what_is_no_path_is_refused(self, value: str) -> None:
        for name, read in (("LOOPX_HOME", home), ("LOOPX_KEYS", key_folder)):
            with pytest.raises(Refused) as caught:
                read({"LOOPX_HOME": "/nowhere", name: value})
            assert caught.value.code == "bad_path"

    def test_ledger_is_the_file_in_it_or_what_the_environment_says(self, tmp_path: Path) -> None:
        environ = {"LOOPX_HOME": str(tmp_path)}
        assert ledger_path(environ) == str(tmp_path / "ledger.db")
        assert ledger_path({**environ, "LOOPX_LEDGER": "sqlite:///x.db"}) == "sqlite:///x.db"

    @pytest.mark.parametrize(("folder", "name"), [(logs, "logs"), (transcripts, "transcripts"), (places, "places")])
    def test_its_folders_are_made_closed(self, tmp_path: Path, folder: object, name: str) -> None:
        made = folder(tmp_path / "h")  # type: ignore[operator]
        assert made == tmp_path / "h" / name
        assert [mode(tmp_path / "h"), mode(made)] == [0o700, 0o700]

    def test_platformdirs_is_loaded_only_where_it_is_needed(self, tmp_path: Path) -> None:
        code = (
            "import sys; from loopx_engine.host.paths import home, key_folder;"
            "given = {'LOOPX_HOME': '/a', 'LOOPX_KEYS': '/b'}; home(given), key_folder(given);"
            "print('platformdirs' in sys.modules); home({}); print('platformdirs' in sys.modules)"
        )
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, cwd=ROOT)
        assert said.stdout.split() == ["False", "True"]


class TestKeyFolder:
    def test_it_is_what_the_environment_says(self, tmp_path: Path) -> None:
        environ = {"LOOPX_HOME": str(tmp_path / "h"), "LOOPX_KEYS": str(tmp_path / "k")}
        assert key_folder(environ) == tmp_path / "k"
        assert not (tmp_path / "k").exists()

    @pytest.mark.parametrize("below", ["h", "h/keys", "h/a/../keys", "x/../h/keys", "link/keys"])
    def test_folder_inside_the_home_is_refused(self, tmp_path: Path, below: str) -> None:
        (tmp_path / "h").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "h")
        with pytest.raises(Refused) as caught:
            key_folder({"LOOPX_HOME": str(tmp_path / "h"), "LOOPX_KEYS": str(tmp_path / below)})
        assert caught.value.code == "keys_inside_home"

    def test_folder_inside_a_home_that_is_itself_a_link_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "h").symlink_to(tmp_path / "real")
        with pytest.raises(Refused):
            key_folder({"LOOPX_HOME": str(tmp_path / "h"), "LOOPX_KEYS": str(tmp_path / "real" / "keys")})

    def test_home_whose_name_only_begins_the_same_is_another_folder(self, tmp_path: Path) -> None:
        environ = {"LOOPX_HOME": str(tmp_path / "h"), "LOOPX_KEYS": str(tmp_path / "h-keys")}
        assert key_folder(environ) == tmp_path / "h-keys"

    def test_link_in_a_circle_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "k").symlink_to(tmp_path / "k")
        with pytest.raises(Refused) as caught:
            key_folder({"LOOPX_HOME": str(tmp_path / "h"), "LOOPX_KEYS": str(tmp_path / "k")})
        assert caught.value.code == "bad_path"


class TestPrivateFolder:
    def test_it_and_what_is_missing_above_it_are_closed(self, tmp_path: Path) -> None:
        made = private_folder(tmp_path / "a" / "b" / "c")
        assert [mode(tmp_path / "a"), mode(tmp_path / "a" / "b"), mode(made)] == [0o700] * 3

    def test_what_exists_is_left_as_it_is(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "a").chmod(0o755)
        assert private_folder(tmp_path / "a") == tmp_path / "a"
        assert mode(tmp_path / "a") == 0o755

    def test_folder_that_another_makes_meanwhile_is_no_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "a").mkdir()
        monkeypatch.setattr(paths, "_depth_missing", lambda path: 1)
        assert private_folder(tmp_path / "a").is_dir()

    def test_name_that_is_taken_by_something_else_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
        for path in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "dangling", tmp_path / ("x" * 300)):
            with pytest.raises(Refused) as caught:
                private_folder(path)
            assert caught.value.code == "no_folder"

    def test_full_disk_is_said_as_such(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(self: Path, mode: int = 0o777) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "mkdir", full)
        with pytest.raises(TryAgain) as caught:
            private_folder(tmp_path / "a")
        assert caught.value.code == "disk_full"


class TestSocketPath:
    def test_it_lies_in_the_home_where_it_is_short_enough(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(paths, "SOCKET_BYTES", 300)
        assert socket_path(tmp_path, "r-1") == tmp_path / "sockets" / "r-1.sock"
        assert mode(tmp_path / "sockets") == 0o700

    def test_deep_home_gets_a_closed_folder_elsewhere_that_can_be_bound(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        runtime = Path("/tmp") / f"lx{os.getpid()}"
        runtime.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
        deep = tmp_path / ("d" * 60) / ("e" * 60)
        found = socket_path(deep, "r-1")
        try:
            assert found.is_relative_to(runtime)
            assert mode(found.parent) == 0o700
            assert found == socket_path(deep, "r-1")
            assert found.parent != socket_path(deep / "other", "r-1").parent
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(found))
        finally:
            for path in sorted(runtime.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            runtime.rmdir()

    def test_folder_that_others_may_enter_or_a_link_is_not_used(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        deep = tmp_path / ("d" * 90)
        monkeypatch.setattr(paths, "SOCKET_BYTES", 300)
        monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "second"))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "first"))
        deep = deep / ("e" * 250)
        first = socket_path(deep, "r-1").parent
        assert first.is_relative_to(tmp_path / "first")
        first.chmod(0o755)
        assert socket_path(deep, "r-1").is_relative_to(tmp_path / "second")
        first.rmdir()
        first.symlink_to(tmp_path / "second")
        assert socket_path(deep, "r-1").is_relative_to(tmp_path / "second")

    def test_runtime_folder_that_cannot_be_used_is_passed_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setattr(paths, "SOCKET_BYTES", 300)
        monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "second"))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "file"))
        assert socket_path(tmp_path / ("e" * 250), "r-1").is_relative_to(tmp_path / "second")

    def test_nowhere_short_enough_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(paths, "SOCKET_BYTES", 5)
        with pytest.raises(Refused) as caught:
            socket_path(tmp_path, "r-1")
        assert caught.value.code == "no_folder"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a file, and with links inside and out of it."""
    made = tmp_path / "root"
    (made / "sub").mkdir(parents=True)
    (made / "sub" / "file").touch()
    (tmp_path / "outside").mkdir()
    (made / "link-in").symlink_to("sub")
    (made / "link-out").symlink_to(tmp_path / "outside")
    (made / "link-up").symlink_to("..")
    (made / "circle").symlink_to("circle")
    return made


class TestInside:
    @pytest.mark.parametrize(
        ("name", "found"),
        [
            ("sub/file", "sub/file"),
            ("not/there/yet", "not/there/yet"),
            ("sub/../sub/./file", "sub/file"),
            ("link-in/file", "sub/file"),
            ("..sub", "..sub"),
            ("console.txt", "console.txt"),
            ("with space/ünïcode", "with space/ünïcode"),
            ("", "."),
            (".", "."),
        ],
    )
    def test_path_inside_is_resolved(self, root: Path, name: str, found: str) -> None:
        assert inside(root, name) == (root / found).resolve()
        assert inside(root, root / name) == (root / found).resolve()
        assert inside(root, Path(name)) == (root / found).resolve()

    @pytest.mark.parametrize(
        "name",
        [
            "..",
            "../outside",
            "sub/../../outside",
            "../root-other",
            "/etc/passwd",
            "/",
            "//etc/passwd",
            "link-out",
            "link-out/file",
            "link-up/outside",
            "circle",
            "circle/file",
            "a\0b",
            "\0",
            "\\\\server\\share",
            "\\\\?\\C:\\x",
            "\\\\.\\pipe\\x",
            "NUL",
            "nul.txt",
            "sub/con",
            "aux .c",
            "COM1",
            "lpt9.log",
            "com¹",
            "CONIN$",
            "nul:stream",
            "sub\\prn",
            "a\ud800b",
            "x" * 5000,
            "é" * 2100,
        ],
    )
    def test_path_that_leads_out_or_to_a_device_is_refused(self, root: Path, name: str) -> None:
        with pytest.raises(Refused) as caught:
            inside(root, name)
        assert caught.value.code == "path_outside"
        assert len(caught.value.message) < 1000

    def test_link_that_is_swapped_afterwards_is_refused_at_the_next_use(self, root: Path) -> None:
        assert inside(root, "sub/file")
        (root / "sub" / "file").unlink()
        (root / "sub").rmdir()
        (root / "sub").symlink_to("../outside")
        with pytest.raises(Refused):
            inside(root, "sub/file")

    def test_root_that_is_a_link_itself_is_resolved_first(self, root: Path, tmp_path: Path) -> None:
        (tmp_path / "to-root").symlink_to(root)
        assert inside(tmp_path / "to-root", "sub/file") == root / "sub" / "file"

    @pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in a26_1().items()])
    def test_any_text_is_a_path_inside_or_refused(self, root: Path, text: str) -> None:
        self.inside_or_refused(root, text)

    @given(
        st.lists(st.sampled_from(["..", ".", "/", "a", "link", "sub", "\\", "nul", " ", "\0"]), max_size=8).map(
            "/".join
        )
    )
    def test_any_way_of_steps_is_inside_or_refused(self, text: str) -> None:
        self.inside_or_refused(Path("/nowhere/root"), text)

    def inside_or_refused(self, root: Path, text: str) -> None:
        try:
            found = inside(root, text)
        except Refused:
            return
        assert found.is_relative_to(root.resolve())
        assert ".." not in found.parts
