"""What a decision or a goal is about, from real repositories: what would leave, or what a place changed; else one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_kit import Kit, kit  # noqa: F401
from places.git_project import GitProject, photograph, plant_traps

from loopx_engine.desk import difference as module
from loopx_engine.desk.difference import difference_of
from loopx_engine.errors import UsageError
from loopx_engine.places.make import make_place
from loopx_tui.state.difference import Difference, difference
from loopx_tui.state.lines import laid_out


class Shop:
    """A goal with a real worktree in a real project."""

    def __init__(self, kit: Kit, project: GitProject, folder: Path) -> None:
        self.kit, self.project = kit, project
        entered = kit.project(str(project.root), project.head())
        self.goal = kit.draft("Shop", project=entered)
        made = make_place("worktree", project.root, folder / "places" / self.goal, f"loopx/{self.goal}", None)
        self.place = made.path
        given = {"path": str(made.path), "branch": made.branch, "base": made.base}
        place = kit.act("place make", goal=self.goal, kind="worktree", **given)["place"]
        kit.act("place settle", place=place, state="ready")

    def found(self, id: str = "") -> dict[str, str]:
        """The difference, after which place and project are as they were."""
        before = photograph(self.place) if self.place.exists() else {}, photograph(self.project.root), self.kit.seq()
        found = difference_of(self.kit.engine, id or self.goal)
        after = photograph(self.place) if self.place.exists() else {}, photograph(self.project.root), self.kit.seq()
        assert before == after
        assert set(found) == {"text", "why_not"}
        assert not (found["text"] and found["why_not"])
        return found

    def shown(self, id: str = "") -> tuple[Difference, list[str]]:
        """As a screen reads it."""
        given = self.found(id)
        seen = difference(given["text"], why_not=given["why_not"])
        return seen, ["".join(span.text for span in laid_out(item, 100)).rstrip() for item in seen.lines]

    def ask_push(self, sha: str, **over: str) -> str:
        effect = {
            "action": "push",
            "remote": "origin",
            "ref": "main",
            "sha": sha,
            "remote_has": "",
            "protected": ["main"],
            **over,
        }
        return str(self.kit.say("decision ask", goal=self.goal, question="Push?", effect=effect)["decision"])


@pytest.fixture
def shop(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return Shop(kit, GitProject(tmp_path / "project", tmp_path / "home"), tmp_path)


def test_nothing_was_changed_yet(shop: Shop) -> None:
    assert shop.found() == {"text": "", "why_not": ""}
    assert shop.shown()[0].why_not == "nothing differs"


def test_what_a_place_changed_made_and_removed_is_there_without_a_commit(shop: Shop) -> None:
    shop.project.write("src/app.py", "print(2)\n", at=shop.place)
    shop.project.write("new.txt", "one\ntwo\n", at=shop.place)
    (shop.place / "README").unlink()
    seen, lines = shop.shown()
    assert (seen.files, seen.added, seen.removed) == (3, 3, 2)
    for text in ("README", "new.txt", "src/app.py", " - print(1)", " + print(2)", " + two", " - hello"):
        assert text in lines


def test_a_decision_of_the_goal_shows_what_its_place_changed(shop: Shop) -> None:
    shop.project.write("new.txt", "n\n", at=shop.place)
    name = str(shop.kit.say("decision ask", goal=shop.goal, question="Which?")["decision"])
    assert shop.found(name) == shop.found()
    assert shop.shown(name)[0].added == 1


def test_a_rename_is_one_and_not_two(shop: Shop) -> None:
    shop.project.git("mv", "src/app.py", "src/main.py", at=shop.place)
    seen, lines = shop.shown()
    assert (seen.files, seen.added, seen.removed) == (1, 0, 0)
    assert "src/app.py → src/main.py" in lines


def test_a_binary_file_is_said_and_not_shown(shop: Shop) -> None:
    (shop.place / "x.png").write_bytes(b"\x89PNG\x00\x00" * 50)
    seen, lines = shop.shown()
    assert lines[0] == "x.png"
    assert lines[-1] == "   a binary file: no lines to show"
    assert (seen.files, seen.added) == (1, 0)


def test_line_ends_that_change_are_seen(shop: Shop) -> None:
    (shop.place / "README").write_bytes(b"hello\r\n")
    seen, lines = shop.shown()
    assert (seen.added, seen.removed) == (1, 1)
    assert " - hello" in lines
    assert " + hello<0d>" in lines


def test_a_file_without_a_last_line_end_says_so(shop: Shop) -> None:
    (shop.place / "README").write_bytes(b"hello")
    assert "   no newline at its end" in shop.shown()[1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("漢字 ä.txt", "漢字 ä.txt"), ("a b/c d", "a b/c d"), ('say "hi"', 'say "hi"'), ("tab\there", "tab here"), ("-rf", "-rf"),
        ("line\nbreak", "line break"), ("\x1b[2J", "<1b>[2J"), ("[bold]x[/]", "[bold]x[/]"), ("$(touch x)", "$(touch x)"),
        ("\u202egpj.exe", "<u+202e>gpj.exe"), ("a → b", "a → b"), ("back\\slash", "back\\slash"), (" b/ b/", " b/ b/"),
    ],
)  # fmt: skip
def test_a_name_that_means_harm_is_a_name(shop: Shop, name: str, said: str) -> None:
    if name.endswith("/"):
        name, said = name + "x", said + "x"
    shop.project.write(name, "n\n", at=shop.place)
    seen, lines = shop.shown()
    assert lines[0] == said.rstrip()
    assert (seen.files, seen.added) == (1, 1)


def test_a_name_that_is_no_utf8_is_one_too(shop: Shop) -> None:
    path = bytes(shop.place) + b"/caf\xe9"
    with open(path, "wb") as file:
        file.write(b"n\n")
    seen, lines = shop.shown()
    assert (seen.files, lines[0]) == (1, "caf\ufffd")


def test_what_a_repository_would_run_is_not_run(shop: Shop, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    plant_traps(shop.project, canary)
    shop.project.write("src/app.py", "print(2)\n", at=shop.place)
    assert shop.shown()[0].added == 1
    assert not canary.exists()


def test_a_huge_one_is_cut_at_a_line_and_says_so(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 5000)
    shop.project.write("big.txt", "a line of text\n" * 10_000, at=shop.place)
    text = shop.found()["text"]
    assert len(text.encode()) < 5100
    assert text.endswith("\n... cut after 5000 bytes\n")
    seen, lines = shop.shown()
    assert seen.cut
    assert lines[-1] == " + a line of text"
    assert "cut: it is larger" in "".join(span.text for span in seen.summary)


def test_the_limit_holds_for_a_difference_as_large_as_agents_make(shop: Shop) -> None:
    shop.project.write("big.txt", "x" * 99 + "\n", at=shop.place)
    (shop.place / "big.txt").write_text(("x" * 99 + "\n") * 50_000, encoding="utf-8")
    assert len(shop.found()["text"].encode()) <= module.MOST_BYTES + 100
    assert shop.shown()[0].cut


# -- what would leave --------------------------------------------------------------------------------------------------------


def test_a_push_shows_the_commits_that_would_leave_and_not_what_the_place_holds(shop: Shop) -> None:
    base = shop.project.head("main")
    shop.project.write("src/app.py", "print(2)\n", at=shop.place)
    sha = shop.project.commit("second", at=shop.place)
    shop.project.write("later.txt", "not in it\n", at=shop.place)
    seen, lines = shop.shown(shop.ask_push(sha, remote_has=base))
    assert (seen.files, seen.added, seen.removed) == (1, 1, 1)
    assert "later.txt" not in lines
    assert shop.shown(shop.ask_push(sha))[1] == lines, "without a remote's word, from where the place began"


def test_a_commit_that_is_not_there_is_a_sentence(shop: Shop) -> None:
    found = shop.found(shop.ask_push("a" * 40, remote_has=shop.project.head()))
    assert found["text"] == ""
    assert found["why_not"]
    assert "\n" not in found["why_not"]


def test_a_project_that_is_gone_is_a_sentence(shop: Shop, tmp_path: Path) -> None:
    name = shop.ask_push(shop.project.head())
    shop.project.root.rename(tmp_path / "away")
    found = difference_of(shop.kit.engine, name)
    assert (found["text"], bool(found["why_not"])) == ("", True)


# -- why there is none -------------------------------------------------------------------------------------------------------


def test_a_goal_without_a_place_says_so(kit: Kit) -> None:
    goal = kit.draft()
    assert difference_of(kit.engine, goal) == {"text": "", "why_not": "no place was made yet"}
    effect = {"action": "push", "remote": "origin", "ref": "main", "sha": "a" * 40, "remote_has": "", "protected": []}
    name = str(kit.say("decision ask", goal=goal, question="Push?", effect=effect)["decision"])
    assert difference_of(kit.engine, name)["why_not"] == "nothing is there yet that it could be compared with"


def test_a_place_that_is_gone_or_without_git_says_so(kit: Kit) -> None:
    goal = kit.goal()
    assert difference_of(kit.engine, goal)["why_not"] == "its place is gone"
    other = kit.draft()
    place = kit.act("place make", goal=other, kind="directory", path="/shared/x", branch="", base="")["place"]
    kit.act("place settle", place=place, state="ready")
    assert difference_of(kit.engine, other)["why_not"] == "it works in a directory without git"


def test_a_place_that_is_no_repository_any_more_says_so(shop: Shop) -> None:
    (shop.place / ".git").unlink()
    found = difference_of(shop.kit.engine, shop.goal)
    assert (found["text"], bool(found["why_not"])) == ("", True)


@pytest.mark.parametrize("name", ["d-99", "g-99", "t-1"])
def test_what_is_not_there_has_no_difference(kit: Kit, name: str) -> None:
    kit.draft()
    assert difference_of(kit.engine, name) == {"text": "", "why_not": f"there is no goal of {name}"}


@pytest.mark.parametrize("name", ["", "g", "../x", "lost turn u-1"])
def test_what_is_no_id_is_refused(kit: Kit, name: str) -> None:
    with pytest.raises(UsageError, match="is not an id"):
        difference_of(kit.engine, name)
