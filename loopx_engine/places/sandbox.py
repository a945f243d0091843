"""The box: where agents' programs run. bubblewrap on Linux, `sandbox-exec` on macOS (written, not run yet), else none, and said.

Inside: the place is writable, the rest of the file system read-only, the home hidden but for toolchains and caches, keys
and ledger not there, `.git` read-only, no process of outside visible, network as asked. The environment travels by the
process, never in an argv that others could list.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from loopx_engine.model.record import noun

Kind = Literal["bubblewrap", "sandbox-exec", "none"]
PROBE_S = 10
TOOLCHAINS = (
    ".pyenv", ".cargo", ".rustup", ".nvm", ".volta", ".local/bin", ".local/share/uv", ".local/share/pnpm", ".local/lib",
    ".npm", ".cache/pip", ".cache/uv", ".cache/yarn", ".bun", ".deno", "go", ".sdkman", ".m2", ".gradle",
)  # fmt: skip
HIDDEN_IN_HOME = (".ssh", ".aws", ".gnupg", ".config/gcloud", ".azure", ".kube", ".docker", ".netrc", ".cargo/credentials.toml")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/srv")
SECRET_FILES = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh")


@noun
class Box:
    """What this machine can do; `reason` says why it is `none`."""

    kind: Kind
    reason: str = ""


@noun
class Mounts:
    """What a box shows: `place` writable; `hidden` folders are empty; `socket` is bound in for the turn's tools."""

    place: Path
    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    socket: Path | None = None


def probe() -> Box:
    """The box of this machine, found by really starting one (once a process)."""
    return _probe()


@lru_cache(maxsize=1)
def _probe() -> Box:
    platform: str = sys.platform
    if platform == "linux":
        return _probe_bubblewrap()
    if platform == "darwin" and shutil.which("sandbox-exec"):
        return Box(kind="sandbox-exec", reason="its profile is written and was not run yet")
    return Box(kind="none", reason=f"no sandbox is known for {platform}")


def _probe_bubblewrap() -> Box:
    if not shutil.which("bwrap"):
        return Box(kind="none", reason="bubblewrap (bwrap) is not installed")
    with tempfile.TemporaryDirectory(prefix="loopx-probe-") as folder:
        argv = boxed(
            Box(kind="bubblewrap"), [shutil.which("true") or "/bin/true"], mounts=Mounts(place=Path(folder)), network=False, environment={}
        )
        try:
            done = subprocess.run(argv, capture_output=True, timeout=PROBE_S, check=False, env={"PATH": os.defpath})
        except (OSError, subprocess.TimeoutExpired) as error:
            return Box(kind="none", reason=f"bubblewrap does not start: {error}")
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return Box(kind="none", reason=f"bubblewrap does not work here: {said[-1][:200] if said else done.returncode}")
    return Box(kind="bubblewrap")


def boxed(
    box: Box, argv: Sequence[str], *, mounts: Mounts, network: bool, environment: Mapping[str, str]
) -> list[str]:
    """The argv that runs a program in the box; the same argv where there is none."""
    if box.kind == "bubblewrap":
        return [*_bubblewrap(mounts, network, environment), "--", *argv]
    if box.kind == "sandbox-exec":
        return ["sandbox-exec", "-p", profile(mounts, network), *argv]
    return list(argv)


def _bubblewrap(mounts: Mounts, network: bool, environment: Mapping[str, str]) -> list[str]:
    home = Path(environment.get("HOME") or Path.home())
    args = [
        "bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    ]  # fmt: skip
    if not network:
        args.append("--unshare-net")
    for folder in ("/tmp", "/var/tmp", "/run", "/dev/shm", "/mnt", "/media", "/root", "/home"):  # noqa: S108
        if Path(folder).is_dir() and not Path(folder).is_symlink():
            args += ["--tmpfs", folder]
    if home.is_dir():
        args += ["--tmpfs", str(home.resolve())]
    args += _toolchains(home)
    args += _resolver(network)
    for path in mounts.read_only:
        args += ["--ro-bind-try", str(path), str(path)]
    for path in mounts.hidden:
        if path.is_dir():
            args += ["--tmpfs", str(path.resolve())]
    for secret in SECRET_FILES:
        args += _masked(Path(secret))
    place = mounts.place.resolve()
    args += ["--bind", str(place), str(place)]
    for path in mounts.writable:
        args += ["--bind", str(path.resolve()), str(path.resolve())]
    args += _repository(place)
    args += _hidden_inside(place, mounts.hidden)
    if mounts.socket is not None:
        args += ["--bind", str(mounts.socket), str(mounts.socket)]
    return [*args, "--chdir", str(place)]


def _toolchains(home: Path) -> list[str]:
    """Toolchains and caches of the home, and whatever the running interpreter lives in, read-only."""
    args: list[str] = []
    root = home.resolve()
    for name in TOOLCHAINS:
        path = root / name
        if path.exists():
            args += ["--ro-bind", str(path), str(path)]
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix, sys.exec_prefix)):
        path = Path(prefix).resolve()
        if not str(path).startswith(SYSTEM) and path != Path("/") and path.is_dir():
            args += ["--ro-bind", str(path), str(path)]
    for name in HIDDEN_IN_HOME:
        args += _masked(root / name)
    return args


def _masked(path: Path) -> list[str]:
    """An empty folder or file in the place of a secret one; nothing where it is already hidden or absent."""
    try:
        if path.is_symlink() or not path.exists():
            return []
    except OSError:
        return []
    hidden = any(str(path).startswith(f"{top}/") for top in ("/root", "/home")) and ".cargo" not in path.parts
    if hidden:
        return []
    return ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]


def _resolver(network: bool) -> list[str]:
    """The name resolver's files, where `/etc/resolv.conf` points into a hidden folder."""
    target = Path("/etc/resolv.conf")
    if not network or not target.is_symlink():
        return []
    real = target.resolve()
    return ["--ro-bind-try", str(real), str(real)] if real.is_file() else []


def _repository(place: Path) -> list[str]:
    """Git's own data read-only: the place's `.git` (file or folder) and the repository a worktree belongs to."""
    own = place / ".git"
    if own.is_dir():
        return ["--ro-bind", str(own), str(own)]
    if not own.is_file():
        return []
    args = ["--ro-bind", str(own), str(own)]
    common = _common_folder(own)
    return [*args, "--ro-bind", str(common), str(common)] if common is not None and common.is_dir() else args


def _common_folder(link: Path) -> Path | None:
    """The common git folder a worktree's `.git` file leads to."""
    text = link.read_text(encoding="utf-8", errors="replace").strip()
    if not text.startswith("gitdir:"):
        return None
    folder = (link.parent / text.removeprefix("gitdir:").strip()).resolve()
    common = folder / "commondir"
    return (folder / common.read_text(encoding="utf-8").strip()).resolve() if common.is_file() else folder


def _hidden_inside(place: Path, hidden: Sequence[Path]) -> list[str]:
    """A hidden folder that lies inside the place stays hidden."""
    args: list[str] = []
    for path in hidden:
        inner = path.resolve()
        if inner.is_dir() and inner != place and inner.is_relative_to(place):
            args += ["--tmpfs", str(inner)]
    return args


def profile(mounts: Mounts, network: bool) -> str:
    """The `sandbox-exec` profile of a box (macOS; written to its documentation, not run yet)."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    writable = [mounts.place, *mounts.writable, Path("/private/tmp"), Path("/dev")]  # noqa: S108
    lines += [f'(allow file-write* (subpath "{_quoted(path)}"))' for path in writable]
    hidden = [*mounts.hidden, *(Path.home() / name for name in HIDDEN_IN_HOME)]
    lines += [f'(deny file-read* (subpath "{_quoted(path)}"))' for path in hidden]
    lines.append(f'(allow file-read* (subpath "{_quoted(mounts.place)}"))')
    lines.append(f'(deny file-write* (subpath "{_quoted(mounts.place / ".git")}"))')
    if mounts.socket is not None:
        lines.append(f'(allow network* (path "{_quoted(mounts.socket)}"))')
    if not network:
        lines.append("(deny network*)")
        lines.append('(allow network* (local ip "localhost:*"))')
    return "\n".join(lines)


def _quoted(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace('"', '\\"')
