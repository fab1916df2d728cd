"""Which reads are judged next, and how many together: those of which a verdict brings most, as long as it pays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.decisions.words import UNDECIDED, WORDS
from oclgenomics.sdtw.live.channel_choice import rank
from oclgenomics.sdtw.live.channel_table import ChannelTable
from oclgenomics.sdtw.live.judging import Job, Verdict
from oclgenomics.sdtw.live.pace import Pace

__all__ = ["Schedule"]


class Schedule:
    """Orders reads that are due by what a verdict is expected to bring.

    A verdict pays by the rest of a read that is not sequenced. Stages come in the order of the reads that they end in a
    second of the device, as far as is known; in a stage the read whose samples came last is the first, since of it most
    is left. A read that would get its verdict after the deadline is not judged any more.

    Parameters
    ----------
    prefixes : sequence of int
        Samples that each stage aligns.
    paying : sequence of int
        Decisions that end a read.
    pace : Pace
    max_batch : int, optional
        Reads in a batch at most.

    Attributes
    ----------
    gains : ndarray, float64, (stages,)
        Reads that end for each sample aligned, if reads are judged at a stage and at as many more as pays most.
    """

    def __init__(self, prefixes: Sequence[int], paying: Sequence[int], pace: Pace, max_batch: int | None) -> None:
        self._work = np.array(prefixes, np.int64)
        self._paying = np.isin(np.arange(len(WORDS)), paying)
        self._max_batch, self.pace = max_batch, pace
        self._judged, self._paid, self._open = (np.zeros(len(prefixes)) for _ in range(3))
        self.gains = self._gains()

    def batch(self, table: ChannelTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the channels of the next batch, and those whose reads are due as well but have no place in it."""
        due = table.due()
        if not len(due):
            return due, due
        ordered = due[self._order(table, due)]
        work = np.cumsum(self._work[table.stage[ordered]])
        fit = int(np.searchsorted(work, self.pace.limit(), "right"))
        count = max(1, min(fit, self._max_batch or fit))
        return ordered[:count], ordered[count:]

    def _order(self, table: ChannelTable, due: NDArray[np.int64]) -> NDArray[np.int64]:
        """By what is gained, then the latest, then the order in which channels are selected."""
        stage = table.stage[due]
        return np.lexsort((rank(due), -table.arrived[due, stage], -self.gains[stage]))

    def _gains(self) -> NDArray[np.float64]:
        """What is known of them; of what is unknown, half ends reads."""
        paid, going_on = (self._paid + 1) / (self._judged + 2), (self._open + 1) / (self._judged + 2)
        result = np.empty(len(self._work))
        for first in range(len(result)):
            reach = np.cumprod(np.append(1.0, going_on[first:-1]))
            result[first] = np.max(np.cumsum(reach * paid[first:]) / np.cumsum(reach * self._work[first:]))
        return result

    def first_share(self, job: Job) -> float:
        """Share of a batch's work that comes before the second look at reads, or pays as much as the first."""
        work = self._work[job.stage]
        return float(work[self.gains[job.stage] >= self.gains[0]].sum() / work.sum())

    def expired(self, table: ChannelTable, now: float) -> NDArray[np.int64]:
        """Channels whose reads are due, and have waited too long to be judged in time."""
        due = table.due()
        stage = table.stage[due]
        patience = max(0.0, self.pace.deadline - self.pace.full())
        return due[now - table.arrived[due, stage] > patience]

    def learn(self, job: Job, verdict: Verdict, seconds: float) -> None:
        """Take note of what a batch brought, and how long it took."""
        self.pace.learn(verdict.aligned, seconds)
        final = self._paying[verdict.decision]
        for stage in range(len(self._work)):
            judged = (job.stage <= stage) & (verdict.judged >= stage)
            last = judged & (verdict.judged == stage)
            self._judged[stage] += judged.sum()
            self._paid[stage] += (last & final).sum()
            self._open[stage] += (judged & ~last).sum() + (last & (verdict.decision == UNDECIDED)).sum()
        self.gains = self._gains()
