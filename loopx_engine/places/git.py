"""The one way the engine runs git: argv only, an environment built from nothing, nothing of the repository executed.

Hooks, fsmonitor, filters, merge drivers, external diff, text conversion, signing, pagers, prompts and lazy fetches are
off, whatever configuration or attributes say (MODEL.md 3). Works with git 2.34; merging needs 2.38.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loopx_engine.errors import NotFound, Refused, TryAgain

_ALWAYS: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("core.ignoreStat", "false"),
    ("core.trustctime", "true"),
    ("core.checkStat", "default"),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", ":"),
    ("color.ui", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
    ("push.recurseSubmodules", "no"),
    ("fetch.recurseSubmodules", "false"),
    ("submodule.recurse", "false"),
    ("merge.verifySignatures", "false"),
    ("merge.autoStash", "false"),
    ("merge.default", "text"),
    ("log.showSignature", "false"),
    ("i18n.commitEncoding", "UTF-8"),
    ("i18n.logOutputEncoding", "UTF-8"),
    ("init.templateDir", ""),
    ("branch.autoSetupMerge", "false"),
    ("worktree.guessRemote", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.ext.allow", "never"),
)

# These read no work file and write no index (writing one reads racy files again, through their filters: so `write-tree`
# is not here), so no filter or merge driver can be reached through them.
_NO_FILES = frozenset(
    {"cat-file", "commit-tree", "config", "fetch", "for-each-ref", "ls-remote", "merge-base", "push", "remote"}
    | {"rev-list", "rev-parse", "symbolic-ref", "update-ref"}
)
_DIFFS = frozenset({"diff", "diff-files", "diff-index", "diff-tree", "log", "show"})

# What a custom merge driver is replaced with: git's own three-way text merge.
_TEXT_MERGE = "git merge-file -q --marker-size=%L %A %O %B"

_REMOTE_VARIABLES = (
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    *(name for pair in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for name in (pair, pair.upper())),
)
_KEPT_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "TMPDIR", "USERPROFILE", "SYSTEMROOT")

_BAD_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\\ud800-\udfff]|\.\.|@\{|//")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_USERINFO = re.compile(r"([a-z][a-z0-9+.-]*://)([^/@\s]+)@", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GitResult:
    """`out` and `err` are UTF-8 with replacement; `raw` is the output's bytes, for names that are not UTF-8."""

    exit: int
    out: str
    err: str
    raw: bytes = b""


def run_git(
    directory: Path,
    *argv: str,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: int = 120,
    check: bool = True,
    remote: bool = False,
    config: Sequence[tuple[str, str]] = (),
) -> GitResult:
    """Run `git ARGV` in `directory`; `env` and `config` come on top of ours, `remote` allows network and SSH agent.

    Raises `NotFound` (`directory_missing`), `Refused` (`git_missing`; `git_failed` when `check` and the exit is not 0)
    and `TryAgain` (`git_timeout`) after its whole process group was ended.
    """
    command, environment = _prepare(directory, argv, env, timeout_s, remote, config)
    exit_code, out, err = _execute(command, directory, environment, stdin, timeout_s)
    result = GitResult(exit_code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), out)
    if check and exit_code != 0:
        raise git_failed(argv, result)
    return result


def read_git(
    directory: Path, *argv: str, max_bytes: int, env: Mapping[str, str] | None = None, timeout_s: int = 120
) -> tuple[bytes, bool]:
    """Like `run_git`, but keeps the first `max_bytes` bytes and then ends git: (bytes, was there more)."""
    command, environment = _prepare(directory, argv, env, timeout_s)
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        late = threading.Timer(timeout_s, _end, (process,))
        late.daemon = True
        late.start()
        with process:
            assert process.stdout is not None
            data = process.stdout.read(max_bytes + 1)
            if len(data) > max_bytes:
                _end(process)
        late.cancel()
        exit_code = process.returncode
        if len(data) > max_bytes:
            return data[:max_bytes], True
        if exit_code != 0:
            errors.seek(0)
            raise git_failed(argv, GitResult(exit_code, "", errors.read().decode("utf-8", "replace")))
        return data, False


def at_place(place: Path) -> dict[str, str]:
    """`GIT_DIR` and `GIT_WORK_TREE` of a place, so that git discovers nothing and `core.worktree` moves nothing.

    `.git` must lie in the place itself: a worktree that lost it never falls through to a repository further up. Raises
    `Refused` (`place_broken`) then, when it is a symbolic link, and when the `.git` file of a worktree points back into
    the place, where an agent could have made it.
    """
    if not place.is_dir():
        raise place_broken(place, "the folder is gone")
    top = place.resolve()
    marker = top / ".git"
    if marker.is_symlink():
        raise place_broken(place, ".git is a symbolic link")
    if marker.is_dir():
        return {"GIT_DIR": str(marker), "GIT_WORK_TREE": str(top)}
    if marker.is_file():
        return {"GIT_DIR": str(_linked(top, marker)), "GIT_WORK_TREE": str(top)}
    if (top / "HEAD").is_file() and (top / "objects").is_dir() and (top / "refs").is_dir():
        return {"GIT_DIR": str(top)}
    raise place_broken(place, "it has no .git, so it is not a git work tree")


def check_branch(name: str) -> str:
    """The name of a branch or a full ref, if git would take it. Raises `Refused` (`bad_ref`): `-x`, `a/../b`, `a b`."""
    parts = name.split("/")
    bad_part = any(not part or part.startswith((".", "-")) or part.endswith((".lock", ".")) for part in parts)
    if not name or len(name) > 200 or name in ("@", "HEAD") or bad_part or _BAD_REF.search(name):
        raise Refused(f"{name[:60]!r} is not the name of a branch or ref", code="bad_ref", next="choose a plain name")
    return name


def is_commit(name: str) -> bool:
    """Whether `name` is a full object id (SHA-1 or SHA-256)."""
    return bool(_COMMIT.fullmatch(name))


def check_commit(sha: str) -> str:
    """A full object id. Raises `Refused` (`bad_commit`) for anything else, short ids and expressions included."""
    if not is_commit(sha):
        raise Refused(f"{sha[:60]!r} is not a full git object id", code="bad_commit", next="give all 40 digits")
    return sha


def resolve(directory: Path, name: str, env: Mapping[str, str] | None = None) -> str | None:
    """The commit that a ref, `HEAD` or a full id names, or None."""
    if name != "HEAD" and not is_commit(name):
        check_branch(name)
    found = run_git(directory, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", env=env, check=False)
    return found.out.strip() if found.exit == 0 else None


def mask_url(text: str) -> str:
    """`text` with the credentials in its URLs masked; the plain user name of an ssh URL stays."""

    def masked(match: re.Match[str]) -> str:
        scheme, user = match.group(1), match.group(2)
        plain = scheme.lower() in ("ssh://", "git+ssh://") and ":" not in user
        return f"{scheme}{user}@" if plain else f"{scheme}***@"

    text = _USERINFO.sub(masked, text)
    return re.sub(r"(://[^\s?]+\?)\S+", r"\1***", text)


def git_failed(argv: tuple[str, ...], result: GitResult) -> Refused:
    """The error for a git command that ended badly; its message holds git's last lines, without credentials."""
    lines = [line for line in (result.err or result.out).splitlines() if line.strip()]
    said = mask_url("; ".join(lines[-3:]))[:500] or f"exit {result.exit}"
    return Refused(
        f"git {argv[0]} failed: {said}",
        code="git_failed",
        next="run `loopx doctor`, mend the repository, then try again",
        details={"exit": result.exit, "command": argv[0]},
    )


def place_broken(place: Path, why: str) -> Refused:
    """The error for a place that no turn may start in."""
    return Refused(
        f"the place {place} cannot be used: {why}",
        code="place_broken",
        next="run `loopx doctor` for the choices",
        details={"path": str(place)},
    )


def _linked(top: Path, marker: Path) -> Path:
    text = marker.read_bytes()[:4096].decode("utf-8", "surrogateescape")
    if not text.startswith("gitdir: "):
        raise place_broken(top, "its .git file names no repository")
    target = (top / text.removeprefix("gitdir: ").rstrip("\r\n")).resolve()
    if target.is_relative_to(top):
        raise place_broken(top, "its .git file points into the place itself")
    if not (target / "HEAD").exists():
        raise place_broken(top, "the repository its .git file names is gone")
    return target


def _prepare(
    directory: Path,
    argv: tuple[str, ...],
    env: Mapping[str, str] | None,
    timeout_s: int,
    remote: bool = False,
    config: Sequence[tuple[str, str]] = (),
) -> tuple[list[str], dict[str, str]]:
    environment = _environment(remote) | dict(env or {})
    program = shutil.which("git", path=environment["PATH"])
    if program is None:
        raise Refused("git is not installed", code="git_missing", next="install git 2.38 or newer, then try again")
    if not directory.is_dir():
        raise NotFound(f"{directory} is not a folder", code="directory_missing", next="name a folder that exists")
    overrides = (*_ALWAYS, *config)
    if argv[0] not in _NO_FILES:
        listing = (program, "config", "--list", "--name-only", "-z")
        exit_code, out, err = _execute(listing, directory, environment, None, timeout_s)
        if exit_code != 0:
            raise git_failed(listing[1:], GitResult(exit_code, "", err.decode("utf-8", "replace")))
        overrides += _disarmed(out.decode("utf-8", "surrogateescape").split("\0"))
    environment["GIT_CONFIG_COUNT"] = str(len(overrides))
    for number, (key, value) in enumerate(overrides):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    flags = ("--no-ext-diff", "--no-textconv") if argv[0] in _DIFFS else ()
    return [program, "--no-pager", argv[0], *flags, *argv[1:]], environment


def _disarmed(keys: list[str]) -> tuple[tuple[str, str], ...]:
    """Overrides for every filter and merge driver that the configuration in force here names."""
    overrides: dict[str, str] = {}
    for key in keys:
        section, _, rest = key.partition(".")
        name, dot, variable = rest.rpartition(".")
        if not dot:
            continue
        if section == "filter":
            overrides |= {f"filter.{name}.{kind}": "" for kind in ("clean", "smudge", "process")}
            overrides[f"filter.{name}.required"] = "false"
        elif section == "merge" and variable == "driver":
            overrides[key] = _TEXT_MERGE
    return tuple(overrides.items())


def _environment(remote: bool) -> dict[str, str]:
    kept = _KEPT_VARIABLES + (_REMOTE_VARIABLES if remote else ())
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    environment |= {
        "PATH": os.pathsep.join(folder for folder in folders if os.path.isabs(folder)),
        "LC_ALL": "C.UTF-8",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_EDITOR": ":",
        "SSH_ASKPASS_REQUIRE": "never",
    }
    if not remote:
        environment |= {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    return environment


def _execute(
    command: list[str] | tuple[str, ...],
    directory: Path,
    environment: dict[str, str],
    stdin: bytes | None,
    timeout_s: int,
) -> tuple[int, bytes, bytes]:
    process = subprocess.Popen(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        try:
            out, err = process.communicate(stdin, timeout_s)
        except BaseException as error:
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise TryAgain(
                    f"git did not end within {timeout_s} s", code="git_timeout", next="try again, or look at the disk"
                ) from error
            raise
    return process.returncode, out, err


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and what it started (ssh, a remote's own side on this machine)."""
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        process.kill()
