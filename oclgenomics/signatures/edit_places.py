"""Places of matches with edits: runs of neighbouring ends, and the match of each; on the host.

The words are those of `oclgenomics.signatures.edit_reference`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.mean_order import falling_means
from oclgenomics.signatures.options import Report

__all__ = ["Places", "joined_places", "reported_places"]


@dataclass(frozen=True)
class Places:
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

    def __len__(self) -> int:
        return len(self.text)

    @classmethod
    def none(cls) -> Places:
        """No place."""
        whole = np.empty(0, np.int64)
        sums = np.empty(0, np.uint64)
        return cls(whole, whole, whole, whole, whole, whole, whole, whole, sums, whole)

    @classmethod
    def of(cls, parts: Sequence[Places]) -> Places:
        """Places of several parts, in their order."""
        every = [cls.none(), *parts]
        return cls(*(np.concatenate([getattr(part, field.name) for part in every]) for field in fields(cls)))

    def take(self, which: NDArray[Any]) -> Places:
        """Some of them."""
        return type(self)(*(getattr(self, field.name)[which] for field in fields(self)))

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
    """Return the places to report, and how many places each of them stands for.

    Parameters
    ----------
    places : Places
        Ordered by text, pattern and end.
    report : {'best', 'first', 'all'}
    """
    if report == "all":
        return places, np.ones(len(places), np.int64)
    begins = np.ones(len(places), np.bool_)
    begins[1:] = (places.text[1:] != places.text[:-1]) | (places.pattern[1:] != places.pattern[:-1])
    begin = np.flatnonzero(begins)
    hits = np.diff(begin, append=len(places))
    if report == "first":
        return places.take(begin), hits
    order = np.lexsort((*places.rank, np.cumsum(begins)))
    return places.take(order[begin]), hits
