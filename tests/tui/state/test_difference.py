"""A difference as lines: counted over all of it, names as a person reads them, cut where the engine cut it, never raising."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tui.state.texts import EXAMPLES, shown, text_of, texts

from loopx_engine import visible
from loopx_tui.state.difference import Difference, difference, first_lines

MODIFIED = """diff --git a/src/cart.py b/src/cart.py
index 83db48f..bf2a1c4 100644
--- a/src/cart.py
+++ b/src/cart.py
@@ -1,3 +1,4 @@ def total():
 one
-two
--- three
+\ttwo
+++ three
+four
\\ No newline at end of file
"""
MADE = "diff --git a/n.txt b/n.txt\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+new\n"


def said(found: Difference, width: int = 60) -> list[str]:
    return [shown(item, width).rstrip() for item in found.lines]


def test_what_went_and_what_came_is_counted_and_marked() -> None:
    found = difference(MODIFIED)
    assert (found.files, found.added, found.removed, found.cut) == (1, 3, 2, False)
    assert said(found) == [
        "src/cart.py",
        "@@ -1,3 +1,4 @@ def total():",
        "   one",
        " - two",
        " - -- three",
        " +     two",
        " + ++ three",
        " + four",
        "   no newline at its end",
    ]
    assert text_of(found.summary) == "1 file  +3 -2"


def test_each_line_stands_on_the_ground_of_what_it_is() -> None:
    grounds = {shown(item, 40)[:3]: item.ground for item in difference(MODIFIED).lines}
    assert (grounds[" + "], grounds[" - "], grounds["   "]) == ("good_ground", "bad_ground", "")


def test_several_files_are_apart_and_a_new_one_says_so() -> None:
    found = difference(MODIFIED + MADE)
    assert (found.files, found.added, found.removed) == (2, 4, 2)
    assert said(found)[-5:] == ["", "n.txt", "new file mode 100644", "@@ -0,0 +1 @@", " + new"]
    assert text_of(found.summary).startswith("2 files")


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("a/src/cart.py b/src/cart.py", "src/cart.py"),
        ("a/old.py b/new.py", "old.py → new.py"),
        ("a/a file b/a file", "a file"),
        ("a/a b/c b/a b/c", "a b/c"),
        ("a/x b/x b/x b/x", "x b/x"),
        ('"a/\\346\\274\\242.txt" "b/\\346\\274\\242.txt"', "漢.txt"),
        ('"a/tab\\there" "b/tab\\there"', "tab here"),
        ('"a/say \\"hi\\"" "b/say \\"hi\\""', 'say "hi"'),
        ('a/plain "b/\\303\\244"', "plain → ä"),
        ('"a/\\303\\244" b/plain', "ä → plain"),
        ('"a/\\303\\244 b/c" "b/\\303\\244 b/d"', "ä b/c → ä b/d"),
        ('"a/\\033[2J" "b/\\033[2J"', "<1b>[2J"),
        ("a/[bold]x b/[bold]x", "[bold]x"),
        ("something else", "something else"),
    ],
)
def test_a_file_has_the_name_a_person_gave_it(header: str, name: str) -> None:
    assert said(difference(f"diff --git {header}\n"))[0] == name


def test_a_rename_is_one_line_and_a_binary_file_a_sentence() -> None:
    renamed = "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n"
    binary = "diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png differ\n"
    assert said(difference(renamed + binary)) == ["old.py → new.py", "", "x.png", "   a binary file: no lines to show"]


def test_a_changed_mode_is_said() -> None:
    assert said(difference("diff --git a/run b/run\nold mode 100644\nnew mode 100755\n")) == [
        "run", "old mode 100644", "new mode 100755",
    ]  # fmt: skip


def test_one_the_engine_cut_says_that_it_is_larger() -> None:
    found = difference(MADE + "... cut after 1000000 bytes\n")
    assert found.cut
    assert (found.files, found.added) == (1, 1)
    assert "cut: it is larger" in text_of(found.summary)
    assert not [text for text in said(found) if "cut after" in text]


@pytest.mark.parametrize("text", [" ... cut after lunch", "+... cut after 5 bytes"])
def test_a_file_cannot_claim_that_a_difference_was_cut(text: str) -> None:
    assert not difference(f"{MADE}{text}\n").cut


@pytest.mark.parametrize(
    ("text", "why_not", "words"), [("", "", "nothing differs"), (MADE, "its place is gone", "its place is gone")]
)
def test_where_there_is_none_one_sentence_says_why(text: str, why_not: str, words: str) -> None:
    found = difference(text, why_not=why_not)
    assert (found.lines, text_of(found.summary)) == ((), words)


def test_its_beginning_stands_under_a_decision() -> None:
    found = difference(MODIFIED)
    assert [*first_lines(found, 2)] == [*found.lines[:2]]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_hostile_lines_of_a_file_are_shown_as_text(name: str) -> None:
    for text in EXAMPLES[name].split("\n"):
        found = difference(f"{MADE}+{text}\n")
        assert shown(found.lines[-1], 20_000).rstrip() == f" + {visible(text.expandtabs(4))}".rstrip()


git_like = st.lists(
    st.tuples(
        st.sampled_from(["", " ", "+", "-", "@@", "\\", "diff --git ", "index ", "--- ", "rename ", "Binary files "]),
        texts,
    ),
    max_size=12,
).map(lambda rows: "\n".join(prefix + text for prefix, text in rows))


@given(git_like, st.integers(10, 120))
def test_any_text_is_read_and_fits(text: str, width: int) -> None:
    found = difference(text)
    said(found, width)
    assert found.added == sum(item.ground == "good_ground" for item in found.lines)
    assert found.removed == sum(item.ground == "bad_ground" for item in found.lines)
