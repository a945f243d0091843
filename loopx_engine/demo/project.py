"""The demo's project: a real git repository with a failing test suite, a bare repository as its remote, and an unsaved edit."""

from __future__ import annotations

import hashlib
from pathlib import Path

from loopx_engine.places.git import run_git

TEST = "import unittest\n\n\nclass {name}(unittest.TestCase):\n    def test_{what}(self):\n{body}"
FILES = {
    "totals.py": '"""What a basket costs, in cents."""\n\n\ndef total(lines):\n    return sum(price for price, _ in lines)\n',
    "README.md": "# shop\n\nA small shop.\n",
    ".gitignore": "__pycache__/\n",
    "tests/__init__.py": "",
    "tests/test_totals.py": TEST.format(
        name="Totals",
        what="quantity_counts",
        body="        from totals import total\n\n        self.assertEqual(total([(250, 2), (100, 1)]), 600)\n",
    ),
    "tests/test_rounding.py": TEST.format(
        name="Rounding",
        what="half_goes_up",
        body="        from rounding import to_tens\n\n"
        "        self.assertEqual([to_tens(c) for c in (24, 25, 35, 45)], [20, 30, 40, 50])\n",
    ),
    "tests/test_discount.py": TEST.format(
        name="Discount",
        what="steps",
        body="        from discount import discount\n\n"
        "        self.assertEqual([discount(c) for c in (4999, 5000, 10000)], [0, 250, 1000])\n",
    ),
    "tests/test_changelog.py": TEST.format(
        name="Changelog",
        what="it_names_the_changes",
        body="        from pathlib import Path\n\n"
        '        self.assertIn("discounts", Path("CHANGELOG.md").read_text(encoding="utf-8"))\n',
    ),
}
UNSAVED = "# shop\n\nA small shop.\n\nA sentence that is not saved yet.\n"
IDENTITY = {
    "GIT_AUTHOR_NAME": "A Person", "GIT_AUTHOR_EMAIL": "person@localhost", "GIT_COMMITTER_NAME": "A Person",
    "GIT_COMMITTER_EMAIL": "person@localhost",
}  # fmt: skip


def make_project(folder: Path) -> Path:
    """The repository with one commit on `main`, pushed to a bare remote, and an edit in README.md that is not committed."""
    root = folder / "shop"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    run_git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(folder / "shop.git"))
    run_git(root, "init", "--quiet", "--initial-branch=main")
    run_git(root, "add", "--all")
    run_git(root, "commit", "--quiet", "-m", "A shop with failing tests", env=IDENTITY)
    run_git(root, "remote", "add", "origin", str(folder / "shop.git"))
    run_git(root, "push", "--quiet", "origin", "main", remote=True)
    (root / "README.md").write_text(UNSAVED, encoding="utf-8")
    return root


def checkout_digest(root: Path) -> str:
    """One digest over every file of the person's checkout and what git says is unsaved in it."""
    total = hashlib.sha256()
    for path in sorted(
        path for path in root.rglob("*") if ".git" not in path.relative_to(root).parts and path.is_file()
    ):
        total.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    total.update(run_git(root, "status", "--porcelain=v1", "--branch").out.encode())
    return total.hexdigest()
