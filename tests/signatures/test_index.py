"""The seed index against the oracle."""

from __future__ import annotations

import numpy as np
from helpers.pattern_sets import cut_from, expected_pairs, on_device, same_pairs
from helpers.signature_samples import SampleRecord, random_letters, sample_letters
from hypothesis import given, settings
from hypothesis import strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.found import FoundPairs
from oclgenomics.signatures.device.index import IndexMatcher
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.seed_table import make_table

HEADS = (2, 4)  # each has kernels of its own


def find(
    engine: Engine,
    records: list[SampleRecord],
    signatures: list[bytes],
    options: ScanOptions = ScanOptions(),
    *,
    head: int = 2,
    room: int | None = None,
    piece: int | None = None,
    overlap: int = 0,
) -> FoundPairs:
    """Find pairs and check them; patterns without seeds are left out of what is expected."""
    samples = sample_letters(engine, records, piece=piece, overlap=overlap)
    patterns = on_device(engine, signatures, options)
    matcher = IndexMatcher(engine, patterns, make_table(patterns.patterns, options.max_mismatches, head), room=room)
    found = matcher.pairs(samples)
    every = expected_pairs(samples, signatures, options)
    unseeded = set(matcher.unseeded.tolist())
    same_pairs(found, {pair: values for pair, values in every.items() if pair[1] not in unseeded})
    return found


def records_of(rng: np.random.Generator, sizes: list[int], n_rate: float, letters: str) -> list[SampleRecord]:
    return [
        SampleRecord(random_letters(rng, size, n_rate, letters), rng.integers(33, 127, size, np.uint8).tobytes())
        for size in sizes
    ]


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(0, 400), min_size=1, max_size=4),
    lengths=st.lists(st.integers(1, 200), min_size=1, max_size=6),
    sample_ns=st.sampled_from([0.0, 0.1, 0.6]),
    pattern_ns=st.sampled_from([0.0, 0.1, 0.6]),
    change=st.sampled_from([0.0, 0.02]),
    alphabet=st.sampled_from(["ACGT", "A", "AC", "ACGTRYSWKMBDHVN"]),
    mismatches=st.integers(0, 3),
    strand=st.sampled_from(["+", "-", "both"]),
    least=st.sampled_from([(0.0, 0.0), (0.5, 0.0), (0.0, 40.0), (0.4, 45.0)]),
    piece=st.sampled_from([None, 1, 37, 100]),
    overlap=st.sampled_from([0, 5, 199]),
    head=st.sampled_from(HEADS),
    room=st.sampled_from([None, 1]),
    seed=st.integers(0, 1 << 32),
)
def test_same_as_the_oracle(
    shaped: Engine,
    sizes: list[int],
    lengths: list[int],
    sample_ns: float,
    pattern_ns: float,
    change: float,
    alphabet: str,
    mismatches: int,
    strand: str,
    least: tuple[float, float],
    piece: int | None,
    overlap: int,
    head: int,
    room: int | None,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    records = records_of(rng, sizes, sample_ns, alphabet)
    whole = b"".join(record.letters for record in records) or b"A"
    signatures = [cut_from(rng, whole, length, change, pattern_ns) for length in lengths]
    options = ScanOptions(
        strand=strand,  # type: ignore[arg-type]
        max_mismatches=mismatches,
        min_informative=least[0],
        min_score=least[1],
    )
    find(shaped, records, signatures, options, head=head, room=room, piece=piece, overlap=overlap)
