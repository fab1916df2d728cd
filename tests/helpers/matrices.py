"""Matrices of counts in plain Python, from the definition."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["table_of"]

Counts = dict[str, int]


def table_of(
    samples: Sequence[Counts],
    *,
    min_count: int = 1,
    min_samples: int = 1,
    only: Collection[str] | None = None,
    keep_zeros: bool = False,
) -> dict[str, list[int]]:
    """The rows by their k-mers, in ascending order."""
    kmers = set().union(*samples, only or ()) if keep_zeros else set().union(*samples)
    rows = {}
    for kmer in sorted(kmers):
        row = [count if count >= min_count else 0 for count in (sample.get(kmer, 0) for sample in samples)]
        enough = keep_zeros or sum(count > 0 for count in row) >= min_samples
        if enough and (only is None or kmer in only):
            rows[kmer] = row
    return rows
