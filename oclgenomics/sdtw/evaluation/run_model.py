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

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.sdtw.evaluation.staged import ClassOfReads, StagedEvaluation

__all__ = ["Enrichment", "RunModel", "expected_enrichment", "seconds_until_out"]


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
        if not 0 < self.target_share < 1:
            raise ParameterError("target_share", "give a share above 0 and below 1", self.target_share)
        for name, value in asdict(self).items():
            positive = name not in ("capture_seconds", "latency", "skipped")
            if not np.isfinite(value) or value < 0 or (positive and value == 0):
                raise ParameterError(name, f"give a number {'above 0' if positive else 'of 0 or more'}", value)


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
    """

    enrichment: float
    target_base_share: float
    plain_target_base_share: float
    strands_per_hour: float
    aligned_samples_per_second: float

    def record(self) -> dict[str, Any]:
        """All numbers by name."""
        return asdict(self)


def expected_enrichment(staged: StagedEvaluation, run: RunModel) -> Enrichment:
    """Return what decisions bring in a run; the formulas are those of this module.

    Parameters
    ----------
    staged : StagedEvaluation
        What the stages do with reads of both classes.
    run : RunModel
    """
    prefixes = np.array(staged.thresholds.prefixes, np.float64)
    blocks = staged.thresholds.options.norm == "blocks"  # each stage goes on where the one before it ended
    aligned = np.diff(prefixes, prepend=0.0) if blocks else prefixes
    classes = (
        (run.target_share, run.target_length, staged.target),
        (1 - run.target_share, run.other_length, staged.other),
    )
    seconds = plain_seconds = run.capture_seconds
    samples = bases = plain_bases = 0.0
    for share, length, found in classes:
        busy = _busy_seconds(found, prefixes, length, run)
        seconds += share * busy
        plain_seconds += share * length / run.speed
        bases += share * busy * run.speed
        plain_bases += share * length
        samples += share * float(np.dot(found.reached, aligned)) / found.reads
    target_bases = run.target_share * run.target_length
    return Enrichment(
        staged.true_positive_rate * plain_seconds / seconds,
        target_bases * staged.true_positive_rate / bases,
        target_bases / plain_bases,
        3600 * run.channels / seconds,
        samples * run.channels / seconds,
    )


def _busy_seconds(found: ClassOfReads, prefixes: Any, length: float, run: RunModel) -> float:
    """Mean time that a strand of a class holds the pore."""
    whole = length / run.speed
    until = seconds_until_out(run, prefixes, length)
    return float(np.dot(found.rejected, until)) / found.reads + found.kept_share * whole


def seconds_until_out(run: RunModel, prefixes: NDArray[Any], length: float) -> NDArray[np.float64]:
    """Return how long reads hold the pore that are rejected after so many samples; `length` is theirs in bases."""
    return np.minimum(length / run.speed, (run.skipped + prefixes) / run.rate + run.latency)
