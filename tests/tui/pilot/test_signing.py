"""The owner's key: the passphrase is asked for once and kept as an opened key; a wrong one is asked again; esc signs nothing."""

from __future__ import annotations

from textual.widgets import Input
from tui.pilot import PASSPHRASE, Day, House, Stage, house, keyless_house, play, sealed_house

from loopx_engine.consent.keys import public_key, sealed
from loopx_engine.model.defaults import UNLOCK_MS

__all__ = ["house", "keyless_house", "sealed_house"]


async def asked(stage: Stage, words: str = "Sign with the owner key") -> None:
    await stage.until(lambda: stage.on_top == "Ask" and words in stage.text(), "the key asked for")
    await stage.heard()


def test_the_passphrase_is_asked_once_and_the_opened_key_is_kept(sealed_house: House) -> None:
    day = Day(sealed_house, "low choice")
    other = sealed_house.ask(day.goal, "And this?")

    async def scene(stage: Stage) -> None:
        await stage.go_to(day.low)
        await stage.shown_whole(day.low)
        await stage.press("y")
        await asked(stage)
        assert stage.written() == []
        await stage.type(PASSPHRASE)
        assert PASSPHRASE not in stage.text()
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["decision answer"])
        assert stage.written()[0].strength == "passphrase"
        await stage.go_to(other)
        await stage.shown_whole(other)
        await stage.press("y")
        await stage.until(lambda: len(stage.written()) == 2)
        assert stage.on_top == "Screen"

    play(sealed_house, scene)


def test_a_wrong_passphrase_is_said_and_asked_again(sealed_house: House) -> None:
    day = Day(sealed_house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("y")
        await asked(stage)
        await stage.type("not this one")
        await stage.press("enter")
        await asked(stage, "not the passphrase")
        assert stage.app.screen.query_one("#field", Input).value == ""
        await stage.press("enter")
        await asked(stage, "sealed")
        assert stage.written() == []
        await stage.type(PASSPHRASE)
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["decision answer"])

    play(sealed_house, scene)


def test_escape_signs_nothing_and_the_row_is_free_again(sealed_house: House) -> None:
    day = Day(sealed_house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("y")
        await asked(stage)
        await stage.type("half of")
        await stage.press("escape")
        await stage.sees("nothing was signed")
        assert stage.on_top == "Screen"
        assert stage.written() == []
        assert stage.app.pending == frozenset()
        await stage.press("y")
        await asked(stage)

    play(sealed_house, scene)


def test_what_is_unsigned_asks_for_no_passphrase(sealed_house: House) -> None:
    day = Day(sealed_house, "")

    async def scene(stage: Stage) -> None:
        await stage.press("2")
        await stage.go_to(day.goal)
        await stage.press("p")
        await stage.until(lambda: stage.verbs() == ["goal pause"])
        assert stage.on_top == "Screen"

    play(sealed_house, scene)


def test_the_opened_key_ends_with_its_time_and_with_its_lock(sealed_house: House) -> None:
    day = Day(sealed_house, "low")
    others = [sealed_house.ask(day.goal, f"Question {number}?") for number in range(2)]

    async def answer(stage: Stage, name: str) -> None:
        await stage.go_to(name)
        await stage.shown_whole(name)
        await stage.press("y")

    async def open_it(stage: Stage, answers: int) -> None:
        await asked(stage)
        await stage.type(PASSPHRASE)
        await stage.press("enter")
        await stage.until(lambda: len(stage.written()) == answers)
        await stage.settled()

    async def scene(stage: Stage) -> None:
        await answer(stage, day.low)
        await open_it(stage, 1)
        sealed_house.clock.advance(UNLOCK_MS)
        await answer(stage, others[0])
        await open_it(stage, 2)
        await stage.press("L")
        await stage.sees("the opened key is forgotten")
        await answer(stage, others[1])
        await open_it(stage, 3)

    play(sealed_house, scene)


def test_the_passphrase_is_in_no_receipt_and_in_no_settings(sealed_house: House) -> None:
    day = Day(sealed_house, "low")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.low)
        await stage.press("y")
        await asked(stage)
        await stage.type(PASSPHRASE)
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["decision answer"])

    play(sealed_house, scene)
    for path in sealed_house.folder.rglob("*"):
        assert not path.is_file() or PASSPHRASE.encode() not in path.read_bytes(), path


def draft_with_question(house: House) -> str:
    """A question in a ledger whose owner has no key."""
    goal = str(house.say("goal add", title="docs", project=house.project())["goal"])
    return house.ask(goal)


def test_without_a_key_the_first_signature_makes_it_open(keyless_house: House) -> None:
    name = draft_with_question(keyless_house)

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(name)
        await stage.press("y")
        await asked(stage, "Make the owner key")
        assert "This is the first thing you sign." in stage.text()
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["owner init", "decision answer"])

    play(keyless_house, scene)
    folder = keyless_house.folder / "no-keys"
    assert public_key(folder) is not None
    assert not sealed(folder)


def test_without_a_key_a_passphrase_typed_twice_seals_it(keyless_house: House) -> None:
    name = draft_with_question(keyless_house)

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(name)
        await stage.press("y")
        await asked(stage, "Make the owner key")
        await stage.type(PASSPHRASE)
        await stage.press("enter")
        await asked(stage, "The same passphrase again")
        await stage.type("something else")
        await stage.press("enter")
        await asked(stage, "The two were not the same")
        await stage.type(PASSPHRASE)
        await stage.press("enter")
        await asked(stage, "The same passphrase again")
        await stage.type(PASSPHRASE)
        await stage.press("enter")
        await stage.until(lambda: stage.verbs() == ["owner init", "decision answer"])
        assert stage.written()[1].strength == "passphrase"

    play(keyless_house, scene)
    assert sealed(keyless_house.folder / "no-keys")


def test_without_a_key_escape_makes_none(keyless_house: House) -> None:
    name = draft_with_question(keyless_house)

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(name)
        await stage.press("y")
        await asked(stage, "Make the owner key")
        await stage.press("escape")
        await stage.sees("nothing was signed")
        await stage.press("y")
        await asked(stage, "Make the owner key")
        await stage.type("x")
        await stage.press("enter")
        await asked(stage, "The same passphrase again")
        await stage.press("escape")
        await stage.settled()
        assert stage.on_top == "Screen"
        assert stage.written() == []

    play(keyless_house, scene)
    assert not (keyless_house.folder / "no-keys").exists()


def test_how_it_will_be_signed_is_said_before(sealed_house: House) -> None:
    day = Day(sealed_house, "choice")

    async def scene(stage: Stage) -> None:
        await stage.shown_whole(day.choice)
        await stage.press("enter")
        await stage.sees("signs with: passphrase")

    play(sealed_house, scene)
