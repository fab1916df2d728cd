"""Seeded signals of nanopore reads.

>>> from oclgenomics.signals import read_model
>>> from oclgenomics.simulate.signals.drawing import PRESETS
>>> from oclgenomics.simulate.signals.reads import random_genome, simulate_signals
>>> target = random_genome("target", length=10_000, gc=0.5, reads=3, seed=1)
>>> [len(batch) for batch in simulate_signals([target], read_model("r9.4.1"), PRESETS["normal"], seed=1)]
[3]

The reads of a class depend on their own sequences, the options and the seed alone, not on the other classes behind it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.reports import MISSING
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.packed_file import Sink
from oclgenomics.io.text_file import rows_of
from oclgenomics.sequence.records import read_records
from oclgenomics.signals.chemistry import Chemistry
from oclgenomics.signals.kmers import KmerModel, KmerTracks, kmer_tracks
from oclgenomics.signals.model import Signals
from oclgenomics.simulate.draws import RandomBits, groups
from oclgenomics.simulate.limits import check_range, check_seed
from oclgenomics.simulate.sequences import BASES, fasta_record, random_codes
from oclgenomics.simulate.signals.drawing import (
    SCALE,
    DrawnSamples,
    SignalPlan,
    SignalScenario,
    currents_of,
    draw_samples,
    plan_signals,
)

MAX_BASES = 100_000_000  # of a random genome
MAX_READS = 10_000_000


STRANDS, JUNK = ("+", "-"), "junk"
MAX_SAMPLES = 2 * 10**9  # in all
_BATCH_SAMPLES = 1 << 20
TRUTH_COLUMNS = ("read", "class", "record", "strand", "start", "end", "samples", "lead", "slowness")


@dataclass(frozen=True)
class Genome:
    """Sequences of which reads are simulated.

    Attributes
    ----------
    label : str
        What names of reads begin with: letters, digits and hyphens.
    names : tuple of str
        Of the sequences.
    letters : tuple of bytes
    reads : int
        How many are simulated.

    Raises
    ------
    ParameterError
        Another label, or a number of reads outside its range.
    """

    label: str
    names: tuple[str, ...]
    letters: tuple[bytes, ...]
    reads: int

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9-]{1,40}", self.label):
            raise ParameterError("label", "has 1 to 40 letters, digits and hyphens", self.label)
        check_range("reads", self.reads, 0, MAX_READS)


def read_genome(label: str, path: str | os.PathLike[str], reads: int) -> Genome:
    """Take the sequences of a file; see `oclgenomics.sequence.records.read_records`.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    records = list(read_records(path))
    return Genome(label, tuple(one.name for one in records), tuple(one.letters for one in records), reads)


def random_genome(label: str, length: int, gc: float, reads: int, seed: int) -> Genome:
    """Draw a sequence; its label is its name, and other labels have other sequences.

    Parameters
    ----------
    length : int
        Bases.
    gc : float
        Probability of each base to be G or C.
    seed : int
        0 or more.

    Raises
    ------
    ParameterError
        A value outside its range.
    """
    check_range("length", length, 1, MAX_BASES)
    check_range("gc", gc, 0, 1)
    check_range("seed", seed, 0, (1 << 63) - 1)
    draws = RandomBits(np.random.SeedSequence([seed, *label.encode()]))
    return Genome(label, (label,), (BASES[random_codes(length, gc, draws)].tobytes(),), reads)


@dataclass(frozen=True, eq=False)
class SignalBatch:
    """Some reads, and what is true of each; arrays with one value for each read.

    Attributes
    ----------
    signals : Signals
        A name is `label_number_record_strand_start`, or `label_number_junk`; numbers count the reads of a class from 1.
    label : str
        The class.
    record : ndarray, object (str)
        The sequence that a read is of; empty for junk, whose start and end are -1.
    strand : ndarray, object (str)
        + or -; empty for junk.
    start, end : ndarray, int64
        The bases of the record that a read is of: from `start` to before `end`, whatever the strand.
    lead : ndarray, int64
        Samples of stall and adapter.
    slowness : ndarray, float64
    """

    signals: Signals
    label: str
    record: NDArray[np.object_]
    strand: NDArray[np.object_]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    lead: NDArray[np.int64]
    slowness: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.signals)


def simulate_signals(
    genomes: Sequence[Genome], model: KmerModel, scenario: SignalScenario, seed: int
) -> Iterator[SignalBatch]:
    """Draw the signals of reads, class by class, some at a time.

    Parameters
    ----------
    genomes : sequence of Genome
        The classes.
    model : KmerModel
    scenario : SignalScenario
    seed : int
        0 or more.

    Raises
    ------
    ParameterError
        The seed is negative, there are more samples than 2 * 10**9, or the model needs options that the scenario does
        not have.
    InputError
        A genome has no k-mer.
    """
    check_seed(seed)
    longest = scenario.samples[1] + scenario.stall[1]
    if sum(genome.reads for genome in genomes) * longest > MAX_SAMPLES:
        raise ParameterError("reads", f"of {longest:,} samples have more than {MAX_SAMPLES:,} in all")
    currents = currents_of(model, scenario)
    of_adapter, *of_genomes = np.random.SeedSequence(seed).spawn(1 + len(genomes))
    adapter = RandomBits(of_adapter).below(4**model.k, scenario.adapter)
    for genome, own_seed in zip(genomes, of_genomes, strict=True):
        planning, drawing = (RandomBits(child) for child in own_seed.spawn(2))
        tracks = kmer_tracks(genome.letters, model.k, scenario.molecule)
        if not len(tracks):
            raise InputError(f"the sequences of the {genome.label} have no {model.k} bases A, C, G, T or U in a row")
        plan = plan_signals(genome.reads, tracks, scenario, planning)
        for first, last in groups(plan.samples + plan.stall, _BATCH_SAMPLES):
            part = plan.part(first, last)
            drawn = draw_samples(part, tracks, adapter, currents, scenario, drawing)
            chemistry = Chemistry(model.pore, scenario.molecule)
            yield _batch(genome, first, part, tracks, currents.k, drawn, scenario.rate, chemistry)


def _batch(
    genome: Genome,
    first: int,
    plan: SignalPlan,
    tracks: KmerTracks,
    k: int,
    drawn: DrawnSamples,
    rate: float,
    chemistry: Chemistry,
) -> SignalBatch:
    """Reads with what is true of them; `first` is the number of the first one, from 0."""
    track = np.searchsorted(tracks.tracks, plan.column, "right") - 1
    step = tracks.step[track]
    near = tracks.first[track] + step * (plan.column - tracks.tracks[track])
    far = near + step * (drawn.kmers - 1)
    record = np.array(genome.names, object)[tracks.record[track]]
    strand = np.array(STRANDS, object)[tracks.strand[track]]
    start = np.where(plan.junk, -1, np.minimum(near, far))
    end = np.where(plan.junk, -1, np.maximum(near, far) + k)
    record[plan.junk] = strand[plan.junk] = ""
    names = _names(genome.label, first, record, strand, start)
    scales, rates = np.full(len(plan), SCALE), np.full(len(plan), rate)
    texts = (np.full(len(plan), text, object) for text in chemistry)
    signals = Signals(drawn.samples, drawn.starts, names, scales, plan.offset, rates, plan.channel, *texts)
    return SignalBatch(signals, genome.label, record, strand, start, end, drawn.lead, plan.slowness)


def _names(
    label: str, first: int, record: NDArray[np.object_], strand: NDArray[np.object_], start: NDArray[np.int64]
) -> NDArray[np.object_]:
    places = [f"{r}_{s}_{at}" if s else JUNK for r, s, at in zip(record, strand, start.tolist(), strict=True)]
    names = [f"{label}_{number:06}_{place}" for number, place in enumerate(places, first + 1)]
    return np.array(names, object).reshape(len(names))


def write_genome(stream: Sink, genome: Genome) -> None:
    """Write sequences as FASTA."""
    for name, letters in zip(genome.names, genome.letters, strict=True):
        stream.write(fasta_record(name, np.frombuffer(letters, np.uint8)))


def write_truth_rows(stream: Sink, batch: SignalBatch) -> None:
    """Write a line for each read: `TRUTH_COLUMNS`, separated by tabs; starts count from 0."""
    junk = batch.strand == ""
    places = [np.where(junk, MISSING, place).tolist() for place in (batch.record, batch.strand, batch.start, batch.end)]
    numbers = [batch.signals.lengths.tolist(), batch.lead.tolist(), [f"{one:.6g}" for one in batch.slowness.tolist()]]
    columns = [batch.signals.names.tolist(), [batch.label] * len(batch), *places, *numbers]
    stream.write(rows_of(columns).encode("utf-8", "replace"))
