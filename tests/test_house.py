"""The house itself: its own rules, the import stairs, what is promised in its papers, and the colours."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import house as rules
import pytest
from support import ROOT, clean_environment, require

import loopx_engine.errors as errors

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
THEMES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "themes").glob("*.toml")}
ROLES = ["ground", "side", "raised", "select", "rule", "text", "soft", "faint", "accent", "run", "good", "bad"]
GROUNDS, VOICES, STATES = ROLES[:4], ["text", "soft", "faint"], ["accent", "run", "good", "bad"]


def test_no_file_breaks_a_rule_of_the_house() -> None:
    found = [f"{path.relative_to(ROOT)}:{line}: {words}" for path, line, words in rules.findings(ROOT)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("subprocess.run('ls', shell=True)", "never a shell"),
        ("os.system('ls')", "never a shell"),
        ("os.kill(pid, 0)", "cannot tell a process"),
        ("open(path)", "without an encoding"),
        ("open(path, 'w')", "without an encoding"),
        ("io.open(path, mode='a')", "without an encoding"),
        ("os.fdopen(fd, 'r')", "without an encoding"),
        ("path.read_text()", "without an encoding"),
        ("path.write_text(words)", "without an encoding"),
        ("try: f()\nexcept Exception: pass", "name what can fail"),
        ("try: f()\nexcept (OSError, Exception) as e: pass", "name what can fail"),
        ("try: f()\nexcept: pass", "catches everything"),
        ("try: f()\nexcept BaseException: undo()", "must raise again"),
        ("with db.conn: f()", "behind the ledger's back"),
        ("with self.db.conn as c, open(p, 'rb'): f()", "behind the ledger's back"),
        ("class TurnManager: ...", "does not say what this is"),
        ("at = '/" + "root/loopx'", "absolute path"),
        ("at = '/" + "work/main'", "absolute path"),
        ("at = '/" + "Users/eve/x'", "absolute path"),
        ("index = 'https://" + "pypi" + ".org/simple'", "registry's host name"),
        ("x = 1\n" * 401, "is two things"),
    ],
)
def test_each_breach_is_found(code: str, words: str) -> None:
    assert words in " / ".join(said for _, said in rules.breaches(Path("loopx_engine/x.py"), code))


@pytest.mark.parametrize(
    "code",
    [
        "subprocess.run(['ls'], shell=False)",
        "os.kill(pid, signal.SIGTERM)",
        "open(path, encoding='utf-8')",
        "open(path, 'rb')",
        "open(path, mode)",
        "path.read_text('utf-8')",
        "path.write_text(words, encoding='utf-8')",
        "try: f()\nexcept OSError: pass",
        "try: f()\nexcept BaseException:\n    undo()\n    raise",
        "with db.immediate() as tx: f()",
        "class Turn: ...",
        "url = 'sqlite:///a/root/x'",
    ],
)
def test_what_is_allowed_is_not_found(code: str) -> None:
    assert not list(rules.breaches(Path("loopx_engine/x.py"), code))


@pytest.mark.parametrize("name", ["utils", "tree_helpers", "common", "misc", "turn_manager"])
def test_a_name_that_says_nothing_is_found_in_files_and_folders(name: str) -> None:
    assert list(rules.breaches(Path(f"loopx_engine/{name}.py"), ""))
    assert list(rules.breaches(Path(f"loopx_engine/{name}/x.py"), ""))


def test_the_rules_see_every_folder_of_the_project() -> None:
    seen = {path.relative_to(ROOT).parts[0] for path in rules.files(ROOT)}
    assert {"loopx_engine", "loopx_tui", "tests", "themes", ".ci", "dev.py", "README.md", "requirements.lock"} <= seen


def test_imports_only_go_down_the_stairs() -> None:
    check = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, env=clean_environment())
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_folder_of_the_engine_has_its_stair() -> None:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    placed = set(re.findall(r"loopx_engine\.(\w+)", " ".join(contracts[0]["layers"])))
    beside = {"host", "contracts"}
    there = {path.stem for path in (ROOT / "loopx_engine").iterdir() if not path.name.startswith(("_", "."))}
    assert there - {"py"} <= placed | beside


def pins(lock: str) -> dict[str, str]:
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    return dict(re.match(r"([\w.-]+)==([^ ;\\]+)", line).groups() for line in lines if re.match(r"\w", line))  # type: ignore[union-attr,misc]


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_pins_every_package_with_hashes_and_names_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\w)", text)
    assert len(blocks) == len(pins(lock)) > 20
    assert all("--hash=sha256:" in block for block in blocks)
    assert not re.search(r"https?:|--index|--find-links|--trusted", text)


def test_the_development_lock_contains_the_other() -> None:
    assert pins("requirements.lock").items() <= pins("requirements-dev.lock").items()


def test_everything_the_project_depends_on_is_locked() -> None:
    locked = pins("requirements-dev.lock")
    named = [
        *PROJECT["project"]["dependencies"],
        *(d for d in PROJECT["dependency-groups"]["dev"] if isinstance(d, str)),
    ]
    assert {re.match(r"[\w-]+", line).group() for line in named} <= set(locked)  # type: ignore[union-attr]
    assert f"textual=={locked['textual']}" in named


def test_the_two_commands_are_declared() -> None:
    assert PROJECT["project"]["scripts"] == {
        "loopx": "loopx_tui.__main__:main",
        "loopx-engine": "loopx_engine.cli.engine_main:main",
    }


def test_the_readme_lists_the_exit_codes_of_the_errors() -> None:
    listed = {int(code) for code in re.findall(r"\| (\d+) \|", (ROOT / "README.md").read_text(encoding="utf-8"))}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.LoopxError)]
    assert listed == {0} | {kind.exit_code for kind in kinds}


def test_the_readme_names_only_commands_that_dev_has() -> None:
    known = set(re.findall(r'^    "(\w+)": \(', (ROOT / "dev.py").read_text(encoding="utf-8"), re.MULTILINE))
    papers = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    assert set(re.findall(r"dev\.py (\w+)", papers)) <= known


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_ci_script_is_a_valid_program() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert subprocess.run([require("bash"), "-n", str(script)], check=False).returncode == 0


def ratio(one: str, other: str) -> float:
    """WCAG 2 contrast of two `#rrggbb`, 1 to 21."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_as_wcag_does() -> None:
    assert ratio("#000000", "#ffffff") == pytest.approx(21)
    assert ratio("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_there_are_two_themes_of_the_look_and_two_of_high_contrast() -> None:
    assert set(THEMES) == {"loopx-dark", "loopx-light", "loopx-contrast-dark", "loopx-contrast-light"}


@pytest.mark.parametrize("name", sorted(THEMES))
def test_a_theme_has_every_role_and_says_its_name(name: str) -> None:
    theme = THEMES[name]
    assert theme["name"] == name
    assert list(theme["colors"]) == ROLES
    assert sorted(theme["chips"]) == sorted(STATES)
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in [*theme["colors"].values(), *theme["chips"].values()])
    dark_ground = ratio(theme["colors"]["ground"], "#000000") < ratio(theme["colors"]["ground"], "#ffffff")
    assert theme["dark"] is dark_ground


def least_contrast(theme: dict[str, Any]) -> dict[str, float]:
    """Per claim, the least ratio over every ground it may stand on."""
    colors, chips = theme["colors"], theme["chips"]
    least = {voice: min(ratio(colors[voice], colors[ground]) for ground in GROUNDS) for voice in VOICES}
    least["state"] = min(ratio(colors[state], colors[ground]) for state in STATES for ground in GROUNDS)
    least["chip"] = min(ratio(colors[on], chips[state]) for state in STATES for on in ("text", state))
    return least


@pytest.mark.parametrize("name", sorted(THEMES))
def test_a_theme_has_the_contrast_it_claims(name: str) -> None:
    least, claimed = least_contrast(THEMES[name]), THEMES[name]["contrast"]
    assert sorted(claimed) == sorted(least)
    short = {role: (round(least[role], 2), claimed[role]) for role in least if least[role] < claimed[role]}
    assert not short


@pytest.mark.parametrize("name", ["loopx-contrast-dark", "loopx-contrast-light"])
def test_a_high_contrast_theme_claims_seven_and_more_for_everything(name: str) -> None:
    assert min(THEMES[name]["contrast"].values()) >= 7
