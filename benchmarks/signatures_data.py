"""Simulated sets of the signatures benchmark."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.cores import usable_cores
from oclgenomics.simulate.signatures.samples import (
    SampleBatch,
    simulate_samples,
    simulate_signatures,
    write_samples,
    write_signatures,
)
from oclgenomics.simulate.signatures.scenario import PRESETS, Scenario

__all__ = [
    "PAPER",
    "SEED",
    "DataSet",
    "data_set",
    "of_length",
    "scaled",
    "simulate_set",
    "simulate_sets",
    "subset",
]

SEED = 1103
Pairs = set[tuple[int, int]]

# The paper's sets, by the lengths of their samples and of their signatures.
SHORT_SIGNATURES = (300, 1000)
PAPER = {
    f"{size}, {kind}": scenario if kind == "long" else replace(scenario, signature_length=SHORT_SIGNATURES)
    for size, scenario in ((name.removeprefix("paper-"), scenario) for name, scenario in PRESETS.items())
    for kind in ("long", "short")
}


def scaled(scenario: Scenario, scale: float) -> Scenario:
    """The scenario with more or fewer samples, of which at least one has copies."""
    clean, infected = (max(1, round(number * scale)) for number in (scenario.clean, scenario.infected))
    return replace(scenario, clean=clean, infected=infected)


def of_length(scenario: Scenario, part: float) -> Scenario:
    """The scenario with samples and signatures of a part of their lengths."""
    lengths = {
        name: tuple(round(length * part) for length in getattr(scenario, name))
        for name in ("sample_length", "signature_length")
    }
    return replace(scenario, **lengths)


@dataclass(frozen=True)
class DataSet:
    """Files of samples and signatures, and what there is to compare.

    Attributes
    ----------
    samples, signatures : Path
    records, letters : int
        Of the samples.
    alignments : int
        Starts of all signatures in all samples.
    planted : set of (int, int)
        Samples and signatures, counted from 0, that match for certain.
    """

    samples: Path
    signatures: Path
    records: int
    letters: int
    alignments: int
    planted: frozenset[tuple[int, int]] = frozenset()

    @property
    def bytes(self) -> int:
        """Bytes of the samples' file."""
        return self.samples.stat().st_size


def alignments_of(samples: NDArray[np.int64], signatures: NDArray[np.int64]) -> int:
    """Starts of all signatures in all samples, by their lengths."""
    ordered = np.sort(signatures)
    fitting = np.searchsorted(ordered, samples, side="right")
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(ordered)])
    return int(((samples + 1) * fitting - sums[fitting]).sum())


def simulate_set(scenario: Scenario, stem: Path) -> DataSet:
    """Write the files of a scenario."""
    signatures = simulate_signatures(scenario, SEED)
    samples, panel = Path(f"{stem}.fastq"), Path(f"{stem}.fasta")
    with panel.open("wb") as stream:
        write_signatures(stream, signatures)
    lengths: list[NDArray[np.int64]] = []
    planted: Pairs = set()
    with samples.open("wb") as stream:
        for batch in simulate_samples(scenario, signatures, SEED):
            write_samples(stream, batch)
            lengths.append(np.diff(batch.offsets))
            planted |= _certain(batch)
    return data_set(samples, panel, np.concatenate(lengths), signatures.lengths, planted)


def _certain(batch: SampleBatch) -> Pairs:
    """Samples and signatures of copies without mismatches on the forward strand."""
    copies = batch.copies
    sure = ~copies.reverse & (copies.mismatches == 0)
    return set(zip(copies.sample[sure].tolist(), copies.signature[sure].tolist(), strict=True))


def data_set(
    samples: Path, panel: Path, sizes: NDArray[np.int64], lengths: NDArray[np.int64], planted: Iterable[tuple[int, int]]
) -> DataSet:
    """A set of samples and signatures of these lengths."""
    alignments = alignments_of(sizes, lengths)
    return DataSet(samples, panel, len(sizes), int(sizes.sum()), alignments, frozenset(planted))


def simulate_sets(scenarios: dict[str, Scenario], folder: Path) -> dict[str, DataSet]:
    """Write the files of some scenarios, each by a process of its own."""
    workers = min(len(scenarios), usable_cores())
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        stems = [folder / name.replace(" ", "_") for name in scenarios]
        return dict(zip(scenarios, pool.map(simulate_set, scenarios.values(), stems), strict=True))


def subset(data: DataSet, stem: Path, records: int, signatures: int | None = None) -> DataSet:
    """Write the first samples and signatures of a simulated set to files of their own."""
    samples, panel = Path(f"{stem}.fastq"), Path(f"{stem}.fasta")
    with data.samples.open("rb") as source, samples.open("wb") as target:
        sizes = []
        for _ in range(min(records, data.records)):
            record = [next(source) for _ in range(4)]
            sizes.append(len(record[1]) - 1)
            target.writelines(record)
    lines = data.signatures.read_bytes().splitlines(keepends=True)[: None if signatures is None else 2 * signatures]
    panel.write_bytes(b"".join(lines))
    lengths = np.array([len(line) - 1 for line in lines[1::2]], np.int64)
    planted = {pair for pair in data.planted if pair[0] < len(sizes) and pair[1] < len(lengths)}
    return data_set(samples, panel, np.array(sizes, np.int64), lengths, planted)
