"""Samples and matches of blocks, joined where a sample, or a place with edits, goes through several blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.options import Report
from oclgenomics.signatures.result import Columns, Matches, Rivals, Samples, ScanPart

HALF = np.uint64(32)
NO_OTHER = np.int64(1 << 62)
COUNTS = ("letters", "ns", "ambiguous", "quality_sum", "pairs")  # of samples; pieces add up to them


class PartJoiner:
    """Makes parts of a scan from what each block gives; a sample that goes on waits for its end.

    Parameters
    ----------
    report : {'best', 'first', 'all'}
        With all matches only a sample's numbers wait,
    whole : bool
        unless all of a sample's matches have to come together.
    """

    def __init__(self, report: Report, *, whole: bool = False) -> None:
        self._report, self._waits = report, whole or report != "all"
        self._samples, self._matches = Samples.none(), Matches.none()
        self._counted = np.empty(0, np.int64)  # pairs of the sample that goes on, where its matches do not wait

    def add(self, samples: Samples, matches: Matches) -> ScanPart:
        """Join a block, or a part of one.

        Parameters
        ----------
        samples : Samples
            One row for each piece, in their order; what a row tells is of what the piece owns. `pairs` is 0.
        matches : Matches
            Of these samples, in any order. Rows of a sample, signature and strand are joined unless all are reported.
        """
        samples = merge_samples(Samples.joined([self._samples, samples]))
        matches = Matches.joined([self._matches, matches])
        matches = in_order(matches) if self._report == "all" else merge_pairs(matches, self._report)
        goes_on = len(samples) > 0 and not samples.ends[-1]
        there = len(matches)
        if goes_on and self._waits:
            there = int(np.searchsorted(matches.sample, samples.number[-1]))
        # What waits is a copy, not a slice: memory would hold all the others, too.
        self._matches, matches = matches.take(np.arange(there, len(matches))), matches.take(slice(there))
        samples = self._with_pairs(samples, matches, goes_on=goes_on)
        self._samples = samples.take(np.arange(len(samples) - goes_on, len(samples)))
        return ScanPart(samples, matches)

    def _with_pairs(self, samples: Samples, matches: Matches, *, goes_on: bool) -> Samples:
        """Count the signatures that match each sample, on each strand."""
        if not len(samples):
            return samples
        pairs = matches.take(run_starts(matches.sample, matches.signature, matches.strand))
        keys = 2 * pairs.signature.astype(np.int64) + pairs.strand
        new = (pairs.sample != samples.number[0]) | ~np.isin(keys, self._counted)
        found = np.bincount(pairs.sample[new] - samples.number[0], minlength=len(samples))
        before = self._counted if len(samples) == 1 else np.empty(0, np.int64)
        last = keys[new & (pairs.sample == samples.number[-1])]
        self._counted = np.concatenate([before, last]) if goes_on else np.empty(0, np.int64)
        return replace(samples, pairs=samples.pairs + found)


def rows_of_part(rows: Samples, begin: int, end: int, *, again: bool, goes_on: bool) -> Samples:
    """Return the rows of the pieces begin .. end - 1 of a block.

    Parameters
    ----------
    again : bool
        The part before had the first of them, too: what it tells was counted there.
    goes_on : bool
        The next part has the last of them, too.
    """
    part = rows.take(slice(begin, end))
    if again:
        part = replace(part, **{name: _without(getattr(part, name), 0) for name in COUNTS})
    return replace(part, ends=_without(part.ends, -1)) if goes_on else part


def _without(column: NDArray[Any], row: int) -> NDArray[Any]:
    """A copy with 0 in a row: other parts have rows of the same arrays."""
    column = column.copy()
    column[row] = 0
    return column


def merge_samples(samples: Samples) -> Samples:
    """Join rows of one sample, which follow each other."""
    first = run_starts(samples.number)
    if len(first) == len(samples):
        return samples
    last = np.append(first[1:], len(samples)) - 1
    sums = {name: np.add.reduceat(getattr(samples, name), first) for name in COUNTS}
    least = np.minimum.reduceat(samples.least_quality, first)
    return replace(samples.take(first), ends=samples.ends[last], least_quality=least, **sums)


def in_order(matches: Matches) -> Matches:
    """Sort rows by sample, signature, strand, end and start; by each of the last two they are then in order.

    Matches of a signature that begin together differ in their ends if they have edits. No match begins before one that
    ends before it: their alignments would cross, and one of them could start as far right as the other, or have fewer
    edits. Matches that end together differ in their starts if they run past the end of the sample.
    """
    return matches.take(np.lexsort((matches.start, matches.end, matches.strand, matches.signature, matches.sample)))


def run_starts(*columns: NDArray[Any]) -> NDArray[np.intp]:
    """The first row of each run of rows that are equal in all columns."""
    changes = np.ones(len(columns[0]), np.bool_)
    changes[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.flatnonzero(changes)


def merge_pairs(matches: Matches, report: Report) -> Matches:
    """Keep one row for each sample, signature and strand, the one that is reported, and sum up their hits.

    The best match has the fewest mismatches, with bases outside the sample counted as such; among these it has the
    highest score, among these it is the leftmost.
    """
    keys = (matches.strand, matches.signature, matches.sample)
    if report == "best":
        means = falling_means(matches.quality_sum, matches.end - matches.start)
        order = np.lexsort((matches.start, matches.end, *means, matches.missed, *keys))
    else:
        order = np.lexsort((matches.start, matches.end, *keys))
    ordered = matches.take(order)
    first = run_starts(ordered.sample, ordered.signature, ordered.strand)
    if not len(first):
        return ordered
    return replace(ordered.take(first), hits=np.add.reduceat(ordered.hits, first))


def best_of_samples(matches: Matches) -> tuple[Matches, Rivals]:
    """Keep one row for each sample, and say what else matches it.

    The best match has the fewest mismatches, with bases outside the sample counted as such; among these it has the
    highest score, among these it is that of the first signature, of its strands the first one.

    Parameters
    ----------
    matches : Matches
        Of whole samples; one row for each sample, signature and strand, in this order.
    """
    means = falling_means(matches.quality_sum, matches.end - matches.start)
    ordered = matches.take(np.lexsort((*means, matches.missed, matches.sample)))
    first = run_starts(ordered.sample)
    if not len(first):
        return ordered, Rivals.none()
    chosen = ordered.take(first)
    sample = np.repeat(np.arange(len(first)), np.diff(first, append=len(ordered)))
    others = np.flatnonzero(ordered.signature != chosen.signature[sample])
    others = others[np.lexsort((ordered.missed[others], ordered.signature[others], sample[others]))]
    # The other strand of a signature is no second one, so each of a sample's signatures counts once.
    others = others[run_starts(sample[others], ordered.signature[others])]
    by, mismatches = sample[others], ordered.missed[others]
    ties = np.bincount(by[mismatches == chosen.missed[by]], minlength=len(first))
    least = np.full(len(first), NO_OTHER)
    np.minimum.at(least, by, mismatches)
    return chosen, Rivals(ties.astype(np.int64), np.where(least == NO_OTHER, -1, least))


def falling_means(sums: NDArray[np.uint64], lengths: NDArray[Any]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return two keys that sort by falling mean, the second one first, as `numpy.lexsort` takes them.

    They are integers, since quotients in floating point may be equal where means differ: the integer part of the mean
    and its first 64 binary places. Two fractions whose denominators are less than 2^32 and that differ do so by more
    than 2^-64.

    Parameters
    ----------
    sums : ndarray, uint64
    lengths : ndarray, integers
        1 to 2^32 - 1.
    """
    by = lengths.astype(np.uint64)
    whole, rest = np.divmod(sums, by)
    high, rest = np.divmod(rest << HALF, by)
    low = (rest << HALF) // by
    return ~(high << HALF | low), ~whole


@dataclass(frozen=True)
class Places(Columns):
    """Runs of ends at which a pattern matches a text, and the match of each; arrays of one length.

    Attributes
    ----------
    text : ndarray, int64
        Number of the piece or the record; ends and starts count from its first letter.
    pattern : ndarray, int64
    first, last : ndarray, int64
        The first end of the run, and the last one.
    edits : ndarray, int64
    start, end : ndarray, int64
        The match is text[start : end].
    informative : ndarray, int64
    quality_sum : ndarray, uint64
        Of the match's letters; 0 without qualities.
    origin : ndarray, int64
        Where more can be learned of the match: the number of the piece, in its block, that the match lies in. Less than
        0 for matches of earlier blocks.
    """

    TYPES = "qqqqqqqqQq"

    text: NDArray[np.int64]
    pattern: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    edits: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    informative: NDArray[np.int64]
    quality_sum: NDArray[np.uint64]
    origin: NDArray[np.int64]

    @property
    def rank(self) -> tuple[NDArray[Any], ...]:
        """Keys that sort the best match first, as `numpy.lexsort` takes them."""
        return (self.end, *falling_means(self.quality_sum, self.end - self.start), self.edits)


def joined_places(places: Places) -> Places:
    """Join places that are neighbours and choose the match of each anew; order them by text, pattern and end.

    Parameters
    ----------
    places : Places
        In any order; no end is in two places of a text and a pattern.
    """
    places = places.take(np.lexsort((places.first, places.pattern, places.text)))
    goes_on = np.zeros(len(places), np.bool_)
    goes_on[1:] = places.first[1:] == places.last[:-1] + 1
    for column in (places.text, places.pattern):
        goes_on[1:] &= column[1:] == column[:-1]
    begin = np.flatnonzero(~goes_on)
    order = np.lexsort((*places.rank, np.cumsum(~goes_on)))
    ends = np.append(begin[1:], len(places)) - 1
    chosen = places.take(order[begin])
    return replace(chosen, first=places.first[begin], last=places.last[ends[: len(begin)]])


def reported_places(places: Places, report: Report) -> tuple[Places, NDArray[np.int64]]:
    """Return the places to report, and how many places each of them represents.

    Parameters
    ----------
    places : Places
        Ordered by text, pattern and end.
    report : {'best', 'first', 'all'}
    """
    if report == "all":
        return places, np.ones(len(places), np.int64)
    begin = run_starts(places.text, places.pattern)
    hits = np.diff(begin, append=len(places))
    if report == "first":
        return places.take(begin), hits
    order = np.lexsort((*places.rank, np.repeat(begin, hits)))
    return places.take(order[begin]), hits
