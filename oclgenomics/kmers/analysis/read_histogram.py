"""The histogram of the k-mers of reads, counted on the way."""

from __future__ import annotations

import os

from oclgenomics.io.source import Progress
from oclgenomics.kmers.analysis.histogram import Histogram
from oclgenomics.kmers.api import tally_counts
from oclgenomics.kmers.options import CountOptions
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sequence.files import SequenceFiles

__all__ = ["histogram_of_reads"]


def histogram_of_reads(
    source: SequenceFiles,
    options: CountOptions,
    *,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    min_quality: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
) -> Histogram:
    """Count the k-mers of FASTA and FASTQ files and return how many there are of each count.

    The numbers are those of `count_to_database` and `histogram`, but no database is written. Parameters and errors are
    those of `count`.

    Examples
    --------
    >>> from oclgenomics.kmers import CountOptions, histogram_of_reads, read_spectrum
    >>> found = histogram_of_reads(["reads_1.fq.gz", "reads_2.fq.gz"], CountOptions(21))  # doctest: +SKIP
    >>> print(read_spectrum(found, 21))  # doctest: +SKIP
    """
    with lent_engine(engine, device, max_memory) as engine:
        tally, _ = tally_counts(
            source, options, engine=engine, threads=threads, progress=progress, min_quality=min_quality, tmp_dir=tmp_dir
        )
    return Histogram.of(tally)
