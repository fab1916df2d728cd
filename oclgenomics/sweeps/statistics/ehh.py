"""nSL and iHS: which sites are scored, how far walks go from them, and what the sums of the device mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sweeps.arrays import Floats, Ints
from oclgenomics.sweeps.options import SweepOptions
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import UsedSites, plane_counts
from oclgenomics.variation.packing import pack_states, unpack_sites, words_for
from oclgenomics.variation.selection import count_ones

Score = Literal["nsl", "ihs", "xp_nsl", "xp_ehh"]
SCORES: tuple[Literal["nsl", "ihs"], ...] = ("nsl", "ihs")
COMPARING: tuple[Literal["xp_nsl", "xp_ehh"], ...] = ("xp_nsl", "xp_ehh")
BY_BP = ("ihs", "xp_ehh")  # others count sites

REACH_SITES = 100  # steps of nSL
REACH_BP = 1_000_000  # of iHS
GAP_SCALE = 20_000  # bp between neighbouring sites, above which a gap counts for less
BINS = 100  # of the derived frequency, 0 to 1
FEWEST = 20  # scores that a bin is normalised by
WINDOW_SCORES = 25  # normalised scores of a window

MOST_HAPLOTYPES = 0xFFFF  # numbers of haplotypes have 16 bits on the device
MOST_BITS = (20, 17)  # of fractions of weights in sites and in bp; a weight is a 32-bit number
SUM_BITS = 62
AT_ONCE = 1 << 14  # sites that are unpacked at a time

OPEN, END, GAP, EXCLUDED, SINGLE, HETEROZYGOUS, ZERO, UNPOLARISED = range(8)
REASONS = {
    END: "end of the data", GAP: "gap", EXCLUDED: "excluded region", SINGLE: "allele of one haplotype",
    HETEROZYGOUS: "mostly heterozygous", ZERO: "no homozygosity", UNPOLARISED: "ancestral state not known",
}  # fmt: skip
MISSING_STATES = "missing states"  # of sites that are no cores
SCORED = 0


@dataclass(frozen=True, eq=False)
class CoreSites:
    """The sites of one alignment that homozygosity is computed from, all of which are cores.

    Attributes
    ----------
    rows : ndarray of uint32, shape (sites, words)
        Bits of the haplotypes, or of the genotypes as `SitePlanes` has them.
    positions : ndarray of float64, shape (sites,)
    derived : ndarray of int64, shape (sites,)
        Haplotypes with the derived state.
    haplotypes : int
    genotypes : bool
    gaps : ndarray of float64, shape (sites,)
        Bp that count between a site and the one before; 0 for the first.
    barriers : ndarray of uint8, shape (sites,)
        What no walk crosses between a site and the one before: `END`, `GAP`, `EXCLUDED` or `OPEN` (nothing).
    missing : int
        Sites left out because states are missing.
    first : int
        Haplotypes of the first of two populations that are compared; the others are of the second. Else 0.
    polarised : ndarray of bool, shape (sites,), or None
        Of which it is known which state is derived; None: of all.
    """

    rows: NDArray[np.uint32]
    positions: Floats
    derived: Ints
    haplotypes: int
    genotypes: bool
    gaps: Floats
    barriers: NDArray[np.uint8]
    missing: int = 0
    first: int = 0
    polarised: NDArray[np.bool_] | None = None

    @property
    def sites(self) -> int:
        """Number of sites."""
        return len(self.positions)

    @property
    def count(self) -> int:
        """Haplotypes, or with genotypes samples, that are compared."""
        return self.haplotypes // 2 if self.genotypes else self.haplotypes


@dataclass(frozen=True, eq=False)
class Walks:
    """How far walks go from each core, by the rules of one score.

    Attributes
    ----------
    weights : ndarray of uint32, shape (sites,)
        What the gap between a site and the one before counts, in units of 2 ** -bits sites or bp.
    bits : int
    steps : ndarray of uint32, shape (2, sites)
        The most steps upwards and downwards.
    closed : ndarray of uint8, shape (2, sites)
        What lies beyond them: `OPEN` where they are all that the rules want.
    """

    weights: NDArray[np.uint32]
    bits: int
    steps: NDArray[np.uint32]
    closed: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class SiteScores:
    """Scores of the sites of one alignment.

    Attributes
    ----------
    positions : ndarray of float64, shape (sites,)
        Sites with a score.
    frequency : ndarray of float64, shape (sites,)
        Of the derived state.
    first, second : ndarray of float64, shape (sites,)
        Integrals of the homozygosity of the derived and the ancestral state, in sites (nSL) or Mb (iHS); of two
        populations that are compared those of the first and the second one (XP-nSL, XP-EHH). Of
        genotypes the logarithms of the ratios of the integrals of derived and of ancestral homozygotes to those of all
        others.
    score : ndarray of float64, shape (sites,)
        Logarithm to base 10 of first / second; of genotypes `first`, or where it is not larger minus `second`.
    normalised : ndarray of float64, shape (sites,)
        Minus mean, divided by the standard deviation, of scores with such frequencies; NaN before that is known.
    stretch : ndarray of int64, shape (sites,)
        Sites with different numbers are parted by a gap or an excluded region.
    unscored : mapping of str to int
        Sites without a score, by reason.
    """

    positions: Floats
    frequency: Floats
    first: Floats
    second: Floats
    score: Floats
    normalised: Floats
    stretch: Ints
    unscored: Mapping[str, int]

    @classmethod
    def joined(cls, several: Sequence[SiteScores]) -> SiteScores:
        """Return the scores of an alignment from those of ranges of its cores."""
        names = [one.name for one in fields(cls) if one.name != "unscored"]
        columns = {name: np.concatenate([getattr(one, name) for one in several]) for name in names}
        counts = {why: sum(one.unscored.get(why, 0) for one in several) for why in REASONS.values()}
        unscored = {why: count for why, count in counts.items() if count}
        if MISSING_STATES in several[0].unscored:
            unscored[MISSING_STATES] = several[0].unscored[MISSING_STATES]
        return cls(**columns, unscored=unscored)


# Which sites


def core_sites(used: UsedSites, options: SweepOptions, mask: Mask) -> CoreSites:
    """Return the sites that have no missing state and a minor allele frequency of `ehh_maf` or more.

    Parameters
    ----------
    used : UsedSites
    options : SweepOptions
    mask : Mask
        Excluded regions: where they part windows, walks end there.
    """
    planes = used.planes
    present = _present(used)
    count = planes.haplotypes if present is None else int(present.sum())
    derived, observed = used.derived, used.observed
    if used.repeated is not None:
        derived, observed = plane_counts(planes)  # genotypes, of which haploid calls are homozygous ones
    complete = observed == count
    rarest = np.minimum(derived, count - derived) / max(count, 1)
    keep = complete & (rarest >= options.ehh_maf)
    rows = _site_major(planes.bits, keep, planes.haplotypes, None if present is None else np.flatnonzero(present))
    at, gaps, barriers = _places(used, keep, options, mask)
    missing = int((~complete).sum())
    known = None if used.polarised is None else used.polarised[keep]
    return CoreSites(rows, at, derived[keep], count, planes.genotypes, gaps, barriers, missing, polarised=known)


def compared_sites(used: UsedSites, options: SweepOptions, mask: Mask) -> CoreSites:
    """Return the sites that vary among two populations and have no missing state there; parameters as `core_sites`.

    Raises
    ------
    UsageError
        Genotypes are not phased.
    """
    planes = used.planes
    assert used.populations is not None
    if planes.genotypes:
        why = "XP-nSL and XP-EHH need phased haplotypes; use `phase=missing` or `phase=ignore`"
        raise UsageError(f"{used.name}: {why}")
    members = unpack_sites(np.ascontiguousarray(used.populations.T), planes.haplotypes).astype(bool)
    present = _present(used)
    if present is not None:
        members &= present
    order = np.concatenate([np.flatnonzero(own) for own in members])
    both = pack_states(members[:1] | members[1:]).T
    derived = count_ones(planes.bits & both)
    complete = np.ones(used.sites, bool)
    if planes.valid is not None:
        complete = count_ones(planes.valid & both) == len(order)
    keep = complete & (derived > 0) & (derived < len(order))
    if members.sum(axis=1).min() < 2:
        keep[:] = False
    rows = _site_major(planes.bits, keep, planes.haplotypes, order)
    at, gaps, barriers = _places(used, keep, options, mask)
    missing, first = int((~complete).sum()), int(members[0].sum())
    return CoreSites(rows, at, derived[keep], len(order), False, gaps, barriers, missing, first)


def _places(
    used: UsedSites, keep: NDArray[np.bool_], options: SweepOptions, mask: Mask
) -> tuple[Floats, Floats, NDArray[np.uint8]]:
    """Positions of the sites kept, and what lies between each and the one before: bp, and what no walk crosses."""
    at = used.positions[keep]
    gaps, barriers = np.zeros(len(at)), np.zeros(len(at), np.uint8)
    if len(at):
        gaps[1:] = mask.distance(at[:-1], at[1:])
        barriers[0] = END
        barriers[1:][gaps[1:] > options.ehh_max_gap] = GAP
        if options.on_exclude == "split":
            barriers[1:][mask.touched(at[:-1], at[1:])] = EXCLUDED
    return at, gaps, barriers


def _present(used: UsedSites) -> NDArray[np.bool_] | None:
    """Which haplotypes are observed anywhere; None if all are, or if genotypes are compared."""
    planes = used.planes
    if planes.valid is None or planes.genotypes or not planes.sites:
        return None
    seen = np.bitwise_or.reduce(planes.valid, axis=1)
    present = unpack_sites(seen[:, None], planes.haplotypes)[0].astype(bool)
    return None if present.all() else present


def _site_major(
    bits: NDArray[np.uint32], keep: NDArray[np.bool_], haplotypes: int, order: Ints | None
) -> NDArray[np.uint32]:
    """The words of the sites kept, site by site, of all haplotypes or of some, in that order."""
    chosen = np.flatnonzero(keep)
    if order is None:
        return np.ascontiguousarray(bits[:, chosen].T)
    parts = [np.zeros((0, words_for(len(order))), np.uint32)]
    for first in range(0, len(chosen), AT_ONCE):
        states = unpack_sites(bits[:, chosen[first : first + AT_ONCE]], haplotypes)
        parts.append(pack_states(states[:, order]))
    return np.concatenate(parts)


# How far walks go


def walks(sites: CoreSites, score: Score) -> Walks:
    """Return how far walks go from each core."""
    bits = weight_bits(sites.count, score)
    gaps = sites.gaps
    distances = np.minimum(gaps, GAP_SCALE) if score in BY_BP else GAP_SCALE / np.maximum(gaps, GAP_SCALE)
    weights = np.floor(distances * float(1 << bits) + 0.5).astype(np.uint32)
    number = np.arange(sites.sites)
    if score not in BY_BP:
        wanted = np.stack([number + REACH_SITES, number - REACH_SITES])
    else:
        after = np.searchsorted(sites.positions, sites.positions + REACH_BP, side="left")
        before = np.searchsorted(sites.positions, sites.positions - REACH_BP, side="right") - 1
        wanted = np.stack([after, before])
    walls = np.append(np.flatnonzero(sites.barriers), sites.sites)  # no walk crosses to these from below
    kinds = np.append(sites.barriers, np.uint8(END))
    above = walls[np.searchsorted(walls, number, side="right")]
    below = walls[np.searchsorted(walls, number, side="right") - 1] if sites.sites else number
    last = np.stack([np.minimum(wanted[0], above - 1), np.maximum(wanted[1], below)])
    closed = np.stack(
        [np.where(wanted[0] > last[0], kinds[above], OPEN), np.where(wanted[1] < last[1], kinds[below], OPEN)]
    )
    steps = np.abs(last - number)
    return Walks(weights, bits, steps.astype(np.uint32), closed.astype(np.uint8))


def weight_bits(count: int, score: Score) -> int:
    """Return the bits of the fractions of weights, with which no sum of so many haplotypes exceeds 64 bits."""
    by_bp = score in BY_BP
    span = REACH_BP + GAP_SCALE if by_bp else REACH_SITES
    return min(MOST_BITS[by_bp], SUM_BITS - 2 * count.bit_length() - 1 - span.bit_length())


def allele_counts(sites: CoreSites) -> Ints:
    """Return how many haplotypes have each allele, or samples each genotype, shape (2 or 3, sites)."""
    if not sites.genotypes:
        return np.stack([sites.haplotypes - sites.derived, sites.derived])
    twice = np.bitwise_count(sites.rows & np.uint32(0xAAAAAAAA)).sum(axis=1, dtype=np.int64)
    once = sites.derived - 2 * twice
    return np.stack([sites.count - once - twice, once, twice])


# What the sums mean


def unscorable(sites: CoreSites, options: SweepOptions) -> Ints:
    """Return why cores have no score before any walk, by the numbers of `REASONS`; 0 where they may have one."""
    counts, found = allele_counts(sites), np.zeros(sites.sites, np.int64)
    if sites.first:
        return found
    if not sites.genotypes:
        found[counts.min(axis=0) == 1] = SINGLE
    else:
        found[counts[1] / max(sites.count, 1) > 1 - options.ehh_maf] = HETEROZYGOUS
        found[(counts == sites.count).any(axis=0)] = HETEROZYGOUS
    if sites.polarised is not None:
        found[~sites.polarised & (found == SCORED)] = UNPOLARISED
    return found


def site_scores(
    sites: CoreSites,
    score: Score,
    walk: Walks,
    sums: NDArray[np.uint64],
    ended: NDArray[np.bool_],
    options: SweepOptions,
    cores: tuple[int, int] | None = None,
) -> SiteScores:
    """Return the scores of one alignment, or of a range of its cores.

    Parameters
    ----------
    sites : CoreSites
    score : str
    walk : Walks
    sums : ndarray of uint64, shape (2, kinds, cores)
        As the kernels define them.
    ended : ndarray of bool, shape (2, cores)
        Which walks were completed.
    options : SweepOptions
    cores : tuple of int, optional
        Cores [begin, end); all sites if not given.
    """
    own = slice(*(cores or (0, sites.sites)))
    why, closed = unscorable(sites, options)[own], walk.closed[:, own]
    unit = float(1 << walk.bits) * (1e6 if score in BY_BP else 1.0)
    totals = (sums[0] + sums[1]).astype(np.float64) / (2 * unit)
    counts = allele_counts(sites)[:, own].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        if sites.genotypes:
            ends = _first_steps(walk)[own] / (2 * unit)
            integrals = [_integral(totals[kind], some, ends) for kind, some in (
                (2, counts[2]), (4, counts[0] + counts[1]), (0, counts[0]), (3, counts[1] + counts[2])
            )]  # fmt: skip
            first, second = np.log10(integrals[0] / integrals[1]), np.log10(integrals[2] / integrals[3])
            values = np.where(first > second, first, -second)
        elif sites.first:
            sizes = np.array([sites.first, sites.haplotypes - sites.first], np.float64)
            first, second = integrals = list(totals[:2] / np.maximum(sizes * (sizes - 1), 1)[:, None])
            values = np.log10(first / second)
        else:
            first, second = (totals[k] / (counts[k] * (counts[k] - 1)) for k in (1, 0))
            integrals = [first, second]
            values = np.log10(first / second)
    zero = np.any([one == 0 for one in integrals], axis=0)
    for side in (1, 0):
        stopped = ~ended[side] & (why == SCORED)
        if options.ehh_edge == "keep":
            stopped &= closed[side] != END
        why[stopped] = closed[side][stopped]
    why[zero & (why == SCORED)] = ZERO
    scored = why == SCORED
    unscored = {text: int((why == number).sum()) for number, text in REASONS.items() if (why == number).any()}
    if sites.missing:
        unscored[MISSING_STATES] = sites.missing
    stretch = np.cumsum(sites.barriers != OPEN)[own]
    frequency = sites.derived[own] / sites.haplotypes
    chosen = [sites.positions[own], frequency, first, second, values, np.full(len(why), np.nan)]
    at, shares, first, second, values, nothing = (one[scored] for one in chosen)
    return SiteScores(at, shares, first, second, values, nothing, stretch[scored], unscored)


def _first_steps(walk: Walks) -> Floats:
    """Weights of the first steps from each core in both directions."""
    sites = len(walk.weights)
    up = np.where(walk.steps[0] > 0, np.append(walk.weights, 0)[1 : sites + 1], 0)
    return (up + np.where(walk.steps[1] > 0, walk.weights, 0)).astype(np.float64)


def _integral(total: Floats, count: Floats, ends: Floats) -> Floats:
    """Homozygosity of some of the samples, integrated; of fewer than two it falls from 1 to 0 in the first step."""
    pairs = count * (count - 1)
    return np.where(pairs > 0, total / np.maximum(pairs, 1), ends)


# Normalised scores, and windows


def score_bins(scores: Sequence[SiteScores], *, by_frequency: bool = True) -> dict[str, Floats]:
    """Return what scores of all alignments of an input are normalised by, in bins of the derived frequency.

    Parameters
    ----------
    scores : sequence of SiteScores
    by_frequency : bool
        False: every bin has all scores.

    Returns
    -------
    dict
        'mean' and 'deviation', float64 (101,), of the scores of each hundredth of the frequency. A bin of fewer than 20
        scores takes those of as many bins on either side as it needs for 20, or of all. NaN where there are fewer than
        two scores, or all are equal.
    """
    columns = {name: [getattr(one, name) for one in scores] for name in ("frequency", "score")}
    frequency, values = (np.concatenate([np.zeros(0), *parts]) for parts in columns.values())
    order = np.argsort(_percent(frequency), kind="stable")
    values, ends = values[order], np.cumsum(np.bincount(_percent(frequency), minlength=BINS + 1))
    borders = np.concatenate([[0], ends])
    mean, deviation = np.full(BINS + 1, np.nan), np.full(BINS + 1, np.nan)
    for number in range(BINS + 1):
        around = 0
        while True:
            first, stop = borders[max(number - around, 0)], borders[min(number + around, BINS) + 1]
            if (by_frequency and stop - first >= FEWEST) or stop - first == len(values):
                break
            around += 1
        own = values[first:stop]
        if len(own) > 1 and own.min() < own.max():
            mean[number], deviation[number] = own.mean(), own.std(ddof=1)
    return {"mean": mean, "deviation": deviation}


def normalised(scores: SiteScores, bins: Mapping[str, Floats]) -> SiteScores:
    """Return scores with their normalised ones: minus the mean, divided by the standard deviation, of their bin."""
    own = _percent(scores.frequency)
    return replace(scores, normalised=(scores.score - bins["mean"][own]) / bins["deviation"][own])


def _percent(frequency: Floats) -> Ints:
    """Number of the bin of a hundredth that frequencies are in; each bin begins with its lower border."""
    return np.searchsorted((np.arange(BINS) + 1) * 0.01, frequency, side="right").astype(np.int64)


def windows_of_scores(scores: SiteScores, *, signed: bool = False) -> tuple[Floats, Floats]:
    """Return middles of windows of 25 normalised scores, and their means or those of their absolute values.

    Returns
    -------
    positions, values : ndarray of float64, shape (windows,)
        NaN where a gap or an excluded region parts a window.
    """
    known = ~np.isnan(scores.normalised)
    at, stretch, z = scores.positions[known], scores.stretch[known], scores.normalised[known]
    z = z if signed else np.abs(z)
    count = max(len(at) - WINDOW_SCORES + 1, 0)
    first, last = slice(0, count), slice(WINDOW_SCORES - 1, WINDOW_SCORES - 1 + count)
    if not count:
        return np.zeros(0), np.zeros(0)
    means = np.lib.stride_tricks.sliding_window_view(z, WINDOW_SCORES).mean(axis=1)
    return (at[first] + at[last]) / 2, np.where(stretch[first] == stretch[last], means, np.nan)


def joined_cores(alignments: Sequence[tuple[CoreSites, Walks]]) -> tuple[NDArray[np.uint32], Walks]:
    """Lay alignments of as many haplotypes end to end; no walk crosses their borders."""
    if len(alignments) == 1:
        return alignments[0][0].rows, alignments[0][1]
    found = [one for _, one in alignments]
    return np.concatenate([one.rows for one, _ in alignments]), Walks(
        np.concatenate([one.weights for one in found]), found[0].bits,
        np.concatenate([one.steps for one in found], axis=1), np.concatenate([one.closed for one in found], axis=1),
    )  # fmt: skip
