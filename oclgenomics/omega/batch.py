"""Small alignments scanned as one: replicates laid end to end, so that the device gets enough work at a time.

The windows of an alignment never reach beyond it, and its sums are exact, so that nothing but time depends on what lies
beside it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oclgenomics.errors import OclGenomicsError
from oclgenomics.omega.device.fixed_point import fraction_bits
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.windows import Windows
from oclgenomics.variation.alignment import Alignment

__all__ = ["Member", "batches", "group_members", "join_members"]

BATCH_SITES = 1 << 16
BATCH_ALIGNMENTS = 128
BATCH_BYTES = 32 << 20  # packed planes; larger alignments are scanned alone


def batches(alignments: Iterable[Alignment]) -> Iterator[list[Alignment]]:
    """Gather alignments that are worth scanning together; order is kept.

    A large alignment comes alone, and is not held here while the next one is read. Where reading fails, what was read
    before comes first.
    """
    held: list[Alignment] = []
    sites = size = 0
    source = iter(alignments)
    while True:
        try:
            alignment = next(source, None)
        except OclGenomicsError:
            if held:
                yield held
            raise
        if alignment is None:
            break
        sites, size = sites + alignment.sites, size + alignment.packed_bytes
        if held and (sites > BATCH_SITES or size > BATCH_BYTES or len(held) == BATCH_ALIGNMENTS):
            yield held
            held, sites, size = [], alignment.sites, alignment.packed_bytes
        held.append(alignment)
        del alignment
        if sites > BATCH_SITES or size > BATCH_BYTES:  # large: to be done with before the next one is read
            large, held, sites, size = held, [], 0, 0
            yield large
            del large
    if held:
        yield held


@dataclass(frozen=True)
class Member:
    """One alignment of a batch.

    Attributes
    ----------
    place : int
        Its index in the batch.
    alignment : Alignment
    windows : Windows
    """

    place: int
    alignment: Alignment
    windows: Windows

    def fraction_bits(self, options: ScanOptions) -> int:
        """Fraction bits of the alignment's sums."""
        return fraction_bits(self.alignment.haplotypes, self.windows.span, options)


def group_members(members: Iterable[Member], options: ScanOptions) -> list[list[Member]]:
    """Group the members whose device work can be done as one; sites of three or more states go by themselves."""
    groups: dict[Hashable, list[Member]] = {}
    for member in members:
        one = member.alignment
        alike = (one.haplotypes, one.unphased, one.valid is None, one.haploid is None, member.fraction_bits(options))
        groups.setdefault((*alike, member.place if one.multiallelic else -1), []).append(member)
    return list(groups.values())


def join_members(group: Sequence[Member]) -> Member:
    """Lay the alignments of a group end to end, and their windows with them; bp count from each one's own start."""
    if len(group) == 1:
        return group[0]
    alignments = [member.alignment for member in group]
    masks = [one.valid for one in alignments if one.valid is not None]
    haploid = [one.haploid for one in alignments if one.haploid is not None]
    joint = replace(
        alignments[0],
        positions=np.concatenate([one.positions for one in alignments]),
        letters=np.concatenate([one.letters for one in alignments]),
        bits=np.concatenate([one.bits for one in alignments], axis=1),
        valid=np.concatenate(masks, axis=1) if masks else None,
        gap=None,
        haploid=np.concatenate(haploid, axis=1) if haploid else None,
    )
    return Member(0, joint, _join_windows([member.windows for member in group], [one.sites for one in alignments]))


def _join_windows(windows: Sequence[Windows], sites: Sequence[int]) -> Windows:
    starts = np.cumsum([0, *sites[:-1]])
    indices = {
        name: np.concatenate([getattr(one, name) + start for one, start in zip(windows, starts, strict=True)])
        for name in ("centre", "first", "inner_left", "inner_right", "last")
    }
    return Windows(
        at=np.concatenate([one.at for one in windows]),
        valid=np.concatenate([one.valid for one in windows]),
        maxwin=max(one.maxwin for one in windows),
        **indices,
    )
