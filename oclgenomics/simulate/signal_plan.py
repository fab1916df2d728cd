"""Where simulated signals come from, read by read."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signals.kmers import KmerTracks
from oclgenomics.simulate.normal_draws import normals
from oclgenomics.simulate.random_bits import RandomBits
from oclgenomics.simulate.signal_scenarios import SignalScenario

__all__ = ["CHANNELS", "SCALE", "SignalPlan", "plan_signals"]

CHANNELS = 512
SCALE = 1443.03 / 8192  # pA of a number of the converter, of a MinION with R9: range by digitisation
OFFSET, OFFSET_SD = 13.7, 10.3
SLOWEST, FASTEST = 1.6, 0.4
ROUNDS = 20  # of drawing a place in which a read fits


@dataclass(frozen=True)
class SignalPlan:
    """Reads before their signals are drawn; arrays with one value for each.

    Attributes
    ----------
    samples, stall : ndarray, int64
        Samples of the read behind its stall and adapter, and of the stall.
    slowness : ndarray, float64
    offset : ndarray, float64
        Of the converter.
    channel : ndarray, int32
    junk : ndarray, bool
    column, kmers : ndarray, int64
        First column in the tracks, and k-mers that the samples may take.
    """

    samples: NDArray[np.int64]
    stall: NDArray[np.int64]
    slowness: NDArray[np.float64]
    offset: NDArray[np.float64]
    channel: NDArray[np.int32]
    junk: NDArray[np.bool_]
    column: NDArray[np.int64]
    kmers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.samples)

    def part(self, first: int, last: int) -> SignalPlan:
        """Return the reads from `first` to `last` (excluded)."""
        return SignalPlan(*(getattr(self, field.name)[first:last] for field in fields(self)))


def plan_signals(reads: int, tracks: KmerTracks, scenario: SignalScenario, draws: RandomBits) -> SignalPlan:
    """Draw where reads come from.

    Parameters
    ----------
    reads : int
    tracks : KmerTracks
        With one track at least.
    scenario : SignalScenario
    draws : RandomBits
    """
    samples = draws.within(*scenario.samples, reads)
    stall = draws.within(*scenario.stall, reads)
    slowness = np.clip(1 + scenario.slowness_cv * normals(draws, reads), FASTEST, SLOWEST)
    offset = np.rint(OFFSET + OFFSET_SD * normals(draws, reads))
    channel = draws.within(1, CHANNELS, reads).astype(np.int32)
    junk = draws.happens(reads, scenario.junk)
    wanted = _enough_kmers(samples, slowness, scenario)
    column, kmers = _places(wanted, tracks, scenario, draws)
    return SignalPlan(samples, stall, slowness, offset, channel, junk, column, np.where(junk, wanted, kmers))


def _enough_kmers(
    samples: NDArray[np.int64], slowness: NDArray[np.float64], scenario: SignalScenario
) -> NDArray[np.int64]:
    """K-mers whose dwells have so many samples, but for chances of less than 1 in 10**12."""
    mean = np.maximum(scenario.dwell * slowness - 0.5, 1)
    usual = samples / mean
    spread = 8 * scenario.dwell_sd * slowness / mean * np.sqrt(usual)
    enough = np.ceil(usual + spread).astype(np.int64) + 8
    return np.minimum(enough, samples)


def _places(
    wanted: NDArray[np.int64], tracks: KmerTracks, scenario: SignalScenario, draws: RandomBits
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First column and number of k-mers of each read, uniform over where it fits; none leads out of its track."""
    all_columns = tracks.tracks[-1] if scenario.strand == "both" else tracks.tracks[(tracks.strand == 0).sum()]
    column = draws.below(int(all_columns), len(wanted))
    room = _room(column, tracks)
    for _ in range(ROUNDS):
        short = np.flatnonzero(room < wanted)
        if not len(short):
            break
        column[short] = draws.below(int(all_columns), len(short))
        room[short] = _room(column[short], tracks)
    track = np.searchsorted(tracks.tracks, column, "right") - 1
    moved = np.maximum(tracks.tracks[track], np.minimum(column, tracks.tracks[track + 1] - wanted))
    return moved, np.minimum(wanted, tracks.tracks[track + 1] - moved)


def _room(column: NDArray[np.int64], tracks: KmerTracks) -> NDArray[np.int64]:
    """Columns from each one to the end of its track."""
    ends: NDArray[np.int64] = tracks.tracks[np.searchsorted(tracks.tracks, column, "right")]
    return ends - column
