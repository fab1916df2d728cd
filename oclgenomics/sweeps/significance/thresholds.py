"""What values of statistics mean: thresholds and p-values from neutral replicates, and regions that exceed them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import distance_text
from oclgenomics.app.frames import frame_of
from oclgenomics.app.significance import RankedThreshold, p_values, rank_for
from oclgenomics.errors import UsageError
from oclgenomics.sweeps.options import (
    DIRECTED,
    EHH_STATISTICS,
    LOW,
    OWN_OPTIONS,
    POLARISED,
    POPULATION_STATISTICS,
    Statistic,
    SweepOptions,
    sweep_parameters,
)
from oclgenomics.sweeps.result import Scan
from oclgenomics.sweeps.significance.combined import COMBINED, COMBINED_P, Combination, combine
from oclgenomics.sweeps.sites.used import SweepFacts
from oclgenomics.sweeps.statistics.families import Background

MUST_AGREE = (
    "width", "edge", "step", "window", "precision", "maf", "missing", "max_missing", "accessible", "min_accessible",
)  # fmt: skip
BY_CONTENT = ("accessible", "clr_spectrum")  # files, of which the content has to agree and not the name
LATER = {"min_accessible": 0.5}  # options that older files do not have, and what they meant
# Statistics that are compared with a background, and options on which that depends besides `maf`.
WITH_BACKGROUND: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("lassi", "saltilassi"), ("haplotype_window", "haplotype_step")),
    **dict.fromkeys(EHH_STATISTICS, ("ehh_maf", "ehh_max_gap", "ehh_edge")),
    "clr": ("clr_folded",),
    **dict.fromkeys(("xp_nsl", "xp_ehh"), ("ehh_max_gap", "ehh_edge")),
}
WORDS = ("populations", "between", "mask", "masks", "spectrum")  # facts that all replicates have in common
LIKE_DENSITY = 1.1
LIKE_MISSING = 0.05
LIKE_MASKED = 0.1
# Share of neutral replicates, in %, that pass thresholds of a constant size at a nominal 5 % where the population
# went through a bottleneck, and where it has grown; by statistic or combined set. From benchmarks/sweeps_power.py.
WRONG_HISTORY = {
    "mu": (13, 74), "pi": (36, 1), "theta": (42, 0), "tajima_d": (21, 43), "fay_wu_h": (10, 6), "h1": (8, 1),
    "h12": (7, 1), "h123": (6, 1), "h2_h1": (10, 12), "lassi": (10, 20), "saltilassi": (5, 22), "nsl": (14, 13),
    "ihs": (10, 16), "clr": (20, 15),
    "mu+saltilassi": (8, 66), "h12+mu": (9, 13), "pi+saltilassi": (26, 8), "mu+pi+saltilassi": (24, 30),
    "mu+nsl+saltilassi": (10, 46), "clr+mu+nsl+saltilassi": (15, 42), "mu+nsl+pi+saltilassi": (21, 34),
}  # fmt: skip


NO_CONTENT = "does not say which {}, as an earlier version wrote it; make it again"


def sign_of(statistic: str) -> int:
    """Return 1 for a statistic that a sweep raises, -1 for one that it lowers."""
    return -1 if statistic in LOW else 1


def check_compared(statistics: Sequence[str], *, simulated: bool) -> None:
    """Refuse statistics between two populations of simulated replicates, which are of one population.

    Raises
    ------
    UsageError
        Some of the statistics compare two populations.
    """
    compared = [name for name in statistics if name in POPULATION_STATISTICS]
    if compared and simulated:
        raise UsageError(
            f"{compared[0]} needs replicates of two populations, which are not simulated here; give such replicates as "
            "the input, and their samples with `populations`"
        )


def density_of(scan: Scan) -> float:
    """Return the sites per bp of an alignment, by the mean over its windows of sites or its rows; NaN without any."""
    if not len(scan.positions):
        return math.nan
    span = float(scan.end.max() - scan.start.min())
    return (scan.facts.sites - 1) / span if span > 0 else math.nan


def wrong_rates(null: Significance) -> list[str]:
    """Return the rates of thresholds of a constant size under other histories, for statistics that were tried."""
    found = []
    for name in null.extremes:
        key = "+".join(sorted(null.combination.statistics)) if name == COMBINED and null.combination else name
        if key in WRONG_HISTORY:
            bottleneck, growth = WRONG_HISTORY[key]
            found.append(f"{name} {bottleneck} and {growth} %")
    return found


@dataclass(frozen=True)
class NullFacts:
    """What neutral replicates were.

    Attributes
    ----------
    fewest_haplotypes, haplotypes : int
        The smallest and the largest number in a replicate.
    genotypes : bool or None
        Whether patterns are those of genotypes; None where some are and others not.
    missing : float
        Mean share of missing states.
    least_density, density, most_density : float
        Sites per bp: the least, the mean and the most.
    populations : str
        Haplotypes of the two populations that are compared, as in '40+38'; of replicates that differ 'several'.
    accessible : float or None
        Mean share of bp that are accessible; None where all are.
    between : str
        Names of the two populations, the first one first, as in 'A,B'; empty without any.
    haploid : float
        Mean share of haplotypes that haploid calls lack, as `SweepFacts` has it.
    mask, masks, spectrum : str
        Checksums of what is accessible and of CLR's background as `SweepFacts` has them; of replicates that differ
        'several'.
    """

    fewest_haplotypes: int
    haplotypes: int
    genotypes: bool | None
    missing: float
    least_density: float
    density: float
    most_density: float
    populations: str = ""
    accessible: float | None = None
    between: str = ""
    haploid: float = 0.0
    mask: str = ""
    masks: str = ""
    spectrum: str = ""


@dataclass(frozen=True)
class SweepThreshold(RankedThreshold):
    """The value of a statistic that a neutral alignment passes with a given probability.

    Attributes
    ----------
    statistic : str
    fpr : float
        The false-positive rate asked for.
    value : float
        Larger values are detections; smaller ones of a statistic that a sweep lowers.
    rank, replicates : int
        It is the rank-th most extreme of so many replicates.
    """

    statistic: str
    fpr: float
    value: float
    rank: int
    replicates: int

    def record(self) -> dict[str, Any]:
        """Return the threshold as plain values, with the rate that is expected of it."""
        return {**asdict(self), "expected_fpr": self.expected_fpr}


@dataclass(frozen=True, eq=False, repr=False)
class Significance:
    """What neutral replicates say of the statistics.

    Attributes
    ----------
    scan : mapping of str to object
        Options of the replicates' scan by name, as plain values.
    length : int or None
        Of a replicate, bp, if it is known.
    data : NullFacts
    extremes, positions : mapping of str to ndarray of float64, shape (replicates,)
        By statistic, the value of each replicate that is most like a sweep, and where; NaN without any.
    thresholds : tuple of SweepThreshold
    combination : Combination, optional
        Of one half of the replicates; extremes of the combined score are those of the other half.
    backgrounds : mapping of str to mapping
        What statistics compared the replicates with; see `Scan.backgrounds`.
    source : str
        The file that these were read from; empty if they were found in this process.
    history : str
        What the replicates are of, if the file says: a demes file, the file of replicates, or a model.
    """

    scan: Mapping[str, Any]
    length: int | None
    data: NullFacts
    extremes: Mapping[str, NDArray[np.float64]]
    positions: Mapping[str, NDArray[np.float64]]
    thresholds: tuple[SweepThreshold, ...]
    combination: Combination | None = None
    backgrounds: Mapping[str, Background] = field(default_factory=dict)
    source: str = ""
    history: str = ""

    def __repr__(self) -> str:
        found = ", ".join(f"{one.statistic} {one.value:.6g} at fpr {one.fpr:g}" for one in self.thresholds)
        return f"<Significance from {len(self):,} neutral replicates: {found}>"

    def __len__(self) -> int:
        return len(next(iter(self.extremes.values())))

    @property
    def described(self) -> str:
        """The replicates in a few words, for legends: how many, how long, and of which history."""
        length = f" of {distance_text(self.length)}" if self.length else ""
        return f"{len(self):,} neutral replicates{length}" + (f" ({self.history})" if self.history else "")

    @classmethod
    def of(
        cls, scans: Iterable[Scan], statistics: Sequence[Statistic], fpr: Sequence[float], length: int | None,
        combined: Sequence[Statistic] = (),
    ) -> Significance:  # fmt: skip
        """Take the extremes of the scans of neutral replicates, one at a time unless some statistics are combined.

        Raises
        ------
        UsageError
            A rate outside its range, or too small for so few replicates; no replicate, or none with a value.
        """
        rows: dict[str, list[tuple[float, float]]] = {name: [] for name in statistics}
        facts, densities, scan, kept = [], [], None, list[Scan]()
        for scan in scans:
            facts.append(scan.facts)
            densities.append(density_of(scan))
            for name in statistics:
                best = scan.best(name)
                none = (math.nan, math.nan)
                value = none if best is None else (float(scan.values[name][best]), float(scan.positions[best]))
                rows[name].append(value)
            if combined:
                kept.append(replace(scan, values={name: scan.values[name] for name in combined}))
        if scan is None:
            raise UsageError("there is no neutral replicate; give some")
        columns = {name: np.array(values).reshape(-1, 2) for name, values in rows.items()}
        for each, column in columns.items():
            if np.isnan(column).all():
                why = "they have too few sites for a window; make them longer, or scan with smaller windows"
                raise UsageError(f"no neutral replicate has a value of {each}: {why}")
        known = [one for one in densities if not math.isnan(one)] or [math.nan]
        kinds = {one.genotypes for one in facts}
        words = {name: _word_of({getattr(one, name) for one in facts}) for name in WORDS}
        shares = [one.accessible for one in facts if one.accessible is not None]
        data = NullFacts(
            min(one.haplotypes for one in facts), max(one.haplotypes for one in facts),
            kinds.pop() if len(kinds) == 1 else None, float(np.mean([one.missing for one in facts])),
            min(known), float(np.mean(known)), max(known), accessible=float(np.mean(shares)) if shares else None,
            haploid=float(np.mean([one.haploid or 0.0 for one in facts])),
            **words,
        )  # fmt: skip
        extremes = {name: values[:, 0].copy() for name, values in columns.items()}
        places = {name: values[:, 1].copy() for name, values in columns.items()}
        combination = None
        if combined:
            combination, highest = combine(kept, combined)
            extremes[COMBINED], places[COMBINED] = (np.array(column) for column in zip(*highest, strict=True))
        found = tuple(one for name in extremes for one in thresholds(name, extremes[name], fpr))
        return cls(scan.parameters, length, data, extremes, places, found, combination, scan.backgrounds)

    def p_values(self, statistic: str, values: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return the probability of so extreme a value anywhere in a neutral alignment, float64 (...)."""
        sign = sign_of(statistic)
        return p_values(sign * np.asarray(values, np.float64), scores_of(statistic, self.extremes[statistic]))

    def judged(self, scan: Scan) -> Scan:
        """Return a scan with the combined score at each row and its p-value, if the replicates were combined.

        Fine rows have the score, but no p-value.

        Raises
        ------
        UsageError
            The scan lacks a statistic.
        """
        if self.combination is None:
            return scan
        scores = self.combination.scores(scan)
        p = np.where(np.isnan(scores), np.nan, self.p_values(COMBINED, scores))
        fine = scan.fine
        if fine is not None:
            fine = replace(fine, values={**fine.values, COMBINED: self.combination.fine_scores(scan)})
        return replace(scan, values={**scan.values, COMBINED: scores, COMBINED_P: p}, fine=fine)

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each threshold: 'statistic', 'fpr', 'value', 'rank', 'replicates', 'expected_fpr'."""
        return [one.record() for one in self.thresholds]

    def to_frame(self) -> Any:
        """Make a table of the thresholds, with the names of `records`; see `oclgenomics.app.frames.to_frame`."""
        return frame_of(self.records())

    def threshold(self, statistic: str, fpr: float | None = None) -> SweepThreshold:
        """Return the threshold of a statistic for a rate, or for the first rate that was asked for.

        Raises
        ------
        UsageError
            The replicates were not scanned by this statistic, or are too few for the rate.
        """
        own = [one for one in self.thresholds if one.statistic == statistic]
        if not own:
            raise UsageError(f"{self.source or 'the thresholds'}: the replicates were not scanned by {statistic}")
        return own[0] if fpr is None else thresholds(statistic, self.extremes[statistic], [fpr])[0]


def _word_of(words: set[str]) -> str:
    """The one word of all replicates, or that they have several."""
    return next(iter(words)) if len(words) == 1 else "several"


def scores_of(statistic: str, extremes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values that are larger the more they are like a sweep; the lowest of all where there is none."""
    return np.where(np.isnan(extremes), -np.inf, sign_of(statistic) * extremes)


def thresholds(statistic: str, extremes: NDArray[np.float64], rates: Sequence[float]) -> list[SweepThreshold]:
    """Return thresholds of a statistic for false-positive rates.

    Raises
    ------
    UsageError
        A rate outside its range, or too small for so few replicates.
    """
    ordered = np.sort(scores_of(statistic, extremes))[::-1]
    ranks = [rank_for(rate, len(ordered), statistic == COMBINED) for rate in rates]
    sign = sign_of(statistic)
    return [
        SweepThreshold(statistic, rate, sign * float(ordered[rank - 1]), rank, len(ordered))
        for rate, rank in zip(rates, ranks, strict=True)
    ]


def compare(null: Significance, scans: Sequence[Scan], what: str) -> str:
    """Compare scans with the neutral replicates of a threshold, and return what was compared.

    Raises
    ------
    UsageError
        Thresholds of these replicates do not hold for the scans.
    """
    name, data = null.source or "the thresholds", null.data
    for scan in scans:
        both = set(scan.values) & set(null.extremes)
        check_options(null, scan.parameters, scan.values, what)
        if not len(scan.positions):
            continue
        if scan.facts.accessible is not None:
            check_mask(data, scan, what, name)
        if "clr" in both:
            _check_spectrum(data, scan, what, name)
        _check_data(data, scan, what, name)
        folded, unknown = str(scan.parameters.get("clr_folded")) == "True", scan.facts.unpolarised or 0.0
        valued = {one for one in both if not np.isnan(scan.values[one]).all()}
        blind = [one for one in POLARISED if one in valued and not (folded and one == "clr")]
        if blind and unknown > LIKE_MASKED:
            raise UsageError(
                f"{name}: at all sites of its replicates it is known which state is derived, and at "
                f"{100 * unknown:.1f} % of those of {what} ({scan.name}) it is not; thresholds of {blind[0]} are others"
            )
        if both & set(POPULATION_STATISTICS) and data.populations != scan.facts.populations:
            raise UsageError(
                f"{name}: its replicates have {data.populations} haplotypes of two populations, {what} ({scan.name}) "
                f"has {scan.facts.populations}, for which thresholds are others"
            )
        if both & set(DIRECTED):
            _check_direction(null, scan.facts.between, f"{what} ({scan.name})")
        if str(null.scan.get("precision")) == "compat" and _begins_late(scan):
            raise UsageError(
                f"{what} ({scan.name}) begins at {scan.start.min():,.0f} bp; compat precision counts all bp before as "
                "part of the region, which replicates do not have: use accurate"
            )
    kind = "genotypes" if data.genotypes else "haplotypes"
    low, high = 1000 * data.least_density, 1000 * data.most_density
    return f"{data.haplotypes:,} haplotypes, patterns of {kind}, {low:.3g} to {high:.3g} sites per kb, the same options"


def check_background(null: Significance, options: SweepOptions) -> None:
    """Refuse a background of other options, or without what the statistics need.

    Raises
    ------
    UsageError
        Neutral replicates do not have the background of a scan.
    """
    name, made = null.source or "the background", str(null.scan.get("statistics")).split(",")
    needed = [one for one in _compared(options) if one != "clr" or options.clr_spectrum is None]
    if not needed:
        raise UsageError(f"{name}: no background has an effect on {','.join(options.statistics)}; leave it out")
    known = sweep_parameters(options)
    for statistic in needed:
        if statistic not in made:
            raise UsageError(
                f"{name}: its replicates were not scanned by {statistic}, so it has no background of that; make it "
                f"with `sweeps threshold --stat {','.join(needed)}`"
            )
        for option in ("maf", *WITH_BACKGROUND[statistic]):
            ours, theirs = str(known[option]), str(null.scan.get(option))
            if ours != theirs:
                raise UsageError(
                    f"{name}: its replicates were scanned with `{option}={theirs}`, and the background of {statistic} "
                    f"is for `{option}={ours}`; scan both with the same options"
                )


def _check_direction(null: Significance, ours: str, what: str) -> None:
    """Refuse replicates that compare the same two populations the other way round, as by their names."""
    theirs = null.data.between
    if theirs != ours and theirs.split(",") == ours.split(",")[::-1]:
        raise UsageError(
            f"{null.source or 'the thresholds'}: its replicates compare {theirs}, and {what} compares {ours}, whose "
            "values have the other sign; name the populations in the same order with `between`"
        )


def check_background_data(null: Significance, facts: SweepFacts, options: SweepOptions, alignment: str) -> None:
    """Refuse a background of other haplotypes than those of an alignment; CLR projects its own.

    Raises
    ------
    UsageError
        The background is of others.
    """
    name, data, compared = null.source or "the background", null.data, _compared(options)
    kinds = {True: "unphased genotypes", False: "phased haplotypes", None: "both phased and unphased data"}
    theirs, ours = f"{data.haplotypes:,} {kinds[data.genotypes]}", f"{facts.haplotypes:,} {kinds[facts.genotypes]}"
    alike = data.fewest_haplotypes == data.haplotypes == facts.haplotypes and data.genotypes is facts.genotypes
    if set(compared) & set(POPULATION_STATISTICS) and data.populations != facts.populations:
        theirs, ours, alike = f"{data.populations} of two populations", facts.populations, False
    if not alike and set(compared) - {"clr"}:
        raise UsageError(
            f"{name}: its replicates have {theirs}, and {alignment} has {ours}, whose background is another; make it "
            "with `sweeps threshold --scan REPORT`"
        )
    if set(compared) & set(DIRECTED):
        _check_direction(null, facts.between, alignment)


def _compared(options: SweepOptions) -> list[str]:
    """Which statistics compare alignments with a background."""
    return [one for one in options.statistics if one in WITH_BACKGROUND]


def check_options(null: Significance, parameters: Mapping[str, Any], statistics: Iterable[str], what: str) -> None:
    """Refuse thresholds of other options than those of a scan.

    Raises
    ------
    UsageError
        They are.
    """
    name, both = null.source or "the thresholds", set(statistics) & set(null.extremes)
    own = [option for option, those in OWN_OPTIONS.items() if both & set(those)]
    for option in (*MUST_AGREE, *own):
        ours, theirs = (str(one.get(option, LATER.get(option))) for one in (parameters, null.scan))
        if ours != theirs and not (option in BY_CONTENT and "None" not in (ours, theirs)):
            raise UsageError(
                f"{name}: its replicates were scanned with `{option}={theirs}`, and {what} with `{option}={ours}`; "
                "scan both with the same options"
            )
    if str(parameters.get("grid")) != "None":
        raise UsageError(f"{what} has a grid of so many positions; scan with `step`, which replicates can have, too")


def check_mask(data: NullFacts | SweepFacts, scan: Scan, what: str, other: str) -> None:
    """Refuse replicates with other accessible bp than those of a scan; the names of the files do not count.

    Parameters
    ----------
    data : NullFacts or SweepFacts
        Of the replicates, or of what else has a mask. That of the chromosome suits, or all of the file.
    scan : Scan
    what, other : str
        Names of the scan and of the replicates in the message.

    Raises
    ------
    UsageError
        They are others, or it is not known.
    """
    facts = scan.facts
    for whose, own in ((what, facts.mask), (other, data.mask)):
        if not own:
            raise UsageError(f"{whose}: {NO_CONTENT.format('bp are accessible')}")
    if facts.mask != data.mask and facts.masks != data.masks:
        raise UsageError(
            f"{other}: its mask (`accessible`) has other bp than that of {what} ({scan.name}), for which thresholds "
            "are others; use the same mask for both"
        )


def _check_spectrum(data: NullFacts, scan: Scan, what: str, other: str) -> None:
    """Refuse replicates that CLR compared with another background spectrum, if files say which."""
    ours, theirs = scan.facts.spectrum, data.spectrum
    if str(scan.parameters.get("clr_spectrum")) == "None":
        return
    for whose, own in ((what, ours), (other, theirs)):
        if not own:
            raise UsageError(f"{whose}: {NO_CONTENT.format('background spectrum CLR had')}")
    if ours != theirs:
        raise UsageError(
            f"{other}: its background spectrum of CLR (`clr_spectrum`) is another than that of {what} ({scan.name}); "
            "use the same for both"
        )


def _begins_late(scan: Scan) -> bool:
    """Whether much of the bp up to the last site lies before the first one."""
    return len(scan.positions) > 0 and bool(scan.start.min() > LIKE_MASKED * scan.end.max())


def _check_data(data: NullFacts, scan: Scan, what: str, thresholds: str) -> None:
    """Refuse an alignment whose data are unlike the replicates."""
    density, facts = density_of(scan), scan.facts
    alike = data.least_density <= density <= data.most_density or like_density(density, data.density)
    phases = {True: "unphased genotypes", False: "phased haplotypes", None: "both phased and unphased data"}
    checks = (
        (
            data.fewest_haplotypes == data.haplotypes == facts.haplotypes,
            f"{data.haplotypes:,} haplotypes", f"{facts.haplotypes:,}",
        ),
        (data.genotypes is facts.genotypes, phases[data.genotypes], phases[facts.genotypes]),
        (
            abs(data.missing - facts.missing) <= LIKE_MISSING,
            f"{100 * data.missing:.1f} % of the states missing", f"{100 * facts.missing:.1f} %",
        ),
        (
            abs(data.haploid - (facts.haploid or 0.0)) <= LIKE_MISSING,
            f"{100 * data.haploid:.1f} % of the haplotypes not there in haploid calls",
            f"{100 * (facts.haploid or 0.0):.1f} %",
        ),
        (facts.masked <= LIKE_MASKED, "no bp excluded", f"{100 * facts.masked:.1f} %"),
        (
            abs(_share(data.accessible) - _share(facts.accessible)) <= LIKE_MASKED,
            f"{100 * _share(data.accessible):.1f} % of the bp accessible", f"{100 * _share(facts.accessible):.1f} %",
        ),
    )  # fmt: skip
    for is_alike, theirs, ours in checks:
        if not is_alike:
            raise UsageError(
                f"{thresholds}: its replicates have {theirs}, {what} ({scan.name}) has {ours}, for which thresholds "
                "are others; make them with `sweeps threshold --scan REPORT`"
            )
    if not alike and len(scan.positions):
        raise UsageError(unlike_density(thresholds, data.density, what, scan.name, density))


def like_density(one: float, other: float) -> bool:
    """Whether densities of sites are so close that thresholds of one hold for the other."""
    return 1 / LIKE_DENSITY <= one / other <= LIKE_DENSITY


def unlike_density(thresholds: str, theirs: float, what: str, name: str, ours: float) -> str:
    """Say that replicates have other sites per bp than an alignment, and what to do."""
    return (
        f"{thresholds}: its replicates have {1000 * theirs:.4g} sites per kb, {what} ({name}) has {1000 * ours:.4g}, "
        "for which thresholds are others; have them simulated with --mutation-rate instead of --sites, so that they "
        f"differ as chromosomes do, or scan and judge {name} by itself"
    )


def _share(accessible: float | None) -> float:
    return 1.0 if accessible is None else accessible
