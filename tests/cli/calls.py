"""Calling the command line from tests: in this process where words are tested, as a process of its own where that matters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import ROOT, require

from loopx_engine.cli.main import main


class Said(NamedTuple):
    """What one call came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


class House:
    """One person's loopx: `do` in this process, `run` as a process. The environment's LOOPX_ names are the test's own."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._capsys = capsys
        self.folder = folder

    def do(self, *words: str) -> Said:
        self._capsys.readouterr()
        code = main(list(words))
        out, err = self._capsys.readouterr()
        return Said(code, out, err)

    def well(self, *words: str) -> Said:
        """A call that must end with 0."""
        said = self.do(*words)
        assert said.code == 0, (words, said)
        return said

    def json(self, *words: str) -> dict[str, Any]:
        return self.well(*words, "--json").json

    def refused(self, *words: str, code: int) -> dict[str, Any]:
        """The error object of a call that must end with this code; people get the same on stderr and nothing on stdout."""
        for_people = self.do(*words)
        assert (for_people.code, for_people.out) == (code, ""), for_people
        assert for_people.err.startswith("loopx: "), for_people
        said = self.do(*words, "--json")
        assert (said.code, said.err) == (code, ""), said
        assert next(iter(said.json)) == "schema"
        assert said.json["schema"] == "loopx.error/1"
        return said.json


def run(
    *words: str | bytes,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    wrapper: Sequence[str] = (),
    fds: Sequence[int] = (),
) -> Said:
    """The command as a process of its own, with this test's environment and `env`."""
    argv: list[str | bytes] = [*wrapper, sys.executable, "-m", "loopx_tui", *words]
    paths = os.pathsep.join(part for part in (str(ROOT), os.environ.get("PYTHONPATH", "")) if part)
    given = {**os.environ, "PYTHONPATH": paths, **(env or {})}
    done = subprocess.run(
        argv, env=given, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False, pass_fds=fds
    )
    return Said(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def git_project(folder: Path) -> Path:
    """A git project with one commit in which `grep -q ho a` fails."""
    require("git")
    folder.mkdir(parents=True)
    (folder / "a").write_text("hi\n", encoding="utf-8")
    who = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for role in ("AUTHOR", "COMMITTER"):
        who |= {f"GIT_{role}_NAME": "Ada", f"GIT_{role}_EMAIL": "ada@example.org"}
    for argv in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "begin"]):
        subprocess.run(["git", *argv], cwd=folder, env={**os.environ, **who}, check=True)
    return folder


def ready(house: House) -> None:
    """The place of the goal, made as a person may ask for it."""
    house.well("project", "check")


def agent_turn(house: House, monkeypatch: pytest.MonkeyPatch) -> str:
    """The token of a turn that the agent `ada` began."""
    monkeypatch.setenv("LOOPX_TOKEN", actor_token(house))
    token: str = house.json("turn", "begin")["token"]
    monkeypatch.delenv("LOOPX_TOKEN")
    return token


def actor_token(house: House) -> str:
    """The token of the agent `ada` of the fixture `at_work`."""
    return (house.folder.parent / "token").read_text(encoding="utf-8")
