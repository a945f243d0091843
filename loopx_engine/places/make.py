"""Make, inspect and drop the place of a goal: a worktree, a clone, the project in place, or a plain directory.

Making survives a crash half way and may be repeated; nothing here removes work that is nowhere else (PAINS.md A11).
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loopx_engine.errors import NotFound, Refused
from loopx_engine.places.git import at_place, check_branch, check_commit, place_broken, resolve, run_git
from loopx_engine.places.repository import Repository, Worktree, identity, need_repository, worktrees
from loopx_engine.places.tree import temporary_index, tree_digest

PlaceKind = Literal["worktree", "clone", "in-place", "directory"]

# A worktree with this lock was never handed to a turn: it may be filled again from its branch.
_BEING_MADE = "loopx: being made"

# The other side of a transfer on this machine is git's own program, whatever the configuration names.
_OWN_SIDE = "--upload-pack=git-upload-pack"


@dataclass(frozen=True, slots=True)
class MadePlace:
    """`base` is the commit the branch was begun at, "" where there is no git; `branch` is "" when detached."""

    path: Path
    kind: PlaceKind
    branch: str
    base: str


def make_place(
    kind: PlaceKind, project: Path, path: Path, branch: str, base: str | None, *, detached: bool = False
) -> MadePlace:
    """Make the place, or return it when it is there and right.

    `base` is the commit to begin at, by default the project's HEAD; record it, and give it when the place is made
    again. `detached` makes a further worktree at the head of an existing `branch`. Raises `NotFound`
    (`project_missing`), `Refused`: `no_repository`, `no_commits`, `branch_exists`, `branch_in_use`, `place_broken`.
    """
    if kind == "directory":
        inspect_place(kind, project, project, branch)
        return MadePlace(project, kind, "", "")
    repository = need_repository(project)
    if kind == "in-place":
        return MadePlace(repository.root, kind, repository.branch or "", repository.head or "")
    check_branch(branch)
    if "\n" in str(path) or not path.is_absolute():
        raise Refused(f"{str(path)!r} cannot be a place", code="bad_path", next="give an absolute path")
    start = resolve(repository.root, check_commit(base) if base else "HEAD")
    if start is None:
        raise Refused(
            "the repository has no commit to begin at", code="no_commits", next="commit something, or use in-place"
        )
    if kind == "clone":
        _make_clone(repository, path, branch, start, given=base is not None)
    else:
        start = _make_worktree(repository, path, branch, start, given=base is not None, detached=detached)
    inspect_place(kind, project, path, branch, detached=detached)
    return MadePlace(path, kind, "" if detached else branch, start)


def inspect_place(
    kind: PlaceKind,
    project: Path,
    path: Path,
    branch: str,
    *,
    expected_identity: str | None = None,
    detached: bool = False,
) -> None:
    """Prove before a turn that the place is the expected one, of the expected repository, on the expected branch.

    Raises `NotFound` (`project_missing`) or `Refused` (`place_broken`, `no_repository`).
    """
    if kind == "directory":
        if not path.is_dir():
            raise NotFound(f"{path} is gone", code="project_missing", next="`loopx project add` where it is now")
        return
    repository = need_repository(project)
    if expected_identity and identity(repository) != expected_identity:
        raise place_broken(path, "the project's folder holds another repository now")
    if not path.is_dir() or path.is_symlink():
        raise place_broken(path, "the folder is gone")
    if kind == "in-place":
        if path.resolve() != repository.root.resolve():
            raise place_broken(path, "it is not the top of the project's repository")
        return
    env = at_place(path)
    git_dir = Path(env["GIT_DIR"])
    if kind == "worktree":
        _inspect_worktree(repository, path, git_dir)
    elif not (path / ".git").is_dir():
        raise place_broken(path, "it is not a clone of its own")
    elif repository.root_commit and resolve(path, repository.root_commit, env) is None:
        raise place_broken(path, "it is a clone of another repository")
    named = run_git(path, "symbolic-ref", "--quiet", "HEAD", env=env, check=False).out.strip()
    expected = "" if detached else f"refs/heads/{branch}"
    if named != expected or resolve(path, "HEAD", env) is None:
        raise place_broken(path, f"it is on {named or 'no branch'}, not on {expected or 'no branch'}")


def fetch_back(project: Path, path: Path, branch: str) -> str:
    """Bring a clone's branch, and the work saved in it, into the project's repository; returns the branch's head.

    Only forward: raises `Refused` (`git_failed`) when the project's branch has commits that the clone's has not.
    """
    repository = need_repository(project)
    ref = f"refs/heads/{check_branch(branch)}"
    at_place(path)
    flags = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc", "--quiet", _OWN_SIDE)
    specs = (f"{ref}:{ref}", "refs/loopx/wip/*:refs/loopx/wip/*")
    only_files = {"GIT_ALLOW_PROTOCOL": "file"}
    run_git(repository.root, "fetch", *flags, "--", str(path.resolve()), *specs, env=only_files, timeout_s=600)
    head = resolve(repository.root, ref)
    assert head is not None
    return head


def work_at_risk(kind: PlaceKind, project: Path, path: Path) -> tuple[str, ...]:
    """What dropping the place would lose, one sentence each: edits saved nowhere, commits the project has not.

    Ignored files do not count as work. Work saved with `save_wip` (and fetched back from a clone) is not at risk.
    """
    if kind in ("in-place", "directory") or not path.exists():
        return ()
    repository = need_repository(project)
    env = at_place(path)
    head = resolve(path, "HEAD", env)
    said = []
    formats = ("--format=%(tree)", "refs/loopx/wip/", "refs/heads/")
    saved = set(run_git(repository.root, "for-each-ref", *formats).out.split())
    if head:
        saved.add(run_git(path, "rev-parse", f"{head}^{{tree}}", env=env).out.strip())
    tree = tree_digest(path, max_file_bytes=None)
    if tree not in saved:
        said.append("edits that are committed nowhere" + _named_edits(path, env))
    elif _staged_tree(path) not in saved:
        said.append("staged edits that are committed nowhere")
    tips = [head] if head else []
    if kind == "clone":
        mine = run_git(
            path, "for-each-ref", "--format=%(objectname)", "refs/heads/", "refs/loopx/", "refs/stash", env=env
        )
        tips += mine.out.split()
    lost = [tip for tip in dict.fromkeys(tips) if not _has(repository, tip)]
    said += [f"commit {tip[:12]}, which no branch of the project holds" for tip in lost]
    return tuple(said + _nested_at_risk(path, env))


def drop_place(kind: PlaceKind, project: Path, path: Path) -> None:
    """Remove a worktree or clone that holds no work; its branch stays. The project itself is never removed.

    No process may be running in it. Raises `Refused` (`place_holds_work`, with `details["work"]`).
    """
    if kind in ("in-place", "directory"):
        return
    repository = need_repository(project)
    entry = _entry(repository, path) if kind == "worktree" else None
    if path.exists():
        at_risk = work_at_risk(kind, project, path)
    else:
        lost = entry is not None and entry.branch is None and entry.head.strip("0") and not _has(repository, entry.head)
        at_risk = (f"commit {entry.head[:12]}, which no branch of the project holds",) if entry and lost else ()
    if at_risk:
        raise Refused(
            f"{path} holds work that is nowhere else: {'; '.join(at_risk)}",
            code="place_holds_work",
            next="commit or save it first",
            details={"path": str(path), "work": list(at_risk)},
        )
    if kind == "clone":
        if path.exists():
            shutil.rmtree(path)
    elif entry is not None:
        run_git(repository.root, "worktree", "remove", "--force", "--", str(entry.path), timeout_s=600)
    elif path.exists():
        raise place_broken(path, "it is not a worktree of the project")


def _make_worktree(repository: Repository, path: Path, branch: str, start: str, given: bool, detached: bool) -> str:
    root, ref = repository.root, f"refs/heads/{branch}"
    tip = resolve(root, ref)
    entry = _entry(repository, path)
    occupied = path.is_symlink() or path.is_file() or (path.is_dir() and any(path.iterdir()))
    if entry and occupied and entry.locked != _BEING_MADE:
        return start
    if occupied and not entry:
        raise place_broken(path, "something else is there already")
    if entry and entry.locked not in (None, _BEING_MADE, "initializing"):
        raise place_broken(path, f"the worktree is locked: {entry.locked or 'no reason given'}")
    if entry and entry.branch is None and entry.head.strip("0") and not _has(repository, entry.head):
        raise place_broken(path, f"it vanished, and only it knew commit {entry.head[:12]}")
    if detached and tip is None:
        raise Refused(f"there is no branch {branch}", code="no_branch", next="make the goal's own place first")
    if tip and not detached:
        _check_reuse(repository, branch, tip, start, given)
        _check_free(repository, path, branch)
    if not (entry and (path / ".git").is_file()):
        force = ("--force", "--force") if entry else ()
        argv = ("worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", _BEING_MADE, *force)
        if detached:
            run_git(root, *argv, "--detach", "--", str(path), ref)
        elif tip:
            run_git(root, *argv, "--", str(path), branch)
        else:
            run_git(root, *argv, "--no-track", "-b", branch, "--", str(path), start)
    # The network is for a partial clone, whose missing files come from its remote.
    run_git(path, "read-tree", "--reset", "-u", "HEAD", env=at_place(path), timeout_s=900, remote=True)
    run_git(root, "worktree", "unlock", "--", str(path))
    return tip if detached and tip else start


def _check_reuse(repository: Repository, branch: str, tip: str, start: str, given: bool) -> None:
    """An existing branch is this goal's only when it begins at the recorded base, or is still where it would begin."""
    if tip != start and not (given and _is_ancestor(repository.root, start, tip)):
        raise Refused(
            f"the branch {branch} is there already, with other work",
            code="branch_exists",
            next=f"rename it (`git branch -m {branch} NEW`), or give the base it began at",
            details={"branch": branch, "head": tip},
        )


def _check_free(repository: Repository, path: Path, branch: str) -> None:
    for other in worktrees(repository.root):
        if other.branch == branch and other.path.resolve() != path.resolve() and other.path.exists():
            raise Refused(
                f"the branch {branch} is checked out in {other.path}",
                code="branch_in_use",
                next="use that place, or make a detached one",
            )


def _make_clone(repository: Repository, path: Path, branch: str, start: str, given: bool) -> None:
    """A full copy through git's transport: no shared objects, no template, no way back to the project."""
    if path.exists():
        return
    ref = f"refs/heads/{branch}"
    tip = resolve(repository.root, ref)
    if tip:
        _check_reuse(repository, branch, tip, start, given)
    part = path.with_name(f"{path.name}.part")
    if part.exists():
        shutil.rmtree(part)
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = (
        "--quiet",
        "--no-local",
        "--no-hardlinks",
        "--no-checkout",
        "--template=",
        "--no-recurse-submodules",
        _OWN_SIDE,
    )
    source = str(repository.git_dir if repository.is_bare else repository.root)
    only_files = {"GIT_ALLOW_PROTOCOL": "file"}
    run_git(path.parent, "clone", *flags, "--", source, str(part), env=only_files, timeout_s=900)
    env = at_place(part)
    run_git(part, "update-ref", ref, tip or start, env=env)
    run_git(part, "symbolic-ref", "HEAD", ref, env=env)
    run_git(part, "remote", "remove", "origin", env=env)
    run_git(part, "read-tree", "--reset", "-u", "HEAD", env=env, timeout_s=900)
    os.rename(part, path)


def _inspect_worktree(repository: Repository, path: Path, git_dir: Path) -> None:
    if git_dir.parent != repository.git_dir.resolve() / "worktrees":
        raise place_broken(path, "it is not a worktree of the project")
    back = (git_dir / "gitdir").read_bytes().decode("utf-8", "surrogateescape").strip()
    if Path(back).resolve() != (path / ".git").resolve():
        raise place_broken(path, "its repository expects the worktree elsewhere")
    locked = git_dir / "locked"
    unfinished = locked.is_file() and locked.read_text(encoding="utf-8", errors="replace").strip() == _BEING_MADE
    if unfinished or not (git_dir / "index").is_file():
        raise place_broken(path, "its files were never completely written")


def _entry(repository: Repository, path: Path) -> Worktree | None:
    wanted = path.resolve()
    return next((tree for tree in worktrees(repository.root)[1:] if tree.path.resolve() == wanted), None)


def _is_ancestor(root: Path, older: str, newer: str) -> bool:
    return run_git(root, "merge-base", "--is-ancestor", older, newer, check=False).exit == 0


def _has(repository: Repository, commit: str) -> bool:
    argv = ("for-each-ref", "--count=1", "--format=%(refname)", "--contains", check_commit(commit))
    found = run_git(repository.root, *argv, check=False)
    return found.exit == 0 and bool(found.out.strip())


def _staged_tree(path: Path) -> str:
    with temporary_index(path, keep=False, only=()) as env:
        return run_git(path, "write-tree", env=env).out.strip()


def _named_edits(path: Path, env: dict[str, str]) -> str:
    status = run_git(path, "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty", env=env).out
    names = [entry[3:] for entry in status.split("\0") if entry]
    return f": {', '.join(names[:5])}{' ...' if len(names) > 5 else ''}" if names else ""


def _nested_at_risk(path: Path, env: dict[str, str]) -> list[str]:
    """Submodules and nested repositories are recorded by commit, so what only they hold would be lost."""
    listed = run_git(path, "ls-files", "-s", "-z", env=env).raw.split(b"\0")
    names = [os.fsdecode(entry.partition(b"\t")[2]) for entry in listed if entry.startswith(b"160000 ")]
    others = run_git(path, "ls-files", "-o", "-z", env=env).raw.split(b"\0")
    names += [os.fsdecode(name).rstrip("/") for name in others if name.endswith(b"/")]
    said = []
    for name in dict.fromkeys(names):
        nested = path / name
        if nested.is_symlink() or not (nested / ".git").exists():
            continue
        inside = at_place(nested)
        dirty = run_git(nested, "status", "--porcelain", "--ignore-submodules=dirty", env=inside, check=False)
        ahead = run_git(nested, "rev-list", "--max-count=1", "HEAD", "--not", "--remotes", env=inside, check=False)
        if dirty.exit or dirty.out or ahead.exit or ahead.out:
            said.append(f"work inside the repository {name}")
    return said
