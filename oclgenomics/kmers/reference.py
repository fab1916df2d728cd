"""The oracle: k-mers counted in plain Python, from the definition."""

from __future__ import annotations

from collections import Counter

from oclgenomics.kmers.options import CountOptions
from oclgenomics.sequence.reference import runs

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def reverse_complement(kmer: str) -> str:
    """Return the same place on the other strand, read in its own direction."""
    return kmer.translate(COMPLEMENT)[::-1]


def count(texts: list[bytes], options: CountOptions) -> dict[str, int]:
    """Count the k-mers of FASTA and FASTQ texts, in ascending order."""
    k = options.k
    kmers: Counter[str] = Counter()
    for text in texts:
        for run in runs(text):
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
