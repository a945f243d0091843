"""Inside the box: neither a turn nor a check reads keys or ledger, writes outside its place or changes the repository."""

from __future__ import annotations

import json
import socket
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from heart_kit import SAYS_HO, House, need_box, photograph, run_until_idle

from loopx_engine.model.check import Check
from loopx_engine.model.evidence import Evidence

pytestmark = pytest.mark.real

# Tries everything that must not succeed and prints what came of it, as one line of JSON.
PROBE = """
import json, os, pathlib, socket, subprocess, sys

targets = json.loads(sys.argv[1])
came = {}

def attempt(name, act):
    try:
        came[name] = act()
    except OSError as error:
        came[name] = f"no: {error.strerror or error}"

def connect(port):
    with socket.create_connection(("127.0.0.1", port), timeout=3) as link:
        return link.recv(3).decode()

def loopback():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), 3):
        return "up"

for name, path in targets["read"].items():
    def read(path=path):
        return os.listdir(path) if os.path.isdir(path) else open(path, "rb").read().decode("latin-1")[:99]
    attempt(f"read {name}", read)
for name, path in targets["write"].items():
    attempt(f"write {name}", lambda path=path: open(path, "a").write("planted"))
for name, path in targets["remove"].items():
    attempt(f"remove {name}", lambda path=path: os.rename(path, path + ".gone"))
if targets.get("port"):
    attempt("network", lambda: connect(targets["port"]))
attempt("loopback", loopback)
for name, argv in targets.get("run", {}).items():
    ran = subprocess.run(argv, capture_output=True, text=True)
    came[f"run {name}"] = "no: " + ran.stderr.strip()[-80:] if ran.returncode else "did it"
came["processes"] = sum(name.isdigit() for name in os.listdir("/proc"))
print("PROBE " + json.dumps(came), flush=True)
"""


class Server:
    """Says `hey` to whoever connects to this machine's own network."""

    def __enter__(self) -> int:
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._greet, daemon=True).start()
        return int(self._listener.getsockname()[1])

    def __exit__(self, *error: object) -> None:
        self._listener.close()

    def _greet(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            with link:
                link.sendall(b"hey")


@pytest.fixture
def house(tmp_path: Path) -> House:
    need_box()
    made = House(tmp_path)
    made.git("config", "user.name", "Ada")
    return made


def targets(house: House, port: int) -> dict[str, Any]:
    git = house.root / ".git"
    outside = house.folder / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine\n", encoding="utf-8")
    return {
        "read": {
            "keys": str(house.keys),
            "home": str(house.home),
            "ledger": str(house.home / "ledger.db"),
            "wal": str(house.home / "ledger.db-wal"),
            "shadow": "/etc/shadow",
        },
        "write": {
            "home": str(house.home / "planted"),
            "ledger": str(house.home / "ledger.db"),
            "key folder": str(house.keys / "planted"),
            "project": str(house.root / "a"),
            "outside": str(outside / "file"),
            "config": str(git / "config"),
            "hook": str(git / "hooks" / "pre-commit"),
            "index": str(git / "index"),
            "ref": str(git / "refs" / "heads" / "planted"),
            "head": str(git / "HEAD"),
            "object": str(git / "objects" / "planted"),
            "dot git": ".git",
            "system": "/usr/planted",
        },
        "remove": {"dot git": ".git", "objects": str(git / "objects"), "refs": str(git / "refs")},
        "run": {
            "branch": ["git", "branch", "planted"],
            "config": ["git", "config", "user.name", "mallory"],
            "add": ["git", "add", "-A"],
            "commit": ["git", "-c", "user.name=m", "-c", "user.email=m@x", "commit", "--allow-empty", "-m", "planted"],
            "stash": ["git", "stash", "push", "--include-untracked"],
            "remount": ["mount", "-o", "remount,rw", "/"],
            "unmount": ["umount", str(house.home)],
        },
        "port": port,
    }


def probed(text: str) -> dict[str, Any]:
    line = next(line for line in text.splitlines() if line.startswith("PROBE "))
    came: dict[str, Any] = json.loads(line.removeprefix("PROBE "))
    return came


def assert_closed(house: House, came: dict[str, Any]) -> None:
    """Nothing was read that is secret, nothing written that is not the place's."""
    for name in ("keys", "home", "ledger", "wal", "shadow"):
        said = came[f"read {name}"]
        assert (
            said in ([], "")
            or (isinstance(said, list) and set(said) <= {"places", "sockets"})
            or said.startswith("no:")
        ), (
            name,
            said,
        )
    unseen = ("write home", "write ledger", "write key folder", "write project", "write outside")
    for name, said in came.items():
        if name.startswith(("write ", "remove ", "run ")) and name not in unseen:
            assert str(said).startswith("no:"), (name, said)
    assert came["loopback"] == "up"
    assert came["processes"] < 12


def test_a_turn_sees_neither_keys_nor_ledger_and_changes_nothing_but_its_place(house: House) -> None:
    with Server() as port:
        wanted = targets(house, port)
        before = {name: photograph(house.folder / name) for name in ("project", "outside", "keys")}
        program = f"sys.argv = [sys.argv[0], {json.dumps(wanted)!r}]\n{PROBE}\n{SAYS_HO}"
        path = house.folder / "bot.py"
        goal, todo = house.ready("")
        path.write_text(path.read_text(encoding="utf-8") + program, encoding="utf-8")
        house.once()
    turn = house.turns(goal)[0]
    came = probed(house.transcript(turn))
    assert_closed(house, came)
    assert came["network"] == "hey"
    assert turn.sandbox == "bubblewrap"
    assert house.todo_now(todo).state == "done"
    for name in ("outside", "keys"):
        assert photograph(house.folder / name) == before[name]
    assert not (house.home / "planted").exists()
    now = photograph(house.root)
    mine = {key: value for key, value in now.items() if not key.startswith(".git/")}
    assert mine == {key: value for key, value in before["project"].items() if not key.startswith(".git/")}
    for name in (".git/config", ".git/index", ".git/HEAD", ".git/refs/heads/main"):
        assert now[name] == before["project"][name], name
    assert house.git("branch", "--list", "planted") == ""
    assert not [name for name in now if "planted" in name or name.endswith(".gone")]
    house.sound()


def test_a_check_sees_as_little_and_has_no_network_but_its_own_loopback(house: House) -> None:
    with Server() as port:
        wanted = targets(house, port)
        (house.root / "probe.py").write_text(PROBE, encoding="utf-8")
        house.git("add", "-A")
        house.git("commit", "-q", "-m", "a probe")
        before = photograph(house.root)
        script = "import sys; exec(open('probe.py').read()); sys.exit(open('a').read() != 'ho\\n')"
        check = (sys.executable, "-c", script, json.dumps(wanted))
        _goal, todo = house.ready(SAYS_HO, check=check)
        house.once()
    assert house.todo_now(todo).state == "done"
    found = next(
        item for item in house.records(Evidence, "evidence.of_todo", todo=todo, limit=5) if item.kind == "check"
    )
    came = probed(found.tail)
    assert_closed(house, came)
    assert str(came["network"]).startswith("no:")
    assert found.sandbox == "bubblewrap"
    assert photograph(house.folder / "outside") == {"file": b"mine\n"}
    now = photograph(house.root)
    for name in (".git/config", ".git/index", ".git/HEAD", ".git/refs/heads/main", "a", "probe.py"):
        assert now[name] == before[name], name


def test_a_check_that_was_given_the_network_has_it(house: House) -> None:
    with Server() as port:
        house.agent(SAYS_HO)
        goal = house.goal()
        todo = house.todo(goal)
        script = f"import socket, sys; sys.exit(socket.create_connection(('127.0.0.1', {port}), 3).recv(3) != b'hey')"
        house.person.signs("check set", subject=todo, argv=[sys.executable, "-c", script], network=True)
        house.resume(goal)
        house.once()
    assert house.todo_now(todo).state == "done"


def test_a_goal_without_network_gives_its_turns_none(house: House) -> None:
    with Server() as port:
        goal, _ = house.ready(
            f"""
            import socket
            try:
                say(type="note", text=socket.create_connection(("127.0.0.1", {port}), 3).recv(3).decode())
            except OSError as error:
                say(type="note", text=f"no network: {{error}}")
            {SAYS_HO}
        """,
            resume=False,
        )
        house.person.signs("goal edit", goal=goal, network=False)
        house.once()
    assert "[note] no network" in house.transcript(house.turns(goal)[0])


def test_an_agents_own_check_opens_no_file_by_naming_it(house: House) -> None:
    """A check's argv shows the files it names to the box, if a person signed it; an agent's must not."""
    secret = house.folder / "secret"
    secret.write_text("the-secret", encoding="utf-8")
    goal, todo = house.ready(SAYS_HO)
    house.person.signs("check set", subject=todo, argv=["grep", "-q", "the-secret", str(secret)])
    house.once()
    assert house.todo_now(todo).state == "done", "a person's check may name a file"
    heart = house.heart()
    check = house.get(Check, str(house.todo_now(todo).check))
    bot = house.turns(goal)[0].actor
    assert heart.named_by_person(check) == check.argv
    assert heart.named_by_person(replace(check, set_by=bot)) == ()


def test_an_environment_variable_of_the_engine_does_not_reach_a_turn(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hush")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/agent")
    goal, _ = house.ready(f"print(sorted(os.environ), flush=True)\n{SAYS_HO}")
    house.once()
    said = house.transcript(house.turns(goal)[0])
    assert "LOOPX_SOCKET" in said
    assert "LOOPX_TOKEN" in said
    assert not {"SOME_API_KEY", "SSH_AUTH_SOCK", "LOOPX_KEYS", "LOOPX_HOME"} & set(
        said.replace("'", " ").replace(",", " ").split()
    )


def test_keys_and_home_inside_the_place_are_hidden_all_the_same(tmp_path: Path) -> None:
    need_box()

    house = House(tmp_path)
    inner = house.root / "keys-of-another"
    inner.mkdir()
    (inner / "key").write_text("hush", encoding="utf-8")
    house.agent(f"say(type='note', text=str(sorted(os.listdir('keys-of-another'))))\n{SAYS_HO}")
    goal = house.goal(place="in-place")
    house.todo(goal)
    house.resume(goal)
    heart = house.heart()
    heart.keys = inner
    run_until_idle(heart)
    assert "[note] []" in house.transcript(house.turns(goal)[0])
