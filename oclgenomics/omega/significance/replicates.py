"""Scans of replicates, of which only the maxima are kept."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oclgenomics.omega.api import scan
from oclgenomics.omega.data_facts import DataFacts
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.result import Scan
from oclgenomics.omega.significance.null_facts import NullFacts, grid_spacing, site_density
from oclgenomics.omega.significance.thresholds import Maxima
from oclgenomics.omega.sources import AlignmentSource, open_alignments
from oclgenomics.variation.read_options import ReadOptions

if TYPE_CHECKING:
    from oclgenomics.runtime import Device, Engine
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions

__all__ = ["ScannedReplicates", "scan_replicates"]


@dataclass(frozen=True)
class ScannedReplicates:
    """What the scans of replicates come to.

    Attributes
    ----------
    maxima : Maxima
    haplotypes : int
        Largest number in a replicate.
    sites : int
        Sites used, of all replicates together.
    data : NullFacts or None
        What was scanned of them.
    """

    maxima: Maxima
    haplotypes: int
    sites: int
    data: NullFacts | None


def scan_replicates(
    source: AlignmentSource,
    options: ScanOptions,
    *,
    reading: ReadOptions = ReadOptions(),
    exclude: BedRegions | None = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> ScannedReplicates:
    """Scan replicates and keep the largest omega of each.

    Parameters
    ----------
    source, options, reading, on_alignment, engine, device, max_memory, threads
        As for `oclgenomics.omega.api`.
    progress : callable, optional
        Called with (replicates that have come, None), each time one is read or simulated.

    Raises
    ------
    InputError, UsageError, DeviceError
        As for `oclgenomics.omega.api`.
    """
    haplotypes = sites = 0
    facts: list[tuple[DataFacts, float, float]] = []

    def count(result: Scan) -> None:
        nonlocal haplotypes, sites
        haplotypes = max(haplotypes, result.haplotypes)
        sites += result.sites
        if result.data is not None:
            facts.append((result.data, site_density(result), grid_spacing(result)))

    with closing(open_alignments(source, reading, threads=threads)) as alignments:
        scans = scan(
            alignments if progress is None else _counted(alignments, progress), options, exclude=exclude,
            on_alignment=on_alignment,
            on_result=count, engine=engine, device=device, max_memory=max_memory,
        )  # fmt: skip
        with closing(scans):
            maxima = Maxima.of(scans)
    return ScannedReplicates(maxima, haplotypes, sites, NullFacts.of(facts))


def _counted(
    alignments: Generator[Alignment, None, None], progress: Callable[[int, int | None], None]
) -> Generator[Alignment, None, None]:
    """The same alignments, counted as they come."""
    for number, alignment in enumerate(alignments, start=1):
        progress(number, None)
        yield alignment
        del alignment  # before the next one is read
