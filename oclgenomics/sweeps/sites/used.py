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
        States have no bases, as in ms and MaCS.
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
    discarded, remarks = dict(alignment.skipped), list[str]()
    inside = _in_regions(alignment, options, exclude, accessible, discarded, remarks)
    counted = _counted(inside, options)
    remarks += _partly_haploid(counted)
    whole, before = counted, inside.sites
    if options.treatment == "impute":
        before = int(_kept(whole, options, {}).sum())
        whole = _with_imputed(whole, draws or Draws(options.impute_seed))
    used = _complete(_at(whole, _kept(whole, options, discarded)))
    masks = None if populations is None else populations.masks(used.alignment)
    remarks += _unnamed(used.alignment, populations) + _unpolarised(used, options)
    mask = Mask.of(exclude, alignment.name, options, accessible)
    relative = alignment.exact is not None
    extent, total = _extent(alignment, used.positions, options, mask, length if relative else None)
    if options.treatment == "impute" and not relative:
        total = before  # which RAiSD counts before it draws
    return UsedSites(
        name=used.alignment.name, replicate=used.alignment.replicate, planes=used.planes, positions=used.positions,
        derived=used.derived, observed=used.observed, copies=used.copies, length=extent, total=total,
        discarded=discarded, facts=_facts(used, exclude, accessible, populations, masks), relative=relative,
        populations=masks, polarised=used.known, remarks=tuple(remarks), matches=_matches(used.planes, options),
        repeated=_repeated(used.alignment, used.planes), binary=alignment.alphabet == "binary",
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Counted:
    """Sites on their way to those that are used, and the haplotypes that have a state at each.

    Attributes
    ----------
    alignment, planes, derived, observed, copies
        As in `UsedSites`.
    seen : ndarray of int64, shape (sites,)
        Haplotypes of which a state was read; more are `observed` if missing ones were imputed.
    there : ndarray of int64, shape (sites,)
        Haplotypes that the samples have at the site.
    known : ndarray of bool, shape (sites,), or None
        `UsedSites.polarised`.
    other : ndarray of bool, shape (sites,)
        The ancestral base is neither allele.
    """

    alignment: Alignment
    planes: SitePlanes
    derived: Ints
    observed: Ints
    copies: int
    seen: Ints
    there: Ints
    known: NDArray[np.bool_] | None
    other: NDArray[np.bool_]

    @property
    def positions(self) -> Floats:
        """Bp."""
        exact = self.alignment.exact
        return self.alignment.positions.astype(np.float64) if exact is None else exact

    @property
    def states(self) -> int:
        """States of a site if none is missing: of genotypes two of each sample, also of a haploid one."""
        return self.planes.haplotypes if self.planes.genotypes else self.copies


def _counted(alignment: Alignment, options: SweepOptions) -> _Counted:
    """Polarise the sites, if that is asked for, and count their states."""
    known = None if alignment.ordered else np.zeros(alignment.sites, bool)
    other = np.zeros(alignment.sites, bool)
    if options.ancestral is not None:
        alignment, known, other = polarised(alignment, lower_case=options.ancestral_confidence == "any")
    planes = site_planes(alignment)
    derived, observed = plane_counts(planes, _repeated(alignment, planes))
    copies = alignment.copies
    there = _there(alignment, planes.haplotypes if planes.genotypes else copies, options)
    return _Counted(alignment, planes, derived, observed, copies, observed, there, known, other)


def _with_imputed(sites: _Counted, draws: Draws) -> _Counted:
    """Return the sites with the states drawn that are missing."""
    alignment = imputed(sites.alignment, draws)
    planes = site_planes(alignment)
    derived, observed = plane_counts(planes)
    return replace(sites, alignment=alignment, planes=planes, derived=derived, observed=observed)


def _at(sites: _Counted, keep: NDArray[np.bool_]) -> _Counted:
    """Return the sites to keep."""
    if keep.all():
        return sites
    alignment = take_sites(sites.alignment, keep)
    return _Counted(
        alignment, site_planes(alignment), sites.derived[keep], sites.observed[keep], sites.copies, sites.seen[keep],
        sites.there[keep], None if sites.known is None else sites.known[keep], sites.other[keep],
    )  # fmt: skip


def _complete(sites: _Counted) -> _Counted:
    """Return the sites without a plane of what is observed if all of it is."""
    planes = sites.planes
    if planes.valid is None or (count_ones(planes.valid) != planes.haplotypes).any():
        return sites
    return replace(sites, planes=replace(planes, valid=None))


def _partly_haploid(sites: _Counted) -> list[str]:
    """Which samples are haploid at some sites only, in a line."""
    partly = 0 if sites.planes.genotypes else sites.alignment.partly_haploid()
    return [PARTLY.format(number_of(partly, "sample"), "is" if partly == 1 else "are")] if partly else []


def _unnamed(alignment: Alignment, populations: Populations | None) -> list[str]:
    """Which names of the file of populations the input does not have, in a line; once for an input."""
    if populations is None or alignment.replicate != 1:
        return []
    absent = populations.absent(names_of(alignment))
    return [f"warning: {populations.source}: {absent}"] if absent else []


def _matches(planes: SitePlanes, options: SweepOptions) -> Matches | None:
    """Patterns, if missing states match anything and some are."""
    if options.treatment != "match" or planes.valid is None or "mu" not in options.statistics:
        return None
    return matched(planes.bits, planes.valid, planes.haplotypes, options.width)


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


def _unpolarised(sites: _Counted, options: SweepOptions) -> list[str]:
    """How many sites are not polarised and what that does, in a line."""
    count = 0 if sites.known is None else int((~sites.known).sum())
    if not count or (options.ancestral is None and not options.polarised):
        return []
    of = sites.alignment.sites
    text = f"the ancestral state of {count:,} of {of:,} sites is not known"
    text += f", at {int(sites.other.sum()):,} of them because it is neither allele" if sites.other.any() else ""
    names = ", ".join(options.polarised)
    text += f"; left out by {names}" if names else ""
    text += "" if options.ancestral else "; name ancestral bases with --ancestral"
    return [f"{'warning: ' * (2 * count > of)}{text}"]


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


def _kept(sites: _Counted, options: SweepOptions, discarded: dict[str, int]) -> NDArray[np.bool_]:
    """Which sites are used; counts the others by the first reason that applies."""
    derived, observed, there = sites.derived, sites.observed, sites.there
    missing = there - observed
    several = np.zeros(len(there), bool)
    several[sites.alignment.multi_site] = True
    rarest = np.minimum(derived, observed - derived)
    compat = options.precision == "compat"
    reasons = (
        ("several alternative alleles", several),
        ("missing", (missing > 0) & (options.treatment == "drop")),
        ("monomorphic", (rarest == 0) | (observed < 2)),
        ("missing", (missing > options.max_missing * there) & (not compat)),
        ("maf", rarest / np.maximum(observed, 1) < options.maf),
    )
    keep = np.ones(len(there), bool)
    for reason, flags in reasons:
        _count(discarded, reason, int((keep & flags).sum()))
        keep &= ~flags
    return keep


def _count(discarded: dict[str, int], reason: str, count: int) -> None:
    if count:
        discarded[reason] = discarded.get(reason, 0) + count


def _facts(
    sites: _Counted, exclude: BedRegions | None, accessible: BedRegions | None, populations: Populations | None,
    masks: NDArray[np.uint32] | None,
) -> SweepFacts:  # fmt: skip
    there, known, name = int(sites.there.sum()), sites.known, sites.alignment.name
    number = sites.alignment.sites
    missing = 1 - int(sites.seen.sum()) / there if there else 0.0
    lone = 1 - there / (sites.states * number) if number else 0.0
    facts = SweepFacts(
        sites.states, number, sites.planes.genotypes, round(max(missing, 0.0), FACT_DIGITS),
        _covered_share(exclude, name, sites.positions), haploid=round(lone, FACT_DIGITS) or None,
    )  # fmt: skip
    if populations is not None and masks is not None:
        sizes = "+".join(str(np.bitwise_count(mask).sum()) for mask in masks)
        facts = replace(facts, populations=sizes, between=",".join(populations.names))
    if accessible is not None:
        share, own = _covered_share(accessible, name, sites.positions), accessible.checksum_of(name)
        facts = replace(facts, accessible=share, mask=own, masks=accessible.checksum)
    if known is not None:
        facts = replace(facts, unpolarised=round(1 - float(known.mean()), FACT_DIGITS) if number else 0.0)
    return facts


def _covered_share(regions: BedRegions | None, name: str, positions: Floats) -> float:
    """Share of the bp from the first to the last site that lie in regions; 0 without any, or without sites."""
    if regions is None or not len(positions):
        return 0.0
    first, last = int(positions[0]), int(positions[-1])
    return round(regions.covered(name, first, last) / (last - first + 1), FACT_DIGITS)


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
