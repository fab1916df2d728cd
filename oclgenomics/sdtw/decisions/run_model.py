"""What decisions of stages bring in a sequencing run: how much more of the target is read in the same time.

A pore waits for a strand (`capture_seconds`), then reads it. A read that stage i rejects holds the pore for

    t_i = min(length / speed, (skipped + prefix_i) / rate + latency)    seconds,

any other for length / speed. With the share s of targets among strands, the mean time of a strand is

    T = capture_seconds + sum over both classes c of
        share_c * (sum over i of rejected_ci * t_ci + kept_c * length_c / speed),

and T0 is the same with all reads kept. So the target bases that a pore reads in a second grow by

    enrichment = kept_target * T0 / T,

where the parts of targets that were read before they were rejected count as nothing. Their share among all bases grows
from s * length_target / (mean length) to that of s * kept_target * length_target in all bases read, those of rejected
reads included (`speed * t_i`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import check_values
from oclgenomics.sdtw.decisions.intervals import Interval
from oclgenomics.sdtw.decisions.staged import ClassOfReads, StagedEvaluation


@dataclass(frozen=True)
class RunModel:
    """A sequencing run.

    Attributes
    ----------
    target_share : float
        Of the strands in the library, above 0 and below 1.
    target_length, other_length : float
        Mean bases of a strand.
    channels : int
        Pores that are read at a time.
    rate : float
        Samples per second of a pore.
    speed : float
        Bases per second.
    capture_seconds : float
        Mean time that a pore is empty between two strands.
    latency : float
        Seconds from the last sample of a prefix until a rejected strand has left the pore: transfer, alignment, and
        the reversed voltage.
    skipped : int
        Samples at the start of a read that prefixes leave out, as those of its adapter.

    Raises
    ------
    ParameterError
        A value is out of range.
    """

    target_share: float = 0.01
    target_length: float = 5_000
    other_length: float = 5_000
    channels: int = 512
    rate: float = 4_000
    speed: float = 450
    capture_seconds: float = 1.0
    latency: float = 0.5
    skipped: int = 0

    def __post_init__(self) -> None:
        check_values(self, ("target_share",), lambda share: 0 < share < 1, "give a share above 0 and below 1")
        above = ("target_length", "other_length", "channels", "rate", "speed")
        check_values(self, above, lambda value: 0 < value < math.inf, "give a number above 0")
        others = ("capture_seconds", "latency", "skipped")
        check_values(self, others, lambda value: 0 <= value < math.inf, "give a number of 0 or more")


@dataclass(frozen=True)
class Enrichment:
    """What a run is expected to give.

    Attributes
    ----------
    enrichment : float
        Target bases per time, relative to a run without decisions.
    target_base_share, plain_target_base_share : float
        Share of the target in all bases, with decisions and without.
    strands_per_hour : float
        Of all channels, with decisions.
    aligned_samples_per_second : float
        What the aligner has to keep up with when all channels are busy: samples of all prefixes that are aligned.
    intervals : mapping of str to Interval
        Between what they lie (but `plain_target_base_share`, which is given), as far as the reads tell.
    """

    enrichment: float
    target_base_share: float
    plain_target_base_share: float
    strands_per_hour: float
    aligned_samples_per_second: float
    intervals: Mapping[str, Interval] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """All numbers by name."""
        record: dict[str, Any] = {}
        for name, value in asdict(self).items():
            if name != "intervals":
                record[name] = value
                if name in self.intervals:
                    record[f"{name}_low"], record[f"{name}_high"] = self.intervals[name]
        return record


@dataclass(frozen=True)
class _Fates:
    """What becomes of strands of a class: the share that is kept, seconds in the pore, samples that are aligned."""

    kept: float
    seconds: float
    aligned: float


def expected_enrichment(staged: StagedEvaluation, run: RunModel) -> Enrichment:
    """Return what decisions bring in a run; the formulas are those of this module.

    Parameters
    ----------
    staged : StagedEvaluation
        What the stages do with reads of both classes.
    run : RunModel
    """
    plain = _values(run, *(_Fates(1.0, length / run.speed, 0.0) for length in (run.target_length, run.other_length)))
    found = _values(run, *(_counted(staged, one, length, run) for one, length in _classes(staged, run)))
    worst, best, fast, slow = (_values(run, *fates) for fates in _bounds(staged, run))
    ends = {"enrichment": (worst[0] / plain[0], best[0] / plain[0]), "target_base_share": (worst[1], best[1]),
            "strands_per_hour": (slow[2], fast[2]), "aligned_samples_per_second": (slow[3], fast[3])}  # fmt: skip
    intervals = {name: Interval(*end) for name, end in ends.items()}
    return Enrichment(found[0] / plain[0], found[1], plain[1], found[2], found[3], intervals)


def _classes(staged: StagedEvaluation, run: RunModel) -> tuple[tuple[ClassOfReads, float], tuple[ClassOfReads, float]]:
    return (staged.target, run.target_length), (staged.other, run.other_length)


def _values(run: RunModel, target: _Fates, other: _Fates) -> tuple[float, float, float, float]:
    """Kept targets a second of a pore, their share of all bases, strands an hour, aligned samples a second."""
    share = run.target_share
    busy = share * target.seconds + (1 - share) * other.seconds
    seconds = run.capture_seconds + busy
    aligned = share * target.aligned + (1 - share) * other.aligned
    bases = share * run.target_length * target.kept / (busy * run.speed)
    return target.kept / seconds, bases, 3600 * run.channels / seconds, aligned * run.channels / seconds


def _counted(staged: StagedEvaluation, found: ClassOfReads, length: float, run: RunModel) -> _Fates:
    """What became of the reads at hand."""
    rejected = np.cumsum(found.rejected) / found.reads
    return _fates(staged, rejected, np.array(found.reached) / found.reads, length, run)


def _fates(
    staged: StagedEvaluation, rejected: NDArray[Any], reached: NDArray[Any], length: float, run: RunModel
) -> _Fates:
    """What becomes of strands, by the shares that are rejected by each stage or one before it, and that reach it."""
    prefixes = np.array(staged.thresholds.prefixes, np.float64)
    blocks = staged.thresholds.options.norm == "blocks"  # each stage goes on where the one before it ended
    aligned = np.diff(prefixes, prepend=0.0) if blocks else prefixes
    until = np.append(seconds_until_out(run, prefixes, length), length / run.speed)
    seconds = until[-1] - float(np.dot(rejected, np.diff(until)))
    return _Fates(1 - float(rejected[-1]), seconds, float(np.dot(reached, aligned)))


def _bounds(staged: StagedEvaluation, run: RunModel) -> tuple[tuple[_Fates, _Fates], ...]:
    """Fates of targets and others with the least and the most enrichment, and with the most and the fewest strands.

    Each class may miss half as often, so that both hold. Targets that leave early do good, but for those that leave at
    all; others always do good by leaving.
    """
    target, other = (
        [
            np.array([one.interval(count, miss) for count in counts]).T  # ends of shares, stage by stage
            for counts in (np.cumsum(one.rejected).tolist(), one.reached)
        ]
        for one, miss in ((one, staged.miss(one) / 2) for one, _ in _classes(staged, run))
    )
    low, high = 0, 1

    def fates(kept_end: int, target_end: int, other_end: int, reached_end: int) -> tuple[_Fates, _Fates]:
        rejected = np.append(target[0][target_end][:-1], target[0][kept_end][-1])
        rejected = np.minimum(rejected, rejected[-1])
        return (
            _fates(staged, rejected, target[1][reached_end], run.target_length, run),
            _fates(staged, other[0][other_end], other[1][reached_end], run.other_length, run),
        )

    worst, best = fates(high, low, low, low), fates(low, high, high, low)
    return worst, best, fates(high, high, high, high), fates(low, low, low, low)


def seconds_until_out(run: RunModel, prefixes: NDArray[Any], length: float) -> NDArray[np.float64]:
    """Return how long reads hold the pore that are rejected after so many samples; `length` is theirs in bases."""
    return np.minimum(length / run.speed, (run.skipped + prefixes) / run.rate + run.latency)
