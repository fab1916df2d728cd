"""Sets that make a method of matching slow, or its output large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from signatures_data import SEED, DataSet, data_set, simulate_set

from oclgenomics.simulate.signatures.samples import SimulatedSignatures, sample_name, write_signatures
from oclgenomics.simulate.signatures.scenario import Scenario

__all__ = ["BAD", "bad_set"]

BASES = np.frombuffer(b"ACGT", np.uint8)


def _write(stem: Path, samples: Sequence[NDArray[np.uint8]], signatures: Sequence[NDArray[np.uint8]]) -> DataSet:
    """Write letters as FASTQ, with quality 20, or as FASTA where there is a single sample."""
    paths = Path(f"{stem}.{'fasta' if len(samples) == 1 else 'fastq'}"), Path(f"{stem}.panel")
    with paths[0].open("wb") as stream:
        for number, letters in enumerate(samples):
            name = sample_name(number).encode()
            if len(samples) == 1:
                stream.writelines([b">%s\n" % name, letters, b"\n"])
            else:
                stream.writelines([b"@%s\n" % name, letters, b"\n+\n", b"5" * len(letters), b"\n"])
    panel = _panel(signatures)
    with paths[1].open("wb") as stream:
        write_signatures(stream, panel)
    sizes = np.array([len(sample) for sample in samples], np.int64)
    return data_set(*paths, sizes, panel.lengths, ())


def _panel(signatures: Sequence[NDArray[np.uint8]]) -> SimulatedSignatures:
    return SimulatedSignatures(
        np.concatenate(signatures), np.cumsum([0, *(len(letters) for letters in signatures)], dtype=np.int64)
    )


def _random(rng: np.random.Generator, length: int, n_rate: float = 0.1) -> NDArray[np.uint8]:
    letters = BASES[rng.integers(0, 4, length)]
    letters[rng.random(length) < n_rate] = ord("N")
    return letters


def _all_n(stem: Path, size: float, rng: np.random.Generator) -> DataSet:
    """Every signature matches at every start."""
    samples = [np.full(20_000, ord("N"), np.uint8)] * max(2, int(10 * size))
    return _write(stem, samples, [_random(rng, int(length)) for length in rng.integers(300, 1001, 100)])


def _poly_a(stem: Path, size: float, rng: np.random.Generator) -> DataSet:
    """Every start agrees up to the signature's last letter."""
    signatures = []
    for length in rng.integers(300, 1001, 100):
        letters = np.full(length, ord("A"), np.uint8)
        letters[-1] = ord("C")
        signatures.append(letters)
    return _write(stem, [np.full(20_000, ord("A"), np.uint8)] * max(2, int(50 * size)), signatures)


def _near_identical(stem: Path, size: float, rng: np.random.Generator) -> DataSet:
    """Variants of one sequence, five letters apart from it, and samples that hold it often."""
    origin = _random(rng, 1000, 0)
    signatures = np.tile(origin, (2000, 1))
    rows = np.arange(2000)[:, None]
    signatures[rows, rng.integers(0, 1000, (2000, 5))] = BASES[rng.integers(0, 4, (2000, 5))]
    samples = [_random(rng, 20_000) for _ in range(max(2, int(1000 * size)))]
    for sample in samples:
        for at in range(0, 20_000, 2000):
            sample[at : at + 1000] = origin
            sample[at : at + 1000][rng.random(1000) < 0.1] = ord("N")
    return _write(stem, samples, list(signatures))


def _many_hits(stem: Path, size: float, rng: np.random.Generator) -> DataSet:
    """Signatures so short that millions of starts match, all of which are reported."""
    samples = [_random(rng, 20_000) for _ in range(max(2, int(200 * size)))]
    return _write(stem, samples, [_random(rng, int(length), 0) for length in rng.integers(6, 9, 500)])


def _short_reads(stem: Path, size: float, rng: np.random.Generator) -> DataSet:
    """A million reads of 150 letters, and signatures as long as primers."""
    reads = max(1000, int(1_000_000 * size))
    scenario = Scenario(
        signatures=1000, signature_length=(20, 30), clean=reads - reads // 100, infected=reads // 100, copies=(1, 1),
        sample_length=(150, 150),
    )  # fmt: skip
    return simulate_set(scenario, stem)


def _one_record(stem: Path, size: float, rng: np.random.Generator) -> DataSet:
    """A chromosome, which no block holds."""
    letters = max(100_000, int(100e6 * size))
    return _write(stem, [_random(rng, letters)], [_random(rng, int(n)) for n in rng.integers(300, 1001, 1000)])


Maker = Callable[[Path, float, np.random.Generator], DataSet]
BAD: dict[str, tuple[Maker, str]] = {  # and which matches are reported
    "samples of N": (_all_n, "best"),
    "poly-A": (_poly_a, "best"),
    "2000 variants": (_near_identical, "best"),
    "many hits": (_many_hits, "all"),
    "short reads": (_short_reads, "best"),
    "one record": (_one_record, "best"),
}


def bad_set(name: str, stem: Path, size: float) -> DataSet:
    """Write a set of `BAD`; `size` scales its samples."""
    return BAD[name][0](stem, size, np.random.default_rng(SEED))
