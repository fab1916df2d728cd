"""The samples of simulated reads: k-mers one after the other, each with its level, its dwell and its noise."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.signals.kmers import KmerModel, KmerTracks
from oclgenomics.simulate.normal_draws import normals
from oclgenomics.simulate.random_bits import RandomBits
from oclgenomics.simulate.signal_plan import SCALE, SignalPlan
from oclgenomics.simulate.signal_scenarios import SignalScenario

__all__ = ["Currents", "DrawnSamples", "currents_of", "draw_samples"]

STALL_LEVEL, STALL_SD = 220.0, 4.0  # pA
SMALLEST_CURRENT = 10.0  # pA; a model whose levels are all smaller is in standard units
LEAST, MOST = -(1 << 15), (1 << 15) - 1  # of a sample


@dataclass(frozen=True)
class Currents:
    """What a model says, in pA; float64 (4**k,) each."""

    k: int
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


@dataclass(frozen=True)
class DrawnSamples:
    """Samples of reads.

    Attributes
    ----------
    samples : ndarray, int16
        Of all reads.
    starts : ndarray, int64, (reads + 1,)
        Where each read begins.
    lead : ndarray, int64, (reads,)
        Samples of its stall and adapter.
    kmers : ndarray, int64, (reads,)
        K-mers behind these of which it has samples.
    """

    samples: NDArray[np.int16]
    starts: NDArray[np.int64]
    lead: NDArray[np.int64]
    kmers: NDArray[np.int64]


@dataclass(frozen=True)
class _Events:
    """K-mers as they pass the pore, or the stall; arrays with one value for each."""

    read: NDArray[np.int64]
    level: NDArray[np.float64]
    deviation: NDArray[np.float64]
    dwell: NDArray[np.int64]


def currents_of(model: KmerModel, scenario: SignalScenario) -> Currents:
    """Bring a model to pA, and fill in the deviations that it does not have.

    Raises
    ------
    ParameterError
        The scenario does not say how.
    """
    mean, deviation = model.mean, model.deviation
    missing = np.isnan(deviation)
    if missing.any():
        if scenario.deviation is None:
            raise ParameterError("deviation", f"is needed: model {model.name} has no standard deviations")
        deviation = np.where(missing, scenario.deviation, deviation)
    if scenario.current is not None:
        middle, spread = scenario.current
        return Currents(model.k, middle + spread * mean, spread * deviation)
    if np.abs(mean).max() < SMALLEST_CURRENT:
        raise ParameterError("current", f"is needed: model {model.name} is in standard units, not in pA")
    return Currents(model.k, mean, deviation)


def draw_samples(
    plan: SignalPlan,
    tracks: KmerTracks,
    adapter: NDArray[np.int64],
    currents: Currents,
    scenario: SignalScenario,
    draws: RandomBits,
) -> DrawnSamples:
    """Draw the samples of reads.

    Parameters
    ----------
    plan : SignalPlan
    tracks : KmerTracks
        That the plan is about.
    adapter : ndarray, int64
        Its k-mers.
    currents : Currents
    scenario : SignalScenario
    draws : RandomBits
    """
    reads = np.arange(len(plan))
    stall = _Events(reads, np.full(len(plan), STALL_LEVEL), np.full(len(plan), STALL_SD), plan.stall)
    read = np.repeat(reads, len(adapter))
    leading = _passing(read, np.tile(adapter, len(plan)), plan, currents, scenario, draws)
    read = np.repeat(reads, plan.kmers)
    body = _passing(read, _kmers(plan, tracks, currents.k, draws), plan, currents, scenario, draws)
    body = _cut(body, plan)
    lead = plan.stall + _totals(leading.read, leading.dwell, len(plan))
    whole = _joined([stall, leading, body])
    starts = np.concatenate([[0], np.cumsum(_totals(whole.read, whole.dwell, len(plan)))])
    return DrawnSamples(_samples(whole, plan.offset, draws), starts, lead, np.bincount(body.read, minlength=len(plan)))


def _kmers(plan: SignalPlan, tracks: KmerTracks, k: int, draws: RandomBits) -> NDArray[np.int64]:
    """The k-mers of all reads: those of their tracks, or random ones for junk."""
    begins = np.cumsum(plan.kmers) - plan.kmers
    columns = np.repeat(plan.column - begins, plan.kmers) + np.arange(plan.kmers.sum())
    junk = np.repeat(plan.junk, plan.kmers)
    kmers = np.empty(len(columns), np.int64)
    kmers[~junk] = tracks.kmers[columns[~junk]]
    kmers[junk] = draws.below(4**k, int(np.count_nonzero(junk)))
    return kmers


def _passing(
    read: NDArray[np.int64],
    kmers: NDArray[np.int64],
    plan: SignalPlan,
    currents: Currents,
    scenario: SignalScenario,
    draws: RandomBits,
) -> _Events:
    """K-mers with their levels and dwells."""
    level = currents.mean[kmers] + scenario.jitter * normals(draws, len(kmers))
    dwell = plan.slowness[read] * (scenario.dwell + scenario.dwell_sd * normals(draws, len(kmers)))
    samples = np.maximum(np.abs(np.rint(dwell)), 1).astype(np.int64)
    return _Events(read, level, scenario.amplitude * currents.deviation[kmers], samples)


def _cut(events: _Events, plan: SignalPlan) -> _Events:
    """The k-mers up to the last sample of each read."""
    ends = np.cumsum(events.dwell)
    firsts = np.cumsum(plan.kmers) - plan.kmers
    before = ends - events.dwell
    before -= np.repeat(before[firsts], plan.kmers)
    left = plan.samples[events.read] - before
    stays = left > 0
    return _Events(
        events.read[stays], events.level[stays], events.deviation[stays], np.minimum(events.dwell, left)[stays]
    )


def _joined(parts: list[_Events]) -> _Events:
    """Parts put together, read by read, those of a read in the order of the parts."""
    order = np.argsort(np.concatenate([part.read for part in parts]), kind="stable")
    return _Events(*(np.concatenate([getattr(part, field.name) for part in parts])[order] for field in fields(_Events)))


def _totals(read: NDArray[np.int64], dwell: NDArray[np.int64], reads: int) -> NDArray[np.int64]:
    """Samples of each read."""
    return np.bincount(read, dwell, reads).astype(np.int64)  # sums in float64, which are exact


def _samples(events: _Events, offset: NDArray[np.float64], draws: RandomBits) -> NDArray[np.int16]:
    """The samples of all events, as numbers of the converter."""
    level, deviation = events.level / SCALE - offset[events.read], events.deviation / SCALE
    samples = normals(draws, int(events.dwell.sum()))
    samples *= np.repeat(deviation, events.dwell)
    samples += np.repeat(level, events.dwell)
    np.rint(samples, out=samples)
    return np.clip(samples, LEAST, MOST, out=samples).astype(np.int16)
