"""The palette: the roles every line is painted with, and what it falls back to where a theme does not name them."""

from __future__ import annotations

VOICES = ("text", "soft", "faint", "accent", "run", "good", "bad")
GROUNDS = ("ground", "side", "raised", "select", "rule")
CHIPS = ("accent", "run", "good", "bad")
ROLES = (*GROUNDS, *VOICES, *(f"{name}_ground" for name in CHIPS))
ANSI = {
    "ground": "default", "side": "default", "raised": "default", "select": "bright_black", "rule": "bright_black",
    "text": "default", "soft": "default", "faint": "bright_black", "accent": "yellow", "run": "blue", "good": "green",
    "bad": "red", "accent_ground": "default", "run_ground": "default", "good_ground": "default", "bad_ground": "default",
}  # fmt: skip


def blended(first: str, second: str, share: float) -> str:
    """`share` of the second colour over the first, both `#rrggbb`."""
    one, two = _channels(first), _channels(second)
    mixed = (round(a + (b - a) * share) for a, b in zip(one, two, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def derived(background: str, foreground: str, accent: str, run: str, good: str, bad: str) -> dict[str, str]:
    """Every role from six colours: how a theme that is not ours is painted."""
    states = {"accent": accent, "run": run, "good": good, "bad": bad}
    return {
        "ground": background,
        "side": blended(background, "#000000", 0.15),
        "raised": blended(background, foreground, 0.06),
        "select": blended(background, run, 0.22),
        "rule": blended(background, foreground, 0.18),
        "text": foreground,
        "soft": blended(foreground, background, 0.22),
        "faint": blended(foreground, background, 0.42),
        **states,
        **{f"{name}_ground": blended(background, colour, 0.18) for name, colour in states.items()},
    }


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
