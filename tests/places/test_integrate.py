"""Coming home: a push is done, failed or unknown; a merge never touches unsaved edits; a file is whole or untouched."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from places.git_project import GitProject, photograph, plant_traps

from loopx_engine.errors import Refused, TryAgain
from loopx_engine.places import integrate
from loopx_engine.places.git import GitResult
from loopx_engine.places.integrate import EffectOutcome, merge, push, read_remote, write_file

NOON = 1_800_000_000_000


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitProject:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return GitProject(tmp_path / "project", tmp_path / "home")


@pytest.fixture
def remote(project: GitProject, tmp_path: Path) -> GitProject:
    bare = GitProject(tmp_path / "remote.git", project.home, bare=True)
    project.git("remote", "add", "origin", str(bare.root))
    return bare


def hook(remote: GitProject, name: str, text: str) -> None:
    path = remote.root / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def test_push_of_a_new_branch_is_done(project: GitProject, remote: GitProject) -> None:
    sha = project.head()
    outcome = push(project.root, sha, "origin", "loopx/g-1", None)
    assert (outcome.state, outcome.value) == ("done", sha)
    assert remote.head("refs/heads/loopx/g-1") == sha == read_remote(project.root, "origin", "loopx/g-1")


def test_push_moves_forward_from_what_was_shown(project: GitProject, remote: GitProject) -> None:
    old = project.head()
    push(project.root, old, "origin", "refs/heads/x", None)
    new = project.commit("more")
    assert push(project.root, new, "origin", "refs/heads/x", old).state == "done"
    assert remote.head("x") == new


def test_repeated_push_is_done_again(project: GitProject, remote: GitProject) -> None:
    sha = project.head()
    push(project.root, sha, "origin", "x", None)
    assert push(project.root, sha, "origin", "x", None).state == "done"


def test_remote_that_moved_since_it_was_shown_fails(project: GitProject, remote: GitProject) -> None:
    old = project.head()
    push(project.root, old, "origin", "x", None)
    theirs = project.commit("theirs")
    push(project.root, theirs, "origin", "x", old)
    project.git("reset", "-q", "--hard", old)
    mine = project.commit("mine")
    for expected in (old, None):
        outcome = push(project.root, mine, "origin", "x", expected)
        assert outcome.state == "failed"
        assert "stale info" in outcome.detail
    assert remote.head("x") == theirs


def test_lease_never_becomes_a_forced_push(project: GitProject, remote: GitProject) -> None:
    old = project.head()
    theirs = project.commit("theirs")
    push(project.root, theirs, "origin", "x", None)
    project.git("reset", "-q", "--hard", old)
    outcome = push(project.root, project.commit("rewritten"), "origin", "x", theirs)
    assert outcome.state == "failed"
    assert "does not build on" in outcome.detail
    assert remote.head("x") == theirs


def test_refusal_of_the_remote_is_a_failure_with_its_words(project: GitProject, remote: GitProject) -> None:
    hook(remote, "pre-receive", "exit 1")
    outcome = push(project.root, project.head(), "origin", "x", None)
    assert outcome.state == "failed"
    assert "pre-receive hook declined" in outcome.detail


def test_push_cut_off_after_the_remote_took_it_is_uncertain_and_readable(
    project: GitProject, remote: GitProject, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "never")
    hook(remote, "post-receive", f"cat '{tmp_path}/never'")
    outcome = push(project.root, project.head(), "origin", "x", None, timeout_s=2)
    assert outcome.state == "uncertain"
    assert read_remote(project.root, "origin", "x") == project.head()


def test_push_cut_off_before_the_remote_took_it_is_uncertain_too(
    project: GitProject, remote: GitProject, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "never")
    hook(remote, "pre-receive", f"cat '{tmp_path}/never'")
    assert push(project.root, project.head(), "origin", "x", None, timeout_s=2).state == "uncertain"
    assert read_remote(project.root, "origin", "x") is None


def test_remote_that_is_not_there_is_a_failure(project: GitProject, tmp_path: Path) -> None:
    project.git("remote", "add", "origin", str(tmp_path / "nowhere"))
    outcome = push(project.root, project.head(), "origin", "x", None)
    assert outcome.state == "failed"
    with pytest.raises(TryAgain) as unreachable:
        read_remote(project.root, "origin", "x")
    assert unreachable.value.code == "remote_unreachable"


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (GitResult(0, "To r\n*\ta:refs/heads/x\t[new branch]\nDone\n", ""), "done"),
        (GitResult(0, "To r\n=\ta:refs/heads/x\t[up to date]\nDone\n", ""), "done"),
        (GitResult(1, "To r\n!\ta:refs/heads/x\t[rejected] (stale info)\nDone\n", ""), "failed"),
        (GitResult(1, "!\ta:refs/heads/x\t[remote failure] (remote failed to report status)\n", ""), "uncertain"),
        (GitResult(128, "", "fatal: the remote end hung up unexpectedly"), "uncertain"),
        (GitResult(128, "", "fatal: Authentication failed for 'https://a:s3cret@h/x'"), "failed"),
        (GitResult(-9, "", "Permission denied"), "uncertain"),
        (GitResult(-15, "", ""), "uncertain"),
        (GitResult(0, "", ""), "uncertain"),
        (GitResult(0, "*\ta:refs/heads/other\t[new branch]\n", ""), "uncertain"),
    ],
)
def test_what_is_not_known_is_never_called_done_or_failed(
    project: GitProject, remote: GitProject, monkeypatch: pytest.MonkeyPatch, result: GitResult, state: str
) -> None:
    real = integrate.run_git
    monkeypatch.setattr(integrate, "run_git", lambda d, *a, **o: result if a[0] == "push" else real(d, *a, **o))
    outcome = push(project.root, project.head(), "origin", "x", None)
    assert outcome.state == state
    assert "s3cret" not in outcome.detail


@pytest.mark.parametrize(
    ("name", "ref", "code"),
    [
        ("--receive-pack=x", "x", "unknown_remote"),
        ("ext::sh -c x", "x", "unknown_remote"),
        ("https://example.org/x", "x", "unknown_remote"),
        ("", "x", "unknown_remote"),
        ("origin", "-x", "bad_ref"),
        ("origin", "x:refs/heads/main", "bad_ref"),
        ("origin", "+x", "done"),
    ],
)
def test_only_configured_remotes_and_plain_refs(
    project: GitProject, remote: GitProject, name: str, ref: str, code: str
) -> None:
    if code == "done":
        assert push(project.root, project.head(), name, ref, None).state == "done"
        assert remote.head("refs/heads/+x") == project.head()
        return
    for act in (
        lambda: push(project.root, project.head(), name, ref, None),
        lambda: read_remote(project.root, name, ref),
    ):
        with pytest.raises(Refused) as refused:
            act()
        assert refused.value.code == code


def test_nothing_planted_runs_on_a_push(project: GitProject, remote: GitProject, tmp_path: Path) -> None:
    plant_traps(project, tmp_path / "canary")
    project.git("config", "remote.origin.mirror", "true")
    project.git("config", "push.followTags", "true")
    project.git("-c", "tag.gpgSign=false", "tag", "-a", "-m", "x", "v1")
    (tmp_path / "canary").unlink(missing_ok=True)
    assert push(project.root, project.head(), "origin", "x", None).state == "done"
    assert read_remote(project.root, "origin", "x") == project.head()
    assert not (tmp_path / "canary").exists()
    assert remote.git("for-each-ref", "--format=%(refname)") == "refs/heads/x"


def test_planted_transport_does_not_run(project: GitProject, tmp_path: Path) -> None:
    project.git("remote", "add", "origin", f"ext::sh -c touch% {tmp_path}/canary")
    project.git("config", "protocol.ext.allow", "always")
    assert push(project.root, project.head(), "origin", "x", None).state == "failed"
    with pytest.raises(TryAgain):
        read_remote(project.root, "origin", "x")
    assert not (tmp_path / "canary").exists()


def branched(project: GitProject, files: dict[str, str]) -> str:
    """A branch `loopx/g-1` with one commit of `files`, and `main` checked out again."""
    project.git("checkout", "-q", "-b", "loopx/g-1")
    for name, text in files.items():
        project.write(name, text)
    sha = project.commit("work")
    project.git("checkout", "-q", "main")
    return sha


def merged(project: GitProject, **options: int) -> EffectOutcome:
    return merge(project.root, "loopx/g-1", "main", "Merge goal g-1\n\nLoopX-Receipt: r-9", NOON, **options)


def test_merge_into_a_branch_nobody_has_checked_out(project: GitProject) -> None:
    source = branched(project, {"new.txt": "n\n"})
    base = project.head("main")
    project.git("checkout", "-q", "-b", "elsewhere")
    project.write("README", "unsaved\n")
    before = photograph(project.root)
    outcome = merged(project)
    assert outcome.state == "done"
    assert project.head("main") == outcome.value
    assert project.git("rev-list", "--parents", "-1", "main") == f"{outcome.value} {base} {source}"
    assert (
        project.git("log", "-1", "--format=%an|%at|%(trailers:only)", "main") == "LoopX|1800000000|LoopX-Receipt: r-9"
    )
    assert photograph(project.root) == before


def test_merge_into_a_clean_checkout_updates_its_files(project: GitProject) -> None:
    branched(project, {"new.txt": "n\n", "README": "merged\n"})
    outcome = merged(project)
    assert outcome.state == "done"
    assert project.head("HEAD") == outcome.value
    assert (project.root / "README").read_text(encoding="utf-8") == "merged\n"
    assert project.git("status", "--porcelain") == ""
    assert project.git("reflog", "-1", "--format=%gs", "main").startswith("merge")


def test_repeated_merge_is_done_and_adds_nothing(project: GitProject) -> None:
    branched(project, {"new.txt": "n\n"})
    first = merged(project)
    again = merged(project)
    assert (again.state, again.value) == ("done", first.value)


def test_merge_of_a_commit_by_its_id(project: GitProject) -> None:
    sha = branched(project, {"new.txt": "n\n"})
    assert merge(project.root, sha, "main", "x", NOON).state == "done"


def test_edits_that_overlap_fail_by_name_and_nothing_changes(project: GitProject) -> None:
    branched(project, {"README": "merged\n", "new.txt": "n\n"})
    project.write("README", "staged\n")
    project.git("add", "README")
    project.write("README", "unsaved\n")
    project.write("new.txt", "mine, untracked\n")
    before, head = photograph(project.root), project.head("main")
    outcome = merged(project)
    assert outcome.state == "failed"
    assert "README" in outcome.detail
    assert "new.txt" in outcome.detail
    assert (photograph(project.root), project.head("main")) == (before, head)


@pytest.mark.parametrize("edit", ["folder", "folder/inside", "ignored.log"])
def test_untracked_and_ignored_files_in_the_way_are_never_overwritten(project: GitProject, edit: str) -> None:
    project.write(".gitignore", "*.log\n")
    project.commit("ignore logs")
    branched(project, {})
    project.git("checkout", "-q", "loopx/g-1")
    name = {"folder": "folder/inside", "folder/inside": "folder", "ignored.log": "ignored.log"}[edit]
    project.write(name, "theirs\n")
    project.git("add", "-f", name)
    project.git("commit", "-q", "-m", "add it")
    project.git("checkout", "-q", "main")
    project.write(edit, "mine\n")
    before, head = photograph(project.root), project.head("main")
    assert merged(project).state == "failed"
    assert (photograph(project.root), project.head("main")) == (before, head)


def test_edits_elsewhere_survive_the_merge(project: GitProject) -> None:
    branched(project, {"new.txt": "n\n"})
    project.write("README", "unsaved\n")
    project.write("staged.txt", "s\n")
    project.git("add", "staged.txt")
    project.write("untracked.txt", "u\n")
    assert merged(project).state == "done"
    assert (project.root / "README").read_text(encoding="utf-8") == "unsaved\n"
    assert project.git("status", "--porcelain").splitlines() == ["M README", "A  staged.txt", "?? untracked.txt"]
    assert (project.root / "new.txt").exists()


def test_conflict_fails_with_the_files_and_nothing_changes(project: GitProject) -> None:
    branched(project, {"README": "theirs\n", "src/app.py": "theirs\n", "fine.txt": "f\n"})
    project.write("README", "ours\n")
    project.write("src/app.py", "ours\n")
    project.commit("ours")
    before, head = photograph(project.root), project.head("main")
    outcome = merged(project)
    assert outcome.state == "failed"
    assert "README, src/app.py" in outcome.detail
    assert "fine.txt" not in outcome.detail
    assert (photograph(project.root), project.head("main")) == (before, head)


def test_branch_that_moves_during_the_merge_is_not_overwritten(
    project: GitProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    branched(project, {"new.txt": "n\n"})
    real = integrate.new_commit

    def slow(*arguments: object, **options: object) -> str:
        made = real(*arguments, **options)  # type: ignore[arg-type]
        other = project.git("commit-tree", "main^{tree}", "-p", "main", "-m", "in between")
        project.git("update-ref", "refs/heads/main", other)
        return made

    monkeypatch.setattr(integrate, "new_commit", slow)
    assert merged(project).state == "failed"
    assert project.git("log", "-1", "--format=%s", "main") == "in between"
    project.git("checkout", "-q", "-b", "elsewhere")
    assert merged(project).state == "failed"
    assert project.git("log", "-1", "--format=%s", "main") == "in between"


def test_merge_cut_off_in_a_checkout_is_uncertain(project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
    branched(project, {"new.txt": "n\n"})
    real = integrate.run_git

    def run_git(directory: Path, *argv: str, **options: object) -> GitResult:
        if argv[0] == "merge":
            raise TryAgain("late", code="git_timeout")
        return real(directory, *argv, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(integrate, "run_git", run_git)
    assert merged(project).state == "uncertain"


def test_branch_that_is_being_rebased_is_left_alone(project: GitProject) -> None:
    branched(project, {"new.txt": "n\n"})
    base = project.head("main")
    project.write("README", "ours\n")
    project.commit("ours")
    project.git("checkout", "-q", "-b", "onto", base)
    project.write("README", "theirs\n")
    project.commit("theirs")
    project.git("checkout", "-q", "main")
    project.git("rebase", "onto", check=False)
    outcome = merged(project)
    assert outcome.state == "failed"
    assert "being rebased" in outcome.detail


def test_merge_that_a_person_has_not_concluded_is_left_alone(project: GitProject) -> None:
    branched(project, {"new.txt": "n\n"})
    project.git("checkout", "-q", "-b", "side")
    project.write("README", "side\n")
    project.commit("side")
    project.git("checkout", "-q", "main")
    project.write("README", "main\n")
    project.commit("main")
    project.git("merge", "side", check=False)
    before = photograph(project.root)
    assert merged(project).state == "failed"
    assert photograph(project.root) == before


def test_merge_goes_into_the_worktree_that_has_the_branch(project: GitProject, tmp_path: Path) -> None:
    branched(project, {"new.txt": "n\n"})
    project.git("checkout", "-q", "--detach")
    project.git("worktree", "add", "-q", str(tmp_path / "w"), "main")
    assert merged(project).state == "done"
    assert (tmp_path / "w" / "new.txt").exists()
    assert not (project.root / "new.txt").exists()


def test_merge_in_a_bare_repository_and_unknown_branches(project: GitProject, tmp_path: Path) -> None:
    branched(project, {"new.txt": "n\n"})
    project.git("clone", "-q", "--bare", str(project.root), str(tmp_path / "bare.git"))
    assert merge(tmp_path / "bare.git", "loopx/g-1", "main", "x", NOON).state == "done"
    for branch, into in (("none", "main"), ("loopx/g-1", "none")):
        with pytest.raises(Refused) as refused:
            merge(project.root, branch, into, "x", NOON)
        assert refused.value.code == "no_branch"
    with pytest.raises(Refused):
        merge(project.root, "-x", "main", "x", NOON)


def test_nothing_planted_runs_on_a_merge(project: GitProject, tmp_path: Path) -> None:
    lines = [f"print({number})\n" for number in range(9)]
    project.write("src/app.py", "".join(lines))
    project.commit("lines")
    branched(project, {"src/app.py": "".join([*lines, "print('theirs')\n"]), "new.md": "n\n"})
    project.write("src/app.py", "".join(["print('ours')\n", *lines]))
    project.commit("ours")
    plant_traps(project, tmp_path / "canary")
    project.git("config", "merge.autoStash", "true")
    assert merged(project).state == "done"
    assert not (tmp_path / "canary").exists()
    expected = ["print('ours')\n", *lines, "print('theirs')\n"]
    assert (project.root / "src" / "app.py").read_text(encoding="utf-8") == "".join(expected)


def test_git_that_cannot_merge_without_files_is_named(project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
    branched(project, {"new.txt": "n\n"})
    real = integrate.run_git
    old = GitResult(129, "", "usage: git merge-tree <base-tree> <branch1> <branch2>")
    monkeypatch.setattr(integrate, "run_git", lambda d, *a, **o: old if a[0] == "merge-tree" else real(d, *a, **o))
    with pytest.raises(Refused) as refused:
        merged(project)
    assert refused.value.code == "git_too_old"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_new_file_is_written_whole(tmp_path: Path) -> None:
    outcome = write_file(tmp_path / "out.md", b"report", None)
    assert (outcome.state, outcome.value) == ("done", sha256(b"report"))
    assert (tmp_path / "out.md").read_bytes() == b"report"
    assert [path.name for path in tmp_path.iterdir()] == ["out.md"]


def test_file_that_is_as_shown_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"old")
    path.chmod(0o750)
    assert write_file(path, b"new", sha256(b"old")).state == "done"
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o750


def test_repeated_write_is_done_without_writing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_file(path, b"new", None)
    os.utime(path, (1, 1))
    assert write_file(path, b"new", None).state == "done"
    assert path.stat().st_mtime == 1


@pytest.mark.parametrize("before", [None, "0" * 64])
def test_file_that_is_not_as_shown_is_left_alone(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"somebody's")
    assert write_file(path, b"new", before).state == "failed"
    assert path.read_bytes() == b"somebody's"
    assert write_file(tmp_path / "gone", b"new", "0" * 64).state == "failed"
    assert not (tmp_path / "gone").exists()


def test_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    monkeypatch.setattr(integrate, "_regular_mode", lambda _: path.write_bytes(b"just now") and None)
    assert write_file(path, b"new", None).state == "failed"
    assert path.read_bytes() == b"just now"
    assert [left.name for left in tmp_path.iterdir()] == ["a"]


def test_links_folders_and_devices_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"s")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "dangling").symlink_to(tmp_path / "made-through-a-link")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "dangling", "folder", "pipe"):
        for before in (None, sha256(b"s")):
            assert write_file(tmp_path / name, b"new", before).state == "failed"
    assert (tmp_path / "secret").read_bytes() == b"s"
    assert not (tmp_path / "made-through-a-link").exists()


@pytest.mark.parametrize("name", ["../out", "link/out", "/out"])
def test_path_outside_the_root_is_refused(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    outcome = write_file(Path(f"{root}/{name}") if name[0] != "/" else tmp_path / "out", b"x", None, root=root)
    assert outcome.state == "failed"
    assert not (tmp_path / "out").exists()
    assert write_file(root / "in", b"x", None, root=root).state == "done"


def test_disk_that_fails_leaves_the_old_file_and_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    outcome = write_file(path, b"new", sha256(b"old"))
    assert (outcome.state, "No space left" in outcome.detail) == ("failed", True)
    assert path.read_bytes() == b"old"
    assert [left.name for left in tmp_path.iterdir()] == ["a"]
    assert write_file(tmp_path / "none" / "a", b"x", None).state == "failed"
