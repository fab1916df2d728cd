"""Reads of which it is known whether they are of the target: those of files, or simulated ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from oclgenomics.sdtw import Squiggle, build_squiggle
from oclgenomics.signals import KmerModel, Signals, TrimOptions, read_signals
from oclgenomics.simulate.signals.drawing import PRESETS
from oclgenomics.simulate.signals.reads import Genome, SignalScenario, random_genome, simulate_signals

__all__ = ["GENOMES", "LabelledReads", "read_reads", "simulate_reads"]

# Letters of random genomes, by the target of the Fig. 8 of the paper that each one is as long as.
GENOMES = {"as-lambda": 48_502, "as-SARS-CoV-2": 29_903, "as-HAdV-B": 35_300, "as-OC43": 30_700, "as-Ebola": 18_900}
OTHER_LETTERS, GC = 2_000_000, 0.45


@dataclass(frozen=True, eq=False)
class LabelledReads:
    """A reference, reads of it, and reads of something else.

    Attributes
    ----------
    name : str
        Of the target.
    reference : Squiggle
    target : Signals
    others : dict of str to Signals
        By the name of the set. Pieces of one read have one name.
    """

    name: str
    reference: Squiggle
    target: Signals
    others: dict[str, Signals]


def read_reads(
    target: Sequence[str], reference: str, others: dict[str, str], model: KmerModel, samples: int, *, most: int,
    windows: int, trim: TrimOptions,
) -> LabelledReads:  # fmt: skip
    """Take reads of files.

    Parameters
    ----------
    target : sequence of str
        Files or folders of signals.
    reference : str
        FASTA.
    others : dict of str to str
        Files or folders of signals by the names of the sets.
    model : KmerModel
    samples : int
        That are kept of a read.
    most : int
        Reads of a set.
    windows : int
        Pieces of each of the other reads, evenly spaced from its beginning to its end.
    trim : TrimOptions
    """
    squiggle = build_squiggle(reference, model)
    sets = {
        name: pieces(first_reads([path], most, trim, samples if windows == 1 else None), samples, windows)
        for name, path in others.items()
    }
    return LabelledReads(squiggle.name, squiggle, first_reads(target, most, trim, samples), sets)


def first_reads(paths: Sequence[str], most: int, trim: TrimOptions, samples: int | None) -> Signals:
    """The first reads of files of which something is left by trimming."""
    parts, count = [], 0
    for part in read_signals(paths, trim=trim, max_samples=samples):
        parts.append(part.take(part.lengths > 0))
        count += len(parts[-1])
        if count >= most:
            break
    return Signals.joined(parts).take(np.arange(min(most, count)))


def pieces(reads: Signals, samples: int, windows: int) -> Signals:
    """Several pieces of each read that is long enough for one, or the beginnings of all reads."""
    if windows == 1:
        return reads
    long = reads.take(reads.lengths >= samples)
    first = np.linspace(0, long.lengths - samples, windows).astype(np.int64).T.reshape(-1)
    return long.take(np.repeat(np.arange(len(long)), windows)).cut(first, first + samples)


def simulate_reads(
    name: str, model: KmerModel, samples: int, *, most: int, preset: str, seed: int, folder: Path
) -> LabelledReads:
    """Draw reads of a random genome, as long as `GENOMES` says, and of another one."""
    scenario = replace(PRESETS[preset], samples=(samples, samples))
    genome = random_genome(name, GENOMES[name], GC, most, seed)
    other = random_genome("other", OTHER_LETTERS, GC, most, seed)
    fasta = folder / f"{name}.fasta"
    fasta.write_bytes(b">%s\n%s\n" % (name.encode(), genome.letters[0]))
    target, others = (_signals(one, model, scenario, seed) for one in (genome, other))
    return LabelledReads(name, build_squiggle(fasta, model), target, {"simulated": others})


def _signals(genome: Genome, model: KmerModel, scenario: SignalScenario, seed: int) -> Signals:
    batches = simulate_signals([genome], model, scenario, seed + len(genome.label))
    return Signals.joined([batch.signals for batch in batches])
