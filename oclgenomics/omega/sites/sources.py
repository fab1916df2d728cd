"""Alignments with the sites that a scan uses, in batches that are scanned together."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.sites.filters import Prepared, filter_alignment
from oclgenomics.variation import Alignment, BedRegions, ReadOptions
from oclgenomics.variation.sources import AlignmentSource, Excluded, batches, open_alignments, regions_of


@dataclass(frozen=True, eq=False)
class FilteredBatch:
    """Alignments that are scanned together, because they are small, or a large one alone.

    Attributes
    ----------
    prepared : sequence of Prepared
        The sites that are left of each, and what was left out.
    seconds : float
        Time it took to filter them.
    """

    prepared: Sequence[Prepared]
    seconds: float

    @property
    def alignments(self) -> list[Alignment]:
        """The sites that are left of each."""
        return [one.alignment for one in self.prepared]


def filtered_batches(
    source: AlignmentSource,
    options: ScanOptions,
    *,
    reading: ReadOptions = ReadOptions(),
    exclude: Excluded = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    threads: int | None = None,
) -> Generator[FilteredBatch, None, None]:
    """Read alignments and leave out the sites that a scan does not use; parameters and errors as for `omega.scan`.

    Yields
    ------
    FilteredBatch
        One is in memory at a time if the caller keeps none.
    """
    regions = regions_of(exclude)
    with closing(open_alignments(source, reading, threads=threads)) as alignments:
        for batch in batches(alignments):
            if on_alignment is not None:
                list(map(on_alignment, batch))
            filtered = [filter_batch(batch, options, regions)]
            del batch
            yield filtered.pop()  # the caller's alone, so that it can be gone before the next one is read


def filter_batch(alignments: Sequence[Alignment], options: ScanOptions, exclude: BedRegions | None) -> FilteredBatch:
    """Leave out the sites of some alignments that a scan does not use."""
    start = time.perf_counter()
    prepared = [filter_alignment(alignment, options, exclude) for alignment in alignments]
    return FilteredBatch(prepared, time.perf_counter() - start)
