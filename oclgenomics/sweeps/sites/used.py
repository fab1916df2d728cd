"""Which sites of an alignment a scan uses, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.notices import number_of
from oclgenomics.sweeps.arrays import Floats, Ints
from oclgenomics.sweeps.options import SweepOptions
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.missing import Draws, Matches, imputed, matched
from oclgenomics.sweeps.sites.populations import Populations, names_of
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.ancestral import polarised
from oclgenomics.variation.bed import BedRegions
from oclgenomics.variation.packing import both_observed, with_haploid
from oclgenomics.variation.selection import check_names, count_ones, inside_regions, outside_regions, take_sites

EVEN = np.uint32(0x55555555)
FACT_DIGITS = 9
PARTLY = (
    "warning: {} {} haploid at some sites and diploid at others, as males are on chromosome X: windows across such a "
    "border compare other haplotypes on either side, and nsl, ihs, xp_nsl and xp_ehh leave out the haploid part; scan "
    "the parts by themselves (--region)"
)


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
    haploid : float or None
        Share of the haplotypes that are not there because calls are haploid, of samples that are diploid elsewhere or
        not phased; None if none is.
    mask, masks : str
        Checksums of the bp that are accessible: of those of the chromosome, and of the whole file; empty without one.
    spectrum : str
        Checksum of the file of CLR's background; empty without one.
    between : str
        Names of the two populations, the first one first, as in 'A,B'; empty without any.
    """

    haplotypes: int
    sites: int
    genotypes: bool
    missing: float
    masked: float
    populations: str = ""
    accessible: float | None = None
    unpolarised: float | None = None
    haploid: float | None = None
    mask: str = ""
    masks: str = ""
    spectrum: str = ""
    between: str = ""


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
        Haplotypes with the derived state (state 1), and with any: one of each haploid call.
    copies : int
        Haplotypes that the samples have.
    length, total : float, int
        Bp and number of sites of the region, to which mu_VAR refers.
    discarded : dict of str to int
        Records and sites left out, by reason.
    facts : SweepFacts
    relative : bool
        RAiSD takes the input for one of ms, whose alignments it numbers from 0.
    binary : bool
        States have no letters, as in ms and MaCS.
    populations : ndarray of uint32, shape (2, words), or None
        Haplotypes of the two populations that are compared.
    polarised : ndarray of bool, shape (sites,), or None
        Of which sites it is known that state 1 is the derived one; None: it is taken to be at all.
    remarks : tuple of str
        What a person has to know of the sites, each in a line.
    matches : Matches, or None
        Patterns, where missing states match anything.
    repeated : ndarray of uint32, shape (words, sites), or None
        Second haplotypes of haploid calls, which `planes` have as homozygous genotypes.
    """

    name: str
    replicate: int
    planes: SitePlanes
    positions: Floats
    derived: Ints
    observed: Ints
    copies: int
    length: float
    total: int
    discarded: dict[str, int]
    facts: SweepFacts
    relative: bool
    populations: NDArray[np.uint32] | None = None
    polarised: NDArray[np.bool_] | None = None
    remarks: tuple[str, ...] = ()
    matches: Matches | None = None
    binary: bool = False
    repeated: NDArray[np.uint32] | None = None

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
    lacking = alignment.haplotypes - alignment.copies
    copies = planes.haplotypes - (0 if planes.genotypes else lacking)
    derived, observed = plane_counts(planes, _repeated(alignment, planes))
    there = _there(alignment, copies, options)
    seen, before = observed, alignment.sites
    partly = 0 if planes.genotypes else alignment.partly_haploid()
    if partly:
        remarks.append(PARTLY.format(number_of(partly, "sample"), "is" if partly == 1 else "are"))
    if options.treatment == "impute":
        before = int(_kept(alignment, derived, observed, there, options, {}).sum())
        alignment = imputed(alignment, draws or Draws(options.impute_seed))
        planes = site_planes(alignment)
        derived, observed = plane_counts(planes)
    keep = _kept(alignment, derived, observed, there, options, discarded)
    if not keep.all():
        alignment, derived, observed = take_sites(alignment, keep), derived[keep], observed[keep]
        known, other, seen, there = known[keep], other[keep], seen[keep], there[keep]
        planes = site_planes(alignment)
    if planes.valid is not None and (count_ones(planes.valid) == planes.haplotypes).all():
        planes = replace(planes, valid=None)
    positions = alignment.positions.astype(np.float64) if alignment.exact is None else alignment.exact
    masks = None
    if populations is not None:
        masks = populations.masks(alignment)
        absent = populations.absent(names_of(alignment)) if alignment.replicate == 1 else ""  # once for an input
        remarks += [f"warning: {populations.source}: {absent}"] if absent else []
    facts = _facts(read.name, copies, planes, positions, (seen, there), exclude)
    lone = 1 - int(there.sum()) / (copies * len(there)) if len(there) else 0.0
    facts = replace(facts, haploid=round(lone, FACT_DIGITS) or None)
    if populations is not None and masks is not None:
        sizes = "+".join(str(np.bitwise_count(mask).sum()) for mask in masks)
        facts = replace(facts, populations=sizes, between=",".join(populations.names))
    matches = None
    if options.treatment == "match" and planes.valid is not None and "mu" in options.statistics:
        matches = matched(planes.bits, planes.valid, planes.haplotypes, options.width)
    relative = read.exact is not None
    mask = Mask.of(exclude, read.name, options, accessible)
    if accessible is not None:
        share, sums = _accessible_share(accessible, read.name, positions), accessible.checksum_of(read.name)
        facts = replace(facts, accessible=share, mask=sums, masks=accessible.checksum)
    if polar:
        facts = replace(facts, unpolarised=round(1 - float(known.mean()), FACT_DIGITS) if len(known) else 0.0)
        remarks += _polarity(known, other, options)
    extent, total = _extent(read, positions, options, mask, length if relative else None)
    if options.treatment == "impute" and not relative:
        total = before  # which RAiSD counts before it draws
    return UsedSites(
        name=alignment.name, replicate=alignment.replicate, planes=planes, positions=positions, derived=derived,
        observed=observed, copies=alignment.haplotypes - lacking, length=extent, total=total, discarded=discarded,
        facts=facts, relative=relative, populations=masks, polarised=known if polar else None,
        remarks=tuple(remarks), matches=matches, repeated=_repeated(alignment, planes),
        binary=read.alphabet == "binary",
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


def plane_counts(planes: SitePlanes, without: NDArray[np.uint32] | None = None) -> tuple[Ints, Ints]:
    """Return the haplotypes of each site with the derived state, and with any, but for some, int64 (sites,) each."""
    bits, valid = planes.bits, planes.valid
    if without is not None:
        assert valid is not None, "haploid calls lack a second state"
        bits, valid = bits & ~without, valid & ~without
    derived = count_ones(bits)
    if valid is None:
        return derived, np.full(planes.sites, planes.haplotypes, np.int64)
    return derived, count_ones(valid)


def _repeated(alignment: Alignment, planes: SitePlanes) -> NDArray[np.uint32] | None:
    """Second haplotypes of haploid calls that genotypes repeat; None of haplotypes, which repeat none."""
    return alignment.haploid if planes.genotypes else None


def _there(alignment: Alignment, copies: int, options: SweepOptions) -> Ints:
    """Haplotypes that the samples have at each site: one of a haploid call. RAiSD takes the others for missing."""
    if alignment.absent is None or options.precision == "compat":
        return np.full(alignment.sites, copies, np.int64)
    return alignment.haplotypes - count_ones(alignment.absent)


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
    alignment: Alignment, derived: Ints, observed: Ints, there: Ints, options: SweepOptions, discarded: dict[str, int]
) -> NDArray[np.bool_]:
    """Which sites are used, by the haplotypes `there`; counts the others by the first reason that applies."""
    missing = there - observed
    several = np.zeros(alignment.sites, bool)
    several[alignment.multi_site] = True
    rarest = np.minimum(derived, observed - derived)
    compat = options.precision == "compat"
    reasons = (
        ("several alternative alleles", several),
        ("missing", (missing > 0) & (options.treatment == "drop")),
        ("monomorphic", (rarest == 0) | (observed < 2)),
        ("missing", (missing > options.max_missing * there) & (not compat)),
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
    name: str, copies: int, planes: SitePlanes, positions: Floats, counts: tuple[Ints, Ints],
    exclude: BedRegions | None,
) -> SweepFacts:  # fmt: skip
    observed, there = counts
    states = int(there.sum())
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


def joined(alignments: Sequence[SitePlanes]) -> SitePlanes:
    """Lay alignments that are alike end to end; windows across their borders mean nothing."""
    if len(alignments) == 1:
        return alignments[0]
    masks = [one.valid for one in alignments if one.valid is not None]
    bits = np.concatenate([one.bits for one in alignments], axis=1)
    return replace(alignments[0], bits=bits, valid=np.concatenate(masks, axis=1) if masks else None)
