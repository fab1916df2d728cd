"""The counts along sequences: one for each place at which k letters begin."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.kmers.analysis.found_kmers import FoundKmers

__all__ = ["RecordCounts", "count_lines", "counts_along", "joined_records", "write_counts_npz"]

NO_KMER = "NA"


@dataclass(frozen=True, repr=False)
class RecordCounts:
    """The counts along some sequences, or along a part of a long one.

    Attributes
    ----------
    names : list of str
    starts : ndarray, int64 (sequences + 1,)
        Sequence i has counts[starts[i]:starts[i + 1]], one for each place at which k letters begin.
    counts : ndarray, uint32 (n,)
        0 for a k-mer that the set does not have.
    valid : ndarray, bool (n,)
        False where a letter other than A, C, G and T is among the k letters.
    begins, ends : bool
        The first sequence begins, and the last one ends here.
    """

    names: list[str]
    starts: NDArray[np.int64]
    counts: NDArray[np.uint32]
    valid: NDArray[np.bool_]
    begins: bool = True
    ends: bool = True

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"RecordCounts({len(self)} sequences, {len(self.counts)} counts)"

    def counts_of(self, number: int) -> list[int | None]:
        """Return the counts along a sequence; None for what is no k-mer."""
        some = slice(int(self.starts[number]), int(self.starts[number + 1]))
        pairs = zip(self.counts[some].tolist(), self.valid[some].tolist(), strict=True)
        return [count if valid else None for count, valid in pairs]

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each sequence: its name, and the list of its counts."""
        return ({"record": name, "counts": self.counts_of(number)} for number, name in enumerate(self.names))


def counts_along(found: FoundKmers) -> RecordCounts:
    """Put the counts of k-mers to their places."""
    starts = np.append(np.int64(0), np.cumsum(found.windows))
    counts, valid = np.zeros(starts[-1], np.uint32), np.zeros(starts[-1], np.bool_)
    places = starts[found.record] + found.position - found.offset
    counts[places], valid[places] = found.counts, True
    return RecordCounts(found.names, starts, counts, valid, found.offset == 0, found.whole)


def joined_records(parts: Iterable[RecordCounts]) -> Iterator[RecordCounts]:
    """Put the parts of long sequences together."""
    waiting: list[RecordCounts] = []
    for part in parts:
        waiting.append(part)
        if part.ends:
            yield _joined(waiting) if len(waiting) > 1 else part
            waiting = []


def count_lines(parts: Iterable[RecordCounts]) -> Iterator[str]:
    """Make a line for each sequence: its name, a tab, and its counts with commas between them.

    Yields
    ------
    str
        Lines, or parts of a long one.
    """
    for part in parts:
        for number, name in enumerate(part.names):
            lead = f"{name}\t" if number or part.begins else ","
            counts = part.counts_of(number)
            text = ",".join([NO_KMER if count is None else str(count) for count in counts])
            yield lead + text + ("\n" if part.ends or number + 1 < len(part) else "")


def write_counts_npz(parts: Iterable[RecordCounts], output: str | os.PathLike[str]) -> None:
    """Write the counts along sequences for `numpy.load`: `names`, `starts`, `counts` and `valid`.

    All of them are in memory, 5 bytes for each place.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    joined = _joined(list(joined_records(parts)), separate=True)
    names = np.array(joined.names, dtype=np.str_) if joined.names else np.empty(0, "U1")
    with open_whole(output, "wb", OutputError) as stream:
        np.savez(stream, names=names, starts=joined.starts, counts=joined.counts, valid=joined.valid)


def _joined(parts: list[RecordCounts], *, separate: bool = False) -> RecordCounts:
    """Parts as one sequence, or, if `separate`, sequences one behind the other."""
    counts = np.concatenate([np.empty(0, np.uint32), *(part.counts for part in parts)])
    valid = np.concatenate([np.empty(0, np.bool_), *(part.valid for part in parts)])
    if not separate:
        return RecordCounts(parts[0].names, np.array([0, len(counts)], np.int64), counts, valid)
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.starts) for part in parts)])
    return RecordCounts([name for part in parts for name in part.names], np.cumsum(sizes), counts, valid)
