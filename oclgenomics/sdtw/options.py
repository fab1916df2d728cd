"""The options of alignments of raw signals by subsequence dynamic time warping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, get_args

from oclgenomics.errors import ParameterError, check_choice

Norm = Literal["prefix", "blocks"]
Cost = Literal["absolute", "squared"]
Bonus = Literal["none", "dwell", "published"]
Arithmetic = Literal["uint16", "int32", "float32"]
NORMS: tuple[Norm, ...] = get_args(Norm)
COSTS: tuple[Cost, ...] = get_args(Cost)
BONUSES: tuple[Bonus, ...] = get_args(Bonus)
ARITHMETICS: tuple[Arithmetic, ...] = get_args(Arithmetic)
MIN_BITS, MAX_BITS = 5, 8
PUBLISHED_BITS = 8
PUBLISHED_DWELL = 10
STEPS = (1, *range(3, 33))
DEFAULT_STEP = 3
MAX_PREFIX = 1 << 16
DEFAULT_PREFIXES = (1000, 2000, 3000, 4000, 5000)  # of reads that are judged


@dataclass(frozen=True)
class AlignOptions:
    """How the signal of a read is compared with a reference.

    Attributes
    ----------
    norm : {'prefix', 'blocks'}
        Normalise a prefix of a read by its own mean and standard deviation; or each 500 samples by the integer mean and
        mean absolute deviation of all samples so far, as SquiggleFilter does. With blocks, a longer prefix goes on
        where the shorter one ended.
    cost : {'absolute', 'squared'}
        Of a sample at a k-mer: the difference of their levels, or its square.
    bonus : {'none', 'dwell', 'published'}
        Reward for samples that stay at a k-mer: none (Crescent, Algorithm 2), counted along the samples, or counted
        along the k-mers as SquiggleFilter publishes it (Algorithm 1).
    arithmetic : {'uint16', 'int32', 'float32'}
        Integers that saturate at 65,535, exact integers, or standard scores in single precision.
    bits : int, optional
        Levels are integers of so many bits, 5 to 8, that span 8 standard deviations. 6 for squares and 7 for
        differences, if not given; 8 with a bonus and for blocks. Not for float32.
    step : int, optional
        Samples that make a row, 1 or 3 to 32: the median of the first three of them is compared with the reference, and
        samples that are left over at the end of a prefix are not looked at. A third of the samples of a nucleotide is
        best (of nine at 4 kHz and 450 nucleotides a second). If not given, that of the pore that references are for,
        which is 3 for R9.4.1 and where it is not known; 1 for blocks.

    Raises
    ------
    ParameterError
        A value is outside its range, or contradicts another.
    """

    norm: Norm = "prefix"
    cost: Cost = "squared"
    bonus: Bonus = "none"
    arithmetic: Arithmetic = "uint16"
    bits: int | None = None
    step: int | None = None

    def __post_init__(self) -> None:
        for name, choices in (("norm", NORMS), ("cost", COSTS), ("bonus", BONUSES), ("arithmetic", ARITHMETICS)):
            check_choice(name, getattr(self, name), choices)
        if self.bits is not None and not MIN_BITS <= self.bits <= MAX_BITS:
            raise ParameterError("bits", f"levels have {MIN_BITS} to {MAX_BITS} bits", self.bits)
        if self.is_float and (self.bits is not None or self.bonus != "none"):
            raise ParameterError("arithmetic", "a bonus and `bits` go with integers only", self.arithmetic)
        if self.bits is not None and self.level_bits != self.bits:
            raise ParameterError("bits", "a bonus and `norm=blocks` go with 8 bits only", self.bits)
        if self.step is not None and self.step not in ((1,) if self.norm == "blocks" else STEPS):
            raise ParameterError("step", f"1, or 3 to {max(STEPS)} samples; 1 with `norm=blocks`", self.step)

    @property
    def is_float(self) -> bool:
        """Whether scores are floating-point numbers."""
        return self.arithmetic == "float32"

    @property
    def level_bits(self) -> int:
        """Bits of the levels of samples and k-mers."""
        if self.norm == "blocks" or self.bonus != "none":
            return PUBLISHED_BITS
        return self.bits or (6 if self.cost == "squared" else 7)

    @property
    def row_samples(self) -> int:
        """Samples that make a row."""
        return self.step or (DEFAULT_STEP if self.norm == "prefix" else 1)

    @property
    def max_dwell(self) -> int:
        """Rows at a k-mer that a bonus counts: ten samples, as published."""
        return max(1, PUBLISHED_DWELL // self.row_samples)

    def with_step(self, step: int) -> AlignOptions:
        """Return the same options with a step where none was chosen; with blocks there is only one."""
        chosen = self.step is not None or self.norm == "blocks" or step == DEFAULT_STEP
        return self if chosen else replace(self, step=step)

    def resolved(self) -> AlignOptions:
        """Return the same options with the default numbers filled in, so that no default can change them."""
        return replace(self, bits=None if self.is_float else self.level_bits, step=self.row_samples)

    def rows(self, prefix: int) -> int:
        """Return the rows of a prefix of so many samples.

        Raises
        ------
        ParameterError
            It has none.
        """
        if prefix < self.row_samples:
            raise ParameterError("prefixes", f"a prefix has at least the {self.row_samples} samples of a row", prefix)
        return prefix // self.row_samples

    def check_prefixes(self, prefixes: Sequence[int]) -> tuple[int, ...]:
        """Return prefixes that can be aligned; see `check_prefixes` and `rows` for what is refused."""
        lengths = check_prefixes(prefixes)
        self.rows(lengths[0])
        return lengths

    @property
    def shift(self) -> int:
        """Squares are divided by 2 to this power, so that 8 bits and 6 bits give costs of one size."""
        return max(0, 2 * (self.level_bits - 6)) if self.cost == "squared" else 0


CRESCENT = AlignOptions(norm="blocks", cost="absolute", bonus="none", arithmetic="int32")
SQUIGGLEFILTER = AlignOptions(norm="blocks", cost="absolute", bonus="published", arithmetic="int32")

DEFAULT = "default"
PRESETS = {DEFAULT: AlignOptions(), "crescent": CRESCENT, "squigglefilter": SQUIGGLEFILTER}
CHOICES, NUMBERS = ("norm", "cost", "bonus", "arithmetic"), ("bits", "step")
FIELDS = CHOICES + NUMBERS


def variant_name(options: AlignOptions) -> str:
    """Name options by the preset with the fewest other values, and by these values."""
    names = [_named_by(preset, options) for preset in PRESETS]
    return min(names, key=lambda name: name.count("="))


def _named_by(preset: str, options: AlignOptions) -> str:
    usual, own = PRESETS[preset], options.resolved()
    chosen = {name: getattr(own, name) for name in CHOICES if getattr(own, name) != getattr(usual, name)}
    expected = replace(usual, **chosen).resolved()
    numbers = {name: getattr(own, name) for name in NUMBERS if getattr(own, name) != getattr(expected, name)}
    return " ".join([preset, *(f"{name}={value}" for name, value in {**chosen, **numbers}.items())])


def check_prefixes(prefixes: Sequence[int]) -> tuple[int, ...]:
    """Return lengths of prefixes in samples, which ascend.

    Raises
    ------
    ParameterError
        There are none, they do not ascend, or one is outside 1 to 65,536.
    """
    lengths = tuple(int(prefix) for prefix in prefixes)
    if not lengths or any(a >= b for a, b in pairwise(lengths)):
        raise ParameterError("prefixes", "give one number of samples or more, ascending", lengths)
    if lengths[0] < 1 or lengths[-1] > MAX_PREFIX:
        raise ParameterError("prefixes", f"a prefix has 1 to {MAX_PREFIX:,} samples", lengths)
    return lengths
