"""The box: where agents' programs run (MODEL.md 6). bubblewrap on Linux, `sandbox-exec` on macOS, else none, and said.

Inside: the place writable, the rest of the file system read-only, homes and temporary folders empty but for what
`visible.py` lists, no process of outside, network as asked. No argv holds a secret: the environment goes by the process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from loopx_engine.places.environment import PLAIN_PATH, acts_on_loader
from loopx_engine.places.visible import Layer, Mounts, layers

__all__ = ["Box", "Mounts", "boxed", "launch_environment", "probe", "profile"]

Kind = Literal["bubblewrap", "sandbox-exec", "none"]
PROBE_S = 10
NAMESPACES = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
# A real root keeps its power over the kernel's settings in any box, as they ask for its number and not for capabilities.
KERNEL_SETTINGS = ("/proc/sys", "/proc/sysrq-trigger")


@dataclass(frozen=True, slots=True)
class Box:
    """What this machine can do; `reason` says why it is `none`, or what is to be known about it."""

    kind: Kind
    reason: str = ""


def probe(preferred: str | None = None) -> Box:
    """The box of this machine, found by really starting one, once a process. `preferred` "none" asks for no box."""
    return _probe(preferred)


@lru_cache
def _probe(preferred: str | None) -> Box:
    platform: str = sys.platform
    if preferred == "none":
        return Box("none", "asked for")
    if platform == "linux" and preferred in (None, "bubblewrap"):
        return _probe_bubblewrap()
    if platform == "darwin" and preferred in (None, "sandbox-exec") and shutil.which("sandbox-exec"):
        return _started(Box("sandbox-exec", "its profile was written without a Mac to try it on"))
    return Box("none", f"{preferred or 'a sandbox'} is not known on {platform}")


def _probe_bubblewrap() -> Box:
    if _bwrap() is None:
        return Box("none", "bubblewrap (bwrap) is not installed")
    return _started(Box("bubblewrap"))


def _started(box: Box) -> Box:
    """The box, if the smallest program ends well in it."""
    with tempfile.TemporaryDirectory(prefix="loopx-probe-") as folder:
        true = shutil.which("true", path=PLAIN_PATH) or "/bin/true"
        argv = boxed(box, [true], mounts=Mounts(Path(folder)), network=False, environment={})
        try:
            done = subprocess.run(
                argv, capture_output=True, timeout=PROBE_S, check=False, env={}, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Box("none", f"{argv[0]} does not start: {error}")
    if done.returncode == 0:
        return box
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return Box("none", f"{box.kind} does not work here: {said[-1][:200] if said else f'exit {done.returncode}'}")


def boxed(
    box: Box,
    argv: Sequence[str],
    *,
    mounts: Mounts,
    network: bool,
    environment: Mapping[str, str],
    cwd: Path | None = None,
    status_fd: int | None = None,
) -> list[str]:
    """The argv that runs a program in the box, in `cwd` (by default the place); the same argv where there is none.

    Start it with `launch_environment(box, environment)`, from a thread that outlives it: the box ends with the thread that
    started it. On `status_fd` bubblewrap tells whether the program could be started. Raises `Refused` (`place_hidden`)
    where the place, or something that must be hidden, lies where the two cannot be told apart.
    """
    if box.kind == "bubblewrap":
        at = os.path.realpath(cwd or mounts.place)
        status = [] if status_fd is None else ["--json-status-fd", str(status_fd)]
        return [*_bubblewrap(layers(mounts, environment), network, environment), *status, "--chdir", at, "--", *argv]
    if box.kind == "sandbox-exec":
        return ["/usr/bin/sandbox-exec", "-p", profile(mounts, network, environment), *argv]
    return list(argv)


def launch_environment(box: Box, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment to start the boxed argv with: the box's own program must not load what a place could plant."""
    if box.kind == "none":
        return dict(environment)
    return {name: value for name, value in environment.items() if not acts_on_loader(name)}


@lru_cache
def _bwrap() -> str | None:
    """Never found by the PATH of a check, which may name folders of the place."""
    return shutil.which("bwrap", path=PLAIN_PATH) or shutil.which("bwrap")


def _bubblewrap(shown: Sequence[Layer], network: bool, environment: Mapping[str, str]) -> list[str]:
    args = [_bwrap() or "bwrap", "--die-with-parent", "--new-session", *NAMESPACES]
    args += [] if network else ["--unshare-net"]
    args += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    if os.geteuid() == 0:
        args += ["--cap-drop", "ALL"]
        args += [word for path in KERNEL_SETTINGS if os.path.exists(path) for word in ("--ro-bind", path, path)]
    for layer in shown:
        args += _mount(layer)
    for name, value in environment.items():
        if acts_on_loader(name):
            args += ["--setenv", name, value]
    return args


def _mount(layer: Layer) -> list[str]:
    match layer.state:
        case "writable":
            return ["--bind", layer.path, layer.path]
        case "read_only":
            return ["--ro-bind", layer.path, layer.path]
        case "link":
            return ["--symlink", layer.target, layer.path]
        case "hidden" | "empty":
            return ["--tmpfs", layer.path] if os.path.isdir(layer.path) else ["--ro-bind", os.devnull, layer.path]


def profile(mounts: Mounts, network: bool, environment: Mapping[str, str]) -> str:
    """The `sandbox-exec` profile of a box: the last rule that matches wins. Written to its papers, never run so far.

    It has no empty folders to lay over others: temporary folders stay shared and writable, processes stay visible.
    """
    lines = ["(version 1)", "(allow default)", "(deny file-write*)", '(allow file-write* (subpath "/dev"))']
    for layer in layers(mounts, environment, temporary="writable"):
        where = f'(subpath "{_quoted(layer.path)}")'
        match layer.state:
            case "writable":
                lines.append(f"(allow file-read* file-write* {where})")
            case "read_only":
                lines += [f"(allow file-read* {where})", f"(deny file-write* {where})"]
            case "hidden" | "empty":
                lines += [f"(deny file-read* file-write* {where})", f"(allow file-read-metadata {where})"]
            case "link":
                pass
    if not network:
        lines += ["(deny network*)", '(allow network* (local ip "localhost:*"))']
        lines += ['(allow network-outbound (remote ip "localhost:*"))']
    if mounts.socket is not None:
        lines.append(f'(allow network-outbound (literal "{_quoted(os.path.realpath(mounts.socket))}"))')
    return "\n".join(lines)


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')
