"""How many reads go into a batch: as many as the device judges while a verdict still pays."""

from __future__ import annotations

import numpy as np

__all__ = ["Pace"]

FIRST_READS = 4  # of the first batch, when nothing is known; each batch may be twice as large as the one before
MEMORY, LITTLE = 0.95, 0.3  # weight of what was known, at each batch; and if that was far from it
SURPRISE = 2.0  # times more or less seconds than expected are far
OVERHEAD = 4.0  # batches take at least so many times what a batch of no reads takes: the rest is work
LEAST_SPREAD = 1e-3  # of batch sizes, squared and relative, that tells overhead from work
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
        # weighted sums: of 1, of 1 / samples and its square, of seconds / samples, and of that / samples
        self._known = np.zeros(5)
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
        """Take note that a batch of so many samples took so long.

        The line is fitted to seconds for each sample, so that a batch counts as much as any other, whatever its size.
        """
        inverse, time = 1.0 / work, seconds / work
        expected = self.seconds(work)
        memory = MEMORY if expected / SURPRISE <= seconds <= expected * SURPRISE else LITTLE
        self._known = memory * self._known + np.array([1.0, inverse, inverse * inverse, time, inverse * time])
        self._largest = max(self._largest, 2.0 * work)
        mean, square, each, both = self._known[1:] / self._known[0]
        spread, most = square - mean * mean, each / mean
        varied = spread > LEAST_SPREAD * mean * mean
        start = (both - mean * each) / spread if varied else most * self._start_share(mean)
        self._start = float(min(max(start, 0.0), most))  # neither part is negative
        self._each = max(0.0, float(each - self._start * mean))

    def _start_share(self, inverse: float) -> float:
        """Share of the time that does not depend on the size; as batches were alike, as much as before."""
        whole = self._start * inverse + self._each
        return self._start * inverse / whole if whole > 0 else 0.0
