"""What a box shows: an ordered list of layers over a read-only root, in which the more specific path always wins.

Homes, temporary folders and sockets are hidden; toolchains, the running interpreter and git's data come back read-only,
the place and what was asked for writable. Pure but for looking at the file system; raises `Refused` (`place_hidden`).
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loopx_engine.errors import Refused

State = Literal["hidden", "empty", "read_only", "writable", "link"]
GONE = ("hidden", "empty")

TEMPORARY = ("/tmp", "/var/tmp")
HIDDEN = ("/home", "/root", "/run", "/var/run", "/media")
RUN_SHOWN = ("/etc/resolv.conf", "/run/current-system")
NEVER_COVERED = ("/usr", "/bin", "/sbin", "/lib", "/etc", "/dev", "/proc", "/sys", "/opt", "/nix/store")
SECRET_FILES = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
)
# In a home: what programs need to run, read-only. Caches that their tool cannot use read-only (npm, uv, pip) stay away:
# an empty home serves those better. Folders that also keep sign-ins are named by their harmless parts.
TOOLCHAINS = (
    ".pyenv", ".rye", ".pixi", "miniconda3", "miniforge3", ".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx",
    ".local/share/uv/python", ".local/share/uv/tools", ".local/share/mise", ".local/share/pnpm", ".local/share/fnm", ".asdf",
    ".nvm", ".volta", ".fnm", ".bun/bin", ".bun/install/global", ".deno/bin", ".yarn/berry/cache",
    ".cache/ms-playwright", ".cache/puppeteer", ".cargo/bin", ".cargo/env", ".cargo/registry", ".cargo/git", ".rustup",
    "go/bin", "go/pkg/mod", ".rbenv", ".rvm", ".gem/ruby", ".sdkman/candidates", ".jenv", ".m2/repository", ".dotnet",
    ".nuget/packages", ".ghcup", ".opam", ".juliaup", ".elan",
)  # fmt: skip
SECRETS = (
    ".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".config/gh", ".kube", ".docker", ".netrc", ".npmrc", ".pypirc",
    ".git-credentials", ".config/git/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".password-store",
    ".local/share/keyrings", ".config/pip", ".m2/settings.xml", ".gem/credentials",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mounts:
    """What a box shows: `place` writable; `hidden` folders are empty; `socket` is bound in for the turn's tools.

    Of two paths the deeper one wins; on the same path hidden wins over writable, writable over read-only. A hidden path
    that does not exist yet cannot be hidden: name its folder. `.git` of the place is never writable.
    """

    place: Path
    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    socket: Path | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """One path of the box, resolved. `empty` is hidden and there, as a folder; a `link` in a hidden one leads to `target`."""

    path: str
    state: State
    target: str = ""


def layers(mounts: Mounts, environment: Mapping[str, str], *, temporary: State = "empty") -> list[Layer]:
    """The layers to lay over a read-only root, parents first; those that would change nothing are left out."""
    wanted = _Wanted()
    homes = _homes(environment)
    place = os.path.realpath(mounts.place)
    for path in (*TEMPORARY, *_own_temporary(environment, place)):
        wanted.add(path, temporary)
    wanted.add_all(HIDDEN, "hidden")
    for home in homes:
        wanted.add(home, "empty")
        wanted.add_all((os.path.join(home, name) for name in TOOLCHAINS), "read_only")
    wanted.add_all(RUN_SHOWN, "read_only")
    wanted.add_all(mounts.read_only, "read_only")
    wanted.add_all((mounts.place, *mounts.writable), "writable")
    wanted.add_all(_own_programs(homes), "read_only")
    for folder in (place, *(os.path.realpath(path) for path in mounts.writable)):
        wanted.add_all(_git_data(folder), "read_only")
    wanted.add_all((os.path.join(home, name) for home in homes for name in SECRETS), "hidden")
    wanted.add_all(SECRET_FILES, "hidden")
    wanted.add_all(mounts.hidden, "hidden")
    bad = [path for path in mounts.hidden if not _coverable(os.path.realpath(path))]
    if bad or wanted.states.get(place) == "hidden":
        raise Refused(f"{bad[0] if bad else place} cannot be hidden", code="place_hidden", next="name other folders")
    if mounts.socket is not None:
        wanted.add(mounts.socket, "writable")
    wanted.add_links(environment.get("HOME", ""))
    return wanted.ordered()


class _Wanted:
    """Paths with their states, the last word on a path standing; what does not exist is passed over."""

    def __init__(self) -> None:
        self.states: dict[str, State] = {}
        self.links: dict[str, str] = {}

    def add(self, given: str | Path, state: State) -> None:
        real = os.path.realpath(given)
        if not os.path.exists(real) or (state in GONE and not _coverable(real)):
            return
        self.states[real] = state
        if state != "hidden":
            self.add_links(given)

    def add_all(self, given: Iterator[str] | tuple[str | Path, ...], state: State) -> None:
        for path in given:
            self.add(path, state)

    def add_links(self, given: str | Path) -> None:
        """The symbolic links on the way to a path: where they lie in a hidden folder they are made again."""
        at = os.sep
        for part in Path(os.path.abspath(given)).parts[1:] if str(given) else ():
            here = os.path.join(at, part)
            at = os.path.realpath(here)
            if os.path.islink(here):
                self.links[here] = at

    def ordered(self) -> list[Layer]:
        found = []
        for path in sorted({*self.states, *self.links}, key=lambda path: (path.count(os.sep), path)):
            above = self._above(path)
            state = self.states.get(path)
            if state is not None:
                if state == "empty" or (state != above and not (state == "hidden" and above == "empty")):
                    found.append(Layer(path, state))
            elif above in GONE:
                found.append(Layer(path, "link", self.links[path]))
        return found

    def _above(self, path: str) -> State:
        """The state of the nearest folder above; the root is read-only."""
        return next((self.states[str(up)] for up in Path(path).parents if str(up) in self.states), "read_only")


def _coverable(path: str) -> bool:
    """Whether a folder may be emptied: not the root, nor one that holds the system."""
    return not any(Path(kept).is_relative_to(path) for kept in NEVER_COVERED)


def _homes(environment: Mapping[str, str]) -> list[str]:
    """Every folder that is this account's home by one account or another."""
    given = [environment.get("HOME", ""), os.environ.get("HOME", "")]
    if sys.platform != "win32":
        import pwd

        with contextlib.suppress(KeyError):
            given.append(pwd.getpwuid(os.getuid()).pw_dir)
    return list(dict.fromkeys(os.path.realpath(home) for home in given if os.path.isabs(home)))


def _own_temporary(environment: Mapping[str, str], place: str) -> list[str]:
    """The folders that `TMPDIR` and the like name, unless they lie in the place, where they are writable already."""
    named = (environment.get(name, "") for name in ("TMPDIR", "TMP", "TEMP"))
    real = (os.path.realpath(path) for path in named if os.path.isabs(path))
    return [path for path in real if not Path(path).is_relative_to(place) and path != place]


def _own_programs(homes: list[str]) -> Iterator[str]:
    """The running interpreter and LoopX itself: visible, and read-only even where they lie in the place."""
    for prefix in dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)):
        if any(Path(home).is_relative_to(os.path.realpath(prefix)) for home in homes):
            yield from (
                os.path.join(prefix, name) for name in ("bin", "lib", "lib64", "include", "share", "pyvenv.cfg")
            )
        else:
            yield prefix
    package = Path(__file__).resolve().parents[1]
    yield from (str(package), str(package.with_name("loopx_tui")))


def _git_data(folder: str) -> Iterator[str]:
    """The `.git` of a folder, and for a worktree the repository it belongs to with what that borrows from.

    A repository elsewhere is shown only if it names this folder as its own: a `.git` file is text that an agent may write.
    """
    own = os.path.join(folder, ".git")
    if os.path.islink(own) or not os.path.exists(own):
        return
    yield own
    common = None if os.path.isdir(own) else _common_folder(folder, own)
    if common is None or Path(common).is_relative_to(folder):
        return
    yield common
    seen = [os.path.join(common, "objects")]
    for objects in seen:
        listed = _text(os.path.join(objects, "info", "alternates")).splitlines()
        borrowed = [
            os.path.realpath(os.path.join(objects, line)) for line in listed if line and not line.startswith("#")
        ]
        seen += [
            path for path in borrowed if path not in seen and os.path.basename(path) == "objects" and len(seen) < 16
        ]
    yield from seen[1:]


def _common_folder(folder: str, own: str) -> str | None:
    """The repository a `.git` file leads to, if that repository leads back."""
    link = _text(own)
    if not link.startswith("gitdir: "):
        return None
    data = os.path.realpath(os.path.join(folder, link.removeprefix("gitdir: ").strip()))
    back = _text(os.path.join(data, "gitdir")).strip()
    common = os.path.realpath(os.path.join(data, _text(os.path.join(data, "commondir")).strip() or "."))
    whole = all(os.path.exists(os.path.join(common, name)) for name in ("HEAD", "objects", "refs"))
    mine = os.path.realpath(os.path.join(data, back)) == own if back else _work_tree(data) == folder
    return common if whole and mine else None


def _work_tree(data: str) -> str | None:
    """`core.worktree` of a submodule's repository."""
    lines = (line.strip().partition("=") for line in _text(os.path.join(data, "config")).splitlines())
    named = next((value.strip() for name, _, value in lines if name.strip() == "worktree"), None)
    return os.path.realpath(os.path.join(data, named)) if named else None


def _text(path: str) -> str:
    """The beginning of a regular file (a pipe would hold the reader for ever); "" for all else, and for what is no text."""
    if not os.path.isfile(path):
        return ""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(65_536)
    except OSError:
        return ""
    return "" if "\0" in text else text
