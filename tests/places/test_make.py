"""Places: made once however often and wherever it crashed, proved before each turn, never dropped with work in them."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest
from places.git_project import GitProject, photograph, plant_traps

from loopx_engine.errors import LoopxError, NotFound, Refused
from loopx_engine.places import make
from loopx_engine.places.commits import commit_tree, save_wip
from loopx_engine.places.make import (
    MadePlace,
    PlaceKind,
    drop_place,
    fetch_back,
    inspect_place,
    make_place,
    work_at_risk,
)
from loopx_engine.places.repository import find_repository, identity, worktrees
from loopx_engine.places.tree import tree_digest, write_tree

AUTHOR = ("LoopX", "loopx@localhost")
NOON = 1_800_000_000_000
BRANCH = "loopx/g-1"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitProject:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return GitProject(tmp_path / "project", tmp_path / "home")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "places" / "g-1"


def made(project: GitProject, path: Path, kind: PlaceKind = "worktree", base: str | None = None) -> MadePlace:
    return make_place(kind, project.root, path, BRANCH, base)


def commit(place: Path, subject: str = "work") -> str:
    return commit_tree(place, write_tree(place), BRANCH, subject, {}, AUTHOR, NOON)


def refusal(*arguments: object, **options: object) -> str:
    with pytest.raises(LoopxError) as refused:
        make_place(*arguments, **options)  # type: ignore[arg-type]
    assert refused.value.next
    return refused.value.code


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_place_is_on_its_branch_with_the_files_of_its_base(project: GitProject, path: Path, kind: PlaceKind) -> None:
    place = made(project, path, kind)
    assert place == MadePlace(path, kind, BRANCH, project.head())
    assert project.git("symbolic-ref", "--short", "HEAD", at=path) == BRANCH
    assert project.git("status", "--porcelain", at=path) == ""
    assert tree_digest(path) == project.head("HEAD^{tree}")


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_making_again_returns_the_place_with_its_edits(project: GitProject, path: Path, kind: PlaceKind) -> None:
    first = made(project, path, kind)
    project.write("README", "an edit\n", at=path)
    assert made(project, path, kind, first.base) == first
    assert (path / "README").read_text(encoding="utf-8") == "an edit\n"


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_place_begins_at_the_given_base(project: GitProject, path: Path, kind: PlaceKind) -> None:
    base = project.head()
    project.commit("later")
    assert made(project, path, kind, base).base == base
    assert project.head("HEAD", at=path) == base


@pytest.mark.parametrize("kind", ["worktree", "clone", "in-place"])
def test_persons_checkout_stays_byte_identical(project: GitProject, path: Path, kind: PlaceKind) -> None:
    project.write("README", "staged\n")
    project.git("add", "README")
    project.write("README", "edited\n")
    project.write("untracked.txt", "u\n")
    before = photograph(project.root)
    made(project, path, kind)
    drop_place(kind, project.root, path)
    assert photograph(project.root) == before


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_nothing_planted_runs(project: GitProject, path: Path, tmp_path: Path, kind: PlaceKind) -> None:
    plant_traps(project, tmp_path / "canary")
    project.git("config", "--global", "filter.global.smudge", f"touch '{tmp_path}/canary'; cat")
    project.write(".gitattributes", "README filter=global\n")
    base = project.git("-c", "core.hooksPath=/dev/null", "rev-parse", "HEAD")
    tree = write_tree(project.root)
    made(project, path, kind, commit_tree(project.root, tree, "loopx/base", "x", {}, AUTHOR, NOON, base=base))
    inspect_place(kind, project.root, path, BRANCH)
    drop_place(kind, project.root, path)
    assert not (tmp_path / "canary").exists()


def test_clone_shares_nothing_and_knows_no_way_back(project: GitProject, path: Path) -> None:
    (project.home / "template" / "hooks").mkdir(parents=True)
    (project.home / "template" / "hooks" / "post-commit").touch()
    project.git("config", "--global", "init.templateDir", str(project.home / "template"))
    made(project, path, "clone")
    assert not (path / ".git" / "hooks" / "post-commit").exists()
    assert not (path / ".git" / "objects" / "info" / "alternates").exists()
    assert project.git("remote", at=path) == ""
    assert all(file.stat().st_nlink == 1 for file in path.rglob("*") if file.is_file())
    project.git("tag", "only-in-the-clone", at=path)
    assert project.git("tag") == ""


def test_in_place_and_directory_make_nothing(project: GitProject, tmp_path: Path) -> None:
    before = photograph(project.root)
    place = make_place("in-place", project.root / "src", tmp_path / "unused", BRANCH, None)
    assert place == MadePlace(project.root, "in-place", "main", project.head())
    (tmp_path / "plain").mkdir()
    directory = make_place("directory", tmp_path / "plain", tmp_path / "plain", BRANCH, None)
    assert directory == MadePlace(tmp_path / "plain", "directory", "", "")
    assert photograph(project.root) == before
    assert project.git("branch", "--list", BRANCH) == ""


def test_missing_project_repository_and_commit_have_names(project: GitProject, path: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert refusal("worktree", tmp_path / "gone", path, BRANCH, None) == "project_missing"
    assert refusal("directory", tmp_path / "gone", path, BRANCH, None) == "project_missing"
    assert refusal("worktree", tmp_path / "plain", path, BRANCH, None) == "no_repository"
    empty = GitProject(tmp_path / "empty", project.home, empty=True)
    assert refusal("worktree", empty.root, path, BRANCH, None) == "no_commits"
    assert refusal("worktree", project.root, path, BRANCH, "a" * 40) == "no_commits"
    assert make_place("in-place", empty.root, path, BRANCH, None).base == ""


@pytest.mark.parametrize("branch", ["-b", "loopx/../main", "loopx/g 1", "", "loopx/-x"])
def test_odd_branch_is_refused_before_anything_is_made(project: GitProject, path: Path, branch: str) -> None:
    assert refusal("worktree", project.root, path, branch, None) == "bad_ref"
    assert refusal("clone", project.root, path, branch, None) == "bad_ref"
    assert not path.exists()


def test_odd_base_and_path_are_refused(project: GitProject, path: Path) -> None:
    assert refusal("worktree", project.root, path, BRANCH, "--force") == "bad_commit"
    assert refusal("worktree", project.root, Path("relative"), BRANCH, None) == "bad_path"
    assert refusal("worktree", project.root, path / "a\nb", BRANCH, None) == "bad_path"


def test_bare_and_shallow_projects_have_places(project: GitProject, path: Path, tmp_path: Path) -> None:
    project.commit("second")
    project.git("clone", "-q", "--bare", str(project.root), str(tmp_path / "bare.git"))
    project.git("clone", "-q", "--depth", "1", f"file://{project.root}", str(tmp_path / "shallow"))
    for number, root in enumerate((tmp_path / "bare.git", tmp_path / "shallow")):
        for kind in ("worktree", "clone"):
            place = path.with_name(f"{kind}-{number}")
            make_place(kind, root, place, f"loopx/{kind}", None)
            inspect_place(kind, root, place, f"loopx/{kind}")
            project.write("new", "n\n", at=place)
            commit_tree(place, write_tree(place), f"loopx/{kind}", "x", {}, AUTHOR, NOON)
    assert project.git("log", "-1", "--format=%s", "loopx/worktree", at=tmp_path / "bare.git") == "x"


def test_project_with_a_submodule_has_a_place(project: GitProject, path: Path, tmp_path: Path) -> None:
    library = GitProject(tmp_path / "library", project.home)
    project.git("submodule", "--quiet", "add", str(library.root), "lib")
    project.commit("add lib")
    made(project, path)
    assert tree_digest(path) == project.head("HEAD^{tree}")
    assert list((path / "lib").iterdir()) == []
    drop_place("worktree", project.root, path)


def test_submodule_can_be_the_project(project: GitProject, path: Path, tmp_path: Path) -> None:
    library = GitProject(tmp_path / "library", project.home)
    project.git("submodule", "--quiet", "add", str(library.root), "lib")
    make_place("worktree", project.root / "lib", path, BRANCH, None)
    inspect_place("worktree", project.root / "lib", path, BRANCH)
    project.write("new", "n\n", at=path)
    commit(path)
    assert project.git("log", "-1", "--format=%s", BRANCH, at=project.root / "lib") == "work"


def test_detached_place_stands_at_the_head_of_the_branch(project: GitProject, path: Path) -> None:
    base = made(project, path).base
    project.write("new", "n\n", at=path)
    head = commit(path)
    second = path.with_name("second")
    assert make_place("worktree", project.root, second, BRANCH, base, detached=True) == MadePlace(
        second, "worktree", "", head
    )
    assert (second / "new").exists()
    inspect_place("worktree", project.root, second, BRANCH, detached=True)
    with pytest.raises(Refused):
        inspect_place("worktree", project.root, second, BRANCH)
    assert refusal("worktree", project.root, path.with_name("x"), "loopx/none", None, detached=True) == "no_branch"


def test_branch_with_other_work_is_not_taken_over(project: GitProject, path: Path) -> None:
    project.git("branch", BRANCH)
    project.commit("main moved on")
    assert refusal("worktree", project.root, path, BRANCH, None) == "branch_exists"
    assert refusal("clone", project.root, path, BRANCH, None) == "branch_exists"
    assert not path.exists()


def test_branch_in_another_place_is_not_taken_twice(project: GitProject, path: Path) -> None:
    made(project, path)
    assert refusal("worktree", project.root, path.with_name("other"), BRANCH, None) == "branch_in_use"


@pytest.mark.parametrize("what", ["file", "folder", "link"])
def test_occupied_path_is_left_alone(project: GitProject, path: Path, what: str) -> None:
    path.parent.mkdir(parents=True)
    if what == "file":
        path.write_text("mine", encoding="utf-8")
    elif what == "folder":
        project.write("mine", "m\n", at=path)
    else:
        path.symlink_to(project.root)
    assert refusal("worktree", project.root, path, BRANCH, None) == "place_broken"
    assert path.exists()
    assert project.git("branch", "--list", BRANCH) == ""


class Crash(Exception):
    pass


@pytest.mark.parametrize("kind", ["worktree", "clone"])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", range(12))
def test_crash_at_any_git_step_is_mended_by_the_repeat(
    project: GitProject, path: Path, monkeypatch: pytest.MonkeyPatch, kind: PlaceKind, moment: str, step: int
) -> None:
    base = project.head()
    real, calls = make.run_git, iter(range(1000))

    def run_git(*arguments: object, **options: object) -> object:
        number = next(calls)
        if number == step and moment == "before":
            raise Crash
        result = real(*arguments, **options)  # type: ignore[arg-type]
        if number == step:
            raise Crash
        return result

    monkeypatch.setattr(make, "run_git", run_git)
    with contextlib.suppress(Crash):
        made(project, path, kind)
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(project.home))
    assert made(project, path, kind, base) == MadePlace(path, kind, BRANCH, base)
    assert project.git("status", "--porcelain", at=path) == ""
    assert not [tree for tree in worktrees(project.root) if tree.locked is not None]


def test_half_written_files_of_a_crash_are_completed(project: GitProject, path: Path) -> None:
    lock = ("--lock", "--reason", "loopx: being made")
    project.git("worktree", "add", "-q", "--no-checkout", *lock, "-b", BRANCH, str(path))
    project.write("README", "hel", at=path)
    with pytest.raises(Refused, match="never completely written"):
        inspect_place("worktree", project.root, path, BRANCH)
    made(project, path)
    assert (path / "README").read_text(encoding="utf-8") == "hello\n"


def test_place_registered_but_without_a_folder_is_completed(project: GitProject, path: Path) -> None:
    lock = ("--lock", "--reason", "loopx: being made")
    project.git("worktree", "add", "-q", "--no-checkout", *lock, "-b", BRANCH, str(path))
    shutil.rmtree(path)
    made(project, path)
    assert project.git("status", "--porcelain", at=path) == ""


def test_vanished_folder_is_broken_and_can_be_made_again(project: GitProject, path: Path) -> None:
    base = made(project, path).base
    project.write("new", "n\n", at=path)
    commit(path)
    project.commit("main moved on")
    shutil.rmtree(path)
    with pytest.raises(Refused, match="gone") as refused:
        inspect_place("worktree", project.root, path, BRANCH)
    assert refused.value.code == "place_broken"
    assert made(project, path, base=base).base == base
    assert (path / "new").exists()


def test_vanished_detached_place_with_own_commits_is_not_forgotten(project: GitProject, path: Path) -> None:
    made(project, path)
    second = path.with_name("second")
    make_place("worktree", project.root, second, BRANCH, None, detached=True)
    project.write("new", "n\n", at=second)
    sha = commit_tree(second, write_tree(second), "HEAD", "x", {}, AUTHOR, NOON)
    shutil.rmtree(second)
    assert refusal("worktree", project.root, second, BRANCH, None, detached=True) == "place_broken"
    with pytest.raises(Refused, match=sha[:12]):
        drop_place("worktree", project.root, second)


def test_worktree_that_a_person_locked_stays_locked(project: GitProject, path: Path) -> None:
    made(project, path)
    project.git("worktree", "lock", "--reason", "on a stick", str(path))
    shutil.rmtree(path)
    assert refusal("worktree", project.root, path, BRANCH, project.head()) == "place_broken"


def test_inspection_passes_what_was_made(project: GitProject, path: Path) -> None:
    repository = find_repository(project.root)
    assert repository
    for kind in ("worktree", "clone"):
        place = path.with_name(kind)
        make_place(kind, project.root, place, f"loopx/{kind}", None)
        inspect_place(kind, project.root, place, f"loopx/{kind}", expected_identity=identity(repository))
    inspect_place("in-place", project.root, project.root, "")
    inspect_place("directory", project.root, project.root, "")


def broken(project: GitProject, path: Path, kind: PlaceKind = "worktree", **options: str) -> str:
    with pytest.raises(LoopxError) as refused:
        inspect_place(kind, project.root, path, BRANCH, **options)
    assert refused.value.code == "place_broken"
    return refused.value.message


def test_inspection_names_another_branch_or_none(project: GitProject, path: Path) -> None:
    made(project, path)
    project.git("checkout", "-q", "-b", "elsewhere", at=path)
    assert "refs/heads/elsewhere" in broken(project, path)
    project.git("checkout", "-q", "--detach", at=path)
    assert "no branch" in broken(project, path)
    project.git("checkout", "-q", BRANCH, at=path)
    project.git("update-ref", "-d", f"refs/heads/{BRANCH}")
    broken(project, path)


def test_inspection_names_a_lost_git_file(project: GitProject, path: Path) -> None:
    inside = project.root / "places" / "g-1"
    made(project, inside)
    (inside / ".git").unlink()
    assert "no .git" in broken(project, inside)


def test_inspection_names_a_worktree_of_another_repository(project: GitProject, path: Path, tmp_path: Path) -> None:
    other = GitProject(tmp_path / "other", project.home)
    made(other, path)
    assert "not a worktree of the project" in broken(project, path)
    mine = path.with_name("mine")
    make_place("worktree", project.root, mine, "loopx/g-2", None)
    (path / ".git").write_bytes((mine / ".git").read_bytes())
    assert "expects the worktree elsewhere" in broken(project, path)


def test_inspection_names_a_git_file_pointing_to_what_an_agent_made(
    project: GitProject, path: Path, tmp_path: Path
) -> None:
    made(project, path)
    evil = GitProject(tmp_path / "evil", project.home)
    evil.git("checkout", "-q", "-b", BRANCH)
    (path / ".git").write_text(f"gitdir: {evil.root / '.git'}\n", encoding="utf-8")
    assert "not a worktree of the project" in broken(project, path)


def test_inspection_names_a_clone_that_is_none(project: GitProject, path: Path, tmp_path: Path) -> None:
    made(project, path)
    assert "not a clone" in broken(project, path, "clone")
    other = GitProject(tmp_path / "other", project.home)
    shutil.rmtree(other.root / ".git")
    other.git("init", "-q", "-b", BRANCH)
    other.commit("unrelated")
    assert "another repository" in broken(project, other.root, "clone")


def test_inspection_names_a_project_replaced_by_another_repository(project: GitProject, path: Path) -> None:
    assert "another repository" in broken(project, path, expected_identity=f"git:{'a' * 40}")


def test_inspection_names_a_link_and_a_vanished_project(project: GitProject, path: Path, tmp_path: Path) -> None:
    made(project, path)
    (tmp_path / "link").symlink_to(path)
    assert "gone" in broken(project, tmp_path / "link")
    project.root.rename(tmp_path / "moved")
    with pytest.raises(NotFound) as missing:
        inspect_place("worktree", project.root, path, BRANCH)
    assert missing.value.code == "project_missing"


def held(project: GitProject, path: Path, kind: PlaceKind = "worktree") -> str:
    before = photograph(path)
    with pytest.raises(Refused) as refused:
        drop_place(kind, project.root, path)
    assert refused.value.code == "place_holds_work"
    assert photograph(path) == before
    return "; ".join(refused.value.details["work"])


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_clean_place_is_dropped_and_its_branch_stays(project: GitProject, path: Path, kind: PlaceKind) -> None:
    made(project, path, kind)
    project.write("new", "n\n", at=path)
    head = commit(path)
    if kind == "clone":
        assert fetch_back(project.root, path, BRANCH) == head
    project.write(".gitignore", "", at=path)
    (path / ".gitignore").unlink()
    drop_place(kind, project.root, path)
    assert not path.exists()
    assert project.head(BRANCH) == head
    assert len(worktrees(project.root)) == 1
    drop_place(kind, project.root, path)


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_place_with_edits_is_kept_until_they_are_saved(project: GitProject, path: Path, kind: PlaceKind) -> None:
    made(project, path, kind)
    project.write("untracked.txt", "u\n", at=path)
    assert "untracked.txt" in held(project, path, kind)
    save_wip(path, "u-1")
    if kind == "clone":
        held(project, path, kind)
        fetch_back(project.root, path, BRANCH)
    drop_place(kind, project.root, path)
    assert project.git("cat-file", "blob", "refs/loopx/wip/u-1:untracked.txt") == "u"


def test_place_with_staged_edits_only_is_kept(project: GitProject, path: Path) -> None:
    made(project, path)
    project.write("README", "staged\n", at=path)
    project.git("add", "README", at=path)
    project.write("README", "hello\n", at=path)
    assert "staged" in held(project, path)


def test_clone_with_commits_the_project_has_not_is_kept(project: GitProject, path: Path) -> None:
    made(project, path, "clone")
    project.write("new", "n\n", at=path)
    head = commit(path)
    assert head[:12] in held(project, path, "clone")
    fetch_back(project.root, path, BRANCH)
    project.git("checkout", "-q", "-b", "agents-own", at=path)
    own = project.commit("beside", at=path)
    project.git("checkout", "-q", BRANCH, at=path)
    assert own[:12] in held(project, path, "clone")
    project.git("branch", "-D", "agents-own", at=path)
    project.write("README", "stashed\n", at=path)
    project.git("stash", at=path)
    held(project, path, "clone")


def test_detached_place_with_own_commit_is_kept_until_a_branch_has_it(project: GitProject, path: Path) -> None:
    made(project, path)
    second = path.with_name("second")
    make_place("worktree", project.root, second, BRANCH, None, detached=True)
    project.write("new", "n\n", at=second)
    sha = commit_tree(second, write_tree(second), "HEAD", "x", {}, AUTHOR, NOON)
    assert sha[:12] in held(project, second)
    project.git("branch", "kept", sha)
    drop_place("worktree", project.root, second)
    assert not second.exists()


def test_work_inside_nested_repositories_is_kept(project: GitProject, path: Path, tmp_path: Path) -> None:
    library = GitProject(tmp_path / "library", project.home)
    project.git("submodule", "--quiet", "add", str(library.root), "lib")
    project.commit("add lib")
    made(project, path)
    project.git("submodule", "--quiet", "update", "--init", at=path)
    assert work_at_risk("worktree", project.root, path) == ()
    project.write("lib/new", "n\n", at=path)
    assert "lib" in held(project, path)
    (path / "lib" / "new").unlink()
    project.write(".git/info/exclude", "vendor/\n")
    GitProject(path / "vendor" / "own", project.home)
    assert "vendor/own" in held(project, path)


def test_project_itself_is_never_removed(project: GitProject) -> None:
    drop_place("in-place", project.root, project.root)
    drop_place("directory", project.root, project.root)
    with pytest.raises(Refused):
        drop_place("worktree", project.root, project.root)
    assert (project.root / "README").exists()


def test_fetch_back_only_moves_forward(project: GitProject, path: Path) -> None:
    made(project, path, "clone")
    project.write("new", "n\n", at=path)
    head = commit(path)
    assert fetch_back(project.root, path, BRANCH) == head
    assert fetch_back(project.root, path, BRANCH) == head
    other = project.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "somebody else's")
    project.git("update-ref", f"refs/heads/{BRANCH}", other)
    project.write("new", "n2\n", at=path)
    commit(path, "more")
    with pytest.raises(Refused) as refused:
        fetch_back(project.root, path, BRANCH)
    assert refused.value.code == "git_failed"
    assert project.head(BRANCH) == other


def test_fetch_back_from_a_hostile_clone_runs_nothing(project: GitProject, path: Path, tmp_path: Path) -> None:
    made(project, path, "clone")
    project.write("new", "n\n", at=path)
    head = commit(path)
    trapped = GitProject.__new__(GitProject)
    trapped.root, trapped.home = path, project.home
    plant_traps(trapped, tmp_path / "canary")
    project.git("config", "uploadpack.packObjectsHook", f"touch '{tmp_path}/canary'; exec", at=path)
    plant_traps(project, tmp_path / "canary")
    assert fetch_back(project.root, path, BRANCH) == head
    assert work_at_risk("clone", project.root, path) == ()
    assert not (tmp_path / "canary").exists()
