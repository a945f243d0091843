"""How a result comes home: push, merge and file write, the acts behind an effect (MODEL.md 2 and 3, PAINS.md A12).

Each may be repeated, says plainly when its outcome is unknown, and never touches a person's unsaved edits.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loopx_engine.errors import Refused, TryAgain
from loopx_engine.places.commits import ENGINE_AUTHOR, move_ref, new_commit
from loopx_engine.places.git import (
    GitResult,
    at_place,
    check_branch,
    check_commit,
    is_commit,
    mask_url,
    resolve,
    run_git,
)
from loopx_engine.places.repository import Worktree, unsaved_edits, worktrees
from loopx_engine.places.tree import changed_paths, shown

# What git says before it sent anything: the push certainly did not happen.
_BEFORE_SENDING = (
    "Could not resolve host",
    "Connection refused",
    "Connection timed out",
    "Authentication failed",
    "Permission denied",
    "could not read Username",
    "could not read Password",
    "does not appear to be a git repository",
    "Repository not found",
    "repository not found",
    "Host key verification failed",
    "transport 'ext' not allowed",
)


@dataclass(frozen=True, slots=True)
class EffectOutcome:
    """`value` is what was made (a commit id, a digest) when done; `uncertain` must be read back or asked."""

    state: Literal["done", "failed", "uncertain"]
    detail: str
    value: str = ""


def push(
    repo_root: Path, sha: str, remote: str, ref: str, expected: str | None, *, timeout_s: int = 300
) -> EffectOutcome:
    """Push commit `sha` to `ref` (a branch name or a full ref) of a configured remote.

    `expected` is the remote's commit as it was shown, None for a ref that must not exist yet; only forward moves are
    made. Raises `Refused` (`unknown_remote`, `bad_ref`, `bad_commit`). A push that was cut off is `uncertain`.
    """
    full = _full_ref(ref)
    _check_remote(repo_root, remote)
    if expected is not None and not _is_ancestor(repo_root, check_commit(expected), check_commit(sha)):
        return EffectOutcome("failed", f"{sha[:12]} does not build on {expected[:12]}, which {remote} has")
    lease = f"--force-with-lease={full}:{expected or ''}"
    # `remote.<name>.receivepack` would run on this machine when the remote is a folder; the option outranks it.
    flags = ("--porcelain", "--no-verify", "--no-signed", "--receive-pack=git-receive-pack", lease)
    argv = ("push", *flags, "--", remote, f"{check_commit(sha)}:{full}")
    # A mirror would push more than was shown.
    config = ((f"remote.{remote}.mirror", "false"),)
    try:
        done = run_git(repo_root, *argv, config=config, timeout_s=timeout_s, check=False, remote=True)
    except TryAgain:
        return EffectOutcome("uncertain", f"the push to {remote} did not end within {timeout_s} s")
    return _pushed(done, remote, full, sha)


def read_remote(repo_root: Path, remote: str, ref: str, *, timeout_s: int = 60) -> str | None:
    """The commit a remote's ref is at, None when it has none. Raises `TryAgain` (`remote_unreachable`)."""
    full = _full_ref(ref)
    _check_remote(repo_root, remote)
    argv = ("ls-remote", "--upload-pack=git-upload-pack", "--", remote, full)
    listed = run_git(repo_root, *argv, timeout_s=timeout_s, check=False, remote=True)
    if listed.exit != 0:
        raise TryAgain(
            f"{remote} cannot be read: {mask_url(listed.err.strip())[-300:]}",
            code="remote_unreachable",
            next="look at the network and the sign-in, then try again",
        )
    found = [line.split("\t") for line in listed.out.splitlines()]
    return next((sha for sha, name in found if name == full), None)


def merge(
    repo_root: Path,
    branch: str,
    into: str,
    message: str,
    at_ms: int,
    *,
    author: tuple[str, str] = ENGINE_AUTHOR,
    timeout_s: int = 300,
) -> EffectOutcome:
    """Merge `branch` (a name or a full commit id) into the branch `into` by a merge commit; `value` is its id.

    A checkout of `into` gets the merged files unless they overlap with its unsaved edits; then, and on a conflict, it
    fails with the paths named and nothing changed. Raises `Refused` (`no_branch`, `git_too_old`).
    """
    target = f"refs/heads/{check_branch(into)}"
    source = resolve(repo_root, branch if is_commit(branch) else f"refs/heads/{check_branch(branch)}")
    head = resolve(repo_root, target)
    if source is None or head is None:
        missing = branch if source is None else into
        raise Refused(f"there is no branch {missing}", code="no_branch", next="look at `git branch --list`")
    if _is_ancestor(repo_root, source, head):
        return EffectOutcome("done", f"{into} has it already", head)
    tree = _merged_tree(repo_root, head, source)
    if isinstance(tree, EffectOutcome):
        return tree
    checkouts = [found for found in worktrees(repo_root) if found.branch == into and found.path.is_dir()]
    checkouts = [found for found in checkouts if not found.bare]
    paths = changed_paths(repo_root, head, tree, raw=True)
    trouble = _in_the_way(repo_root, target, checkouts, paths)
    if trouble:
        return EffectOutcome("failed", trouble)
    made = new_commit(repo_root, tree, (head, source), message.strip() + "\n", author, at_ms)
    if checkouts:
        return _merge_checked_out(checkouts[0].path, into, made, timeout_s)
    try:
        move_ref(repo_root, target, made, head, f"loopx: merge {branch}")
    except Refused as error:
        return EffectOutcome("failed", error.message)
    return EffectOutcome("done", f"merged into {into}", made)


def write_file(path: Path, data: bytes, before: str | None, *, root: Path | None = None) -> EffectOutcome:
    """Write a whole file at once or not at all; `value` is the sha256 of what is there then.

    `before` is the sha256 of the file as it was shown, None for one that must not exist; with `root` the file must
    lie below it. Mode bits of an existing file stay. Done already counts as done.
    """
    wanted = hashlib.sha256(data).hexdigest()
    if root is not None and not path.parent.resolve().is_relative_to(root.resolve()):
        return EffectOutcome("failed", f"{path} lies outside {root}")
    try:
        mode = _regular_mode(path)
        now = None if mode is None else hashlib.sha256(path.read_bytes()).hexdigest()
        if now == wanted:
            return EffectOutcome("done", "it was there already", wanted)
        if now != before:
            return EffectOutcome("failed", f"{path.name} is not as it was shown, so it was left alone")
        _replace(path, data, mode)
    except OSError as error:
        return EffectOutcome("failed", f"{path.name} was not written: {error.strerror or error}")
    return EffectOutcome("done", f"{len(data)} bytes written", wanted)


def _pushed(done: GitResult, remote: str, full: str, sha: str) -> EffectOutcome:
    lines = [line.split("\t") for line in done.out.splitlines() if line.count("\t") == 2]
    mine = next(((flag, said) for flag, refs, said in lines if refs.endswith(f":{full}")), None)
    if done.exit == 0 and mine and mine[0] in (" ", "*", "=", "+"):
        return EffectOutcome("done", f"{remote} has {sha[:12]} as {full}", sha)
    said = mask_url(mine[1] if mine else " ".join(done.err.split()))[-300:]
    if mine and mine[0] == "!" and "remote failure" not in mine[1]:
        return EffectOutcome("failed", f"{remote} did not take it: {said}")
    if mine is None and done.exit > 0 and any(sign in done.err for sign in _BEFORE_SENDING):
        return EffectOutcome("failed", f"{remote} was not reached: {said}")
    return EffectOutcome("uncertain", f"it is not known whether {remote} took it: {said or 'git was ended'}")


def _merged_tree(repo_root: Path, ours: str, theirs: str) -> str | EffectOutcome:
    argv = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    merged = run_git(repo_root, *argv, check=False, timeout_s=300)
    if merged.exit not in (0, 1):
        if "usage: git merge-tree" in merged.err or "unknown option" in merged.err:
            raise Refused("this git cannot merge without files", code="git_too_old", next="install git 2.38 or newer")
        return EffectOutcome("failed", f"git could not merge: {' '.join(merged.err.split())[-300:]}")
    tree, *names = [os.fsdecode(part) for part in merged.raw.split(b"\0") if part]
    if merged.exit == 1:
        return EffectOutcome("failed", f"both sides changed: {_listed(tuple(dict.fromkeys(names)))}")
    return tree.strip()


def _in_the_way(repo_root: Path, target: str, checkouts: list[Worktree], paths: tuple[str, ...]) -> str:
    if len(checkouts) > 1:
        return f"{target} is checked out {len(checkouts)} times"
    if target in _being_rebased(repo_root):
        return f"{target} is being rebased"
    if not checkouts:
        return ""
    edits = unsaved_edits(checkouts[0].path)
    overlap = tuple(edit for edit in edits if any(_overlaps(edit.rstrip("/"), path) for path in paths))
    return f"unsaved edits in {checkouts[0].path} would be touched: {_listed(overlap)}" if overlap else ""


def _merge_checked_out(checkout: Path, into: str, made: str, timeout_s: int) -> EffectOutcome:
    env = at_place(checkout)
    argv = ("merge", "--ff-only", "--no-autostash", "--no-overwrite-ignore", "--no-stat", "--quiet", made)
    try:
        done = run_git(checkout, *argv, env=env, check=False, timeout_s=timeout_s)
    except TryAgain:
        return EffectOutcome("uncertain", f"merging into {checkout} did not end within {timeout_s} s", made)
    if done.exit == 0:
        return EffectOutcome("done", f"merged into {into}, checked out in {checkout}", made)
    if resolve(checkout, "HEAD", env) == made or done.exit < 0:
        return EffectOutcome("uncertain", f"git was ended while it merged into {checkout}", made)
    return EffectOutcome("failed", f"git would not touch {checkout}: {' '.join(done.err.split())[-300:]}")


def _being_rebased(repo_root: Path) -> set[str]:
    """Branches a rebase in any work tree will write at its end."""
    asked = run_git(repo_root, "rev-parse", "--path-format=absolute", "--git-common-dir").raw
    common = Path(os.fsdecode(asked.rstrip(b"\n")))
    folders = [common, *(common / "worktrees").glob("*")]
    heads = [folder / kind / "head-name" for folder in folders for kind in ("rebase-merge", "rebase-apply")]
    return {head.read_text(encoding="utf-8", errors="replace").strip() for head in heads if head.is_file()}


def _overlaps(edit: str, path: str) -> bool:
    return edit == path or edit.startswith(f"{path}/") or path.startswith(f"{edit}/")


def _listed(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - 20} more" if len(paths) > 20 else ""
    return ", ".join(map(shown, paths[:20])) + more


def _is_ancestor(repo_root: Path, older: str, newer: str) -> bool:
    return run_git(repo_root, "merge-base", "--is-ancestor", older, newer, check=False).exit == 0


def _full_ref(ref: str) -> str:
    return check_branch(ref if ref.startswith("refs/") else f"refs/heads/{check_branch(ref)}")


def _check_remote(repo_root: Path, remote: str) -> None:
    configured = run_git(repo_root, "remote").out.splitlines()
    if remote not in configured or remote.startswith("-"):
        raise Refused(
            f"{mask_url(remote)[:60]!r} is not a remote of this repository",
            code="unknown_remote",
            next="add it with `git remote add`",
            details={"remotes": configured},
        )


def _regular_mode(path: Path) -> int | None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is a link, a folder or a device")
    return stat.S_IMODE(found.st_mode)


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    part = path.with_name(f".{path.name[:80]}.{os.getpid()}.{os.urandom(4).hex()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(part, flags, 0o666 if mode is None else 0o600), "wb") as file:
        try:
            file.write(data)
            file.flush()
            if mode is not None:
                os.chmod(part, mode)
            os.fsync(file.fileno())
            if mode is None:
                os.link(part, path)
            else:
                os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    if not hasattr(os, "O_DIRECTORY"):
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
