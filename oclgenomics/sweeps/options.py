"""What of a scan can be chosen, and what may be chosen together."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from oclgenomics.errors import ParameterError, UsageError, check_choice, whole_number

Statistic = Literal[
    "mu", "pi", "theta", "tajima_d", "fay_wu_h",
    "h1", "h12", "h123", "h2_h1", "lassi", "saltilassi",
    "nsl", "ihs",
    "clr",
    "fst", "dxy", "xp_nsl", "xp_ehh",
]  # fmt: skip
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
JUDGED = (*STATISTICS, "combined")  # what figures show, and what peaks are of
DEFAULT_STATISTICS: tuple[Statistic, ...] = ("mu", "pi", "theta", "tajima_d", "fay_wu_h")
HAPLOTYPE_STATISTICS: tuple[Statistic, ...] = ("h1", "h12", "h123", "h2_h1", "lassi", "saltilassi")
EHH_STATISTICS: tuple[Statistic, ...] = ("nsl", "ihs")
POPULATION_STATISTICS: tuple[Statistic, ...] = ("fst", "dxy", "xp_nsl", "xp_ehh")
DIRECTED: tuple[Statistic, ...] = ("xp_nsl", "xp_ehh")  # of which the first population has the high values
WALKING = (*EHH_STATISTICS, *DIRECTED)  # along haplotypes
# A sweep lowers these and raises the others.
LOW: tuple[Statistic, ...] = (
    "pi", "theta", "tajima_d", "fay_wu_h",
    "h2_h1",
)  # fmt: skip
# Options on which only these statistics depend.
OWN_OPTIONS: dict[str, tuple[Statistic, ...]] = {
    "haplotype_window": HAPLOTYPE_STATISTICS, "haplotype_step": HAPLOTYPE_STATISTICS,
    "ehh_maf": EHH_STATISTICS, "ehh_max_gap": WALKING, "ehh_edge": WALKING,
    "clr_step": ("clr",), "clr_folded": ("clr",), "clr_spectrum": ("clr",), "recombination_map": ("clr",),
}  # fmt: skip
Precision = Literal["accurate", "compat"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
Missing = Literal["mask", "drop", "impute", "match"]
MISSING: tuple[Missing, ...] = get_args(Missing)
OnExclude = Literal["split", "drop", "zero"]
ON_EXCLUDE: tuple[OnExclude, ...] = get_args(OnExclude)
EhhEdge = Literal["drop", "keep"]
EHH_EDGES: tuple[EhhEdge, ...] = get_args(EhhEdge)
POLARISED: tuple[Statistic, ...] = ("fay_wu_h", "nsl", "ihs", "clr")  # depend on which state is derived
IN_INFO = "AA"  # ancestral bases of the VCF itself

Confidence = Literal["high", "any"]
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)

LEAST_WIDTH, MOST_WIDTH = 6, 2048
MAX_POSITIONS = 1 << 24
REFINE_QUANTILE = 0.99  # beyond which rows of a grid get rows at closer positions
WHOLE_NUMBERS = (
    "width", "edge", "grid", "step", "window",
    "haplotype_window", "haplotype_step",
    "ehh_max_gap",
    "clr_step",
    "refine", "refine_margin", "impute_seed",
)  # fmt: skip
FILES = ("accessible", "ancestral", "clr_spectrum", "recombination_map", "populations")


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """What is computed, where, and of which sites.

    Parameters
    ----------
    statistics : sequence of str
        Some of `STATISTICS`, which `docs/sweeps.md` defines; if not given, `DEFAULT_STATISTICS`: mu, pi, Watterson's
        theta, Tajima's D, and Fay and Wu's H.
    width : int
        Sites of a window of mu; even, 6 to 2048.
    edge : int
        Derived or ancestral haplotypes at most, for a site to count at an edge of the spectrum in mu_SFS.
    grid : int, optional
        Positions in each alignment, evenly spaced from the first to the last site, instead of one for each window.
    step : int, optional
        Bp between positions, instead of `grid`.
    window : int, optional
        Bp of the windows of all statistics but mu, around each position. If not given: the window of sites itself, or
        with `grid` or `step` the bp from one position to the next.
    precision : {'accurate', 'compat'}
        'compat' has RAiSD 2.9's float32 arithmetic and its rules; see `docs/sweeps.md`.
    maf : float
        Leave out sites of a smaller minor allele frequency, 0 to 0.5.
    missing : {'mask', 'drop', 'impute', 'match'}, optional
        Missing states are part of a site's pattern, or sites that have some are left out. In compat precision they may
        also be drawn as RAiSD's `-M 1` does, or match anything as its `-M 3`. If not given, 'mask', and with 'compat'
        'drop'.
    impute_seed : int
        Of the draws, as RAiSD's `-a`.
    max_missing : float
        Leave out sites of which a larger share of states is missing, in accurate precision.
    on_exclude : {'split', 'drop', 'zero'}
        Of excluded regions: no window reaches across one ('split'), their sites and bp are left out ('drop'), or mu is
        0 in windows that reach into one ('zero').
    accessible : path, optional
        BED file of the bp that are accessible: sites outside are left out, and values per bp and mu_VAR count these bp
        alone. Nothing is accessible of a chromosome that it does not have.
    min_accessible : float
        Share of the bp of a window that have to be accessible; of windows of sites only with `accessible`.
    ancestral : path or 'AA', optional
        FASTA file of ancestral bases, or those of INFO/AA of a VCF or BCF. The other allele is the derived state, and
        H, nSL, iHS and CLR (not folded) leave out sites whose ancestral base is not known, or neither allele.
    ancestral_confidence : {'high', 'any'}
        Take upper-case ancestral bases alone, as Ensembl and the 1000 Genomes Project write those of high confidence.
    ehh_maf : float
        nSL and iHS leave out sites of a smaller minor allele frequency.
    ehh_max_gap : int
        Bp between neighbouring sites of nSL, iHS, XP-nSL and XP-EHH that no haplotype is followed across.
    ehh_edge : {'drop', 'keep'}
        Whether sites have such a score if haplotypes cannot be followed far enough before the data end.
    haplotype_window, haplotype_step : int
        Sites of the windows of H1, H12, H123, H2/H1, LASSI and saltiLASSI, and from one window to the next.
    clr_step : int, optional
        Bp between the positions where CLR is computed. If not given: the positions of `grid` or `step`, else 5,000 bp.
    clr_folded : bool
        CLR does not use which state is derived.
    clr_spectrum : path, optional
        Background spectrum of CLR, as SweepFinder2 writes it; if not given, that of the sites of the whole input.
    recombination_map : path, optional
        CLR takes distances from this map, for which 1 cM is 1 Mb.
    populations : path, optional
        A sample and its population in each line. Fst, dxy, XP-nSL and XP-EHH compare two of them.
    between : sequence of str, optional
        Two of the populations of that file, if it has more. XP-nSL and XP-EHH are high at sweeps of the first one.

    refine : int, optional
        Bp between further positions around those rows of `grid` or `step` that look like a sweep (`Scan.fine`).
    refine_quantile : float, optional
        Rows beyond this quantile of their alignment look like one, by any of the statistics; 0.99 if not given.
    refine_margin : int, optional
        Bp on either side of such rows; if not given, those between rows.

    Raises
    ------
    ParameterError
        A value outside its range.
    UsageError
        Values that contradict each other.
    """

    statistics: Sequence[Statistic] = DEFAULT_STATISTICS
    width: int = 50
    edge: int = 1
    grid: int | None = None
    step: int | None = None
    window: int | None = None
    precision: Precision = "accurate"
    maf: float = 0.0
    missing: Missing | None = None
    impute_seed: int = 1
    max_missing: float = 0.1
    on_exclude: OnExclude = "split"
    accessible: str | None = None
    min_accessible: float = 0.5
    ancestral: str | None = None
    ancestral_confidence: Confidence = "high"
    ehh_maf: float = 0.05
    ehh_max_gap: int = 200_000
    ehh_edge: EhhEdge = "drop"
    haplotype_window: int = 100
    haplotype_step: int = 10
    clr_step: int | None = None
    clr_folded: bool = False
    clr_spectrum: str | None = None
    recombination_map: str | None = None
    populations: str | None = None
    between: Sequence[str] | None = None
    refine: int | None = None
    refine_quantile: float | None = None
    refine_margin: int | None = None

    def __post_init__(self) -> None:
        self._take_numbers()
        self._check_statistics()
        choices = {
            "precision": PRECISIONS, "on_exclude": ON_EXCLUDE, "ehh_edge": EHH_EDGES,
            "ancestral_confidence": CONFIDENCES,
        }  # fmt: skip
        for name, every in choices.items():
            check_choice(name, getattr(self, name), every)
        if self.missing is not None:
            check_choice("missing", self.missing, MISSING)
        quantile = REFINE_QUANTILE if self.refine_quantile is None else self.refine_quantile
        checks = (
            ("width", self.width % 2 != 0, "the sites of a window are an even number: two halves of one size"),
            ("width", not LEAST_WIDTH <= self.width <= MOST_WIDTH, f"give {LEAST_WIDTH} to {MOST_WIDTH} sites"),
            ("edge", self.edge < 1, "give a number of haplotypes, 1 or more"),
            ("grid", self.grid is not None and not 2 <= self.grid <= MAX_POSITIONS, f"give 2 to {MAX_POSITIONS}"),
            ("step", self.step is not None and self.step < 1, "give a number of bp, 1 or more"),
            ("window", self.window is not None and self.window < 1, "give a number of bp, 1 or more"),
            ("clr_step", self.clr_step is not None and self.clr_step < 1, "give a number of bp, 1 or more"),
            ("refine", self.refine is not None and self.refine < 1, "give a number of bp, 1 or more"),
            ("refine_margin", self.refine_margin is not None and self.refine_margin < 0, "give a number of bp"),
            ("clr_folded", not isinstance(self.clr_folded, bool), "give True or False"),
            ("maf", not 0 <= self.maf <= 0.5, "a minor allele frequency lies between 0 and 0.5"),
            ("refine_quantile", not 0 < quantile < 1, "it lies between 0 and 1, such as 0.99 for 1 % of the rows"),
            ("ehh_maf", not 0 <= self.ehh_maf <= 0.5, "a minor allele frequency lies between 0 and 0.5"),
            ("impute_seed", not 0 <= self.impute_seed < 1 << 31, f"give 0 to {(1 << 31) - 1}"),
            ("ehh_max_gap", self.ehh_max_gap < 1, "give a number of bp, 1 or more"),
            ("haplotype_window", self.haplotype_window < 2, "give a number of sites, 2 or more"),
            ("haplotype_step", self.haplotype_step < 1, "give a number of sites, 1 or more"),
            ("max_missing", not 0 <= self.max_missing <= 1, "give a share, 0 to 1"),
            ("min_accessible", not 0 <= self.min_accessible <= 1, "give a share, 0 to 1"),
        )
        for name, wrong, text in checks:
            if wrong:
                raise ParameterError(name, text, getattr(self, name))
        self._check_together()

    def _take_numbers(self) -> None:
        """Refuse what is no number; NumPy's become Python's."""
        for name in WHOLE_NUMBERS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, whole_number(name, value))
        for name in FILES:
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else os.fspath(value))
        for name in ("maf", "max_missing", "min_accessible", "ehh_maf", "refine_quantile"):
            value = getattr(self, name)
            if value is None and name == "refine_quantile":
                continue
            try:
                number = float(value)
            except (TypeError, ValueError):
                number = math.nan
            if math.isnan(number):
                raise ParameterError(name, "give a number", value)
            object.__setattr__(self, name, number)

    def _check_statistics(self) -> None:
        if isinstance(self.statistics, str):
            raise ParameterError("statistics", "give a sequence of names", self.statistics)
        for name in self.statistics:
            check_choice("statistics", name, STATISTICS)
        if not self.statistics:
            raise ParameterError("statistics", f"give one or more of {', '.join(STATISTICS)}")
        object.__setattr__(self, "statistics", tuple(name for name in STATISTICS if name in self.statistics))

    def _check_populations(self) -> None:
        if self.between is not None:
            if isinstance(self.between, str) or len(self.between) != 2 or self.between[0] == self.between[1]:
                raise ParameterError("between", "give two populations", ",".join(self.between))
            object.__setattr__(self, "between", tuple(self.between))
            if self.populations is None:
                raise UsageError("`between` has no effect without `populations`, a file of samples and populations")
        compared = [name for name in POPULATION_STATISTICS if name in self.statistics]
        if compared and self.populations is None:
            raise UsageError(f"{compared[0]} compares two populations; name their samples with `populations`")
        if not compared and self.populations is not None:
            names = ", ".join(POPULATION_STATISTICS)
            raise UsageError(f"`populations` has no effect on {','.join(self.statistics)}; add some of {names}")

    def _check_refinement(self) -> None:
        for name in ("refine_quantile", "refine_margin"):
            if self.refine is None and getattr(self, name) is not None:
                raise UsageError(f"`{name}` has no effect without `refine`, the bp between further positions")
        if self.refine is None:
            return
        if self.precision == "compat":
            raise UsageError("`refine` and `precision=compat` contradict each other: RAiSD has one grid")
        if self.grid is None and self.step is None:
            raise UsageError("`refine` adds positions to those of a grid; give `step` or `grid` as well")
        if self.step is not None and self.refine >= self.step:
            raise UsageError(f"`refine={self.refine}` is not closer than `step={self.step}`; give fewer bp")

    def _check_together(self) -> None:
        self._check_populations()
        self._check_refinement()
        if self.grid is not None and self.step is not None:
            raise UsageError("`grid` and `step` contradict each other; give one of them")
        if self.precision != "compat":
            if self.missing in ("impute", "match"):
                given = f"`missing={self.missing}` and `precision={self.precision}`"
                raise UsageError(f"{given} contradict each other: it is a rule of RAiSD; use compat")
            return
        wrong = (
            ("step", self.step is not None, "RAiSD has a grid of so many positions only"),
            ("grid", self.grid == 2, "RAiSD needs 3 positions or more"),
            ("on_exclude", self.on_exclude == "drop", "RAiSD keeps the sites of excluded regions; use zero or split"),
            ("accessible", self.accessible is not None, "RAiSD counts all bp of a region"),
        )
        for name, is_wrong, why in wrong:
            if is_wrong:
                given = f"{name}={getattr(self, name)}"
                raise UsageError(f"`{given}` and `precision=compat` contradict each other: {why}")

    @property
    def polarised(self) -> tuple[Statistic, ...]:
        """Which of the statistics depend on which state is derived."""
        found = (name for name in POLARISED if name in self.statistics)
        return tuple(name for name in found if not (name == "clr" and self.clr_folded))

    @property
    def treatment(self) -> Missing:
        """What is done with missing states: `missing`, or what it means where it is not given."""
        return self.missing or ("drop" if self.precision == "compat" else "mask")


def unrefined(options: SweepOptions) -> SweepOptions:
    """Return the options of the coarse rows alone."""
    return replace(options, refine=None, refine_quantile=None, refine_margin=None)


def sweep_parameters(options: SweepOptions) -> dict[str, Any]:
    """Return the options of a scan by name, as plain values; `missing` as it is meant."""
    between = None if options.between is None else ",".join(options.between)
    plain = {"statistics": ",".join(options.statistics), "missing": options.treatment, "between": between}
    return asdict(options) | plain
