"""The rules of the house that no linter knows: `python tests/house.py` prints what breaks them and ends with 1.

STYLE: no shell, no broad except, no bare open, words that say what a thing is, modules that are one thing, and nothing of
this machine or of a package registry in a file.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 400
SAYS_NOTHING = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "managers"}
TEXT = {".py", ".md", ".toml", ".sql", ".json", ".yml", ".yaml", ".cfg", ".ini", ".lock", ".sh", ".tcss", ""}
NOT_OURS = {".git", ".venv", "build", "dist", "__pycache__", ".hypothesis", "node_modules"}
ABSOLUTE = re.compile(r"(?<![\w.~$}/-])/(?:work|root|Users|home/(?!ana\b))/[\w.-]+")
REGISTRY = re.compile(
    r"\bpypi\.(?:org|python)|pythonhosted\.|\bregistry\.npm|\bnpmjs\.|\bdeb\.debian\.|\bcrates\.io\b|\bproxy\.golang\b"
)


def main() -> int:
    """Print `path:line: what is wrong` for each finding; 0 when there is none."""
    found = [f"{path.relative_to(ROOT)}:{line}: {words}" for path, line, words in findings(ROOT)]
    print("\n".join(found) or "the house is in order")
    return 1 if found else 0


def findings(root: Path) -> Iterator[tuple[Path, int, str]]:
    """Every breach below `root`: file, line, words."""
    for path in files(root):
        yield from ((path, line, words) for line, words in breaches(path.relative_to(root), text_of(path)))


def files(root: Path) -> Iterator[Path]:
    """The text files of the project below `root`, in order."""
    for path in sorted(root.iterdir()):
        if path.name in NOT_OURS or path.name.endswith((".egg-info", "_cache")) or path.name.startswith(".coverage"):
            continue
        if path.is_dir():
            yield from files(path)
        elif path.suffix in TEXT and not path.is_symlink():
            yield path


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def breaches(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """What is wrong with one file, as (line, words)."""
    for number, line in enumerate(text.splitlines(), 1):
        if REGISTRY.search(line):
            yield number, "a registry's host name"
        if ABSOLUTE.search(line):
            yield number, "an absolute path of some machine"
    for part in path.with_suffix("").parts:
        if SAYS_NOTHING & set(re.split(r"[_\W]+", part.lower())):
            yield 1, f"the name `{part}` does not say what this is"
    if path.suffix == ".py":
        length = text.count("\n")
        if length > LONGEST and path.parts[0] != "tests":
            yield 1, f"{length} lines: past {LONGEST} a module is two things"
        for node in ast.walk(ast.parse(text)):
            yield from ((getattr(node, "lineno", 1), words) for words in said_of(node))


def said_of(node: ast.AST) -> Iterator[str]:
    """What is wrong with one node of a module."""
    match node:
        case ast.Call():
            yield from said_of_call(node)
        case ast.ExceptHandler(type=None):
            yield "`except:` catches everything"
        case ast.ExceptHandler(type=kind) if {"Exception"} & names_in(kind):
            yield "`except Exception` catches everything: name what can fail"
        case ast.ExceptHandler(type=kind, body=body) if {"BaseException"} & names_in(kind):
            if not any(isinstance(step, ast.Raise) and step.exc is None for step in body):
                yield "`except BaseException` must raise again"
        case ast.With(items=items) | ast.AsyncWith(items=items):
            if any(isinstance(item.context_expr, ast.Attribute) and item.context_expr.attr == "conn" for item in items):
                yield "`with x.conn` commits behind the ledger's back"
        case ast.ClassDef(name=name):
            words = {word.lower() for word in re.findall(r"[A-Z][a-z]+", name)}
            if SAYS_NOTHING & words:
                yield f"the name `{name}` does not say what this is"


def said_of_call(call: ast.Call) -> Iterator[str]:
    name = ast.unparse(call.func)
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if isinstance(shell := given.get("shell"), ast.Constant) and shell.value:
        yield "`shell=True`: an argv list, never a shell"
    if name in ("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"):
        yield f"`{name}` is a shell: an argv list, never a shell"
    if name == "os.kill" and len(call.args) > 1 and isinstance(call.args[1], ast.Constant) and call.args[1].value == 0:
        yield "`os.kill(pid, 0)` cannot tell a process from its successor (and ends it on Windows)"
    if name in ("open", "io.open", "os.fdopen") and "encoding" not in given and not binary(call, 1):
        yield f"`{name}` in text mode without an encoding"
    text_at = {"read_text": 0, "write_text": 1}.get(name.rpartition(".")[2])
    if text_at is not None and "." in name and "encoding" not in given and len(call.args) <= text_at:
        yield f"`{name.rpartition('.')[2]}` without an encoding"


def binary(call: ast.Call, at: int) -> bool:
    """Whether the mode, a constant at this position or by name, is binary; a mode that is computed counts as binary."""
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[at : at + 1]
    return bool(modes) and (not isinstance(modes[0], ast.Constant) or "b" in str(modes[0].value))


def names_in(node: ast.expr | None) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if node else set()


if __name__ == "__main__":
    sys.exit(main())
