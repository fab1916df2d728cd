"""Small alignments scanned as one: replicates laid end to end, so that the device gets enough work at a time.

The windows of an alignment never reach beyond it, and its sums are exact (64-bit integers with some fraction bits), so
that nothing but time depends on what it is scanned with.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan.windows import INDICES, Windows
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.selection import take_sites

FULL_BITS = 62  # a fixed-point sum stays below 2^62
FLOAT_BITS = 54  # fixed_point() takes values below 2^55
MAX_FRACTION_BITS = 40
SIGNED_FRACTION_BITS = 30  # covariances are below 1/4
WHOLE_HAPLOTYPES = 2048  # float32 restores N^2 D of so many, and N^2
RETRY_BITS = 4  # fewer after a sum outgrew its format


def fraction_bits(haplotypes: int, span: int, options: ScanOptions) -> int:
    """Fraction bits of the sums of an alignment whose widest window spans so many sites.

    n r^2 of independent sites averages 1 and of two singletons 1/n; 17 bits below 1/n keep the rounding of a value
    below 1e-5 of that. If even the largest conceivable sum leaves room for more bits, they are used; if it does not,
    the sums are watched for overflow.
    """
    if options.ld != "RSQUARE":
        return SIGNED_FRACTION_BITS
    value_bits = haplotypes.bit_length()
    wanted = value_bits + 17
    return min(max(_sure_bits(haplotypes, span), wanted), MAX_FRACTION_BITS, FLOAT_BITS - value_bits)


def _sure_bits(haplotypes: int, span: int) -> int:
    """Fraction bits with which no sum can outgrow its format."""
    return FULL_BITS - haplotypes.bit_length() - (span * span // 2).bit_length()


def whole_unit(haplotypes: int, options: ScanOptions, *, complete: bool) -> int:
    """N^2, in units of which D and its kin are whole numbers on complete data; 0 where they are rounded."""
    exact = options.ld != "RSQUARE" and options.precision == "accurate" and complete
    return haplotypes**2 if exact and haplotypes <= WHOLE_HAPLOTYPES else 0


@dataclass(frozen=True)
class Member:
    """One alignment of a batch, or those of its sites that some grid positions need.

    Attributes
    ----------
    place : int
        Its index in the batch.
    alignment : Alignment
    windows : Windows
        Of the positions that are scanned.
    whole : Windows
        Of all grid positions. What depends on them does not depend on which are scanned.
    multiallelic : bool
        Whether any site of the whole alignment shows three or more states.
    first : int
        The site of the whole alignment that is the first one here.
    most_bits : int
        Fraction bits that its sums may have: fewer, if more were too many elsewhere in the alignment.
    """

    place: int
    alignment: Alignment
    windows: Windows
    whole: Windows
    multiallelic: bool
    first: int = 0
    most_bits: int = FULL_BITS

    @classmethod
    def of(cls, place: int, alignment: Alignment, windows: Windows) -> Member:
        """Take an alignment, all of whose positions are scanned."""
        return cls(place, alignment, windows, windows, alignment.multiallelic)

    def between(self, begin: int, end: int) -> Member:
        """Return what the scan of the grid positions [begin, end) needs."""
        taken = self.windows.between(begin, end)
        if len(taken.at) == len(self.windows.at) or not taken.valid.any():
            return replace(self, windows=taken)
        first, last = int(taken.first[taken.valid].min()), int(taken.last[taken.valid].max())
        site = np.arange(self.alignment.sites)
        sites = take_sites(self.alignment, (first <= site) & (site <= last))
        return replace(self, alignment=sites, windows=taken.counted_from(first), first=self.first + first)

    def fraction_bits(self, options: ScanOptions) -> int:
        """Fraction bits of the alignment's sums."""
        return min(fraction_bits(self.alignment.haplotypes, self.whole.span, options), self.most_bits)


def group_members(members: Iterable[Member], options: ScanOptions) -> list[list[Member]]:
    """Group the members whose device work can be done as one; sites of three or more states go by themselves."""
    groups: dict[Hashable, list[Member]] = {}
    for member in members:
        one = member.alignment
        alike = (one.haplotypes, one.unphased, one.valid is None, one.haploid is None, member.fraction_bits(options))
        groups.setdefault((*alike, member.place if member.multiallelic else -1), []).append(member)
    return list(groups.values())


def join_members(group: Sequence[Member]) -> Member:
    """Lay the alignments of a group end to end, and their windows with them; bp count from each one's own start."""
    if len(group) == 1:
        return group[0]
    alignments = [member.alignment for member in group]
    masks = [one.valid for one in alignments if one.valid is not None]
    haploid = [one.haploid for one in alignments if one.haploid is not None]
    joint = replace(
        alignments[0], positions=np.concatenate([one.positions for one in alignments]),
        letters=np.concatenate([one.letters for one in alignments]),
        bits=np.concatenate([one.bits for one in alignments], axis=1),
        valid=np.concatenate(masks, axis=1) if masks else None, gap=None,
        haploid=np.concatenate(haploid, axis=1) if haploid else None,
    )  # fmt: skip
    windows = _join_windows([member.windows for member in group], [one.sites for one in alignments])
    return Member.of(0, joint, windows)


def _join_windows(windows: Sequence[Windows], sites: Sequence[int]) -> Windows:
    starts = np.cumsum([0, *sites[:-1]])
    indices = {
        name: np.concatenate([getattr(one, name) + start for one, start in zip(windows, starts, strict=True)])
        for name in INDICES
    }
    return Windows(
        at=np.concatenate([one.at for one in windows]),
        valid=np.concatenate([one.valid for one in windows]),
        maxwin=max(one.maxwin for one in windows),
        **indices,
    )
