"""Reads that are judged together, stage by stage, as far as their samples reach, and what becomes of reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.decisions.thresholds import UNDECIDED, WORDS, Thresholds
from oclgenomics.sdtw.device.aligner import StagedReads
from oclgenomics.sdtw.device.steps import finished
from oclgenomics.sdtw.device.strips import PrefixAligner

CONTROL, DELAYED, UNSELECTED = 3, 4, 5
OUTCOMES = (*WORDS, "control", "delayed", "unselected")
FIRST_CHANNELS = 512  # of a MinION


@dataclass(frozen=True, eq=False)
class Criteria:
    """What decides.

    Attributes
    ----------
    thresholds : Thresholds
    targets : int
        The first so many references; the others are decoys.
    """

    thresholds: Thresholds
    targets: int


@dataclass(frozen=True, eq=False)
class Job:
    """Copies of what reads have; arrays have one value for each read where nothing else is said.

    Attributes
    ----------
    channel, generation : ndarray, int64
    stage : ndarray, int64
        Next one of each read.
    held : ndarray, int64
        Samples of each.
    samples : ndarray, int16, (reads, width)
        `held[i]` of row i count.
    """

    channel: NDArray[np.int64]
    generation: NDArray[np.int64]
    stage: NDArray[np.int64]
    held: NDArray[np.int64]
    samples: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.channel)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known of the reads of a job afterwards; arrays have one value, or row, for each read.

    Attributes
    ----------
    decision : ndarray, uint8
        Numbers of `oclgenomics.sdtw.decisions.thresholds`.
    judged : ndarray, int64
        Last stage at which each was judged.
    score : ndarray, float64
    cost : ndarray, float64, (reads, references)
    column : ndarray, int64, (reads, references)
        Those of the last stage.
    aligned, cells : int
        Samples that were aligned with each reference, of all stages; cells of the matrices of all references.
    """

    decision: NDArray[np.uint8]
    judged: NDArray[np.int64]
    score: NDArray[np.float64]
    cost: NDArray[np.float64]
    column: NDArray[np.int64]
    aligned: int
    cells: int


class Judge:
    """Judges the reads of channels as their samples come.

    Parameters
    ----------
    aligner : PrefixAligner
    criteria : Criteria
    """

    def __init__(self, aligner: PrefixAligner, criteria: Criteria) -> None:
        self._criteria, self._staged = criteria, StagedReads(aligner, 0)

    def verdict(self, job: Job) -> Verdict:
        """Judge reads at their next stages; those that go on and have the samples of the one after it, there as well.

        Reads of one stage are aligned together.
        """
        staged, thresholds = self._staged_for(job), self._criteria.thresholds
        aligner, shape = staged.aligner, (len(job), len(staged.aligner.references))
        decision, judged = np.full(len(job), UNDECIDED, np.uint8), np.full(len(job), -1, np.int64)
        score, cost, column = np.full(len(job), np.nan), np.full(shape, np.nan), np.full(shape, -1, np.int64)
        aligned, cells, width = 0, 0, job.samples.shape[1]
        columns = sum(map(len, aligner.references))
        flat, firsts = job.samples.reshape(-1), np.arange(len(job), dtype=np.int64) * width
        for stage, prefix in enumerate(thresholds.prefixes):
            which = np.flatnonzero((job.stage <= stage) & (decision == UNDECIDED) & (job.held >= prefix))
            if len(which):
                steps = staged.align(flat, firsts[which], prefix, job.channel[which], job.generation[which])
                found = finished(steps)
                cost[which], column[which], judged[which] = found.cost, found.column, stage
                score[which] = thresholds.scores(found.cost, self._criteria.targets)
                decision[which] = thresholds.decide(stage, score[which])
                aligned += prefix * len(which)
                cells += aligner.options.rows(prefix) * len(which) * columns
        return Verdict(decision, judged, score, cost, column, aligned, cells)

    def _staged_for(self, job: Job) -> StagedReads:
        """Places for all channels of a job; new ones if there are not enough."""
        wanted = int(job.channel.max(initial=-1)) + 1
        if wanted > self._staged.count:
            self._staged = StagedReads(self._staged.aligner, max(wanted, FIRST_CHANNELS, 2 * self._staged.count))
        return self._staged


@dataclass(frozen=True, eq=False)
class Decided:
    """Reads that are judged no more; arrays have one value, or row, for each.

    Attributes
    ----------
    channel : ndarray, int64
    key : ndarray, object
        What actions name the read by.
    read : ndarray, object (str)
        Its id.
    outcome : ndarray, uint8
        Numbers of `OUTCOMES`. A read is `delayed` where a verdict would have come too late, and `unselected` on a
        channel that the device could not serve.
    stage : ndarray, int64
        At which it was judged last; -1 for none.
    samples : ndarray, int64
        That came of it.
    score : ndarray, float64
    cost : ndarray, float64, (reads, references)
    column : ndarray, int64, (reads, references)
        NaN and -1 where it was never aligned.
    arrived : ndarray, float64
        When the samples of the stage were there; NaN for none.
    """

    channel: NDArray[np.int64]
    key: NDArray[np.object_]
    read: NDArray[np.object_]
    outcome: NDArray[np.uint8]
    stage: NDArray[np.int64]
    samples: NDArray[np.int64]
    score: NDArray[np.float64]
    cost: NDArray[np.float64]
    column: NDArray[np.int64]
    arrived: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.channel)

    @classmethod
    def joined(cls, parts: list[Decided]) -> Decided:
        """Join parts, one at least."""
        names = tuple(cls.__dataclass_fields__)
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
