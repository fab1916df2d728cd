"""How many reads go into a batch: as many as the device judges while a verdict still pays."""

from __future__ import annotations

import numpy as np

__all__ = ["Pace"]

FIRST_READS = 16  # of the first batch, when nothing is known; each batch may be twice as large as the one before
MEMORY = 0.95  # weight of what was known, at each batch
OVERHEAD = 4.0  # batches take at least so many times what a batch of no reads takes: the rest is work
DEADLINE = 1.0  # seconds, where none is given
BATCHES = 4  # of the smallest size that fit into a deadline that is not given
DITHER, EVERY = 0.6, 4  # so much of a full batch, each so many times: equal batches do not tell overhead from work


class Pace:
    """Learns how long batches take, and bounds them.

    The time of a batch is taken as that of a batch of no reads, and what each sample adds. Both come from the batches
    themselves, and are forgotten as these grow old: the device may get slower.

    Parameters
    ----------
    prefix : int
        Samples that the first stage aligns.
    batch_seconds : float
        How long a full batch takes at least. Shorter ones have their verdicts sooner, longer ones waste less.
    deadline : float, optional
        Seconds within which a verdict is of use; if not given, a second, or what four of the smallest batches take.
    """

    def __init__(self, prefix: int, batch_seconds: float, deadline: float | None) -> None:
        self._prefix, self._least, self._deadline = prefix, batch_seconds, deadline
        self._known = np.zeros((2, 2))  # sums of 1, work, and work squared
        self._times = np.zeros(2)  # sums of seconds, and of seconds times work
        self._start = self._each = self._gap = 0.0
        self._largest, self._full = float(FIRST_READS * prefix), 0

    @property
    def deadline(self) -> float:
        """Seconds after its samples came in which a verdict is of use."""
        return max(DEADLINE, BATCHES * self.seconds(self._prefix)) if self._deadline is None else self._deadline

    def seconds(self, work: float) -> float:
        """How long so many samples take."""
        return self._start + self._each * work

    def apart(self, seconds: float) -> None:
        """Take note that the caller stayed away for so long: a batch has to keep the device busy meanwhile."""
        self._gap += (seconds - self._gap) / 4

    def full(self) -> float:
        """How long a full batch may take."""
        return min(max(self._least, self._gap, OVERHEAD * self._start), self.deadline / 2)

    def limit(self) -> float:
        """Samples that a full batch aligns; a new answer each time."""
        self._full += 1
        fits = (self.full() - self._start) / self._each if self._each > 0 else np.inf
        return max(0.0, min(fits, self._largest)) * (1.0 if self._full % EVERY else DITHER)

    def learn(self, work: int, seconds: float) -> None:
        """Take note that a batch of so many samples took so long."""
        row = np.array([1.0, work])
        self._known = MEMORY * self._known + np.outer(row, row)
        self._times = MEMORY * self._times + row * seconds
        self._largest = max(self._largest, 2.0 * work)
        weight, (mean, time) = self._known[0, 0], (self._known[0, 1], self._times[0]) / self._known[0, 0]
        spread = self._known[1, 1] / weight - mean * mean
        both = self._times[1] / weight - mean * time
        slope = both / spread if spread > 1e-4 * mean * mean else self._slope(mean, time)
        self._each = min(max(slope, 0.0), time / mean)  # neither part is negative
        self._start = time - self._each * mean

    def _slope(self, mean: float, time: float) -> float:
        """What a sample adds, as batches were alike: as much of the time as before."""
        before = self.seconds(mean)
        return time * (self._each / before if before > 0 else 1.0 / mean)
