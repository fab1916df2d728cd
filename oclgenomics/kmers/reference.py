"""The oracle: k-mers counted in plain Python, from the definition."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from oclgenomics.kmers.options import CountOptions
from oclgenomics.sequence.reference import records, runs

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def reverse_complement(kmer: str) -> str:
    """Return the same place on the other strand, read in its own direction."""
    return kmer.translate(COMPLEMENT)[::-1]


def count(texts: list[bytes], options: CountOptions) -> dict[str, int]:
    """Count the k-mers of FASTA and FASTQ texts, in ascending order."""
    k = options.k
    kmers: Counter[str] = Counter()
    for text in texts:
        for run in runs(text, compress=options.compressed):
            kmers.update(run[i : i + k] for i in range(len(run) - k + 1))
    if options.canonical:
        both: Counter[str] = Counter()
        for kmer, times in kmers.items():
            both[min(kmer, reverse_complement(kmer))] += times
        kmers = both
    kept = {kmer: times for kmer, times in kmers.items() if options.min_count <= times <= options.max_count}
    return {kmer: min(kept[kmer], options.counter_max) for kmer in sorted(kept)}


def counts_along(letters: str, counts: dict[str, int], k: int, *, canonical: bool) -> list[int | None]:
    """Return the count of each window of a read; 0 for a k-mer that is not there, None for what is no k-mer."""
    windows = [letters[place : place + k].upper() for place in range(len(letters) - k + 1)]
    kmers = [window if set(window) <= set("ACGT") else None for window in windows]
    if canonical:
        kmers = [kmer and min(kmer, reverse_complement(kmer)) for kmer in kmers]
    return [None if kmer is None else counts.get(kmer, 0) for kmer in kmers]


@dataclass
class Assessment:
    """The k-mers of an assembly next to those of reads.

    Attributes
    ----------
    sequences : list of (str, int, int)
        Name, k-mers that no read has, and all k-mers.
    places : list of (str, int)
        Sequence and position, from 0, of each k-mer that no read has.
    copies : Counter of (int, int)
        K-mers of the reads by copies in the assembly, 5 for more than 4, and count in the reads.
    distinct_only : int
        Distinct k-mers that no read has.
    """

    sequences: list[tuple[str, int, int]] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)
    copies: Counter[tuple[int, int]] = field(default_factory=Counter)
    distinct_only: int = 0


def assess(text: bytes, reads: dict[str, int], k: int) -> Assessment:
    """Assess an assembly by the canonical k-mers of reads."""
    found = Assessment()
    for record in records(text):
        along = counts_along(record.letters, reads, k, canonical=True)
        only = [place for place, count in enumerate(along) if count == 0]
        found.places += [(record.name, place) for place in only]
        found.sequences.append((record.name, len(only), sum(count is not None for count in along)))
    own = count([text], CountOptions(k))
    for kmer, times in reads.items():
        found.copies[min(own.get(kmer, 0), 5), times] += 1
    found.distinct_only = sum(kmer not in reads for kmer in own)
    return found
