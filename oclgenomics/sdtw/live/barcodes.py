"""Barcodes of reads by the signal of their beginning, for conditions by barcode.

A read begins with the adapter, a flank, its barcode and another flank. A window of samples that lies inside of these is
aligned with the signal that each barcode would give, on the host: that is little work, and waits for no device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.reference import CLIP
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals.sequencing import SEQUENCING
from oclgenomics.signals.trimming import stall_end

__all__ = ["CLASSIFIED", "UNCLASSIFIED", "Barcodes"]

CLASSIFIED, UNCLASSIFIED = "classified", "unclassified"  # what readfish calls barcodes without a table of their own
WINDOW = (0.1, 0.8)  # of the bases of a sequence: reads differ in speed, and must not end before the window does
MARGIN = 0.1  # by which the best cost is below the second, at least
TOGETHER = 16  # reads, whose scores stay in the cache


class Barcodes:
    """Names the barcodes of reads.

    Parameters
    ----------
    reference : Squiggle
        A sequence for each barcode, all of one length and without ambiguous bases: adapter, flank, barcode and flank
        as they come through the pore. Sequences are named as the barcodes are.
    margin : float
        A read is unclassified where the best cost is less than this share below the second.

    Attributes
    ----------
    names : tuple of str

    Raises
    ------
    UsageError
        There are fewer than two sequences, or they differ in length or have ambiguous bases.
    """

    def __init__(self, reference: Squiggle, margin: float = MARGIN) -> None:
        self.names, self._margin = reference.records, margin
        forward = np.flatnonzero(reference.track_strand == 0)
        if len(self.names) < 2 or len(forward) != len(self.names) or len(np.unique(reference.lengths)) != 1:
            what = "needs two sequences or more, all of one length and without ambiguous bases"
            raise UsageError(f"barcodes: {reference.name} {what}")
        pore = reference.sequencing or SEQUENCING[0]
        levels = np.stack(
            [reference.levels[reference.tracks[track] : reference.tracks[track + 1]] for track in forward]
        )
        self._levels = _standardised(levels)
        self._step, self._longest = pore.step, pore.trim.max_trim
        bases = int(reference.lengths[0]) * pore.samples_per_base
        self._first, self._last = (round(share * bases) for share in WINDOW)

    def of(self, reads: Sequence[NDArray[Any]]) -> list[str]:
        """Return the barcode of each read; `unclassified` where it is in doubt, or the read is too short.

        Parameters
        ----------
        reads : sequence of ndarray
            Samples from the beginning of each read on, in any unit.
        """
        found = [UNCLASSIFIED] * len(reads)
        windows = [self._window(samples) for samples in reads]
        long = [number for number, window in enumerate(windows) if window is not None]
        for begin in range(0, len(long), TOGETHER):
            some = long[begin : begin + TOGETHER]
            cost = self._costs(np.stack([window for number in some if (window := windows[number]) is not None]))
            two = np.partition(cost, 1, axis=1)
            clear = two[:, 1] - two[:, 0] > self._margin * two[:, 1]
            for number, best, sure in zip(some, cost.argmin(axis=1).tolist(), clear.tolist(), strict=True):
                found[number] = self.names[best] if sure else UNCLASSIFIED
        return found

    def _window(self, samples: NDArray[Any]) -> NDArray[np.float32] | None:
        """Standard scores of the rows of a read that are compared; None if they are not there, or no signal."""
        start = (stall_end(samples, self._longest) or 0) + self._first
        window = samples[start : start + self._last - self._first]
        rows = (self._last - self._first) // self._step
        if len(window) < self._last - self._first or not np.isfinite(window).all():
            return None
        steps = window[: rows * self._step].reshape(rows, self._step)
        medians: NDArray[np.float64] = np.median(steps[:, :3], axis=1)
        return _standardised(medians) if medians.std() else None

    def _costs(self, windows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cost of the best alignment of each window with each barcode: an alignment begins and ends anywhere."""
        score = np.zeros((len(windows), *self._levels.shape), np.float32)
        before, apart = np.empty_like(score), np.empty_like(score)
        for row in range(windows.shape[1]):
            if row:  # stay, or move by one column
                np.minimum(score[..., 1:], score[..., :-1], out=before[..., 1:])
                before[..., 0] = score[..., 0]
                score, before = before, score
            np.subtract(self._levels, windows[:, row, None, None], out=apart)
            np.multiply(apart, apart, out=apart)
            score += apart
        least: NDArray[np.float32] = score.min(axis=2)
        return least


def _standardised(values: NDArray[Any]) -> NDArray[np.float32]:
    """Standard scores along the last axis, as `--norm prefix` has them."""
    mean, deviation = values.mean(axis=-1, keepdims=True), values.std(axis=-1, keepdims=True)
    scores: NDArray[np.float32] = ((values - mean) / np.where(deviation == 0, 1, deviation)).astype(np.float32)
    return scores.clip(-CLIP, CLIP)
