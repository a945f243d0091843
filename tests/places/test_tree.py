"""Tree digest: what is not ignored counts, nothing is touched or executed, nothing can be hidden from it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places.git_project import GitProject, photograph, plant_traps

from loopx_engine.errors import Refused
from loopx_engine.places import tree
from loopx_engine.places.tree import (
    changed_paths,
    matches,
    shown,
    temporary_index,
    tree_digest,
    write_partial_tree,
    write_tree,
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitProject:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return GitProject(tmp_path / "project", tmp_path / "home")


def names_of(project: GitProject, tree_id: str) -> list[str]:
    return project.git("ls-tree", "-r", "--name-only", tree_id).splitlines()


def test_clean_place_has_the_tree_of_its_commit(project: GitProject) -> None:
    assert tree_digest(project.root) == project.head("HEAD^{tree}")
    assert write_tree(project.root) == project.head("HEAD^{tree}")


def test_digest_is_what_git_add_all_and_write_tree_give(project: GitProject) -> None:
    project.write("new.txt", "n\n")
    project.write("README", "edited\n")
    (project.root / "src" / "app.py").unlink()
    project.write(".gitignore", "*.log\n")
    project.write("noise.log", "x\n")
    ours = tree_digest(project.root)
    project.git("add", "-A")
    assert ours == project.git("write-tree")


def test_ignored_files_do_not_count_unless_they_are_tracked(project: GitProject) -> None:
    project.write("kept.log", "1\n")
    project.commit("track a log")
    project.write(".gitignore", "*.log\n")
    before = tree_digest(project.root)
    project.write("other.log", "x\n")
    assert tree_digest(project.root) == before
    project.write("kept.log", "2\n")
    assert tree_digest(project.root) != before


def test_persons_own_ignore_file_counts(project: GitProject) -> None:
    project.write(".config/git/ignore", "*.swp\n", at=project.home)
    before = tree_digest(project.root)
    project.write("a.swp", "x\n")
    assert tree_digest(project.root) == before


def test_place_and_index_and_objects_stay_as_they_are(project: GitProject) -> None:
    project.write("new.txt", "n\n")
    project.write("README", "staged\n")
    project.git("add", "README")
    project.write("README", "and edited\n")
    os.utime(project.root / "src" / "app.py", (1, 1))
    before = photograph(project.root)
    objects = sorted((project.root / ".git").rglob("*"))
    tree_digest(project.root)
    tree_digest(project.root, ["*.txt"])
    assert photograph(project.root) == before
    assert sorted((project.root / ".git").rglob("*")) == objects
    write_tree(project.root)
    assert photograph(project.root) == before


def test_written_tree_is_kept_and_a_digest_is_not(project: GitProject) -> None:
    project.write("new.txt", "n\n")
    digest = tree_digest(project.root)
    assert project.git("cat-file", "-t", digest, check=False) == ""
    assert write_tree(project.root) == digest
    assert "new.txt" in names_of(project, digest)


def test_nothing_planted_runs(project: GitProject, tmp_path: Path) -> None:
    plant_traps(project, tmp_path / "canary")
    project.write("src/app.py", "print(2)\n")
    project.write("notes.md", "n\n")
    expected = subprocess.run(
        ["git", "hash-object", "--no-filters", "src/app.py"], cwd=project.root, capture_output=True, check=True
    )
    written = write_tree(project.root)
    tree_digest(project.root, ["**"])
    assert not (tmp_path / "canary").exists()
    assert project.head(f"{written}:src/app.py") == expected.stdout.decode().strip()


def test_filter_in_a_nested_repository_does_not_run(project: GitProject, tmp_path: Path) -> None:
    nested = GitProject(project.root / "nested", project.home)
    nested.git("config", "filter.evil.clean", f"touch '{tmp_path}/canary'; cat")
    nested.git("config", "core.fsmonitor", f"touch '{tmp_path}/canary'")
    nested.write(".gitattributes", "* filter=evil\n")
    nested.write("README", "dirty\n")
    first = write_tree(project.root)
    nested.write("README", "dirtier\n")
    assert write_tree(project.root) == first
    project.git("update-index", "--add", "--cacheinfo", f"160000,{nested.head()},nested")
    write_tree(project.root)
    assert not (tmp_path / "canary").exists()


def test_submodule_counts_by_its_commit(project: GitProject, tmp_path: Path) -> None:
    library = GitProject(tmp_path / "library", project.home)
    project.git("submodule", "--quiet", "add", str(library.root), "lib")
    project.commit("add lib")
    before = tree_digest(project.root)
    project.write("lib/README", "edited\n")
    assert tree_digest(project.root) == before
    new = project.commit("in the library", at=project.root / "lib")
    assert project.head(f"{write_tree(project.root)}:lib") == new


def test_submodule_that_is_not_checked_out_stays(project: GitProject, tmp_path: Path) -> None:
    library = GitProject(tmp_path / "library", project.home)
    project.git("submodule", "--quiet", "add", str(library.root), "lib")
    project.commit("add lib")
    project.git("submodule", "--quiet", "deinit", "-f", "lib")
    assert tree_digest(project.root) == project.head("HEAD^{tree}")


def test_nested_repository_without_a_commit_is_refused_by_name(project: GitProject) -> None:
    GitProject(project.root / "nested", project.home, empty=True).write("work.txt", "w\n")
    with pytest.raises(Refused, match="nested") as refused:
        write_tree(project.root)
    assert refused.value.code == "nested_repository"


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_index_flags_hide_no_edit(project: GitProject, flag: str) -> None:
    project.git("update-index", flag, "README")
    project.write("README", "hidden?\n")
    written = write_tree(project.root)
    assert project.git("cat-file", "blob", f"{written}:README") == "hidden?"


def test_file_left_out_by_a_sparse_checkout_is_not_a_deletion(project: GitProject) -> None:
    project.git("sparse-checkout", "set", "--no-cone", "README")
    assert not (project.root / "src").exists()
    assert tree_digest(project.root) == project.head("HEAD^{tree}")


def test_core_worktree_of_a_hostile_configuration_moves_nothing(project: GitProject, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    before = tree_digest(project.root)
    project.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    assert tree_digest(project.root) == before


def test_same_size_edit_with_an_old_time_is_seen(project: GitProject) -> None:
    before = tree_digest(project.root)
    clock = (project.root / "README").stat()
    project.write("README", "hullo\n")
    os.utime(project.root / "README", ns=(clock.st_atime_ns, clock.st_mtime_ns))
    assert tree_digest(project.root) != before


def test_unborn_and_conflicted_places_have_a_digest(project: GitProject, tmp_path: Path) -> None:
    empty = GitProject(tmp_path / "empty", project.home, empty=True)
    assert tree_digest(empty.root) == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    empty.write("a", "a\n")
    assert names_of(empty, write_tree(empty.root)) == ["a"]
    project.git("checkout", "-q", "-b", "side")
    project.write("README", "side\n")
    project.commit("side")
    project.git("checkout", "-q", "main")
    project.write("README", "main\n")
    project.commit("main")
    project.git("merge", "side", check=False)
    written = write_tree(project.root)
    assert "<<<<<<<" in project.git("cat-file", "blob", f"{written}:README")
    assert names_of(project, written) == ["README", "src/app.py"]


def test_links_are_recorded_and_never_followed(project: GitProject, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("s3cret", encoding="utf-8")
    (project.root / "out").symlink_to(tmp_path / "secret")
    (project.root / "dangling").symlink_to("nowhere")
    written = write_tree(project.root)
    assert names_of(project, written) == ["README", "dangling", "out", "src/app.py"]
    assert project.git("cat-file", "blob", f"{written}:out") == str(tmp_path / "secret")


def test_folder_replaced_by_a_link_to_a_copy_is_a_change(project: GitProject, tmp_path: Path) -> None:
    (project.root / "src").rename(tmp_path / "copy")
    (project.root / "src").symlink_to(tmp_path / "copy")
    assert names_of(project, write_tree(project.root)) == ["README", "src"]
    project.write("copy/app.py", "changed outside\n", at=tmp_path)
    assert names_of(project, write_tree(project.root)) == ["README", "src"]


def test_file_becomes_folder_and_folder_becomes_file(project: GitProject) -> None:
    (project.root / "README").unlink()
    project.write("README/inside", "i\n")
    (project.root / "src" / "app.py").unlink()
    (project.root / "src").rmdir()
    project.write("src", "now a file\n")
    assert names_of(project, write_tree(project.root)) == ["README/inside", "src"]


def test_mode_counts_and_devices_do_not(project: GitProject) -> None:
    before = tree_digest(project.root)
    os.mkfifo(project.root / "pipe")
    assert tree_digest(project.root) == before
    (project.root / "README").chmod(0o755)
    assert tree_digest(project.root) != before


def test_new_file_above_the_limit_is_refused_by_name(project: GitProject) -> None:
    project.write("big.bin", "x" * 1000)
    with pytest.raises(Refused, match=r"big\.bin has 1000 bytes") as refused:
        write_tree(project.root, max_file_bytes=999)
    assert refused.value.code == "file_too_large"
    assert refused.value.details == {"path": "big.bin", "bytes": 1000}
    assert write_tree(project.root, max_file_bytes=1000)
    project.commit("it is tracked now")
    assert write_tree(project.root, max_file_bytes=10)


def test_unreadable_file_is_refused_by_name(project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("locked.txt", "x\n").chmod(0)
    if os.access(project.root / "locked.txt", os.R_OK):
        drop_privileges(monkeypatch, project)
    with pytest.raises(Refused, match=r"locked\.txt") as refused:
        tree_digest(project.root)
    assert refused.value.code == "file_unreadable"


def drop_privileges(monkeypatch: pytest.MonkeyPatch, project: GitProject) -> None:
    """Root reads everything: let git's own words for another account stand in."""
    real = tree.run_git

    def run_git(directory: Path, *argv: str, **options: object) -> object:
        if argv[0] == "update-index":
            said = "error: open(\"locked.txt\"): Permission denied\nerror: unable to index file 'locked.txt'\n"
            return tree.GitResult(128, "", said)
        return real(directory, *argv, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(tree, "run_git", run_git)


def test_names_that_are_not_plain_text_survive(project: GitProject) -> None:
    old = write_tree(project.root)
    for name in (b"bad\xff", b"line\nbreak", b"-dash", b"tab\there", "ümlaut".encode()):
        with open(os.path.join(os.fsencode(project.root), name), "wb") as file:
            file.write(b"x")
    new = write_tree(project.root)
    assert changed_paths(project.root, old, new) == ("-dash", "bad<ff>", "line<0a>break", "tab<09>here", "ümlaut")
    raw = changed_paths(project.root, old, new, raw=True)
    assert all((project.root / name).exists() for name in raw)


def test_changed_paths_between_trees_and_commits(project: GitProject) -> None:
    old = project.head()
    (project.root / "README").rename(project.root / "READ.ME")
    project.write("src/app.py", "print(2)\n")
    new = write_tree(project.root)
    assert changed_paths(project.root, old, new) == ("READ.ME", "README", "src/app.py")
    assert changed_paths(project.root, new, new) == ()
    with pytest.raises(Refused):
        changed_paths(project.root, "--output=x", new)


def test_inputs_limit_what_counts(project: GitProject) -> None:
    before = tree_digest(project.root, ["src"])
    assert len(before) == 64
    project.write("README", "edited\n")
    assert tree_digest(project.root, ["src"]) == before
    project.write("src/new.py", "x\n")
    after = tree_digest(project.root, ["src"])
    assert after != before
    (project.root / "src" / "new.py").rename(project.root / "src" / "renamed.py")
    assert tree_digest(project.root, ["src"]) not in (before, after)
    assert tree_digest(project.root, ["none/*"]) == tree_digest(project.root, ["nothing"])


def test_partial_tree_takes_only_the_named_files(project: GitProject) -> None:
    base = project.head()
    project.write("README", "the person's edit\n")
    project.write("turn.txt", "the turn's\n")
    (project.root / "src" / "app.py").unlink()
    before = photograph(project.root)
    written = write_partial_tree(project.root, base, ["turn.txt", "src/app.py"])
    assert names_of(project, written) == ["README", "turn.txt"]
    assert project.head(f"{written}:README") == project.head("HEAD:README")
    assert photograph(project.root) == before


def test_digest_of_a_worktree_is_its_own(project: GitProject, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "w", str(tmp_path / "w"))
    project.write("only-here.txt", "w\n", at=tmp_path / "w")
    assert tree_digest(project.root) == project.head("HEAD^{tree}")
    assert "only-here.txt" in names_of(project, write_tree(tmp_path / "w"))


def test_worktree_without_its_folder_is_a_broken_place(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        write_tree(tmp_path / "gone")
    assert refused.value.code == "place_broken"


def test_temporary_index_leaves_nothing_behind_on_failure(project: GitProject) -> None:
    project.write("big", "x" * 100)
    before = sorted((project.root / ".git").iterdir())
    with pytest.raises(Refused), temporary_index(project.root, max_file_bytes=1):
        pass
    assert sorted((project.root / ".git").iterdir()) == before


def test_outside_git_files_links_and_names_count(tmp_path: Path) -> None:
    place = tmp_path / "plain"
    (place / "a").mkdir(parents=True)
    (place / "a" / "x.txt").write_text("1", encoding="utf-8")
    first = tree_digest(place)
    os.utime(place / "a" / "x.txt", (1, 1))
    assert tree_digest(place) == first
    (place / "link").symlink_to("/etc")
    second = tree_digest(place)
    (place / "link").unlink()
    (place / "link").symlink_to("/usr")
    third = tree_digest(place)
    (place / "a" / "x.txt").rename(place / "a" / "y.txt")
    assert len({first, second, third, tree_digest(place)}) == 4
    os.mkfifo(place / "pipe")
    assert tree_digest(place, ["link"]) == tree_digest(place, ["link", "none"])


def test_outside_git_inputs_limits_and_unreadable_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b.bin").write_bytes(b"x" * 100)
    (tmp_path / "a.txt").write_bytes(b"a")
    before = tree_digest(tmp_path, ["*.txt"])
    (tmp_path / "b.bin").write_bytes(b"y" * 100)
    assert tree_digest(tmp_path, ["*.txt"]) == before
    with pytest.raises(Refused, match=r"b\.bin has 100 bytes"):
        tree_digest(tmp_path, max_file_bytes=99)
    with pytest.raises(Refused, match="gone"):
        tree_digest(tmp_path / "gone")


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("src", "src/a/b.py", True),
        ("src/", "src/a.py", True),
        ("src", "source/a.py", False),
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/deep/a.py", True),
        ("src/**", "src/a", True),
        ("src/**", "src", False),
        ("src/**/test_*.py", "src/x/y/test_a.py", True),
        ("docs/*/images", "docs/en/images/a.png", True),
        ("docs/*/images", "docs/en/more/images/a.png", False),
        ("**", "anything/at/all", True),
        ("./README", "README", True),
        ("[ab].txt", "a.txt", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("", "a", False),
        ("/", "a", False),
        ("*", ".hidden", True),
        ("SRC", "src/a", False),
    ],
)
def test_globs(glob: str, path: str, expected: bool) -> None:
    assert matches([glob], path) is expected


def test_any_glob_is_enough_and_no_glob_matches_nothing() -> None:
    assert matches(["x", "a/*"], "a/b")
    assert not matches([], "a")


def test_hostile_glob_ends_soon() -> None:
    assert not matches(["/".join(["**", "a*a*a*"] * 12) + "/z"], "/".join(["aaaa"] * 40))


@given(st.lists(st.text("abc", min_size=1), min_size=1, max_size=6))
def test_every_path_matches_itself_its_parents_and_everything(parts: list[str]) -> None:
    path = "/".join(parts)
    assert matches([path], path)
    assert matches(["**"], path)
    assert all(matches(["/".join(parts[:depth])], path) for depth in range(1, len(parts) + 1))


@given(st.binary(max_size=40))
def test_shown_names_are_valid_printable_text(name: bytes) -> None:
    text = shown(os.fsdecode(name))
    text.encode("utf-8")
    assert text == "" or text.isprintable()
