"""JOURNEYS.md 2, line by line: every command, option and exit code that exists, and what is said of the ones to come."""

from __future__ import annotations

import click
import pytest
from cli.calls import House, agent_turn, ready

from loopx_engine.cli.tree import GROUPS, LATER, READS, SINGLE, root
from loopx_engine.commands.verbs import TABLE

PUBLISHED = {
    "goal add": "--objective --criterion --check --agent --reviewer --autonomy --place --budget --project",
    "todo add": "--check --body --serves --needs --wait --scope --kind",
    "next": "--as",
    "answer": "--reason --goal --basis --remember --scope --until --uses",
    "decision ask": "--option --why --blocks --risk",
    "actor add": "--kind --runtime --argv --model --mode",
    "stop": "--all",
    "owner init": "--no-passphrase",
    "owner protect": "",
    "undo": "",
    "verify": "",
    "backup": "",
    "doctor": "",
    "turn begin": "--todo",
    "turn finish": "--outcome --result --summary --evidence --successor --no-successor",
    "project setup": "--argv",
    "project check": "",
    "follow": "",
    "diff": "",
    "status": "",
    "inbox": "",
    "show": "",
    "list": "",
    "why": "",
    "search": "",
    "history": "",
    "plan show": "",
    "plan accept": "",
}
ALSO_WRITING = {
    "backup",
    "restore",
    "project check",
    "owner protect",
    "turn begin",
    "plan accept",
    "answer",
    "stop",
    "undo",
}


def commands() -> dict[str, click.Command]:
    """Every command by its words."""
    group, found = root(), {}
    context = click.Context(group)
    for name in (*READS, *SINGLE):
        found[name] = group.get_command(context, name)
    for noun in GROUPS:
        inner = group.get_command(context, noun)
        assert isinstance(inner, click.Group)
        for name in inner.list_commands(context):
            found[f"{noun} {name}"] = inner.get_command(context, name)
    return {name: command for name, command in found.items() if command is not None}


ALL = commands()


def options(command: click.Command) -> set[str]:
    return {name for item in command.params for name in (*item.opts, *item.secondary_opts) if name.startswith("--")}


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_command_has_its_published_options(name: str) -> None:
    assert set(PUBLISHED[name].split()) <= options(ALL[name])


@pytest.mark.parametrize("name", ALL)
def test_every_command_says_json_and_help(name: str) -> None:
    assert "--json" in options(ALL[name])
    assert ALL[name].help


def test_every_verb_of_a_person_or_an_agent_is_a_command_and_none_of_the_engine() -> None:
    callable_by_words = {verb.name for verb in TABLE if set(verb.authority) != {"engine"}}
    assert callable_by_words <= {"decision answer" if name == "answer" else name for name in ALL}
    assert not {verb.name for verb in TABLE if set(verb.authority) == {"engine"}} & set(ALL)


@pytest.mark.parametrize(
    "name", sorted({verb.name for verb in TABLE if set(verb.authority) != {"engine"}} | ALSO_WRITING)
)
def test_every_writing_command_has_a_dry_run_and_no_as(name: str) -> None:
    assert "--dry-run" in options(ALL[name])
    assert "--as" not in options(ALL[name])


@pytest.mark.parametrize("name", READS)
def test_every_read_has_as_and_no_dry_run(name: str) -> None:
    assert "--as" in options(ALL[name])
    assert "--dry-run" not in options(ALL[name])


@pytest.mark.parametrize("word", LATER)
def test_a_word_whose_room_is_not_built_says_so_and_names_what_exists(house: House, word: str) -> None:
    error = house.refused(word, "x", code=2)
    assert error["code"] == "not_built"
    assert "not built yet; what exists: " in error["message"]
    assert not list(house.folder.iterdir())


@pytest.mark.parametrize("runtime", ["codex", "claude", "acp"])
def test_a_runtime_that_is_not_built_is_refused_before_anything_is_signed(owned: House, runtime: str) -> None:
    error = owned.refused("actor", "add", "x", "--kind", "agent", "--runtime", runtime, "--argv", "x", code=2)
    assert error["code"] == "not_built"
    assert "command" in error["message"]
    assert [row["name"] for row in owned.json("list", "actor")["items"] if row["kind"] == "agent"] == []


@pytest.mark.parametrize("word", ["report-bug", "gaol", "--frobnicate", "new2"])
def test_a_word_that_nobody_published_is_a_usage_error(house: House, word: str) -> None:
    assert house.refused(word, code=2)["code"] == "usage"


def test_words_alone_are_usage_errors_that_name_the_verbs(house: House) -> None:
    assert "add" in house.refused("todo", code=2)["message"]
    assert "NOUN" in house.refused("list", code=2)["message"]


def test_loopx_without_words_in_no_terminal_is_status(house: House) -> None:
    assert house.do().out == house.do("status").out
    assert house.do("--json").json["schema"] == "loopx.status/1"


def test_help_is_data_and_ends_0(house: House) -> None:
    for words in (("--help",), ("todo", "--help"), ("todo", "add", "-h")):
        said = house.well(*words)
        assert "Usage:" in said.out
        assert not said.err


def test_version_names_the_program(house: House) -> None:
    assert house.well("--version").out.startswith("loopx ")


def test_a_decision_ask_of_an_agent_ends_6_and_prints_the_id_also_as_json(
    at_work: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert at_work.do("decision", "ask", "g-1", "Which one?", "--option", "a").code == 0, "a person asks: nobody waits"
    ready(at_work)
    monkeypatch.setenv("LOOPX_TOKEN", agent_turn(at_work, monkeypatch))
    said = at_work.do("decision", "ask", "g-1", "May I?")
    assert said.code == 6
    assert said.out.startswith("d-2 ")
    shown = at_work.do("decision", "ask", "g-1", "May I also?", "--json")
    assert (shown.code, shown.json["decision"]) == (6, "d-3")
