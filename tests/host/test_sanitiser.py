"""The sanitiser: what could act on a terminal or hide becomes a mark; letters of every script and emoji stay."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import a26_1

from loopx_engine.host.sanitiser import strip_for_title, visible

ZWJ, ZWNJ, VS16 = "\u200d", "\u200c", "\ufe0f"
EXAMPLES = a26_1()
AS_THEY_ARE = [
    "plain", "closed brackets", "open bracket", "nested brackets", "check box", "closing tag", "wrong closing tag",
    "markup action",
    "escaped bracket", "json", "html", "path", "path with parts", "windows path", "unc path", "device name", "shell words",
    "leading dash", "percent and braces", "sql", "long line", "long word of wide characters", "cjk", "arabic",
    "hebrew with latin",
    "emoji", "emoji zwj sequence", "emoji with skin tone", "flag and keycap", "combining marks", "many combining marks",
    "joiner in persian", "joiner in devanagari", "private use", "unusual spaces", "only spaces", "empty", "replacement",
]  # fmt: skip
SHOWN = {
    "nul": "before<00>after",
    "delete": "a<7f>b",
    "escape colours": "<1b>[31mred<1b>[0m",
    "escape clear screen": "<1b>[2J<1b>[H",
    "escape title": "<1b>]0;owned<07>",
    "escape clipboard": "<1b>]52;c;ZWNobyBvd25lZA==<07>",
    "escape link": "<1b>]8;;https://example.org<1b>\\here<1b>]8;;<1b>\\",
    "c1 csi": "<9b>31mred<9b>0m",
    "carriage return over": "safe<0d>EVIL",
    "backspaces": "safe<08><08><08><08>EVIL",
    "bidi override": "invoice<u+202e>gpj.exe",
    "bidi isolates": "a<u+2066>b<u+2067>c<u+2068>d<u+2069>e",
    "bidi marks": "a<u+200e>b<u+200f>c<u+061c>d",
    "zero width": "pass<u+200b>word<u+2060><u+feff>",
    "joiner in latin": "pass<u+200d>wo<u+200c>rd",
    "soft hyphen": "pass<u+00ad>word",
    "tag characters": "hi<u+e0061><u+e0062><u+e0063>",
    "run of variation selectors": "a\ufe01<u+fe02><u+fe03><u+e0100><u+e0101>",
    "hangul filler": "a<u+3164>b<u+ffa0>c<u+115f>d",
    "line separators": "one<u+2028>two<u+2029>three<85>four",
    "lines and tabs": "one  two<0d> three",
    "lone high surrogate": "a<u+d800>b",
    "lone low surrogate": "a<u+dcff>b",
    "noncharacters": "a<u+fffe>b<u+ffff>c<u+10ffff>",
}


@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_what_neither_acts_nor_hides_stays(name: str) -> None:
    assert visible(EXAMPLES[name]) == EXAMPLES[name]


@pytest.mark.parametrize(("name", "shown"), SHOWN.items())
def test_what_acts_or_hides_is_shown(name: str, shown: str) -> None:
    assert visible(EXAMPLES[name]) == shown


def test_every_example_is_listed_here() -> None:
    assert set(EXAMPLES) == {*AS_THEY_ARE, *SHOWN, "c0 controls", "c1 controls"}


@pytest.mark.parametrize("lines", [False, True])
def test_every_control_is_a_mark_but_newline_and_tab(lines: bool) -> None:
    for code in (*range(0x20), *range(0x7F, 0xA0)):
        kept = chr(code) if lines else " "
        assert visible(chr(code), lines=lines) == (kept if chr(code) in "\n\t" else f"<{code:02x}>")


def test_lines_and_tabs_stay_where_lines_are_drawn() -> None:
    assert visible("one\n\ttwo\r\n", lines=True) == "one\n\ttwo<0d>\n"
    assert visible("one\n\ttwo") == "one  two"


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧‍👦", "🏳️‍🌈", "❤️‍🔥", "👨🏿‍💻", "👍🏽", "🇩🇪", "1️⃣", "#️⃣", "☎︎", "e\u0301", "می‌خواهم", "क्‍ष", "ක්‍ෂ", "∩︀", "葛\U000e0100",
        "\u0600\u0661", "\u06dd\u0661",
    ],
)  # fmt: skip
def test_sequences_that_need_their_joiners_and_selectors_survive(text: str) -> None:
    assert visible(text) == text
    assert visible(f"a {text} b") == f"a {text} b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (ZWJ, "<u+200d>"),
        (f"👩{ZWJ}", "👩<u+200d>"),
        (f"{ZWJ}👩", "<u+200d>👩"),
        (f"👩{ZWJ}{ZWJ}👩", "👩<u+200d><u+200d>👩"),
        (f"a{ZWNJ}b", "a<u+200c>b"),
        (f"é{ZWJ}a", "é<u+200d>a"),
        (f"👩{ZWJ}\u202e", "👩<u+200d><u+202e>"),
        (VS16, "<u+fe0f>"),
        (f"❤{VS16}{VS16}", f"❤{VS16}<u+fe0f>"),
        (f"\x1b{VS16}", "<1b><u+fe0f>"),
        (f"\n{VS16}", " <u+fe0f>"),
        (f"a{ZWJ}{VS16}", "a<u+200d><u+fe0f>"),
        (f"a{VS16}{ZWJ}👩", f"a{VS16}<u+200d>👩"),
        ("\U000e0001\U000e007f", "<u+e0001><u+e007f>"),
        ("a\u2065b\ufff0c", "a<u+2065>b<u+fff0>c"),
        ("a\U0001d173b", "a<u+1d173>b"),
        ("\ufdd0", "<u+fdd0>"),
    ],
)
def test_joiner_or_selector_that_joins_or_varies_nothing_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_character_that_is_newer_than_this_python_stays() -> None:
    unassigned = next(chr(code) for code in range(0x1FA00, 0x1FB00) if unicodedata.category(chr(code)) == "Cn")
    assert visible(unassigned) == unassigned


def hidden(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(character) in (
        "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
    )  # fmt: skip


@given(st.text(alphabet=st.characters(), max_size=100), st.booleans())
def test_nothing_that_acts_gets_through_and_the_result_is_encodable(text: str, lines: bool) -> None:
    shown = visible(text, lines=lines)
    assert not any(hidden(character) for character in shown if not (lines and character in "\n\t"))
    shown.encode("utf-8")


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from(ZWJ + ZWNJ + VS16 + "\x1b\u202e👩a")), max_size=60))
def test_what_was_made_visible_stays_as_it_is(text: str) -> None:
    for lines in (False, True):
        shown = visible(text, lines=lines)
        assert visible(shown, lines=lines) == shown


@given(
    st.text(
        alphabet=st.characters(categories=("L", "N", "P", "S", "Zs"), exclude_characters="\u115f\u1160\u3164\uffa0")
    )
)
def test_letters_digits_signs_and_spaces_of_every_script_stay(text: str) -> None:
    assert visible(text) == text


def test_every_hidden_character_of_unicode_is_shown() -> None:
    formats = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"}
    kept = {character for character in formats if visible(character) == character}
    assert kept == set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")


class TestTitle:
    def test_it_is_one_short_line_without_anything_that_acts(self) -> None:
        assert strip_for_title("  a\n\x1b]0;x\x07\u202eb  ") == "a <1b>]0;x<07><u+202e>b"

    @pytest.mark.parametrize(("length", "most"), [(80, 80), (81, 80), (500, 80), (10, 5)])
    def test_longer_than_allowed_is_cut_with_a_sign(self, length: int, most: int) -> None:
        shown = strip_for_title("x" * length, most)
        assert len(shown) == min(length, most)
        assert shown.endswith("…") == (length > most)

    @given(st.text(max_size=200))
    def test_any_text_fits(self, text: str) -> None:
        shown = strip_for_title(text)
        assert len(shown) <= 80
        assert "\n" not in shown
        assert visible(shown) == shown
