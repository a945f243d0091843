"""A decision as it must be seen: risk first, who, why, exactly what, what a no means, the proof, the change."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tui.state.records import World
from tui.state.texts import shown, text_of

from loopx_tui.state.decision import RISKS, decision_lines, risk_chip
from loopx_tui.state.difference import Difference, difference
from loopx_tui.state.lines import Line
from loopx_tui.state.when import DAY

WIDTH = 100


def of(world: World, question: str) -> dict[str, Any]:
    """The decision with this question, to be changed at will."""
    return copy.deepcopy(next(one for one in world.decisions if one["item"]["question"] == question))


def said(world: World, answer: dict[str, Any], found: Difference | None = None, *, tight: bool = False) -> list[str]:
    return [shown(item, WIDTH).rstrip() for item in decision_lines(answer, WIDTH, world.now, found, tight=tight)]


def label(lines: list[str], word: str) -> str:
    return next((text[9:] for text in lines if text.startswith(f"{word:<9}")), "")


def voice_of(lines: list[Line], word: str) -> str:
    return next(item.left[1].voice for item in lines if item.left and item.left[0].text == word)


def test_a_high_one_says_everything_before_it_can_be_answered(world: World) -> None:
    lines = said(world, of(world, "Push to main?"))
    assert lines[0].startswith("Push to main?")
    assert lines[0].endswith("HIGH")
    assert label(lines, "wants") == "ana on checkout totals  g-1"
    assert label(lines, "does") == "git push origin aaaaaaaaaa:main"
    assert label(lines, "if no").startswith("it is not done")
    assert label(lines, "undo") == "not by us: a remote has it"
    assert "Change  is being read" in lines
    assert [text for text in lines if text.startswith("✓ pytest -q passed") and text.endswith("2m")]


def test_what_cannot_be_undone_is_said_in_red_and_what_can_is_not(world: World) -> None:
    push = decision_lines(of(world, "Push to main?"), WIDTH, world.now, None)
    plain = decision_lines(of(world, "Keep the old URL alive?"), WIDTH, world.now, None)
    assert (voice_of(push, "undo"), voice_of(plain, "undo")) == ("bad", "soft")


def test_the_reason_of_the_asker_stands_whole_on_its_lines(world: World) -> None:
    lines = said(world, of(world, "Keep the old URL alive?"))
    at = lines.index("because  old links")
    assert lines[at + 1] == "         from letters"


def test_a_choice_numbers_its_answers(world: World) -> None:
    lines = said(world, of(world, "Which name?"))
    at = lines.index("Answers")
    assert lines[at + 1 : at + 3] == ["1  carts", "2  baskets, as the shop says"]


def test_a_turn_that_waits_and_a_question_asked_again_are_said(world: World) -> None:
    answer = of(world, "May I?")
    assert "its turn waits" in label(said(world, answer), "asked")
    answer["asked"] = 3
    assert "3 times" in label(said(world, answer), "asked")


def test_its_end_is_said_with_the_day_it_runs_out(world: World) -> None:
    answer = of(world, "Which name?")
    answer["item"]["created_at"], answer["item"]["expires"] = world.now - DAY, world.now + 1000
    assert label(said(world, answer), "asked").startswith("1d ago · runs out ")


def test_an_answered_one_says_the_answer_and_what_its_signature_is_worth(world: World) -> None:
    answer = of(world, "Answered no?")
    lines = said(world, answer)
    assert label(lines, "said") == "no  not today"
    assert label(lines, "signed") == "verified"
    answer["signature"] = "void: its option is not what was signed"
    painted = decision_lines(answer, WIDTH, world.now, None)
    assert voice_of(painted, "signed") == "bad"


@pytest.mark.parametrize(("mark", "glyph"), [("good", "✓"), ("bad", "✗"), ("faint", "◦")])
def test_proof_has_a_glyph_beside_its_colour(world: World, mark: str, glyph: str) -> None:
    answer = of(world, "Push to main?")
    answer["proof"][0] |= {"mark": mark, "fresh": mark != "faint", "sandbox": "none"}
    proof = next(text for text in said(world, answer) if text.startswith(f"{glyph} true passed"))
    assert proof.endswith("not sandboxed")
    assert ("stale" in proof) is (mark == "faint")


def test_a_tight_screen_leaves_blank_lines_out_and_no_word(world: World) -> None:
    answer = of(world, "Push to main?")
    assert [text for text in said(world, answer) if text] == said(world, answer, tight=True)


def test_a_low_question_has_no_change_unless_there_is_one(world: World) -> None:
    answer = of(world, "Keep the old URL alive?")
    some = difference("diff --git a/x b/x\n@@ -1 +1 @@\n+a\n")
    assert not [text for text in said(world, answer, difference("")) if text.startswith("Change")]
    assert [text for text in said(world, answer, some) if text.startswith("Change  1 file")]


@pytest.mark.parametrize("risk", [*RISKS, "huge", ""])
def test_a_risk_is_a_word_on_its_ground_and_one_nobody_knows_is_red(risk: str) -> None:
    found = risk_chip(risk)
    assert found.voice == {"high": "bad", "medium": "accent", "low": "soft"}.get(risk, "bad")
    assert len(found.text) == 6


def test_a_long_question_does_not_push_the_rest_off_the_screen(world: World) -> None:
    answer = of(world, "Push to main?")
    answer["item"]["question"] = "why " * 900
    lines = decision_lines(answer, 60, world.now, None)
    assert text_of(lines[6].left) == ""
    assert text_of(lines[7].left).startswith("wants")
