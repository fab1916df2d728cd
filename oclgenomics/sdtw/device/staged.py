"""Reads whose prefixes are aligned one after the other, and go on where they can."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.device.slots import Slots
from oclgenomics.sdtw.found import Found, PrefixAligner
from oclgenomics.sdtw.reference import BLOCK

__all__ = ["StagedReads", "reads_together"]


def reads_together(aligner: PrefixAligner, wanted: int) -> int:
    """Return how many reads of those that are wanted can be staged at a time."""
    going_on = _going_on(aligner)
    return wanted if going_on is None else min(wanted, going_on.slots_that_fit())


class StagedReads:
    """Aligns longer and longer prefixes of reads.

    With `norm=blocks` the scores at the end of whole blocks stay on the device, and a longer prefix goes on from there;
    else, and where there is no room for so many scores, each prefix is aligned by itself.

    Parameters
    ----------
    aligner : PrefixAligner
    count : int
        Places for reads.
    """

    def __init__(self, aligner: PrefixAligner, count: int) -> None:
        self.aligner, self.count = aligner, count
        self._reads = np.full(count, -1, np.int64)
        self._going_on, self._slots = _going_on(aligner), _slots(aligner, count)

    def align(
        self,
        samples: NDArray[np.int16],
        first: NDArray[np.int64],
        prefix: int,
        places: NDArray[np.int64],
        reads: NDArray[np.int64],
    ) -> Found:
        """Align prefixes of some reads.

        Parameters
        ----------
        samples, first, prefix
            See `PrefixAligner`.
        places : ndarray, int64, (reads,)
            Place of each read, each one once.
        reads : ndarray, int64, (reads,)
            What tells the read from others that had its place; 0 or more. Its samples have to stay what they were.
        """
        slots = self._slots
        if self._going_on is None or slots is None or prefix % BLOCK:  # a block that is cut has levels of its own
            return self.aligner.align(samples, first, prefix)
        anew = (self._reads[places] != reads) | (slots.rows[places] >= self.aligner.options.rows(prefix))
        slots.rows[places[anew]] = 0
        self._reads[places] = reads
        done = slots.rows[places]
        cost = np.empty((len(places), len(self.aligner.references)))
        column = np.empty(cost.shape, np.int64)
        for rows in np.unique(done):  # reads that have gone equally far go on together
            some = np.flatnonzero(done == rows)
            found = self._going_on.extend(samples, first[some], prefix, slots, places[some])
            cost[some], column[some] = found.cost, found.column
        return Found(cost, column)


def _going_on(aligner: PrefixAligner) -> Aligner | None:
    """The aligner, if it can go on from shorter prefixes."""
    return aligner if isinstance(aligner, Aligner) and aligner.options.norm == "blocks" else None


def _slots(aligner: PrefixAligner, count: int) -> Slots | None:
    going_on = _going_on(aligner)
    return going_on.slots(count) if going_on is not None and 0 < count <= going_on.slots_that_fit() else None
