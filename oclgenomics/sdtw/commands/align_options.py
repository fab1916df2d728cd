"""How signals are compared with references: options that all commands of `sdtw` share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import count, shortened, whole

if TYPE_CHECKING:
    from oclgenomics.sdtw.options import AlignOptions

__all__ = [
    "FIELDS",
    "PRESETS",
    "add_align_options",
    "align_options",
    "given_align_options",
    "prefix_lengths",
    "preset_options",
    "variant_name",
]

CHOICES = ("norm", "cost", "bonus", "arithmetic")
NUMBERS = ("bits", "step")
FIELDS = CHOICES + NUMBERS
PRESETS = ("default", "crescent", "squigglefilter")


def add_align_options(group: argparse._ArgumentGroup) -> None:
    """Add --preset, --norm, --cost, --bonus, --arithmetic, --bits and --step; None where they are not given."""
    group.add_argument(
        "--preset", choices=PRESETS,
        help="options that go together: this program's, those of Crescent, or those of SquiggleFilter (for n samples "
        "its own program prints the score of n + 1); other options change some (default: default)",
    )  # fmt: skip
    group.add_argument(
        "--norm", choices=("prefix", "blocks"),
        help="normalise a prefix by its own mean and deviation, or each 500 samples by those so far (default: prefix)",
    )  # fmt: skip
    group.add_argument(
        "--cost", choices=("absolute", "squared"),
        help="of a sample at a k-mer: the difference of their levels, or its square (default: squared)",
    )  # fmt: skip
    group.add_argument(
        "--bonus", choices=("none", "dwell", "published"),
        help="reward for samples that stay at a k-mer: none, counted along the samples, or along the k-mers as "
        "SquiggleFilter publishes it (default: none)",
    )  # fmt: skip
    group.add_argument(
        "--arithmetic", choices=("uint16", "int32", "float32"),
        help="integers that end at 65,535, exact integers, or floating-point numbers (default: uint16)",
    )  # fmt: skip
    group.add_argument(
        "--bits", type=whole, metavar="N",
        help="bits of a level, 5 to 8 (default: 6 for squares, 7 for differences; 8 with a bonus and for blocks)",
    )  # fmt: skip
    group.add_argument(
        "--step", type=whole, metavar="N",
        help="samples that make a row, of which the median of three is compared; 1, or 3 to 32 (default: 3; 1 for "
        "blocks)",
    )  # fmt: skip


def prefix_lengths(text: str) -> tuple[int, ...]:
    """Read lengths of prefixes, as in 1000,2000."""
    try:
        return tuple(count(part.strip()) for part in text.split(","))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{shortened(text)}: write numbers of samples as in 1000,2000") from None


def given_align_options(args: argparse.Namespace) -> bool:
    """Whether the user gave any of the options, which thresholds read from a file may contradict."""
    return any(getattr(args, name) is not None for name in ("preset", *FIELDS))


def align_options(args: argparse.Namespace) -> AlignOptions:
    """Return the options that were chosen.

    Raises
    ------
    ParameterError
        They contradict each other.
    """
    from dataclasses import replace

    given: dict[str, Any] = {name: getattr(args, name) for name in FIELDS if getattr(args, name) is not None}
    return replace(preset_options(args.preset or PRESETS[0]), **given)


def preset_options(name: str) -> AlignOptions:
    """Return the options of a preset."""
    from oclgenomics.sdtw.options import CRESCENT, SQUIGGLEFILTER, AlignOptions

    return {"default": AlignOptions(), "crescent": CRESCENT, "squigglefilter": SQUIGGLEFILTER}[name]


def variant_name(options: AlignOptions) -> str:
    """Name options by the preset with the fewest other values, and by these values."""
    names = [_named_by(preset, options) for preset in PRESETS]
    return min(names, key=lambda name: name.count("="))


def _named_by(preset: str, options: AlignOptions) -> str:
    from dataclasses import replace

    usual, own = preset_options(preset), options.resolved()
    chosen = {name: getattr(own, name) for name in CHOICES if getattr(own, name) != getattr(usual, name)}
    expected = replace(usual, **chosen).resolved()
    numbers = {name: getattr(own, name) for name in NUMBERS if getattr(own, name) != getattr(expected, name)}
    return " ".join([preset, *(f"{name}={value}" for name, value in {**chosen, **numbers}.items())])
