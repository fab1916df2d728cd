"""What a scan, and a map of linkage disequilibrium, are asked to do; and the measures of linkage disequilibrium.

Of the n haplotypes that are observed at both of two sites, let a and b be the shares that carry the second state at
either, and c the share that carries it at both. Then

    D  = c - a b
    r2 = D^2 / (a (1 - a) b (1 - b)), 0 where a site does not vary.

Of unphased genotypes, the counts of second states of the samples are correlated instead: r2 is the square of their
correlation, and n counts two haplotypes a sample. Sites of three or more states: see docs/how/omega.md.
`kernels_cl/omega/pair_value.clh` computes the values.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from oclgenomics.errors import ParameterError, UsageError, check_choice, whole_number

if TYPE_CHECKING:
    from oclgenomics.omega.result import OmegaReport


EPSILON = 0.00001
"""Of OmegaPlus: keeps omega finite where no pair of sites across the window's halves is linked."""

LdMeasure = Literal["RSQUARE", "D", "ABSD", "DOM", "ABSDOM", "ABSDOM2"]
"""Measures of a scan, by OmegaPlus' names.

'RSQUARE' is n r2; 'D' and 'ABSD' are D and its magnitude; 'DOM' is D counted from the commoner state of either site,
and 'ABSDOM' its magnitude; 'ABSDOM2' goes through an integer `abs` in OmegaPlus, and is 0.
"""

MapMeasure = Literal["r2", "nr2"]
"""Measures of a map: r2, or n r2, which omega sums."""

Precision = Literal["accurate", "compat"]
KernelChoice = Literal["auto", "1", "2", "dynamic", "tiles"]
MissingState = Literal["N", "GAP"]

LD_MEASURES: tuple[LdMeasure, ...] = get_args(LdMeasure)
"""In the order of the kernels' numbers (`-D MEASURE`)."""

MAP_MEASURES: tuple[MapMeasure, ...] = get_args(MapMeasure)
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
KERNELS: tuple[KernelChoice, ...] = get_args(KernelChoice)
IMPUTABLE: tuple[MissingState, ...] = get_args(MissingState)
MISSING_NAMES: dict[str, MissingState] = {"N": "N", "GAP": "GAP", "G": "GAP", "-": "GAP"}
"""Missing states by the names that are taken for them, in capitals."""

MAX_POSITIONS = 100_000_000  # a grid of more is a slip of the pen, and would not fit in memory
MAX_SITES = 2**31 - 1  # that kernels count
WHOLE_NUMBERS = ("grid", "minwin", "maxwin", "minsnps", "border", "seed", "chunk_positions")
SEED_LIMIT = 2**32  # srand() takes an unsigned int


@dataclass(frozen=True)
class ScanOptions:
    """Parameters of a scan; the names are OmegaPlus' own.

    The defaults of `grid`, `minwin` and `maxwin` are a start for human chromosomes; choose them for your data.

    Parameters
    ----------
    grid : int
        Positions at which omega is evaluated, evenly spaced from the first to the last site (at least 2).
    minwin, maxwin : int
        Distances in bp from a position: a window reaches at least as far as `minwin` and at most as far as `maxwin`, on
        either side.
    minsnps : int
        Fewest sites on each side of a position (at least 1).
    border : int
        How far, in sites, the right half of a window may differ in size from the left half; -1 tries every pair of
        borders, and so does 0 in compat precision, as in OmegaPlus.
    ld : {'RSQUARE', 'D', 'ABSD', 'DOM', 'ABSDOM', 'ABSDOM2'}
        Linkage disequilibrium measure.
    precision : {'accurate', 'compat'}
        'accurate' (float64 results from sums that lose nothing) or 'compat' (OmegaPlus' float32 arithmetic, bit for
        bit).
    kernel : {'auto', '1', '2', 'dynamic', 'tiles'}
        'auto' chooses Kernel I, Kernel II or the tile kernel for each position, 'dynamic' Kernel I or II as the paper
        does; '1', '2' or 'tiles' forces one.
    maf : float
        Sites with a smaller minor allele frequency are left out, 0 to 0.5.
    no_singletons : bool
        Leave out sites at which a state is seen once.
    binary : bool
        Reduce sites with three or four states to their two commonest.
    impute : set of {'N', 'GAP'}
        Missing states to fill by a draw from the site's allele counts: 'N' (unknown) and 'GAP'.
    seed : int, optional
        Seed of the draws; required with `impute` and `binary`.
    chunk_positions : int, optional
        Most grid positions the device works on at once. Results never depend on it.

    Raises
    ------
    ParameterError
        A value outside its range.
    UsageError
        Values that contradict each other, or a seed that is missing.
    """

    grid: int = 1_000
    minwin: int = 1_000
    maxwin: int = 100_000
    minsnps: int = 5
    border: int = -1
    ld: LdMeasure = "RSQUARE"
    precision: Precision = "accurate"
    kernel: KernelChoice = "auto"
    maf: float = 0.0
    no_singletons: bool = False
    binary: bool = False
    impute: Set[MissingState] = frozenset()
    seed: int | None = None
    chunk_positions: int | None = None

    @property
    def tried_border(self) -> int:
        """`border` as it is meant: -1 where every pair of borders is tried."""
        return -1 if self.border == 0 and self.precision == "compat" else self.border

    def __post_init__(self) -> None:
        self._take_whole_numbers()
        self._check_window()
        self._check_choices()
        self._check_draws()
        if not (math.isfinite(self.maf) and 0.0 <= self.maf <= 0.5):
            raise ParameterError("maf", "a minor allele frequency lies between 0 and 0.5", self.maf)
        if self.chunk_positions is not None and self.chunk_positions < 1:
            raise ParameterError("chunk_positions", "at least 1 is needed", self.chunk_positions)

    def _take_whole_numbers(self) -> None:
        """Refuse what is no whole number; NumPy's integers become Python's."""
        for name in WHOLE_NUMBERS:
            value = getattr(self, name)
            if value is None and name in ("seed", "chunk_positions"):
                continue
            object.__setattr__(self, name, whole_number(name, value))
        try:
            object.__setattr__(self, "maf", float(self.maf))
        except (TypeError, ValueError):
            raise ParameterError("maf", "a minor allele frequency lies between 0 and 0.5", self.maf) from None

    def _check_window(self) -> None:
        checks = (
            ("grid", self.grid < 2, "at least 2 positions are needed"),
            ("grid", self.grid > MAX_POSITIONS, f"at most {MAX_POSITIONS} positions are possible"),
            ("minwin", self.minwin < 0, "the smallest window cannot be negative"),
            ("maxwin", self.maxwin < 1, "the largest window is at least 1 bp"),
            ("minsnps", self.minsnps < 1, "at least 1 site on each side is needed"),
            ("border", self.border < -1, "give a number of sites from 0, or -1 for every pair of borders"),
            ("border", self.border > MAX_SITES, f"at most {MAX_SITES} sites; -1 is every pair of borders"),
        )
        for name, wrong, text in checks:
            if wrong:
                raise ParameterError(name, text, getattr(self, name))
        if self.maxwin < self.minwin:
            raise UsageError(f"`maxwin={self.maxwin}` is smaller than `minwin={self.minwin}`; exchange or widen them")

    def _check_choices(self) -> None:
        check_choice("ld", self.ld, LD_MEASURES)
        check_choice("precision", self.precision, PRECISIONS)
        check_choice("kernel", self.kernel, KERNELS)
        if isinstance(self.impute, str):
            raise ParameterError("impute", "give a set of names: N, GAP or both", self.impute)
        unknown = sorted(set(self.impute) - set(IMPUTABLE))
        if unknown:
            raise ParameterError("impute", "choose N, GAP or both", unknown[0])
        object.__setattr__(self, "impute", frozenset(self.impute))

    def _check_draws(self) -> None:
        if self.seed is None:
            drawing = "impute" if self.impute else "binary" if self.binary else ""
            if drawing:
                raise UsageError(f"`{drawing}` draws at random: give `seed` so that the result can be repeated")
        elif not 0 < self.seed < SEED_LIMIT:
            raise ParameterError("seed", f"give a whole number from 1 to {SEED_LIMIT - 1}", self.seed)


def missing_states(words: Sequence[str]) -> frozenset[MissingState]:
    """Return the missing states of these names.

    Raises
    ------
    ParameterError
        There is no such state.
    """
    unknown = [word for word in words if word.upper() not in MISSING_NAMES]
    if unknown:
        raise ParameterError("impute", "choose N, GAP or both", unknown[0])
    return frozenset(MISSING_NAMES[word.upper()] for word in words)


def scan_parameters(options: ScanOptions) -> dict[str, Any]:
    """Return the options of a scan by name, as plain values."""
    return {name: sorted(v) if isinstance(v, frozenset) else v for name, v in asdict(options).items()}


@dataclass(frozen=True, kw_only=True)
class LdOptions:
    """What is shown: the surroundings of a peak of a scan, or a region without any window.

    Parameters
    ----------
    scan : OmegaReport or path, optional
        Report of the scan. The input is read and filtered as it says.
    peak : int, optional
        Which of its peaks, of windows that do not overlap; 1, the highest, if neither this nor `at` is given.
    at : tuple of str and float, optional
        Chromosome and bp: the report's grid position that is nearest.
    margin : int, optional
        Bp shown on both sides of the window; a quarter of its width if not given.
    region : tuple of str, int and int, optional
        Chromosome, first and last bp, instead of `scan`.
    maf, no_singletons, binary, impute, seed : optional
        Filters of sites and draws as in `ScanOptions`. With `scan` they are those of its report if not given, and
        cannot be others.

    Raises
    ------
    UsageError
        Neither or both of `scan` and `region`, or parameters without effect.
    """

    scan: OmegaReport | str | os.PathLike[str] | None = None
    peak: int | None = None
    at: tuple[str, float] | None = None
    margin: int | None = None
    region: tuple[str, int, int] | None = None
    maf: float | None = None
    no_singletons: bool | None = None
    binary: bool | None = None
    impute: Set[MissingState] | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if (self.scan is None) == (self.region is None):
            raise UsageError("what to show is for you to say: give `scan=REPORT` or `region=CHR:FROM-TO`")
        alone = [name for name in ("peak", "at", "margin") if getattr(self, name) is not None]
        if self.region is not None and alone:
            raise UsageError(f"`{alone[0]}` has no effect with `region`; it needs `scan=REPORT`")
        if self.peak is not None and self.at is not None:
            raise UsageError("`peak` and `at` contradict each other; give one of them")
        if self.region is not None and self.region[1] > self.region[2]:
            text = "its end comes before its start; exchange them"
            raise ParameterError("region", text, "{}:{}-{}".format(*self.region))
