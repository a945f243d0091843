"""run_git: nothing of the repository is executed, nothing is inherited, every failure has a name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from places.git_project import GitProject, plant_traps

from loopx_engine.errors import NotFound, Refused, TryAgain
from loopx_engine.places.git import at_place, check_branch, check_commit, mask_url, read_git, resolve, run_git


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitProject:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return GitProject(tmp_path / "project", tmp_path / "home")


def test_answer_has_exit_text_and_bytes(project: GitProject) -> None:
    result = run_git(project.root, "rev-parse", "HEAD")
    assert (result.exit, result.out.strip(), result.err) == (0, project.head(), "")
    assert result.raw == result.out.encode()


def test_non_zero_exit_is_refused_with_the_last_lines(project: GitProject) -> None:
    with pytest.raises(Refused) as refused:
        run_git(project.root, "rev-parse", "--verify", "nothing")
    assert refused.value.code == "git_failed"
    assert "Needed a single revision" in refused.value.message
    assert refused.value.next


def test_unchecked_exit_is_returned(project: GitProject) -> None:
    assert run_git(project.root, "rev-parse", "--verify", "nothing", check=False).exit == 128


def test_missing_git_is_named_with_the_next_step(project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project.home))
    with pytest.raises(Refused) as refused:
        run_git(project.root, "version")
    assert refused.value.code == "git_missing"
    assert "install git" in refused.value.next


def test_relative_entries_of_path_are_never_searched(project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = project.write("git", "#!/bin/sh\necho planted\n")
    planted.chmod(0o755)
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", os.environ["PATH"]]))
    assert "planted" not in run_git(project.root, "version").out


def test_missing_folder_is_not_a_missing_git(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as missing:
        run_git(tmp_path / "gone", "version")
    assert missing.value.code == "directory_missing"


def test_git_that_does_not_end_is_ended_with_its_children(project: GitProject) -> None:
    os.mkfifo(project.root / "pipe")
    with pytest.raises(TryAgain) as late:
        run_git(project.root, "hash-object", "pipe", timeout_s=1)
    assert late.value.code == "git_timeout"


def test_environment_of_the_caller_is_not_inherited(project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.bare'='true'")
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    assert run_git(project.root, "rev-parse", "HEAD").out.strip() == project.head()
    shown = run_git(project.root, "-c", "alias.env=!env", "env")
    assert "s3cret" not in shown.out
    assert "GIT_TERMINAL_PROMPT=0" in shown.out


def test_ssh_agent_is_there_for_remote_calls_only(project: GitProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/agent")
    ask = ("-c", "alias.env=!env", "env")
    assert "SSH_AUTH_SOCK" not in run_git(project.root, *ask).out
    assert "SSH_AUTH_SOCK=/agent" in run_git(project.root, *ask, remote=True).out


def test_traps_do_fire_for_plain_git(project: GitProject, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    plant_traps(project, canary)
    project.write("src/app.py", "print(2)\n")
    project.git("add", "-A", check=False)
    project.git("diff", "HEAD", check=False)
    fired = canary.read_text(encoding="utf-8")
    assert "trap" in fired


@pytest.mark.parametrize(
    "argv",
    [
        ("status", "--porcelain"),
        ("add", "-A"),
        ("diff", "HEAD"),
        ("diff-tree", "-p", "HEAD~1", "HEAD"),
        ("log", "-p", "-1"),
        ("show", "HEAD"),
        ("checkout", "-f", "HEAD", "--", "."),
        ("stash",),
        ("merge", "--no-edit", "side"),
        ("merge-tree", "--write-tree", "HEAD", "side"),
        ("hash-object", "-w", "src/app.py"),
        ("update-ref", "refs/heads/new", "HEAD"),
    ],
    ids=lambda argv: argv[0],
)
def test_no_trap_fires_through_the_engine(project: GitProject, tmp_path: Path, argv: tuple[str, ...]) -> None:
    project.git("checkout", "-q", "-b", "side")
    project.write("src/app.py", "print(1)\nprint('side')\n")
    project.commit("side")
    project.git("checkout", "-q", "main")
    project.write("src/app.py", "print('main')\nprint(1)\n")
    project.write("notes.md", "n\n")
    project.commit("main")
    plant_traps(project, tmp_path / "canary")
    project.write("src/app.py", "print(3)\n")
    who = {f"GIT_{role}_{part}": "x@y" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    run_git(project.root, *argv, env=who, check=False)
    assert not (tmp_path / "canary").exists()


def test_filter_named_by_a_tracked_attribute_does_not_run(project: GitProject, tmp_path: Path) -> None:
    project.write(".gitattributes", "* filter=x.y\n")
    project.git("config", "filter.x.y.clean", f"touch '{tmp_path}/canary'; cat")
    project.write("new.txt", "kept as it is\n")
    run_git(project.root, "add", "new.txt")
    assert not (tmp_path / "canary").exists()
    assert run_git(project.root, "cat-file", "blob", ":new.txt").out == "kept as it is\n"


def test_filter_from_an_included_file_does_not_run(project: GitProject, tmp_path: Path) -> None:
    (tmp_path / "more").write_text(f"[filter \"inc\"]\n\tclean = touch '{tmp_path}/canary'\n", encoding="utf-8")
    project.git("config", "include.path", str(tmp_path / "more"))
    project.write(".gitattributes", "* filter=inc\n")
    run_git(project.root, "add", "-A")
    assert not (tmp_path / "canary").exists()


def test_custom_merge_driver_is_replaced_by_gits_own(project: GitProject) -> None:
    project.write("a.txt", "1\n2\n3\n4\n5\n")
    project.write(".gitattributes", "*.txt merge=mine\n")
    project.commit("base")
    project.git("config", "merge.mine.driver", "false")
    project.git("checkout", "-q", "-b", "side")
    project.write("a.txt", "one\n2\n3\n4\n5\n")
    project.commit("side")
    project.git("checkout", "-q", "main")
    project.write("a.txt", "1\n2\n3\n4\nfive\n")
    project.commit("main")
    tree = run_git(project.root, "merge-tree", "--write-tree", "main", "side").out.split()[0]
    assert run_git(project.root, "cat-file", "blob", f"{tree}:a.txt").out == "one\n2\n3\n4\nfive\n"


def test_damaged_configuration_is_refused(project: GitProject) -> None:
    (project.root / ".git" / "config").write_text("[core\n", encoding="utf-8")
    with pytest.raises(Refused, match="config"):
        run_git(project.root, "status")


def test_long_output_is_cut_and_git_ended(project: GitProject) -> None:
    project.write("big.txt", "line\n" * 200_000)
    project.commit("big")
    data, more = read_git(project.root, "show", "HEAD", max_bytes=1000)
    assert (len(data), more) == (1000, True)
    assert read_git(project.root, "rev-parse", "HEAD", max_bytes=1000) == (f"{project.head()}\n".encode(), False)
    with pytest.raises(Refused):
        read_git(project.root, "show", "nothing", max_bytes=1000)


@pytest.mark.parametrize(
    "name",
    [
        *("", "-x", "--upload-pack=x", "a/-x", "a/../b", "..", "a b", "a\nb", "a\0b", "/a", "a/", "a//b", "a.lock"),
        *(".a", "a/.b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "@", "HEAD", "a@{1}", "a.", "x" * 201, "a\udcff"),
    ],
)
def test_odd_branch_names_are_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        check_branch(name)
    assert refused.value.code == "bad_ref"


@pytest.mark.parametrize("name", ["main", "loopx/g-17", "feature/ä", "refs/loopx/wip/u-3", "v1.0-rc"])
def test_plain_branch_names_pass(name: str) -> None:
    assert check_branch(name) == name


@pytest.mark.parametrize("sha", ["", "HEAD", "-" + "a" * 39, "a" * 39, "A" * 40, "a" * 41, "a" * 40 + "\n"])
def test_only_full_ids_are_commits(sha: str) -> None:
    with pytest.raises(Refused):
        check_commit(sha)
    assert check_commit("a" * 40) == "a" * 40
    assert check_commit("0" * 64) == "0" * 64


def test_resolve_answers_none_for_what_is_not_there(project: GitProject) -> None:
    assert resolve(project.root, "HEAD") == project.head()
    assert resolve(project.root, "refs/heads/none") is None
    assert resolve(project.root, "a" * 40) is None
    with pytest.raises(Refused):
        resolve(project.root, "--all")


def test_place_without_git_never_falls_through_to_a_repository_above(project: GitProject) -> None:
    inner = project.root / "src"
    with pytest.raises(Refused) as refused:
        at_place(inner)
    assert refused.value.code == "place_broken"


def test_git_file_that_points_into_the_place_is_refused(project: GitProject, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", str(tmp_path / "w"))
    GitProject(tmp_path / "w" / "evil", tmp_path / "home")
    (tmp_path / "w" / ".git").write_text("gitdir: evil/.git\n", encoding="utf-8")
    with pytest.raises(Refused, match="into the place"):
        at_place(tmp_path / "w")


@pytest.mark.parametrize("text", ["", "nonsense", "gitdir: /nowhere/at/all"])
def test_git_file_that_names_nothing_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text, encoding="utf-8")
    with pytest.raises(Refused):
        at_place(tmp_path)


def test_git_folder_that_is_a_link_is_refused(project: GitProject, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").symlink_to(project.root / ".git")
    with pytest.raises(Refused, match="symbolic link"):
        at_place(tmp_path / "w")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ada:s3cret@host/x.git", "https://***@host/x.git"),
        ("https://s3cret@host/x", "https://***@host/x"),
        ("ssh://git@host/x", "ssh://git@host/x"),
        ("ssh://git:s3cret@host/x", "ssh://***@host/x"),
        ("git@host:x.git", "git@host:x.git"),
        ("https://host/x?token=s3cret", "https://host/x?***"),
        ("/srv/x.git", "/srv/x.git"),
        ("fatal: no 'https://a:b@h/x' here", "fatal: no 'https://***@h/x' here"),
    ],
)
def test_credentials_in_urls_are_masked(url: str, shown: str) -> None:
    assert mask_url(url) == shown
