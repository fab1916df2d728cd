"""Runs of selection while sequencing on a device of a modelled speed, in simulated time: loads of any height."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.read_until import OPTIONS, TARGET, stages_of
from oclgenomics.sdtw.device.strips import Found
from oclgenomics.sdtw.live.judging import Job
from oclgenomics.sdtw.live.options import FlowCellOptions, LiveOptions
from oclgenomics.sdtw.live.playback import Played, play
from oclgenomics.signals.model import Signals

__all__ = ["PREFIXES", "Told", "Workload", "play_at", "play_unlimited"]

PREFIXES = (25, 50)
THRESHOLD = 50.0
STAGES = stages_of(*((prefix, THRESHOLD) for prefix in PREFIXES))
WORST, BEST = 100, 0
RATE = 100.0  # samples per second


class Told:
    """An aligner to which the reads themselves tell their cost: sample 0 at the first stage, sample 1 at the second."""

    def __init__(self) -> None:
        self.references, self.options, self.aligned = (TARGET,), OPTIONS, 0

    def align(self, samples: NDArray[np.int16], first: NDArray[np.int64], prefix: int) -> Found:
        self.aligned += prefix * len(first)
        cost = samples[first + PREFIXES.index(prefix)].astype(np.float64)[:, None]
        return Found(cost, np.zeros(cost.shape, np.int64))


@dataclass(frozen=True)
class Workload:
    """What is sequenced.

    Attributes
    ----------
    lengths : callable
        Draws seconds of so many reads.
    share : float
        Of the target.
    found : float
        Share of other reads that the first stage rejects already.
    channels : int
    capture : float
    seconds : float
        Of the run.
    seed : int
    """

    lengths: Callable[[np.random.Generator, int], NDArray[np.float64]]
    share: float = 0.1
    found: float = 0.95
    channels: int = 256
    capture: float = 1.0
    seconds: float = 60.0
    seed: int = 1

    def flow_cell(self) -> FlowCellOptions:
        return FlowCellOptions(
            channels=self.channels, rate=RATE, chunk=0.4, duration=self.seconds, capture=self.capture, seed=self.seed
        )  # fmt: skip

    def pool(self, reads: int = 2000) -> tuple[Signals, NDArray[np.bool_]]:
        """Reads to draw from, and which are of the target."""
        rng = np.random.default_rng((self.seed, 77))
        lengths = np.maximum(1, (self.lengths(rng, reads) * RATE).astype(np.int64))
        truth = np.arange(reads) < round(self.share * reads)
        signals = [np.full(length, 1, np.int16) for length in lengths.tolist()]
        for number, samples in enumerate(signals):
            seen = not truth[number] and rng.random() < self.found
            samples[:2] = (WORST if seen else BEST, BEST if truth[number] else WORST)[: len(samples)]
        return Signals.of(signals, [f"{'target' if of else 'other'}_{n}" for n, of in enumerate(truth)]), truth


def play_at(
    load: float,
    demand: float,
    work: Workload,
    *,
    start: float = 0.002,
    tell: Callable[[str], None] = lambda text: None,
    **live: Any,
) -> Played:
    """Play a run on a device that does the work of `demand` samples a second in `1 / load` seconds.

    Parameters
    ----------
    load : float
        Work demanded, over what the device can do.
    demand : float
        Samples to align each second if all channels are selected; see `play_unlimited`.
    work : Workload
    start : float
        Seconds that each batch takes besides.
    tell : callable
        Takes messages to the user.
    **live
        Of `LiveOptions`.
    """
    aligner = Told()
    signals, truth = work.pool()

    def seconds(job: Job, real: float) -> float:
        done, aligner.aligned = aligner.aligned, 0
        return start + done * load / demand

    return play(
        signals, TARGET, STAGES, aligner=aligner, truth=truth, flow_cell=work.flow_cell(), speed=0.0, seconds=seconds,
        live=LiveOptions(**live), tell=tell,
    )  # fmt: skip


def play_unlimited(work: Workload) -> tuple[Played, float]:
    """Play a run on a device that takes no time; and the samples that it aligned each second."""
    played = play_at(0.0, 1.0, work, start=0.0)
    return played, played.metrics.aligned / played.seconds
