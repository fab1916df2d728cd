"""What simulated signals are like, where reads come from, and their samples.

Samples are k-mers one after the other, each with its level, its dwell and its noise.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError, check_choice
from oclgenomics.signals.kmers import KmerModel, KmerTracks, Molecule
from oclgenomics.signals.sequencing import SEQUENCING, sequencing_of
from oclgenomics.simulate.draws import RandomBits, normals
from oclgenomics.simulate.limits import check_pair, check_range

ReadStrand = Literal["+", "both"]
READ_STRANDS: tuple[ReadStrand, ...] = get_args(ReadStrand)
MAX_LENGTH = 10_000_000  # samples of a read
MAX_ADAPTER = 10_000  # k-mers
MAX_DWELL = 10_000.0
MAX_CURRENT = 10_000.0
MAX_RATE = 1e6

Range = tuple[int, int]


CHANNELS = 512
SCALE = 1443.03 / 8192  # pA of a number of the converter, of a MinION with R9: range by digitisation
OFFSET, OFFSET_SD = 13.7, 10.3
SLOWEST, FASTEST = 1.6, 0.4
ROUNDS = 20  # of drawing a place in which a read fits
STALL_LEVEL, STALL_SD = 220.0, 4.0  # pA
UNKNOWN_PORE = "does not say for which pore it is; name its pore (--pore), or give this number"
LEAST, MOST = -(1 << 15), (1 << 15) - 1  # of a sample


@dataclass(frozen=True, kw_only=True)
class SignalScenario:
    """How signals are made of sequences. Ranges are (least, most), both included, and uniform.

    Attributes
    ----------
    samples : (int, int)
        Samples of a read behind its stall and adapter. It has fewer where its sequence ends.
    strand : {'+', 'both'}
        Reads are of the sequences as they are, or of both strands with equal probability. RNA has one strand.
    molecule : {'dna', 'rna'}
    dwell, dwell_sd : float
        Samples of a k-mer: normally distributed with this mean and standard deviation, times the slowness of the read,
        rounded, without its sign, and 1 at least.
    slowness_cv : float
        Standard deviation of the slowness of reads, whose mean is 1; it is from 0.4 to 1.6.
    amplitude : float
        Samples vary around the level of their k-mer by the model's standard deviation times this.
    jitter : float
        Standard deviation in pA of a shift that all samples of a k-mer of a read have in common.
    junk : float
        Probability of a read to be of random k-mers.
    stall : (int, int)
        Samples of high current at the beginning of a read.
    adapter : int
        K-mers of the adapter between the stall and the read, the same for all reads of a seed.
    deviation : float or None
        Standard deviation of the samples of a k-mer, in the model's units, where the model has none; None for what is
        usual of its pore.
    current : (float, float) or None
        Mean and standard deviation in pA to which levels of a model in standard units are brought; None for those that
        the model knows, or that are usual of its pore.
    rate : float
        Samples per second.

    Raises
    ------
    ParameterError
        A value outside its range.
    """

    samples: Range = (5000, 5000)
    strand: ReadStrand = "both"
    molecule: Molecule = "dna"
    dwell: float = 9.0
    dwell_sd: float = 4.0
    slowness_cv: float = 0.15
    amplitude: float = 1.0
    jitter: float = 3.0
    junk: float = 0.05
    stall: Range = (0, 0)
    adapter: int = 0
    deviation: float | None = None
    current: tuple[float, float] | None = None
    rate: float = 4000.0

    def __post_init__(self) -> None:
        check_pair("samples", self.samples, 1, MAX_LENGTH)
        check_pair("stall", self.stall, 0, MAX_LENGTH)
        check_choice("strand", self.strand, READ_STRANDS)
        check_choice("molecule", self.molecule, get_args(Molecule))
        check_range("dwell", self.dwell, 1, MAX_DWELL)
        check_range("dwell_sd", self.dwell_sd, 0, MAX_DWELL)
        check_range("adapter", self.adapter, 0, MAX_ADAPTER)
        check_range("rate", self.rate, 1, MAX_RATE)
        for name in ("slowness_cv", "junk"):
            check_range(name, getattr(self, name), 0, 1)
        for name in ("amplitude", "jitter"):
            check_range(name, getattr(self, name), 0, MAX_CURRENT)
        if self.deviation is not None:
            check_range("deviation", self.deviation, 0, MAX_CURRENT)
        for value in self.current or ():
            check_range("current", value, 0, MAX_CURRENT)


_NORMAL = SignalScenario()
PRESETS = {
    "easy": replace(_NORMAL, slowness_cv=0.0, jitter=0.0, junk=0.0),
    "normal": _NORMAL,
    "hard": replace(_NORMAL, dwell_sd=6.0, slowness_cv=0.2, amplitude=1.5, jitter=4.0),
}
"""Cleaner than real reads of R9.4.1; about as they are; and worse. See `preset_for` for other pores."""


def preset_for(name: str, model: KmerModel, molecule: Molecule) -> SignalScenario:
    """Return a preset for the pore of a model: of R9.4.1 as it is, and of R9.4.1 where the pore is not known.

    Dwells of other pores are those of their rate and speed. Their deviation, and the jitter of levels, which is not
    known of all, have the same proportion to the mean dwell, and to the deviation of levels, as for R9.4.1.

    Parameters
    ----------
    name : str
        One of `PRESETS`.
    model : KmerModel
    molecule : {'dna', 'rna'}
    """
    own, usual = PRESETS[name], SEQUENCING[0]
    known = sequencing_of(model.pore, molecule, model.rate)
    if known is None:
        return replace(own, molecule=molecule, rate=own.rate if model.rate is None else model.rate)
    dwell = max(1.0, round(2 * known.samples_per_base) / 2)
    jitter = own.jitter * known.current[1] / usual.current[1]
    return replace(
        own, molecule=molecule, rate=known.rate, dwell=dwell, dwell_sd=own.dwell_sd * dwell / own.dwell, jitter=jitter
    )


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
        Neither the scenario nor the pore of the model says how.
    """
    known = sequencing_of(model.pore, scenario.molecule)
    current = scenario.current
    if current is None and model.in_standard_units:
        current = model.current or (None if known is None else known.current)
        if current is None:
            raise ParameterError("current", f"is needed: model {model.name} is in standard units, and {UNKNOWN_PORE}")
    deviation = model.deviation
    missing = np.isnan(deviation)
    if missing.any():
        usual = scenario.deviation
        if usual is None:
            if known is None:
                why = f"is needed: model {model.name} has no standard deviations, and {UNKNOWN_PORE}"
                raise ParameterError("deviation", why)
            usual = known.deviation * (1 if model.in_standard_units else known.current[1])
        deviation = np.where(missing, usual, deviation)
    if current is None:
        return Currents(model.k, model.mean, deviation)
    middle, spread = current
    return Currents(model.k, middle + spread * model.mean, spread * deviation)


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
