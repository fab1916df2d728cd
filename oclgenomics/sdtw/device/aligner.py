"""Prefixes of reads aligned with references that stay on the device; longer ones go on from shorter ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.runtime import Engine
from oclgenomics.sdtw.device.steps import Steps, finished
from oclgenomics.sdtw.device.strips import TOGETHER, Found, PrefixAligner, Prefixes, Slots, StripAligner
from oclgenomics.sdtw.options import MAX_PREFIX, AlignOptions
from oclgenomics.sdtw.plan import CellShape, cell_shape
from oclgenomics.sdtw.reference import BLOCK
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

NO_NUMBERS = np.empty(0, np.int64)


class Aligner:
    """Aligns prefixes of reads with references; a `PrefixAligner`.

    Parameters
    ----------
    engine : Engine
    references : sequence of Squiggle
    options : AlignOptions

    Raises
    ------
    UsageError
        There is no reference.
    """

    def __init__(self, engine: Engine, references: Sequence[Squiggle], options: AlignOptions = AlignOptions()) -> None:
        if not references:
            raise UsageError("there is no reference to align with; name one or more")
        self.references, self.options = tuple(references), options
        self._engine = engine
        self._of_shape: dict[CellShape, StripAligner] = {}

    def align(self, samples: NDArray[np.int16], first: NDArray[np.int64], prefix: int) -> Found:
        """Align the samples `first[i]` to `first[i] + prefix` of each read i.

        Parameters
        ----------
        samples : ndarray, int16
            Of all reads.
        first : ndarray, int64, (reads,)
        prefix : int
            Samples of a prefix, at most 65,536; `samples` has as many from each first one on.

        Returns
        -------
        Found

        Raises
        ------
        ParameterError
            The prefix is shorter than a row.
        """
        return finished(self.steps(samples, first, prefix))

    def steps(self, samples: NDArray[np.int16], first: NDArray[np.int64], prefix: int) -> Steps[Found]:
        """Align as `align` does, in steps."""
        aligner = self._aligner(self.options.rows(prefix))
        return self._found(aligner, Prefixes(samples, first, prefix, None, NO_NUMBERS))

    def slots(self, count: int) -> Slots:
        """Return room for the scores of so many reads that go on; see `extend`."""
        return self._aligner(MAX_PREFIX).slots(count)

    def slots_that_fit(self) -> int:
        """Return for how many reads there is room together with an alignment.

        Raises
        ------
        AllocationError
            Not even for one.
        """
        return self._aligner(MAX_PREFIX).slots_that_fit()

    def extend(
        self,
        samples: NDArray[np.int16],
        first: NDArray[np.int64],
        prefix: int,
        slots: Slots,
        numbers: NDArray[np.int64],
    ) -> Steps[Found]:
        """Align longer prefixes of reads that were aligned before; only the new samples cost work.

        That is right where the levels of the samples before do not change, which is with `norm=blocks` and prefixes of
        whole blocks.

        Parameters
        ----------
        samples, first, prefix
            As for `align`; the whole prefixes.
        slots : Slots
            Of this aligner.
        numbers : ndarray, int64, (reads,)
            Slot of each read. `slots.rows[number]` rows have been aligned, of all of these reads as many; 0 for new
            ones.

        Returns
        -------
        Steps of Found
        """
        if self.options.norm != "blocks":
            raise ValueError("a longer prefix is normalised anew, so nothing of a shorter one can stay")
        rows, done = self.options.rows(prefix), slots.rows[numbers]
        if len(done) and (done.min() != done.max() or done[0] >= rows):
            raise ValueError("reads that are extended together have gone equally far, and less far than the new prefix")
        return self._found(self._aligner(MAX_PREFIX), Prefixes(samples, first, prefix, slots, numbers))

    def _aligner(self, rows: int) -> StripAligner:
        """The aligner for prefixes up to so many rows."""
        tuning = self._engine.tuning
        shape = cell_shape(self.options, rows, vector_bytes=tuning.vector_bytes if tuning.cpu else 0)
        if shape not in self._of_shape:
            self._of_shape[shape] = StripAligner(self._engine, self.references, self.options, shape)
        return self._of_shape[shape]

    def _found(self, aligner: StripAligner, prefixes: Prefixes) -> Steps[Found]:
        """Align prefixes, as many at a time as memory takes."""
        if not len(prefixes):
            none = np.empty((0, len(self.references)))
            return Found(none, none.astype(np.int64))
        size = aligner.reads_at_a_time(self.options.rows(prefixes.length))
        parts = []
        for begin in range(0, len(prefixes), size):
            parts.append((yield from aligner.align(prefixes[begin : begin + size])))
        return Found(np.concatenate([part.cost for part in parts]), np.concatenate([part.column for part in parts]))


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
    ) -> Steps[Found]:
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
            if isinstance(self.aligner, Aligner):
                return (yield from self.aligner.steps(samples, first, prefix))
            return self.aligner.align(samples, first, prefix)
        anew = (self._reads[places] != reads) | (slots.rows[places] >= self.aligner.options.rows(prefix))
        slots.rows[places[anew]] = 0
        self._reads[places] = reads
        done = slots.rows[places]
        cost = np.empty((len(places), len(self.aligner.references)))
        column = np.empty(cost.shape, np.int64)
        for rows in np.unique(done):  # reads that have gone equally far go on together
            some = np.flatnonzero(done == rows)
            found = yield from self._going_on.extend(samples, first[some], prefix, slots, places[some])
            cost[some], column[some] = found.cost, found.column
        return Found(cost, column)


def reads_together(aligner: PrefixAligner, wanted: int) -> int:
    """Return how many reads of those that are wanted can be staged at a time."""
    going_on = _going_on(aligner)
    return wanted if going_on is None else min(wanted, going_on.slots_that_fit())


def blocks_together(aligner: PrefixAligner) -> int:
    """Return how many blocks of reads can be staged at a time: scores that stay of one may take all the memory."""
    return TOGETHER if _going_on(aligner) is None else 1


def _going_on(aligner: PrefixAligner) -> Aligner | None:
    """The aligner, if it can go on from shorter prefixes."""
    return aligner if isinstance(aligner, Aligner) and aligner.options.norm == "blocks" else None


def _slots(aligner: PrefixAligner, count: int) -> Slots | None:
    going_on = _going_on(aligner)
    return going_on.slots(count) if going_on is not None and 0 < count <= going_on.slots_that_fit() else None
