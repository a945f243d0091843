"""The box, really started: what a turn cannot read, write or reach from inside it (MODEL.md 6, issue 3 "Must show")."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from places.git_project import GitProject
from support import absent, require

from loopx_engine.places.environment import check_environment, child_environment
from loopx_engine.places.sandbox import Box, Mounts, boxed, launch_environment, probe, profile

pytestmark = pytest.mark.real
CANARY = "canary-7f3a"
PYTHON = str(Path(sys.executable))


@pytest.fixture(scope="module")
def box() -> Box:
    require("bwrap")
    found = probe()
    if found.kind != "bubblewrap":
        absent(found.reason)
    return found


class Scene:
    """A person's home with secrets and a repository, LoopX's folders in it, and a goal's worktree in those."""

    def __init__(self, root: Path, box: Box) -> None:
        self.root, self.box = root, box
        self.home = root / "home"
        self.data = self.home / "loopx"
        self.keys = self.home / "keys"
        self.project = GitProject(self.home / "project", self.home)
        self.place = self.data / "places" / "g-1"
        self.place.parent.mkdir(parents=True)
        self.project.git("worktree", "add", "-q", "-b", "loopx/g-1", str(self.place))
        self.canaries = [
            self.secret(self.data / "ledger.db"), self.secret(self.data / "ledger.db-wal"), self.secret(self.keys / "owner"),
            self.secret(self.home / ".ssh" / "id_ed25519"), self.secret(self.home / ".aws" / "credentials"),
            self.secret(self.home / ".config" / "gcloud" / "key.json"), self.secret(self.home / ".netrc"),
            self.secret(self.home / "project" / "unsaved.txt"), self.secret(self.data / "places" / "g-2" / "file"),
        ]  # fmt: skip
        self.environment = check_environment({**os.environ, "HOME": str(self.home)})

    def secret(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CANARY, encoding="utf-8")
        return path

    def mounts(self, **options: Any) -> Mounts:
        return Mounts(**{"place": self.place, "hidden": (self.data, self.keys), **options})

    def run(
        self, *argv: str, network: bool = False, cwd: Path | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        command = boxed(
            self.box, argv, mounts=self.mounts(**options), network=network, environment=self.environment, cwd=cwd
        )
        environment = launch_environment(self.box, self.environment)
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False
        )

    def python(self, code: str, *argv: str, **options: Any) -> Any:
        """What a small program prints as JSON from inside the box."""
        done = self.run(PYTHON, "-I", "-c", code, *argv, **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def scene(tmp_path: Path, box: Box) -> Scene:
    require("git")
    return Scene(tmp_path, box)


TRY_READ = """
import json, sys
said = {}
for path in sys.argv[1:]:
    try:
        said[path] = open(path, "rb").read().decode()
    except OSError as error:
        said[path] = error.errno
print(json.dumps(said))
"""

TRY_WRITE = """
import json, os, sys
said = {}
for path in sys.argv[1:]:
    try:
        if os.path.isdir(path):
            os.close(os.open(path, os.O_TMPFILE | os.O_WRONLY))
        elif os.path.exists(path):
            os.close(os.open(path, os.O_WRONLY))
        else:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
        said[path] = 0
    except OSError as error:
        said[path] = error.errno
print(json.dumps(said))
"""


def test_keys_ledger_sign_ins_and_other_places_cannot_be_read(scene: Scene) -> None:
    said = scene.python(TRY_READ, *map(str, scene.canaries))
    assert set(said.values()) <= {errno.ENOENT, errno.EACCES}
    assert CANARY not in scene.run("grep", "-rs", CANARY, str(scene.root)).stdout


def test_home_is_writable_and_forgotten(scene: Scene) -> None:
    scene.python("import pathlib; pathlib.Path.home().joinpath('.bashrc').write_text('evil'); print('1')")
    assert not (scene.home / ".bashrc").exists()


def test_place_is_written_and_nothing_else(scene: Scene) -> None:
    outside = ["/usr", "/etc", "/etc/passwd", "/opt", str(Path(sys.prefix)), "/proc/sys/kernel/core_pattern", "/sys"]
    said = scene.python(TRY_WRITE, *outside)
    assert set(said.values()) <= {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT}
    assert scene.python(TRY_WRITE, str(scene.place), str(scene.place / "new.py"), str(scene.place / "README")) == {
        str(path): 0 for path in (scene.place, scene.place / "new.py", scene.place / "README")
    }
    assert (scene.place / "new.py").exists()


def test_temporary_folder_is_its_own(scene: Scene) -> None:
    name = f"/tmp/loopx-{os.getpid()}-{CANARY}"
    assert scene.python(TRY_WRITE, name, "/var/tmp") == {name: 0, "/var/tmp": 0}
    assert not Path(name).exists()
    assert scene.run("ls", "/run").stdout == ""


def test_no_power_is_left_not_even_to_root(scene: Scene) -> None:
    done = scene.run("grep", "-E", "^(CapEff|CapPrm|NoNewPrivs)", "/proc/self/status")
    powers = dict(line.split(":\t") for line in done.stdout.splitlines())
    assert (int(powers["CapEff"], 16), int(powers["CapPrm"], 16), powers["NoNewPrivs"]) == (0, 0, "1")
    assert scene.run("mount", "-o", "remount,rw,bind", "/").returncode != 0
    assert scene.run("umount", str(scene.home)).returncode != 0


def test_history_can_be_read_and_shows_the_persons_commits(scene: Scene) -> None:
    assert scene.run("git", "log", "--format=%s").stdout == "begin\n"
    (scene.place / "README").write_text("changed\n", encoding="utf-8")
    assert scene.run("git", "status", "--porcelain").stdout == " M README\n"
    assert "changed" in scene.run("git", "diff").stdout


@pytest.mark.parametrize("kind", ["worktree", "clone", "in-place"])
def test_repository_cannot_be_changed(scene: Scene, kind: str) -> None:
    place = {"worktree": scene.place, "clone": scene.home / "clone", "in-place": scene.project.root}[kind]
    if kind == "clone":
        scene.project.git("clone", "-q", "--no-hardlinks", str(scene.project.root), str(place))
    scene.environment |= {f"GIT_{role}_{what}": "x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    common = place / ".git" if kind == "clone" else scene.project.root / ".git"
    before = digests(common)
    (place / "README").write_text("changed\n", encoding="utf-8")
    acts = (
        ["add", "-A"], ["commit", "-qam", "planted"], ["branch", "planted"], ["tag", "planted"], ["stash"], ["gc", "-q"],
        ["config", "core.hooksPath", "planted"], ["config", "core.fsmonitor", "planted"], ["update-ref", "-d", "HEAD"],
        ["worktree", "prune"], ["hash-object", "-w", "README"],
    )  # fmt: skip
    for act in acts:
        done = scene.run("git", *act, place=place, hidden=(scene.data / "x", scene.keys))
        assert done.returncode != 0 or act[0] in ("worktree", "gc"), (act, done.stdout, done.stderr)
    assert digests(common) == before


def digests(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("act", [["rm", "-f"], ["mv", "-f"], ["ln", "-sf", "/etc/passwd"], ["cp", "/etc/passwd"]])
def test_git_file_of_the_place_cannot_be_replaced(scene: Scene, act: list[str]) -> None:
    before = (scene.place / ".git").read_bytes()
    scene.run(*act, ".git", *(["moved"] if act[0] == "mv" else []))
    assert (scene.place / ".git").read_bytes() == before
    assert not (scene.place / ".git").is_symlink()


def test_hooks_and_config_of_the_repository_cannot_be_planted(scene: Scene) -> None:
    git = scene.project.root / ".git"
    said = scene.python(
        TRY_WRITE, *(str(git / name) for name in ("hooks", "config", "index", "refs/heads", "objects", "x"))
    )
    assert set(said.values()) == {errno.EROFS}


CONNECT = """
import json, socket, sys
said = {}
for name, family, address in (
    ("loopback", socket.AF_INET, ("127.0.0.1", int(sys.argv[1]))),
    ("outside", socket.AF_INET, ("192.0.2.1", 9)),
    ("abstract", socket.AF_UNIX, "\\0" + sys.argv[2]),
):
    with socket.socket(family) as s:
        s.settimeout(5)
        try:
            s.connect(address)
            said[name] = "reached"
        except OSError as error:
            said[name] = error.errno or "timeout"
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), 5):
    said["own"] = "reached"
print(json.dumps(said))
"""


def test_network_off_reaches_nothing_but_its_own_loopback(scene: Scene) -> None:
    name = f"loopx-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        port = str(server.getsockname()[1])
        off = scene.python(CONNECT, port, name)
        on = scene.python(CONNECT, port, name, network=True)
    assert off == {
        "loopback": errno.ECONNREFUSED, "outside": errno.ENETUNREACH, "abstract": errno.ECONNREFUSED, "own": "reached"
    }  # fmt: skip
    assert on["loopback"] == "reached"


def test_name_resolver_is_there_when_the_network_is_on(scene: Scene) -> None:
    expected = Path("/etc/resolv.conf")
    if not expected.exists():
        absent("this machine has no /etc/resolv.conf")
    said = scene.python(TRY_READ, str(expected), network=True)
    assert said[str(expected)] == expected.read_text(encoding="utf-8")


def test_no_process_of_outside_is_seen_or_reached(scene: Scene) -> None:
    code = """
import json, os, sys
pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
try:
    os.kill(int(sys.argv[1]), 15)
    reached = True
except OSError:
    reached = False
print(json.dumps([len(pids), reached]))
"""
    seen, reached = scene.python(code, "4194303")
    assert (seen, reached) == (2, False)


def test_environment_of_the_box_holds_no_secret_and_no_argv_does(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPX_KEYS", CANARY)
    monkeypatch.setenv("GH_TOKEN", CANARY)
    scene.environment = child_environment({"LOOPX_TOKEN": "token-5be1"})
    code = """
import glob, json
every = b"".join(open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/environ"))
argvs = b"".join(open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/cmdline"))
print(json.dumps([every.decode(), argvs.decode()]))
"""
    environments, argvs = scene.python(code)
    assert CANARY not in environments
    assert "token-5be1" in environments
    assert "token-5be1" not in argvs


def test_hidden_folder_in_a_writable_one_and_the_reverse(scene: Scene) -> None:
    inner = scene.secret(scene.place / "private" / "key")
    shared = scene.secret(scene.data / "cache" / "wheel")
    writable = (scene.place, shared.parent)
    said = scene.python(TRY_READ, str(inner), str(shared), hidden=(scene.data, inner.parent), writable=writable)
    assert said == {str(inner): errno.ENOENT, str(shared): CANARY}
    wrote = scene.python(TRY_WRITE, str(shared.parent / "new"), hidden=(scene.data, inner.parent), writable=writable)
    assert wrote == {str(shared.parent / "new"): 0}
    assert (shared.parent / "new").exists()


def test_hidden_file_in_the_place_is_empty(scene: Scene) -> None:
    ledger = scene.secret(scene.place / "ledger.db")
    said = scene.python(TRY_READ, str(ledger), hidden=(ledger,))
    assert said[str(ledger)] in ("", errno.EACCES)


def test_read_only_file_of_a_hidden_home_is_shown_alone(scene: Scene) -> None:
    program = scene.secret(scene.home / "agents" / "agent.py")
    scene.secret(program.parent / "other")
    said = scene.python(TRY_READ, str(program), str(program.parent / "other"), read_only=(program,))
    assert said == {str(program): CANARY, str(program.parent / "other"): errno.ENOENT}
    assert scene.python(TRY_WRITE, str(program), read_only=(program,)) == {str(program): errno.EROFS}


def test_toolchains_of_the_home_work_and_stay_as_they_are(scene: Scene) -> None:
    tool = scene.secret(scene.home / ".cargo" / "bin" / "tool")
    tool.write_text("#!/bin/sh\necho works\n", encoding="utf-8")
    tool.chmod(0o755)
    scene.secret(scene.home / ".cargo" / "credentials.toml")
    assert scene.run(str(tool)).stdout == "works\n"
    said = scene.python(TRY_WRITE, str(tool))
    assert said == {str(tool): errno.EROFS}
    assert scene.run("ls", "-A", str(scene.home / ".cargo")).stdout == "bin\n"


def test_running_interpreter_works_with_its_packages_and_loopx(scene: Scene) -> None:
    code = (
        "import psutil, sys; sys.path.insert(0, sys.argv[1]); import loopx_engine, json; print(json.dumps(sys.prefix))"
    )
    root = str(Path(__file__).resolve().parents[2])
    assert scene.python(code, root) == sys.prefix


def test_socket_of_the_turn_is_reached(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scene.data / "t.sock"
    code = """
import json, socket, sys
with socket.socket(socket.AF_UNIX) as s:
    s.settimeout(10)
    s.connect(sys.argv[1])
    print(json.dumps(s.recv(9).decode()))
"""
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(path.parent)  # the whole path may be too long for the kernel
        server.bind("t.sock")
        server.listen()
        command = boxed(
            scene.box, [PYTHON, "-I", "-c", code, str(path)], mounts=scene.mounts(socket=path), network=False,
            environment=scene.environment,
        )  # fmt: skip
        if len(os.fsencode(path)) > 107:
            absent("the temporary folder is too deep for a socket")
        with subprocess.Popen(command, env=scene.environment, stdout=subprocess.PIPE) as process:
            server.settimeout(20)
            connection, _ = server.accept()
            connection.sendall(b"hello")
            connection.close()
            assert process.communicate(timeout=20)[0] == b'"hello"\n'


def test_program_starts_in_the_place_or_where_asked(scene: Scene) -> None:
    assert scene.run("pwd").stdout == f"{scene.place}\n"
    assert scene.run("pwd", cwd=scene.place / "src").stdout == f"{scene.place}/src\n"
    assert scene.run("true", cwd=scene.home / ".ssh").returncode != 0


def test_word_that_looks_like_an_option_stays_the_programs(scene: Scene) -> None:
    assert scene.run("echo", "--bind", "/", "/").stdout == "--bind / /\n"
    assert "execvp --bind" in scene.run("--bind", "/", "/").stderr


def test_what_a_place_planted_is_not_loaded_outside_the_box(scene: Scene) -> None:
    fake = scene.place / "bwrap"
    fake.write_text(f"#!/bin/sh\ntouch '{scene.root}/planted'\n", encoding="utf-8")
    fake.chmod(0o755)
    scene.environment |= {"PATH": f"{scene.place}:{scene.environment['PATH']}", "LD_LIBRARY_PATH": str(scene.place)}
    launched = launch_environment(scene.box, scene.environment)
    assert "LD_LIBRARY_PATH" not in launched
    assert scene.run("printenv", "LD_LIBRARY_PATH").stdout == f"{scene.place}\n"
    assert not (scene.root / "planted").exists()


def test_box_ends_with_its_parent_killed(scene: Scene, tmp_path: Path, until: Callable[..., None]) -> None:
    code = (
        "import os, time\nos.fork() or os.setsid()\nopen(f'pid{os.getpid()}', 'w').close()\nwhile True: time.sleep(9)"
    )
    command = boxed(
        scene.box, [PYTHON, "-I", "-c", code], mounts=scene.mounts(), network=False, environment=scene.environment
    )
    starter = "import subprocess, sys\nsubprocess.Popen(sys.argv[1:], start_new_session=True).wait()"
    parent = subprocess.Popen([PYTHON, "-c", starter, *command], env=scene.environment)
    until(lambda: len(list(scene.place.glob("pid*"))) == 2)
    inside = psutil.Process(parent.pid).children(recursive=True)
    assert len(inside) >= 3
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until(lambda: not any(one.is_running() and one.status() != "zombie" for one in inside))


@pytest.fixture
def until() -> Callable[..., None]:
    def wait(condition: Callable[[], bool], seconds: float = 20.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "the condition never came true"
            time.sleep(0.01)

    return wait


def test_probe_says_why_there_is_no_box(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from loopx_engine.places import sandbox

    assert probe("none") == Box("none", "asked for")
    assert probe("chroot").kind == "none"
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    for found, words in (
        (None, "not installed"),
        (str(broken), "No permissions"),
        (str(tmp_path / "no"), "does not start"),
    ):
        monkeypatch.setattr(sandbox, "_bwrap", lambda found=found: found)
        said = sandbox._probe_bubblewrap()
        assert (said.kind, words in said.reason) == ("none", True), said


def test_probe_starts_a_box_once(box: Box) -> None:
    assert probe() is probe()
    assert probe("bubblewrap") == box


def test_without_a_box_argv_and_environment_stay(tmp_path: Path) -> None:
    none = Box("none", "asked for")
    environment = {"LD_LIBRARY_PATH": "/x"}
    assert boxed(none, ["a", "b"], mounts=Mounts(tmp_path), network=False, environment=environment) == ["a", "b"]
    assert launch_environment(none, environment) == environment


def test_profile_for_macos_names_the_same_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / 'ho"me'
    monkeypatch.setenv("HOME", str(home))
    place, keys = home / "place", home / "place" / "keys"
    keys.mkdir(parents=True)
    (place / ".git").mkdir()
    lines = profile(Mounts(place, hidden=(keys,)), False, {}).splitlines()
    quoted = str(home).replace('"', '\\"')
    order = [
        f'(deny file-read* file-write* (subpath "{quoted}"))',
        f'(allow file-read* file-write* (subpath "{quoted}/place"))',
        f'(deny file-write* (subpath "{quoted}/place/.git"))',
    ]
    assert [line for line in lines if line in order] == order
    assert lines.index(f'(deny file-read* file-write* (subpath "{quoted}/place/keys"))') > lines.index(order[1])
    assert "(deny network*)" in lines
    assert "(deny network*)" not in profile(Mounts(place), True, {})
    argv = boxed(Box("sandbox-exec"), ["true"], mounts=Mounts(place), network=False, environment={})
    assert (argv[0], argv[1], argv[-1]) == ("/usr/bin/sandbox-exec", "-p", "true")
