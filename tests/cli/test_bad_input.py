"""What a person or script can get wrong: each is one sentence, one next step, the right exit code, and nothing is changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from unicodedata import normalize

import pytest
from cli.calls import House, Said, git_project, run
from conftest import Home
from support import ROOT, a26_1, absent, require

BAD_IDS = [
    "../../etc/passwd",
    "g-1/../g-2",
    "g-0",
    "g--1",
    "g-01",
    "G-1",
    "g-1 ",
    "g-" + "9" * 40,
    "q-1",
    "",
    "g-1;ls",
    "t-1\n",
    "%s",
    "-",
]
IDED = [
    ["show"], ["why"], ["history"], ["place", "drop"], ["todo", "drop"], ["goal", "resume"], ["answer"], ["undo"],
    ["plan", "show"], ["diff"], ["goal", "edit"], ["decision", "withdraw"],
]  # fmt: skip


def photograph(folder: Path) -> dict[str, str]:
    """Every file below a folder by the digest of its bytes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("bad", BAD_IDS)
@pytest.mark.parametrize("words", IDED, ids=" ".join)
def test_what_is_no_id_is_a_usage_error_and_opens_no_path(owned: House, words: list[str], bad: str) -> None:
    more = ["yes", "--basis", "0" * 64] if words == ["answer"] else []
    given = [*words, "--", bad, *more] if bad.startswith("-") or words == ["history"] else [*words, bad, *more]
    if words == ["history"] and not bad:
        pytest.skip("history of nothing in particular is the whole history")
    said = owned.do(*given)
    assert said.code == 2, said
    assert "next: " in said.err or "is empty" in said.err


@pytest.mark.parametrize("unknown", ["g-99", "t-99", "d-99", "u-99", "pl-99", "r-9999", "a-99", "k-99", "gr-99", "f-3"])
def test_an_unknown_id_is_not_found_and_names_the_list(owned: House, unknown: str) -> None:
    error = owned.refused("show", unknown, code=4)
    assert error["next"].startswith(("loopx list", "loopx history"))


def test_an_unknown_actor_and_noun_say_what_exists(owned: House) -> None:
    assert owned.refused("next", "--as", "nobody", code=4)["next"] == "loopx list actor"
    assert "todo" in owned.refused("list", "todos", code=2)["message"]


@pytest.mark.parametrize(
    ("title", "code"), [("", "empty"), ("   ", "empty"), ("x" * 201, "too_long"), ("漢" * 201, "too_long")]
)
def test_a_title_outside_its_limits_is_refused_and_nothing_is_kept(owned: House, title: str, code: str) -> None:
    owned.well("goal", "add", "Fix it")
    before = owned.json("history")["items"]
    assert owned.refused("todo", "add", "g-1", title, code=2)["code"] == code
    assert owned.refused("goal", "add", title, code=2)["code"] == code
    assert owned.json("history")["items"] == before


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["goal", "add", "T", "--budget", "turns=0"], 2),
        (["goal", "add", "T", "--budget", "turns="], 2),
        (["goal", "add", "T", "--criterion", ""], 2),
        (["goal", "add", "T", "--criterion", "c :: 'open quote"], 2),
        (["goal", "add", "T", "--autonomy", "reckless"], 2),
        (["goal", "add", "T", "--agent", "nobody"], 4),
        (["goal", "add", "T", "--project", "no/such/folder"], 4),
        (["todo", "add", "g-1", "T", "--check", ""], 2),
        (["todo", "add", "g-1", "T", "--check", "'"], 2),
        (["todo", "add", "g-1", "T", "--needs", "t-99"], 4),
        (["todo", "add", "g-1", "T", "--serves", "9"], 2),
        (["todo", "add", "g-1", "T", "--wait", "someday"], 2),
        (["todo", "add", "g-1", "T", "--wait", "at:tomorrow"], 2),
        (["todo", "add", "g-99", "T"], 4),
        (["stop"], 2),
        (["stop", "g-1", "--all"], 2),
        (["search", " "], 2),
        (["list", "todo", "--limit", "0"], 2),
        (["plan", "show", "g-1"], 4),
        (["place", "g-1"], 4),
        (["diff", "g-1"], 4),
        (["follow"], 4),
        (["answer", "d-1", "yes"], 3),
        (["answer", "d-1", "yes", "--uses", "0"], 2),
        (["answer", "d-1", "yes", "--basis", "0", "--scope", "x"], 2),
        (["undo", "r-1"], 3),
        (["turn", "begin"], 3),
        (["turn", "finish", "u-1", "--outcome", "done"], 3),
        (["restore", "no-such-file"], 4),
        (["backup", "no/such/folder/file"], 4),
        (["decision", "propose", "g-1", "Q", "--commands", "{"], 2),
        (["decision", "propose", "g-1", "Q", "--commands", "[1]"], 2),
        (["actor", "add", "x", "--kind", "agent", "--runtime", "command"], 2),
        (["goal", "add", "T", "--command-id", "a b"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_each_mistake_has_its_exit_code(owned: House, words: list[str], code: int) -> None:
    owned.well("goal", "add", "Fix it")
    before = owned.json("history", "--limit", "1")["items"]
    owned.refused(*words, code=code)
    assert owned.json("history", "--limit", "1")["items"] == before


@pytest.mark.real
@pytest.mark.parametrize(
    "words", [[b"show", b"g-\xff"], [b"goal", b"add", b"\xc3\x28"], [b"next", b"--as", b"\xed\xa0\x80"], [b"\xff"]]
)
def test_bytes_that_are_no_utf8_are_a_usage_error(words: list[bytes], home: Home) -> None:
    said = run(*words, b"--json")
    assert said.code == 2
    assert json.loads(said.out)["code"] == "bad_text"
    assert not home.data.exists()


@pytest.mark.parametrize("name", sorted(a26_1()))
def test_every_string_of_the_corpus_is_kept_as_it_is_or_refused_in_words(owned: House, name: str) -> None:
    text = a26_1()[name]
    owned.well("goal", "add", "Fix it")
    said = owned.do("todo", "add", "g-1", "--json", "--", text)
    assert said.code in (0, 2), said
    if said.code == 0:
        assert owned.json("show", said.json["todo"])["item"]["title"] == normalize("NFC", text)
    else:
        assert said.json["code"] in ("empty", "too_long", "bad_text")
        assert said.json["message"].isprintable() or "\n" not in said.json["message"]


@pytest.mark.real
@pytest.mark.parametrize(
    ("given", "exit_code", "code"),
    [(b"right\n", 0, ""), (b"wrong\n", 3, "wrong_passphrase"), (b"", 2, "bad_passphrase"), (None, 3, "locked")],
)
def test_the_passphrase_comes_through_a_descriptor(
    tmp_path: Path, given: bytes | None, exit_code: int, code: str
) -> None:
    if find_spec("bcrypt") is None:
        absent("the package bcrypt, which seals keys, is not installed")
    assert _with_passphrase(b"right\n", tmp_path, "owner", "init").code == 0
    said = _with_passphrase(given, tmp_path, "actor", "add", "ada", "--kind", "agent", "--json")
    assert said.code == exit_code, said
    assert json.loads(said.out).get("code", "") == code
    assert b"right" not in (tmp_path / "loopx-keys" / "owner").read_bytes()


def _with_passphrase(line: bytes | None, tmp_path: Path, *words: str) -> Said:
    if line is None:
        return run(*words, cwd=tmp_path)
    reader, writer = os.pipe()
    os.write(writer, line)
    os.close(writer)
    try:
        return run(*words, cwd=tmp_path, env={"LOOPX_PASSPHRASE_FD": str(reader)}, fds=(reader,))
    finally:
        os.close(reader)


@pytest.mark.parametrize("number", ["", "x", "1", "2", "-1", "99999"])
def test_a_descriptor_that_is_none_is_a_usage_error(house: House, monkeypatch: pytest.MonkeyPatch, number: str) -> None:
    monkeypatch.setenv("LOOPX_PASSPHRASE_FD", number)
    error = house.refused("owner", "init", code=3 if number == "" else 2)
    assert error["code"] == ("locked" if number == "" else "bad_descriptor")


def damage(ledger: Path, how: str) -> None:
    data = ledger.read_bytes()
    changed = {
        "truncated": data[: len(data) // 2],
        "header only": data[:100],
        "zero length": b"",
        "foreign": b"PK\3\4 not a database" * 100,
        "garbage inside": data[:100] + os.urandom(len(data) - 100),
        "newer": data[:60] + (99).to_bytes(4, "big") + data[64:],
    }[how]
    ledger.write_bytes(changed)


@pytest.mark.real
@pytest.mark.parametrize("how", ["truncated", "header only", "zero length", "foreign", "garbage inside", "newer"])
@pytest.mark.parametrize(
    "words", [["status"], ["next"], ["todo", "add", "g-1", "T"], ["verify"], ["goal", "add", "T"]], ids=" ".join
)
def test_a_ledger_that_is_not_sound_is_never_taken_for_an_empty_one_and_keeps_its_bytes(
    owned: House, home: Home, how: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    owned.well("goal", "add", "Fix it")
    owned.well("backup")
    ledger = home.data / "ledger.db"
    for side in ("-wal", "-shm"):
        ledger.with_name(ledger.name + side).unlink(missing_ok=True)
    damage(ledger, how)
    before = ledger.read_bytes()
    said = run(*words, "--json", cwd=owned.folder)
    assert said.code == 7 or (words == ["verify"] and said.code == 9), said
    assert ledger.read_bytes() == before
    if said.code == 7:
        assert json.loads(said.out)["code"] == ("newer_ledger" if how == "newer" else "ledger_damaged")
        assert json.loads(said.out)["next"]


@pytest.mark.real
def test_a_ledger_whose_file_is_gone_but_whose_log_is_there_is_not_made_anew(owned: House, home: Home) -> None:
    ledger = home.data / "ledger.db"
    ledger.unlink()
    log = home.data / "ledger.db-wal"
    log.write_bytes(b"something was here")
    assert run("status", cwd=owned.folder).code == 7
    assert not ledger.exists()
    assert log.read_bytes() == b"something was here"


@pytest.mark.real
def test_doctor_tells_of_a_damaged_ledger_and_ends_9(owned: House, home: Home) -> None:
    damage(home.data / "ledger.db", "foreign")
    said = run("doctor", "--json", cwd=owned.folder)
    assert said.code == 9
    assert [row["ok"] for row in json.loads(said.out)["items"] if row["name"] == "ledger"] == [False]


@pytest.mark.real
def test_a_folder_that_can_only_be_read_is_still_read_and_refuses_to_write(owned: House, home: Home) -> None:
    box = require("bwrap")
    owned.well("goal", "add", "Fix it")
    before = photograph(home.data)
    wrapper = [box, "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--ro-bind", str(home.data), str(home.data)]
    read = run("list", "goal", "--json", cwd=owned.folder, wrapper=wrapper)
    assert read.code == 0, read
    assert json.loads(read.out)["items"][0]["title"] == "Fix it"
    assert run("status", cwd=owned.folder, wrapper=wrapper).code == 0
    wrote = run("todo", "add", "g-1", "T", "--json", cwd=owned.folder, wrapper=wrapper)
    assert wrote.code == 7, wrote
    assert json.loads(wrote.out)["code"] == "read_only"
    assert photograph(home.data) == before


def test_keys_inside_the_home_are_refused_by_every_command(
    house: House, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPX_KEYS", str(home.data / "keys"))
    for words in (["owner", "init", "--no-passphrase"], ["goal", "add", "T"], ["status"]):
        assert house.refused(*words, code=3)["code"] == "keys_inside_home"
    assert not (home.data / "keys").exists()


@pytest.mark.parametrize("address", ["postgresql://host/db", "mysql://x", "sqlite://nowhere"])
def test_a_ledger_address_nobody_serves_is_a_usage_error(
    house: House, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("LOOPX_LEDGER", address)
    assert house.refused("status", code=2)["code"] == "bad_ledger"
    assert not list(house.folder.iterdir())


def test_a_folder_where_the_ledger_should_be_is_refused(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPX_LEDGER", str(house.folder))
    assert house.do("status").code in (3, 7)


@pytest.mark.real
def test_without_git_a_project_says_what_is_missing(tmp_path: Path) -> None:
    project = git_project(tmp_path / "shop")
    empty = tmp_path / "bin"
    empty.mkdir()
    said = run("goal", "add", "T", "--json", cwd=project, env={"PATH": str(empty)})
    assert said.code in (3, 4), said
    error = json.loads(said.out)
    assert "git" in error["message"]
    assert error["next"]


@pytest.mark.real
def test_a_project_that_vanished_is_said_and_its_goal_stays(
    at_work: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(at_work.folder)
    shutil.rmtree(tmp_path / "shop-api")
    at_work.refused("goal", "add", "T", "--project", str(tmp_path / "shop-api"), code=4)
    assert at_work.json("show", "g-1")["item"]["phase"] == "active"
    assert at_work.do("project", "check", str(tmp_path / "shop-api")).code == 4


@pytest.mark.real
def test_a_current_directory_that_is_gone_stops_only_what_needs_it(tmp_path: Path, owned: House) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "import os,sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, '-m', 'loopx_tui', *sys.argv[1:]])"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    for words, code in ((["status"], 0), (["goal", "add", "T"], 75)):
        gone.mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", script, *words], cwd=gone, env=env, capture_output=True, check=False, timeout=60
        )
        assert done.returncode == code, done


@pytest.mark.parametrize("token", ["x", "lxa_" + "A" * 43, "lxt_" + "B" * 43])
def test_a_token_nobody_gave_out_is_refused_for_every_command(
    owned: House, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("LOOPX_TOKEN", token)
    for words in (["status"], ["next"], ["goal", "add", "T"], ["answer", "d-1", "yes"], ["doctor"]):
        if words != ["doctor"]:
            assert owned.refused(*words, code=3)["code"] == "bad_token"


@pytest.mark.real
def test_a_bug_ends_1_and_says_that_it_is_one(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import loopx_engine.cli.quick as q\n"
        "q.answered = lambda given: {}['missing \\x1b[2J']\n"
        "sys.argv = ['loopx', 'status', '--json']; from loopx_engine.cli.main import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ROOT)],
        env=os.environ,
        capture_output=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    error = json.loads(done.stdout)
    assert (error["schema"], error["code"]) == ("loopx.error/1", "fault")
    assert "a bug in loopx" in error["message"]
    assert b"\x1b" not in done.stderr
    assert b"Traceback" in done.stderr
