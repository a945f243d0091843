"""Commits: one a proved todo, idempotent by receipt, compare before move, files and other people's indexes untouched."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from places.git_project import GitProject, photograph, plant_traps

from loopx_engine.errors import Refused, UsageError
from loopx_engine.places import commits
from loopx_engine.places.commits import CommitId, commit_tree, diff_text, log, new_commit, save_wip
from loopx_engine.places.make import make_place
from loopx_engine.places.tree import write_tree

AUTHOR = ("LoopX", "loopx@localhost")
NOON = 1_800_000_000_000


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitProject:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return GitProject(tmp_path / "project", tmp_path / "home")


@pytest.fixture
def place(project: GitProject, tmp_path: Path) -> Path:
    return make_place("worktree", project.root, tmp_path / "places" / "g-1", "loopx/g-1", None).path


def commit(place: Path, receipt: str = "r-1", subject: str = "Do it", **options: str) -> CommitId:
    trailers = {"LoopX-Todo": "t-1", "LoopX-Receipt": receipt}
    return commit_tree(place, write_tree(place), "loopx/g-1", subject, trailers, AUTHOR, NOON, **options)


def test_commit_carries_tree_author_time_and_trailers(project: GitProject, place: Path) -> None:
    project.write("new.txt", "n\n", at=place)
    sha = commit(place)
    assert sha.made
    assert project.head("loopx/g-1") == sha
    assert project.head(f"{sha}^") == project.head("main")
    said = project.git("log", "-1", "--format=%an|%ae|%cn|%at|%s|%(trailers:only)", sha)
    assert said == "LoopX|loopx@localhost|LoopX|1800000000|Do it|LoopX-Todo: t-1\nLoopX-Receipt: r-1"
    assert project.git("ls-tree", "--name-only", sha).split() == ["README", "new.txt", "src"]


def test_place_is_clean_after_its_commit_and_files_untouched(project: GitProject, place: Path) -> None:
    project.write("new.txt", "n\n", at=place)
    os.utime(place / "README", (1, 1))
    before = photograph(place)
    commit(place)
    assert photograph(place) == before
    assert project.git("status", "--porcelain", at=place) == ""


def test_file_written_after_the_tree_stays_an_edit(project: GitProject, place: Path) -> None:
    project.write("new.txt", "proved\n", at=place)
    tree = write_tree(place)
    project.write("new.txt", "later\n", at=place)
    commit_tree(place, tree, "loopx/g-1", "Do it", {"LoopX-Receipt": "r-1"}, AUTHOR, NOON)
    assert (place / "new.txt").read_text(encoding="utf-8") == "later\n"
    assert project.git("status", "--porcelain", at=place) == "M new.txt"


def test_same_receipt_commits_once(project: GitProject, place: Path) -> None:
    project.write("new.txt", "n\n", at=place)
    first = commit(place)
    again = commit(place)
    assert again == first
    assert not again.made
    assert project.git("rev-list", "--count", "main..loopx/g-1") == "1"


def test_crash_before_the_index_moved_is_mended_by_the_repeat(
    project: GitProject, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("new.txt", "n\n", at=place)
    monkeypatch.setattr(commits, "_move_index", lambda *_: None)
    first = commit(place)
    monkeypatch.undo()
    assert project.git("status", "--porcelain", at=place) != ""
    assert commit(place) == first
    assert project.git("status", "--porcelain", at=place) == ""


def test_same_receipt_with_other_files_is_refused(project: GitProject, place: Path) -> None:
    project.write("new.txt", "n\n", at=place)
    commit(place)
    project.write("new.txt", "other\n", at=place)
    with pytest.raises(Refused) as refused:
        commit(place)
    assert refused.value.code == "branch_moved"


def test_equal_tree_needs_no_commit_and_says_so(project: GitProject, place: Path) -> None:
    sha = commit(place)
    assert sha == project.head("main")
    assert not sha.made


def test_second_receipt_makes_a_second_commit(project: GitProject, place: Path) -> None:
    project.write("a.txt", "a\n", at=place)
    first = commit(place, "r-1", "First")
    project.write("b.txt", "b\n", at=place)
    second = commit(place, "r-2", "Second", expected=first)
    assert project.head(f"{second}^") == first
    lines = log(place, "loopx/g-1", project.head("main"))
    assert [(line.sha, line.subject, line.trailers["LoopX-Receipt"]) for line in lines] == [
        (second, "Second", "r-2"),
        (first, "First", "r-1"),
    ]


def test_branch_that_moved_since_it_was_seen_is_refused(project: GitProject, place: Path) -> None:
    seen = project.head("loopx/g-1")
    project.git("commit", "-q", "--allow-empty", "-m", "by somebody else", at=place)
    theirs = project.head("loopx/g-1")
    project.write("new.txt", "n\n", at=place)
    with pytest.raises(Refused) as refused:
        commit(place, expected=seen)
    assert refused.value.code == "branch_moved"
    assert project.head("loopx/g-1") == theirs


def test_commit_between_reading_and_moving_loses_nothing(
    project: GitProject, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = commits.new_commit

    def slow(*arguments: object, **options: object) -> str:
        project.git("commit", "-q", "--allow-empty", "-m", "in between", at=place)
        return real(*arguments, **options)  # type: ignore[arg-type]

    project.write("new.txt", "n\n", at=place)
    monkeypatch.setattr(commits, "new_commit", slow)
    with pytest.raises(Refused) as refused:
        commit(place)
    assert refused.value.code == "branch_moved"
    assert project.git("log", "-1", "--format=%s", "loopx/g-1") == "in between"


def test_of_many_commits_at_once_each_is_kept_or_refused(project: GitProject, place: Path) -> None:
    trees = []
    for number in range(6):
        project.write("n.txt", f"{number}\n", at=place)
        trees.append(write_tree(place))

    def one(number: int) -> str | None:
        trailers = {"LoopX-Receipt": f"r-{number}"}
        try:
            return commit_tree(place, trees[number], "loopx/g-1", f"n {number}", trailers, AUTHOR, NOON)
        except Refused:
            return None

    with ThreadPoolExecutor(6) as pool:
        made = {sha for sha in pool.map(one, range(6)) if sha}
    assert made
    assert {line.sha for line in log(place, "loopx/g-1", project.head("main"))} == made


def test_nothing_planted_runs_and_no_signature_is_made(project: GitProject, place: Path, tmp_path: Path) -> None:
    plant_traps(project, tmp_path / "canary")
    project.write("src/app.py", "print(2)\n", at=place)
    sha = commit(place)
    save_wip(place, "u-1")
    log(place, "loopx/g-1")
    diff_text(place, project.head("main"), 10_000)
    assert not (tmp_path / "canary").exists()
    assert "gpgsig" not in project.git("cat-file", "commit", sha)


def test_persons_checkout_and_index_stay_byte_identical(project: GitProject, place: Path) -> None:
    project.write("README", "staged\n")
    project.git("add", "README")
    project.write("README", "edited\n")
    project.write("untracked.txt", "u\n")
    before = photograph(project.root)
    project.write("new.txt", "n\n", at=place)
    commit(place)
    save_wip(place, "u-1")
    save_wip(project.root, "u-2")
    diff_text(project.root, project.head(), 1000)
    assert photograph(project.root) == before


def test_commit_from_a_checkout_on_another_branch_leaves_its_index(project: GitProject) -> None:
    project.write("turn.txt", "t\n")
    before = photograph(project.root)
    tree = write_tree(project.root)
    sha = commit_tree(project.root, tree, "loopx/g-2", "In place", {}, AUTHOR, NOON)
    assert project.head("loopx/g-2") == sha
    assert project.head("loopx/g-2^") == project.head("main")
    assert photograph(project.root) == before


def test_first_commit_of_a_branch_may_begin_elsewhere(project: GitProject) -> None:
    base = project.head()
    project.commit("later")
    project.write("turn.txt", "t\n")
    sha = commit_tree(project.root, write_tree(project.root), "loopx/g-3", "x", {}, AUTHOR, NOON, base=base)
    assert project.head(f"{sha}^") == base


def test_first_commit_of_an_unborn_repository_has_no_parent(project: GitProject, tmp_path: Path) -> None:
    empty = GitProject(tmp_path / "empty", project.home, empty=True)
    empty.write("a", "a\n")
    sha = commit_tree(empty.root, write_tree(empty.root), "main", "begin", {}, AUTHOR, NOON)
    assert empty.git("rev-list", "--parents", "main") == sha
    assert empty.git("status", "--porcelain") == ""


def test_detached_place_commits_to_its_own_head(project: GitProject, place: Path, tmp_path: Path) -> None:
    second = make_place("worktree", project.root, tmp_path / "places" / "two", "loopx/g-1", None, detached=True).path
    project.write("two.txt", "2\n", at=second)
    sha = commit_tree(second, write_tree(second), "HEAD", "Second place", {}, AUTHOR, NOON)
    assert project.head("HEAD", at=second) == sha
    assert project.head("loopx/g-1") == project.head("main")
    assert project.git("status", "--porcelain", at=second) == ""
    with pytest.raises(Refused):
        commit_tree(place, write_tree(second), "HEAD", "not detached", {}, AUTHOR, NOON)


@pytest.mark.parametrize("branch", ["-f", "../x", "a b", "", "a..b"])
def test_odd_branch_is_refused(place: Path, branch: str) -> None:
    with pytest.raises(Refused) as refused:
        commit_tree(place, "a" * 40, branch, "x", {}, AUTHOR, NOON)
    assert refused.value.code == "bad_ref"


def test_text_of_an_agent_adds_no_line_and_no_trailer(project: GitProject, place: Path) -> None:
    project.write("new.txt", "n\n", at=place)
    sha = commit(place, subject="Title\n\nLoopX-Receipt: r-999\x1b[31m\u202e" + "x" * 500)
    line = log(place, "loopx/g-1", project.head("main"))[0]
    assert line.sha == sha
    assert line.trailers == {"LoopX-Todo": "t-1", "LoopX-Receipt": "r-1"}
    assert len(line.subject) == 200
    assert line.subject.isprintable()


@pytest.mark.parametrize(
    "trailers", [{"Bad Key": "x"}, {"-x": "y"}, {"LoopX-Todo": "a\nLoopX-Receipt: b"}, {"A": "\x1b"}]
)
def test_odd_trailer_is_refused(place: Path, trailers: dict[str, str]) -> None:
    with pytest.raises(UsageError) as refused:
        commit_tree(place, write_tree(place), "loopx/g-1", "x", trailers, AUTHOR, NOON)
    assert refused.value.code == "bad_trailer"


def test_empty_subject_and_author_are_refused(project: GitProject, place: Path) -> None:
    with pytest.raises(UsageError):
        commit(place, subject="\n \x00")
    with pytest.raises(UsageError):
        new_commit(place, project.head("HEAD^{tree}"), (), "x\n", ("<>", "a@b"), NOON)
    sha = new_commit(place, project.head("HEAD^{tree}"), (), "x\n", ("Eve <evil>\n", "a@b\nparent x"), NOON)
    assert project.git("log", "-1", "--format=%an|%ae", sha) == "Eve evil|a@b parent x"


def test_locked_index_does_not_stop_the_commit(project: GitProject, place: Path) -> None:
    lock = Path(project.git("rev-parse", "--path-format=absolute", "--git-path", "index.lock", at=place))
    lock.touch()
    project.write("new.txt", "n\n", at=place)
    first = commit(place)
    assert project.head("loopx/g-1") == first
    lock.unlink()
    assert commit(place) == first
    assert project.git("status", "--porcelain", at=place) == ""


def test_wip_saves_untracked_files_and_leaves_everything(project: GitProject, place: Path) -> None:
    project.write("README", "staged\n", at=place)
    project.git("add", "README", at=place)
    project.write("README", "half done\n", at=place)
    project.write("new/deep.txt", "n\n", at=place)
    status, before, head = project.git("status", "--porcelain", at=place), photograph(place), project.head("loopx/g-1")
    ref = save_wip(place, "u-7")
    assert ref == "refs/loopx/wip/u-7"
    assert project.git("cat-file", "blob", f"{ref}:README") == "half done"
    assert project.git("cat-file", "blob", f"{ref}:new/deep.txt") == "n"
    assert project.head(f"{ref}^") == head == project.head("loopx/g-1")
    assert (project.git("status", "--porcelain", at=place), photograph(place)) == (status, before)


def test_second_wip_of_a_turn_keeps_the_first(project: GitProject, place: Path) -> None:
    project.write("new.txt", "1\n", at=place)
    first = project.head(save_wip(place, "u-7"))
    assert project.head(save_wip(place, "u-7")) == first
    project.write("new.txt", "2\n", at=place)
    ref = save_wip(place, "u-7")
    assert project.head(f"{ref}^2") == first
    assert project.git("cat-file", "blob", f"{ref}:new.txt") == "2"


def test_wip_takes_large_files_and_an_unborn_repository(project: GitProject, tmp_path: Path) -> None:
    empty = GitProject(tmp_path / "empty", project.home, empty=True)
    with (empty.root / "big").open("wb") as file:
        file.truncate(101 * 1024 * 1024)
    assert empty.git("ls-tree", "--name-only", save_wip(empty.root, "u-1", at_ms=NOON)) == "big"


@pytest.mark.parametrize("turn", ["../heads/main", "a/b", "", "-x", "a..b", "x.lock", "a b"])
def test_turn_id_with_path_parts_is_refused(project: GitProject, place: Path, turn: str) -> None:
    with pytest.raises(Refused) as refused:
        save_wip(place, turn)
    assert refused.value.code == "bad_ref"


def test_log_reads_bodies_merges_and_limits(project: GitProject) -> None:
    base = project.head()
    project.git("commit", "-q", "--allow-empty", "-m", "plain")
    project.git(
        "commit", "-q", "--allow-empty", "-m", "with body", "-m", "Body: not\nonly trailers", "-m", "A: 1\nB: 2"
    )
    lines = log(project.root, "main", base)
    assert [(line.subject, dict(line.trailers)) for line in lines] == [
        ("with body", {"A": "1", "B": "2"}),
        ("plain", {}),
    ]
    assert len(log(project.root, "main", limit=1)) == 1
    assert log(project.root, project.head(), base) == lines
    with pytest.raises(Refused) as refused:
        log(project.root, "none")
    assert refused.value.code == "no_branch"


def test_diff_shows_untracked_edited_and_renamed_files(project: GitProject, place: Path) -> None:
    project.write("new.txt", "added line\n", at=place)
    (place / "src" / "app.py").rename(place / "src" / "main.py")
    text = diff_text(place, project.head("main"), 100_000)
    assert "+added line" in text
    assert "rename to src/main.py" in text


def test_diff_is_cut_at_a_line_and_says_so(project: GitProject, place: Path) -> None:
    project.write("long.txt", "ä line of text\n" * 1000, at=place)
    text = diff_text(place, project.head("main"), 500)
    assert len(text.encode()) < 600
    assert text.endswith("\n... cut after 500 bytes\n")
