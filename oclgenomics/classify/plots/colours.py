"""Colours of taxa: hues that keep apart for every kind of colour vision, and tones of them for what lies below."""

from __future__ import annotations

from oclgenomics.app.figures import BLUE, ORANGE, SKY

# Okabe and Ito's hues, then some of Tol's; neighbours differ in lightness, too.
HUES = (
    BLUE, "#E69F00", "#009E73", "#CC79A7", SKY, ORANGE, "#F0E442",
    "#332288", "#DDCC77", "#117733", "#44AA99", "#882255", "#999933", "#8C510A",
)  # fmt: skip
NEUTRAL = "#C9D3DC"  # of taxa that nearly all reads share
OTHER = "#DEDEDE"
HIGHER = "#EFEFEF"  # called at a higher rank only
UNCLASSIFIED = "#A3A3A3"
_STEPS = (0.0, 0.30, 0.15, 0.42, 0.08, 0.36, 0.22)  # how much lighter one taxon is than its hue


def tone(hue: str, number: int) -> str:
    """Return a lighter tone of a hue; neighbouring numbers differ, and 0 is the hue itself."""
    share = _STEPS[number % len(_STEPS)]
    return "#" + "".join(f"{round(value + (255 - value) * share):02X}" for value in _parts(hue))


def ink_on(colour: str) -> str:
    """Return the colour of type that is read best on another one."""
    red, green, blue = ((value / 255) ** 2.2 for value in _parts(colour))
    return "white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.30 else "#1A1A1A"


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
