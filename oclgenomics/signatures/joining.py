"""Samples and matches of blocks, joined where a sample goes through several blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.mean_order import falling_means
from oclgenomics.signatures.options import Report
from oclgenomics.signatures.result import Matches, Samples, ScanPart

__all__ = ["PartJoiner", "in_order", "merge_pairs", "merge_samples", "rows_of_part", "rows_of_pieces"]

COUNTS = ("letters", "ns", "ambiguous", "quality_sum", "pairs")  # of samples; pieces add up to them


class PartJoiner:
    """Makes parts of a scan from what each block gives; a sample that goes on waits for its end.

    Parameters
    ----------
    report : {'best', 'first', 'all'}
        With all matches only a sample's numbers wait.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._samples: Samples | None = None
        self._matches: Matches | None = None
        self._counted = np.empty(0, np.int64)  # pairs of the sample that goes on, where its matches do not wait

    def add(self, samples: Samples, matches: Matches) -> ScanPart:
        """Join a block, or a part of one.

        Parameters
        ----------
        samples : Samples
            One row for each piece, in their order; what a row tells is of what the piece owns. `pairs` is 0.
        matches : Matches
            Of these samples, in any order; at most one row for each piece, signature and strand unless all are
            reported.
        """
        samples = merge_samples(samples if self._samples is None else Samples.joined([self._samples, samples]))
        matches = matches if self._matches is None else Matches.joined([self._matches, matches])
        matches = in_order(matches) if self._report == "all" else merge_pairs(matches, self._report)
        goes_on = len(samples) > 0 and not samples.ends[-1]
        self._matches = None
        if goes_on and self._report != "all":
            waits = matches.sample == samples.number[-1]
            self._matches, matches = matches.take(waits), matches.take(~waits)
        samples = self._with_pairs(samples, matches, goes_on=goes_on)
        self._samples = samples.take(slice(len(samples) - 1, None)) if goes_on else None
        return ScanPart(samples, matches)

    def _with_pairs(self, samples: Samples, matches: Matches, *, goes_on: bool) -> Samples:
        """Count the signatures that match each sample, on each strand."""
        if not len(samples):
            return samples
        pairs = matches.take(pair_starts(matches))
        keys = 2 * pairs.signature.astype(np.int64) + pairs.strand
        new = (pairs.sample != samples.number[0]) | ~np.isin(keys, self._counted)
        found = np.bincount(pairs.sample[new] - samples.number[0], minlength=len(samples))
        before = self._counted if len(samples) == 1 else np.empty(0, np.int64)
        last = keys[new & (pairs.sample == samples.number[-1])]
        self._counted = np.concatenate([before, last]) if goes_on else np.empty(0, np.int64)
        return replace(samples, pairs=samples.pairs + found)


def rows_of_pieces(samples: SampleLetters) -> Samples:
    """Return what is told of the pieces of a block as rows of samples, one for each piece."""
    block, pieces = samples.block, samples.block.pieces
    count = len(pieces)
    names = np.array([*block.names, ""], object)
    begun = pieces.record - block.first
    return Samples(
        pieces.record,
        np.where(begun >= 0, names[np.clip(begun, -1, len(names) - 1)], ""),
        np.full(count, block.source, object),
        pieces.owned.astype(np.int64),
        samples.ns,
        samples.ambiguous,
        np.full(count, samples.has_qualities),
        samples.quality_sum,
        np.zeros(count, np.int64),
        pieces.ends,
        samples.least_quality,
    )


def rows_of_part(rows: Samples, begin: int, end: int, *, again: bool, goes_on: bool) -> Samples:
    """Return the rows of the pieces begin .. end - 1 of a block.

    Parameters
    ----------
    again : bool
        The part before had the first of them, too: what it tells was counted there.
    goes_on : bool
        The next part has the last of them, too.
    """
    part = rows.take(np.arange(begin, end))  # not a slice, which would be a view: the rows themselves stay as they are
    if again:
        for name in COUNTS:
            getattr(part, name)[:1] = 0
    if goes_on:
        part.ends[-1:] = False
    return part


def merge_samples(samples: Samples) -> Samples:
    """Join rows of one sample, which follow each other."""
    if not len(samples):
        return samples
    first = np.flatnonzero(np.diff(samples.number, prepend=samples.number[0] - 1))
    last = np.append(first[1:], len(samples)) - 1
    sums = {name: np.add.reduceat(getattr(samples, name), first) for name in COUNTS}
    least = np.minimum.reduceat(samples.least_quality, first)
    return replace(samples.take(first), ends=samples.ends[last], least_quality=least, **sums)


def in_order(matches: Matches) -> Matches:
    """Sort rows by sample, signature, strand and end, by which they are ordered by start, too.

    Matches of a signature that begin together differ in their ends if they have edits. No match begins before one that
    ends before it: their alignments would cross, and one of them could start as far right as the other, or have fewer
    edits.
    """
    return matches.take(np.lexsort((matches.end, matches.strand, matches.signature, matches.sample)))


def pair_starts(matches: Matches) -> NDArray[np.intp]:
    """The first row of each sample, signature and strand, of rows in order."""
    changes = np.ones(len(matches), np.bool_)
    for column in (matches.sample, matches.signature, matches.strand):
        changes[1:] &= column[1:] == column[:-1]
    changes[1:] ^= True
    return np.flatnonzero(changes)


def merge_pairs(matches: Matches, report: Report) -> Matches:
    """Keep one row for each sample, signature and strand, the one that is reported, and sum up their hits.

    The best match has the fewest mismatches, among these the highest score, among these it is the leftmost.
    """
    keys = (matches.strand, matches.signature, matches.sample)
    if report == "best":
        means = falling_means(matches.quality_sum, matches.end - matches.start)
        order = np.lexsort((matches.end, *means, matches.mismatches, *keys))
    else:
        order = np.lexsort((matches.end, *keys))
    ordered = matches.take(order)
    first = pair_starts(ordered)
    if not len(first):
        return ordered
    return replace(ordered.take(first), hits=np.add.reduceat(ordered.hits, first))
