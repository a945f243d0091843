"""Repository: identity survives rename and move, reading writes nothing, what worktrees share is compared."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
from places.git_project import GitProject, photograph, plant_traps

from loopx_engine.errors import LoopxError, NotFound, Refused
from loopx_engine.places.repository import (
    Repository,
    changes,
    find_repository,
    identity,
    need_repository,
    protected_refs,
    shared_state,
    unsaved_edits,
    worktrees,
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitProject:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return GitProject(tmp_path / "project", tmp_path / "home")


def found(directory: Path) -> Repository:
    repository = find_repository(directory)
    assert repository is not None
    return repository


def test_repository_is_found_from_any_folder_in_it(project: GitProject) -> None:
    repository = found(project.root / "src")
    assert repository.root == project.root
    assert repository.git_dir == project.root / ".git"
    assert (repository.head, repository.branch, repository.default_branch) == (project.head(), "main", "main")
    assert repository.root_commit == project.head()
    assert not repository.is_bare
    assert not repository.is_shallow


def test_linked_worktree_leads_to_the_main_one(project: GitProject, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "w"))
    repository = found(tmp_path / "w")
    assert (repository.root, repository.branch) == (project.root, "main")


def test_no_repository_is_none_and_a_missing_folder_an_error(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert find_repository(tmp_path / "plain") is None
    with pytest.raises(Refused) as refused:
        need_repository(tmp_path / "plain")
    assert refused.value.code == "no_repository"
    with pytest.raises(NotFound) as missing:
        find_repository(tmp_path / "gone")
    assert missing.value.code == "project_missing"


@pytest.mark.needs_root
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_repository_of_another_owner_is_refused_with_gits_words(project: GitProject) -> None:
    os.chown(project.root, 12345, 12345)
    os.chown(project.root / ".git", 12345, 12345)
    with pytest.raises(Refused, match=r"dubious ownership|safe\.directory") as refused:
        find_repository(project.root)
    assert refused.value.code == "git_failed"


def test_unborn_repository_has_neither_head_nor_identity(tmp_path: Path, project: GitProject) -> None:
    repository = found(GitProject(tmp_path / "new", project.home, empty=True).root)
    assert (repository.head, repository.root_commit, repository.branch) == (None, None, "main")
    assert identity(repository) == ""
    assert worktrees(repository.root)[0].branch == "main"


def test_bare_repository_is_its_own_root(tmp_path: Path, project: GitProject) -> None:
    bare = tmp_path / "bare.git"
    project.git("clone", "-q", "--bare", str(project.root), str(bare))
    repository = found(bare)
    assert repository.is_bare
    assert (repository.root, repository.head) == (bare, project.head())
    assert identity(repository) == identity(found(project.root))


def test_identity_survives_rename_remote_orphan_branch_and_unrelated_merge(project: GitProject, tmp_path: Path) -> None:
    before = identity(found(project.root))
    project.git("remote", "add", "origin", "https://example.org/x.git")
    project.git("checkout", "-q", "--orphan", "pages")
    project.commit("unrelated root")
    assert identity(found(project.root)) == before
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "--allow-unrelated-histories", "-m", "join", "pages")
    project.root.rename(tmp_path / "renamed")
    assert identity(found(tmp_path / "renamed")) == before
    assert before.startswith("git:")


def test_shallow_clone_is_known_by_its_remotes(project: GitProject, tmp_path: Path) -> None:
    project.commit("second")
    project.git("clone", "-q", "--depth", "1", f"file://{project.root}", str(tmp_path / "shallow"))
    repository = found(tmp_path / "shallow")
    assert repository.is_shallow
    before = identity(repository)
    project.commit("third")
    project.git("fetch", "-q", "--depth", "1", at=tmp_path / "shallow")
    project.git("reset", "-q", "--hard", "origin/main", at=tmp_path / "shallow")
    assert identity(found(tmp_path / "shallow")) == before != ""


def test_submodule_is_a_repository_of_its_own(project: GitProject, tmp_path: Path) -> None:
    library = GitProject(tmp_path / "library", project.home)
    project.git("submodule", "--quiet", "add", str(library.root), "lib")
    project.commit("add lib")
    repository = found(project.root / "lib")
    assert repository.root == project.root / "lib"
    assert repository.git_dir == project.root / ".git" / "modules" / "lib"


def test_remotes_never_show_credentials(project: GitProject) -> None:
    project.git("remote", "add", "origin", "https://ada:s3cret@example.org/x.git")
    assert found(project.root).remotes == (("origin", "https://***@example.org/x.git"),)


def test_default_branch_follows_the_remote_then_usual_names_then_head(project: GitProject, tmp_path: Path) -> None:
    project.git("branch", "-m", "main", "work")
    assert found(project.root).default_branch == "work"
    project.git("branch", "master")
    assert found(project.root).default_branch == "master"
    project.git("clone", "-q", str(project.root), str(tmp_path / "copy"))
    assert found(tmp_path / "copy").default_branch == "work"
    assert protected_refs(found(tmp_path / "copy")) == ("work", "main", "master")


def test_detached_head_has_no_branch(project: GitProject) -> None:
    project.git("checkout", "-q", "--detach")
    repository = found(project.root)
    assert (repository.branch, repository.head) == (None, project.head())


def test_worktrees_name_branch_lock_and_vanished_folder(project: GitProject, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "a", "--lock", "--reason", "mine", str(tmp_path / "a"))
    project.git("worktree", "add", "-q", "--detach", str(tmp_path / "b"))
    shutil.rmtree(tmp_path / "b")
    main, a, b = worktrees(project.root)
    assert (main.path, main.locked) == (project.root, None)
    assert (a.branch, a.locked) == ("a", "mine")
    assert (b.branch, b.head, b.path.exists()) == (None, project.head(), False)


def test_unsaved_edits_name_staged_unstaged_deleted_and_untracked(project: GitProject) -> None:
    project.write("README", "edited\n")
    project.write("staged.txt", "s\n")
    project.git("add", "staged.txt")
    project.write("deep/new file.txt", "n\n")
    (project.root / "src" / "app.py").unlink()
    project.write(".gitignore", "ignored\n")
    project.write("ignored", "x\n")
    assert unsaved_edits(project.root) == (".gitignore", "README", "deep/new file.txt", "src/app.py", "staged.txt")


def test_name_that_is_not_utf8_survives(project: GitProject) -> None:
    with open(os.path.join(os.fsencode(project.root), b"bad\xff"), "wb"):
        pass
    assert unsaved_edits(project.root) == ("bad\udcff",)


def test_reading_writes_nothing_and_runs_nothing(project: GitProject, tmp_path: Path) -> None:
    plant_traps(project, tmp_path / "canary")
    project.write("README", "edited\n")
    os.utime(project.root / "src" / "app.py", (1, 1))
    before = photograph(project.root)
    repository = found(project.root)
    identity(repository)
    shared_state(repository)
    unsaved_edits(project.root)
    assert photograph(project.root) == before
    assert not (tmp_path / "canary").exists()


def test_no_change_of_shared_state_says_nothing(project: GitProject) -> None:
    repository = found(project.root)
    assert changes(shared_state(repository), shared_state(repository)) == ()


def test_every_shared_thing_that_moved_is_named(project: GitProject) -> None:
    repository = found(project.root)
    project.git("branch", "doomed")
    before = shared_state(repository)
    old = project.head()
    new = project.commit("moved")
    project.git("branch", "-D", "doomed")
    project.git("tag", "v1")
    project.git("config", "core.fsmonitor", "/evil")
    project.write("README", "stash me\n")
    project.git("stash")
    hook = project.write(".git/hooks/pre-push", "#!/bin/sh\n")
    project.write(".git/info/attributes", "* filter=x\n")
    hook.chmod(0o755)
    said = changes(before, shared_state(repository))
    assert f"ref refs/heads/main changed from {old[:12]} to {new[:12]}" in said
    expected = ("ref refs/heads/doomed was removed", "ref refs/tags/v1 was added", "config core.fsmonitor was added")
    for sentence in (*expected, "stash was added", "ref refs/stash was added", "hook pre-push was added"):
        assert sentence in said
    assert "info attributes was added" in said


def test_second_stash_and_switched_branch_are_seen(project: GitProject) -> None:
    repository = found(project.root)
    project.write("README", "one\n")
    project.git("stash")
    before = shared_state(repository)
    project.git("stash", "drop")
    project.git("checkout", "-q", "-b", "elsewhere")
    said = changes(before, shared_state(repository))
    assert "stash was removed" in said or "stash changed" in said
    assert "HEAD changed" in said


def test_values_of_configuration_are_never_kept(project: GitProject) -> None:
    project.git("config", "http.extraheader", "Authorization: s3cret")
    project.git("config", "url.https://ada:s3cret@example.org/.insteadOf", "x:")
    assert "s3cret" not in repr(shared_state(found(project.root)))


def test_what_the_engine_moved_is_ignored(project: GitProject) -> None:
    repository = found(project.root)
    before = shared_state(repository)
    project.git("update-ref", "refs/loopx/wip/u-1", "HEAD")
    project.git("branch", "loopx/g-1")
    after = shared_state(repository)
    assert changes(before, after) == ("ref refs/heads/loopx/g-1 was added",)
    assert changes(before, after, ignore=("ref refs/loopx/*", "ref refs/heads/loopx/*")) == ()


@pytest.mark.real
def test_worktrees_are_listed_while_others_are_being_made(tmp_path: Path) -> None:
    project = GitProject(tmp_path / "project", tmp_path)
    stop, failures = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            try:
                worktrees(project.root)
            except LoopxError as error:
                failures.append(error.message)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(25):
        project.git("worktree", "add", "--quiet", "--no-checkout", "-b", f"b{number}", str(tmp_path / f"w{number}"))
    stop.set()
    for reader in readers:
        reader.join(10)
    assert failures == []
    assert len(worktrees(project.root)) == 26


def test_a_worktree_that_stays_broken_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopx_engine.places.repository._HALF_MADE_S", (0.0, 0.0))
    project = GitProject(tmp_path / "project", tmp_path)
    project.git("worktree", "add", "--quiet", "-b", "b", str(tmp_path / "w"))
    (project.root / ".git" / "worktrees" / "w" / "commondir").write_text("", encoding="utf-8")
    with pytest.raises(LoopxError) as refused:
        worktrees(project.root)
    assert "commondir" in refused.value.message
