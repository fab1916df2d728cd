"""Pure decisions: which sites are used, where windows lie, and how much goes through the device at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sweeps.options import SweepOptions
from oclgenomics.sweeps.populations import Populations, names_of
from oclgenomics.sweeps.raisd_missing import Draws, Matches, imputed, matched
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.ancestral import polarised
from oclgenomics.variation.bed import BedRegions, disjoint
from oclgenomics.variation.packing import both_observed, with_haploid
from oclgenomics.variation.selection import check_names, count_ones, inside_regions, outside_regions, take_sites

EVEN = np.uint32(0x55555555)
FACT_DIGITS = 9
FLAG_BITS = 32

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


# Which sites


@dataclass(frozen=True, eq=False)
class SitePlanes:
    """Sites as the device takes them.

    Attributes
    ----------
    bits, valid : ndarray of uint32, shape (words, sites)
        As `Alignment` has them; `valid` is None for complete data. With `genotypes`, bit 2s says that sample s carries
        the derived state and bit 2s + 1 that it does twice.
    haplotypes : int
    genotypes : bool
        Patterns are those of unphased genotypes.
    """

    bits: NDArray[np.uint32]
    valid: NDArray[np.uint32] | None
    haplotypes: int
    genotypes: bool

    @property
    def words(self) -> int:
        """32-bit words of a site."""
        return len(self.bits)

    @property
    def sites(self) -> int:
        """Number of sites."""
        return int(self.bits.shape[1])

    def between(self, begin: int, end: int) -> SitePlanes:
        """Return the sites [begin, end)."""
        if (begin, end) == (0, self.sites):
            return self
        valid = None if self.valid is None else np.ascontiguousarray(self.valid[:, begin:end])
        return replace(self, bits=np.ascontiguousarray(self.bits[:, begin:end]), valid=valid)


@dataclass(frozen=True)
class SweepFacts:
    """What was scanned of one alignment: facts on which the statistics depend, apart from the options of the scan.

    Attributes
    ----------
    haplotypes : int
        With `genotypes` two of each sample, also of a haploid one.
    sites : int
        Those used.
    genotypes : bool
        Patterns are those of genotypes, because heterozygous calls were not phased.
    missing : float
        Share of the states of the sites used that are missing.
    masked : float
        Share of the bp from the first to the last site that lie in excluded regions.
    populations : str
        Haplotypes of the two populations that are compared, as in '40+38'; empty without any.
    accessible : float or None
        Share of the bp from the first to the last site that are accessible; None without a file of these.
    unpolarised : float or None
        Share of the sites used whose derived state is not known; None if it is taken to be the second one.
    """

    haplotypes: int
    sites: int
    genotypes: bool
    missing: float
    masked: float
    populations: str = ""
    accessible: float | None = None
    unpolarised: float | None = None


@dataclass(frozen=True, eq=False)
class UsedSites:
    """The sites of an alignment that a scan uses.

    Attributes
    ----------
    name, replicate : str, int
        As in `Alignment`.
    planes : SitePlanes
    positions : ndarray of float64, shape (sites,)
        Bp, with fractions where the format has some.
    derived, observed : ndarray of int64, shape (sites,)
        Haplotypes with the derived state (state 1), and with any.
    length, total : float, int
        Bp and number of sites of the region, to which mu_VAR refers.
    discarded : dict of str to int
        Records and sites left out, by reason.
    facts : SweepFacts
    relative : bool
        RAiSD takes the input for one of ms, whose alignments it numbers from 0.
    populations : ndarray of uint32, shape (2, words), or None
        Haplotypes of the two populations that are compared.
    polarised : ndarray of bool, shape (sites,), or None
        Of which sites it is known that state 1 is the derived one; None: it is taken to be at all.
    remarks : tuple of str
        What a person has to know of the sites, each in a line.
    matches : Matches, or None
        Patterns, where missing states match anything.
    """

    name: str
    replicate: int
    planes: SitePlanes
    positions: Floats
    derived: Ints
    observed: Ints
    length: float
    total: int
    discarded: dict[str, int]
    facts: SweepFacts
    relative: bool
    populations: NDArray[np.uint32] | None = None
    polarised: NDArray[np.bool_] | None = None
    remarks: tuple[str, ...] = ()
    matches: Matches | None = None

    @property
    def sites(self) -> int:
        """Number of sites."""
        return len(self.positions)

    @property
    def packed_bytes(self) -> int:
        """Bytes of the planes."""
        return self.planes.bits.nbytes * (1 if self.planes.valid is None else 2)


def used_sites(
    alignment: Alignment, options: SweepOptions, exclude: BedRegions | None, length: float | None,
    populations: Populations | None = None, accessible: BedRegions | None = None, draws: Draws | None = None,
) -> UsedSites:  # fmt: skip
    """Return the sites that a scan uses, and what was left out on the way.

    Parameters
    ----------
    alignment : Alignment
        As it was read; not changed.
    options : SweepOptions
    exclude : BedRegions, optional
    length : float, optional
        Of the region of formats without bp, such as ms.
    populations : Populations, optional
        Those that are compared.
    accessible : BedRegions, optional
        The regions of `SweepOptions.accessible`.
    draws : Draws, optional
        Numbers by which missing states are imputed, if they are.

    Raises
    ------
    UsageError
        Options that do not suit the data.
    InputError
        The data have too few haplotypes of a population.
    """
    alignment.validate()
    if alignment.unphased and options.precision == "compat":
        raise UsageError(
            f"{alignment.name}: `precision=compat` needs phased haplotypes (RAiSD draws the order of unphased "
            "alleles); use accurate, `phase=missing` or `phase=ignore`"
        )
    discarded, remarks, read = dict(alignment.skipped), list[str](), alignment
    alignment = _in_regions(alignment, options, exclude, accessible, discarded, remarks)
    polar = options.ancestral is not None or not alignment.ordered
    known = np.full(alignment.sites, alignment.ordered)
    other = np.zeros(alignment.sites, bool)
    if options.ancestral is not None:
        alignment, known, other = polarised(alignment, lower_case=options.ancestral_confidence == "any")
    planes = site_planes(alignment)
    copies = planes.haplotypes if planes.genotypes else alignment.copies
    derived, observed = _counts(planes)
    seen, before = observed, alignment.sites
    if options.treatment == "impute":
        before = int(_kept(alignment, derived, observed, copies, options, {}).sum())
        alignment = imputed(alignment, draws or Draws(options.impute_seed))
        planes = site_planes(alignment)
        derived, observed = _counts(planes)
    keep = _kept(alignment, derived, observed, copies, options, discarded)
    if not keep.all():
        alignment, derived, observed = take_sites(alignment, keep), derived[keep], observed[keep]
        known, other, seen = known[keep], other[keep], seen[keep]
        planes = site_planes(alignment)
    if planes.valid is not None and (observed == planes.haplotypes).all():
        planes = replace(planes, valid=None)
    positions = alignment.positions.astype(np.float64) if alignment.exact is None else alignment.exact
    masks = None
    if populations is not None:
        masks = populations.masks(alignment)
        absent = populations.absent(names_of(alignment)) if alignment.replicate == 1 else ""  # once for an input
        remarks += [f"warning: {populations.source}: {absent}"] if absent else []
    facts = _facts(read.name, copies, planes, positions, seen, exclude)
    if masks is not None:
        facts = replace(facts, populations="+".join(str(np.bitwise_count(mask).sum()) for mask in masks))
    matches = None
    if options.treatment == "match" and planes.valid is not None and "mu" in options.statistics:
        matches = matched(planes.bits, planes.valid, planes.haplotypes, options.width)
    relative = read.exact is not None
    mask = Mask.of(exclude, read.name, options, accessible)
    if accessible is not None:
        facts = replace(facts, accessible=_accessible_share(accessible, read.name, positions))
    if polar:
        facts = replace(facts, unpolarised=round(1 - float(known.mean()), FACT_DIGITS) if len(known) else 0.0)
        remarks += _polarity(known, other, options)
    extent, total = _extent(read, positions, options, mask, length if relative else None)
    if options.treatment == "impute" and not relative:
        total = before  # which RAiSD counts before it draws
    return UsedSites(
        name=alignment.name, replicate=alignment.replicate, planes=planes, positions=positions, derived=derived,
        observed=observed, length=extent, total=total, discarded=discarded, facts=facts, relative=relative,
        populations=masks, polarised=known if polar else None, remarks=tuple(remarks),
        matches=matches,
    )  # fmt: skip


def _in_regions(
    alignment: Alignment, options: SweepOptions, exclude: BedRegions | None, accessible: BedRegions | None,
    discarded: dict[str, int], remarks: list[str],
) -> Alignment:  # fmt: skip
    """Return the sites that are neither excluded nor inaccessible; add what is left out, and what to say of it."""
    if exclude is not None:
        check_names(alignment.name, exclude)
        if options.on_exclude != "zero":
            alignment, inside = outside_regions(alignment, exclude)
            _count(discarded, "excluded", inside)
    if accessible is not None:
        alignment, outside = inside_regions(alignment, accessible)
        _count(discarded, "inaccessible", outside)
        if alignment.name not in accessible.starts:
            remarks.append(f"warning: {accessible.source} does not have it, so nothing of it is accessible")
    return alignment


def _counts(planes: SitePlanes) -> tuple[Ints, Ints]:
    """Haplotypes of each site with the derived state, and with any."""
    derived = count_ones(planes.bits)
    if planes.valid is None:
        return derived, np.full(planes.sites, planes.haplotypes, np.int64)
    return derived, count_ones(planes.valid)


def _polarity(known: NDArray[np.bool_], other: NDArray[np.bool_], options: SweepOptions) -> list[str]:
    """How many sites are not polarised and what that does, in a line."""
    count = int((~known).sum())
    if not count or (options.ancestral is None and not options.polarised):
        return []
    text = f"the ancestral state of {count:,} of {len(known):,} sites is not known"
    text += f", at {int(other.sum()):,} of them because it is neither allele" if other.any() else ""
    names = ", ".join(options.polarised)
    text += f"; left out by {names}" if names else ""
    text += "" if options.ancestral else "; name ancestral bases with --ancestral"
    return [f"{'warning: ' * (2 * count > len(known))}{text}"]


def site_planes(alignment: Alignment) -> SitePlanes:
    """Return the planes of all sites; of unphased genotypes, what is half missing is missing."""
    bits, valid = alignment.bits, alignment.valid
    if not alignment.unphased:
        return SitePlanes(bits, valid, alignment.haplotypes, genotypes=False)
    bits = with_haploid(bits, alignment.haploid)
    if valid is not None:
        valid = both_observed(with_haploid(valid, alignment.haploid))
        bits = bits & valid
    other = bits >> np.uint32(1)
    dosages = ((bits | other) & EVEN) | ((bits & other & EVEN) << np.uint32(1))
    return SitePlanes(dosages, valid, alignment.haplotypes, genotypes=True)


def _kept(
    alignment: Alignment, derived: Ints, observed: Ints, copies: int, options: SweepOptions, discarded: dict[str, int]
) -> NDArray[np.bool_]:
    """Which sites are used; counts the others by the first reason that applies."""
    missing = copies - observed
    several = np.zeros(alignment.sites, bool)
    several[alignment.multi_site] = True
    rarest = np.minimum(derived, observed - derived)
    compat = options.precision == "compat"
    reasons = (
        ("several alternative alleles", several),
        ("missing", (missing > 0) & (options.treatment == "drop")),
        ("monomorphic", (rarest == 0) | (observed < 2)),
        ("missing", (missing > options.max_missing * copies) & (not compat)),
        ("maf", rarest / np.maximum(observed, 1) < options.maf),
    )
    keep = np.ones(alignment.sites, bool)
    for reason, flags in reasons:
        _count(discarded, reason, int((keep & flags).sum()))
        keep &= ~flags
    return keep


def _count(discarded: dict[str, int], reason: str, count: int) -> None:
    if count:
        discarded[reason] = discarded.get(reason, 0) + count


def _facts(
    name: str, copies: int, planes: SitePlanes, positions: Floats, observed: Ints, exclude: BedRegions | None
) -> SweepFacts:
    states = copies * len(observed)
    missing = 1 - int(observed.sum()) / states if states else 0.0
    masked = 0.0
    if exclude is not None and len(positions):
        first, last = int(positions[0]), int(positions[-1])
        masked = exclude.covered(name, first, last) / (last - first + 1)
    return SweepFacts(
        copies, len(observed), planes.genotypes, round(max(missing, 0.0), FACT_DIGITS), round(masked, FACT_DIGITS)
    )


def _accessible_share(accessible: BedRegions, name: str, positions: Floats) -> float:
    """Share of the bp from the first to the last site that are accessible; 0 without sites."""
    if not len(positions):
        return 0.0
    first, last = int(positions[0]), int(positions[-1])
    return round(accessible.covered(name, first, last) / (last - first + 1), FACT_DIGITS)


def _extent(
    read: Alignment, positions: Floats, options: SweepOptions, mask: Mask, length: float | None
) -> tuple[float, int]:
    """Bp and sites of the region: as RAiSD takes them, or what lies from the first to the last site."""
    if not len(positions):
        return 0.0, 0
    if options.precision == "compat":
        if length is not None:
            return float(length), read.sites
        return float(read.last_record or read.positions[-1]), len(positions)
    return float(mask.between(positions[:1], positions[-1:])[0]), len(positions)


# Where windows lie


@dataclass(frozen=True)
class Portion:
    """The part of an alignment that is scanned: of its rows, and of the windows, sites and places of each statistic.

    Attributes
    ----------
    begin, end, of : int
        Parts [begin, end) of so many equal ones.
    """

    begin: int = 0
    end: int = 1
    of: int = 1

    def share(self, total: int) -> tuple[int, int]:
        """Return the begin and the end of its share of so many things that follow each other."""
        return self.begin * total // self.of, self.end * total // self.of


ALL = Portion()


@dataclass(frozen=True, eq=False)
class Stretches:
    """Stretches of one chromosome, by bp.

    Attributes
    ----------
    starts, ends : ndarray of float64, shape (stretches,)
        Ascending and disjoint: bp from above `starts` to `ends`.
    """

    starts: Floats
    ends: Floats

    @classmethod
    def of(cls, starts: Ints, ends: Ints) -> Stretches:
        """Take disjoint regions of whole bp."""
        return cls(starts.astype(np.float64), ends.astype(np.float64))

    def __len__(self) -> int:
        return len(self.starts)

    def before(self, positions: Floats) -> Floats:
        """Return the bp of stretches up to and with each position."""
        lengths = np.concatenate([[0.0], np.cumsum(self.ends - self.starts)])
        place = np.searchsorted(self.starts, positions, side="left")  # stretches that start below
        beyond = np.concatenate([[-np.inf], self.ends])[place] - positions
        found: Floats = lengths[place] - np.maximum(beyond, 0.0)
        return found

    def outside(self, first: Floats, last: Floats) -> Floats:
        """Return the bp above each of `first` up to `last` that lie in none."""
        if not len(self):
            return last - first
        return last - first - (self.before(last) - self.before(first))


@dataclass(frozen=True, eq=False)
class Mask:
    """What of one chromosome is excluded or not accessible, by bp.

    Attributes
    ----------
    excluded : Stretches
    passed : Stretches
        Those excluded whose bp do not lie between sites at all.
    lost : Stretches
        Bp that do not count: those of `passed`, and those that are not accessible.
    least : float
        Share of the bp of a window that have to count.
    accessible : bool
        It is known which bp are accessible, so windows of sites need such a share, too.
    """

    excluded: Stretches
    passed: Stretches
    lost: Stretches
    least: float
    accessible: bool

    @classmethod
    def of(
        cls, exclude: BedRegions | None, name: str, options: SweepOptions, accessible: BedRegions | None = None
    ) -> Mask:
        """Take the regions of a chromosome: those excluded, and those accessible if these are known."""
        none = np.zeros(0, np.int64)
        found = (none, none) if exclude is None else (exclude.starts.get(name, none), exclude.ends.get(name, none))
        passed = (none, none) if options.on_exclude == "zero" else found
        lost = passed
        if accessible is not None:
            lost = disjoint(np.concatenate([np.stack(one, axis=1) for one in (passed, accessible.outside(name))]))
        known = accessible is not None
        return cls(Stretches.of(*found), Stretches.of(*passed), Stretches.of(*lost), options.min_accessible, known)

    def between(self, first: Floats, last: Floats) -> Floats:
        """Return the bp above each of `first` up to `last` that count."""
        return self.lost.outside(first, last)

    def distance(self, first: Floats, last: Floats) -> Floats:
        """Return the bp above each of `first` up to `last`, accessible or not, but for those excluded."""
        return self.passed.outside(first, last)

    def touched(self, first: Floats, last: Floats) -> NDArray[np.bool_]:
        """Say whether an excluded region has any bp from each of `first` to `last`, both included."""
        started = np.searchsorted(self.excluded.starts + 1.0, last, side="right")
        ended = np.searchsorted(self.excluded.ends, first, side="left")
        found: NDArray[np.bool_] = started > ended
        return found

    def enough(self, length: Floats, whole: Floats) -> NDArray[np.bool_]:
        """Say of which windows of `whole` bp the bp that count, `length`, are enough."""
        found: NDArray[np.bool_] = (length > 0) & (length >= self.least * whole)
        return found


@dataclass(frozen=True, eq=False)
class Spans:
    """Windows of bp, and the sites in them.

    Attributes
    ----------
    at : ndarray of float64, shape (windows,)
        Their positions.
    start, end : ndarray of float64, shape (windows,)
        First and last bp; the last one of a window of bp does not belong to it.
    first, stop : ndarray of int64, shape (windows,)
        Sites [first, stop).
    length : ndarray of float64, shape (windows,)
        Bp that count.
    known : ndarray of bool, shape (windows,)
        Enough of the bp count, and no excluded region parts the window.
    """

    at: Floats
    start: Floats
    end: Floats
    first: Ints
    stop: Ints
    length: Floats
    known: NDArray[np.bool_]

    def between(self, begin: int, end: int) -> Spans:
        """Return the windows [begin, end)."""
        return Spans(*(getattr(self, one.name)[begin:end] for one in fields(self)))


def site_windows(used: UsedSites, options: SweepOptions, mask: Mask) -> Spans:
    """Return the windows of `width` neighbouring sites, one for each site that begins one."""
    width, at = options.width, used.positions
    count = max(used.sites - width + 1, 0)
    start, end = at[:count], at[width - 1 : width - 1 + count]
    centre = (start + end) / 2
    if options.precision == "compat":
        centre = np.floor(centre + 0.5)  # positions are not negative
    first = np.arange(count, dtype=np.int64)
    length = mask.between(start - 1.0, end)
    return Spans(centre, start, end, first, first + width, length, sites_known(start, end, options, mask))


def sites_known(start: Floats, end: Floats, options: SweepOptions, mask: Mask) -> NDArray[np.bool_]:
    """Say which windows of sites, from their first to their last one, are not parted and accessible enough."""
    known = np.ones(len(start), bool) if options.on_exclude != "split" else ~mask.touched(start, end)
    if mask.accessible:
        known &= mask.enough(mask.between(start - 1.0, end), end - start + 1.0)
    return known


def bp_windows(used: UsedSites, at: Floats, size: float, options: SweepOptions, mask: Mask) -> Spans:
    """Return windows of `size` bp around positions, within the bp from the first to the last site."""
    low, high = (used.positions[0], used.positions[-1] + 1.0) if used.sites else (0.0, 0.0)
    start, end = np.clip(at - size / 2, low, high), np.clip(at + size / 2, low, high)
    first, stop = (np.searchsorted(used.positions, border, side="left") for border in (start, end))
    whole = end - start
    if options.on_exclude == "split" and len(mask.excluded):
        start, end, first, stop = _cut(used, at, start, end, mask)
    length = mask.between(start - 1.0, end - 1.0)
    known = mask.enough(length, whole)
    return Spans(at, start, end, first.astype(np.int64), stop.astype(np.int64), length, known)


def _cut(used: UsedSites, at: Floats, start: Floats, end: Floats, mask: Mask) -> tuple[Floats, Floats, Ints, Ints]:
    """Windows that end at the next excluded region on either side of their position; empty ones within a region."""
    starts, ends = mask.excluded.starts, mask.excluded.ends
    below = np.searchsorted(starts, at, side="left")  # regions that start below the position
    before = np.concatenate([[-np.inf], ends])[below]
    after = np.concatenate([starts, [np.inf]])[below]
    start, end = np.maximum(start, before + 1.0), np.minimum(end, after + 1.0)
    end = np.maximum(end, start)
    inside = before >= at
    end = np.where(inside, start, end)
    first, stop = (np.searchsorted(used.positions, border, side="left") for border in (start, end))
    return start, end, first.astype(np.int64), stop.astype(np.int64)


def grid_positions(used: UsedSites, options: SweepOptions) -> tuple[Floats, float]:
    """Return the positions of a grid, and the bp between them; none of alignments without sites."""
    if not used.sites:
        return np.zeros(0), 0.0
    first, last = float(used.positions[0]), float(used.positions[-1])
    if options.grid is not None:
        return np.linspace(first, last, options.grid), (last - first) / (options.grid - 1)
    assert options.step is not None
    return positions_every(used, options.step), float(options.step)


def positions_every(used: UsedSites, step: int) -> Floats:
    """Return the multiples of `step` bp from the first to the last site, or the middle of these where there is none."""
    if not used.sites:
        return np.zeros(0)
    first, last = float(used.positions[0]), float(used.positions[-1])
    start = np.ceil(first / step) * step
    return np.arange(start, last + 0.5, step) if start <= last else np.array([(first + last) / 2])


def highest_in_bins(at: Floats, values: Floats, grid: Floats, step: float) -> Ints:
    """Return the index of the largest value at positions within half a step of each grid position; -1 where none is.

    Parameters
    ----------
    at, values : ndarray of float64, shape (windows,)
        Ascending positions, and the values there; NaN is no value.
    grid : ndarray of float64, shape (positions,)
        Ascending; spaced by `step`, or by multiples of it where positions are left out.
    """
    best = np.full(len(grid), -1, np.int64)
    known = np.flatnonzero(~np.isnan(values))
    bins = np.floor((at[known] - (grid[0] - step / 2)) / step).astype(np.int64) if step else np.zeros(len(known), int)
    places = np.rint((grid - grid[0]) / step).astype(np.int64) if step else np.arange(len(grid))
    row = np.searchsorted(places, bins)
    inside = places[np.minimum(row, len(grid) - 1)] == bins
    known, bins = known[inside], row[inside]
    order = np.lexsort((known, -values[known], bins))
    found, place = np.unique(bins[order], return_index=True)
    best[found] = known[order][place]
    return best


def on_rows(at: Floats, values: Floats, rows: Floats, step: float | None, *, low: bool) -> Floats:
    """Return a statistic of positions of its own at the positions of rows, float64 (rows,).

    Parameters
    ----------
    at, values : ndarray of float64, shape (positions,)
        Ascending positions, and the values there; NaN is no value.
    rows : ndarray of float64, shape (rows,)
    step : float or None
        Bp between rows on a grid: the value most like a sweep within half a step is taken, if there is one. All others
        lie on the line between the two values around them; NaN beyond the first and the last one, and next to NaN.
    low : bool
        A sweep lowers the values.
    """
    if not len(at):
        return np.full(len(rows), np.nan)
    between: Floats = np.interp(rows, at, values, np.nan, np.nan)
    if step is None or not len(rows):
        return between
    best = highest_in_bins(at, -values if low else values, rows, step)
    return np.where(best >= 0, values[best], between)


# How much at a time


def flag_words(width: int) -> int:
    """Words of a flag for each site of half a window: a power of 2, so that few kernels are compiled."""
    words = -(-(width // 2) // FLAG_BITS)
    return 1 << (words - 1).bit_length()


def blocks_of(sites: int, width: int, most: int) -> Iterator[tuple[int, int]]:
    """Give blocks [begin, end) of at most so many sites, which share the sites of the windows across their borders."""
    begin, end = 0, min(most, sites)
    yield begin, end
    while end < sites:
        begin = end - width + 1
        end = min(begin + most, sites)
        yield begin, end


def joined(alignments: Sequence[SitePlanes]) -> SitePlanes:
    """Lay alignments that are alike end to end; windows across their borders mean nothing."""
    if len(alignments) == 1:
        return alignments[0]
    masks = [one.valid for one in alignments if one.valid is not None]
    bits = np.concatenate([one.bits for one in alignments], axis=1)
    return replace(alignments[0], bits=bits, valid=np.concatenate(masks, axis=1) if masks else None)
