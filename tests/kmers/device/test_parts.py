"""K-mers brought to the host in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import as_dict, random_text
from hypothesis import given, strategies as st

from oclgenomics.kmers import CountOptions, reference
from oclgenomics.kmers.database.kmer_set import KmerBlock, join
from oclgenomics.kmers.device.counting import KmerCounter
from oclgenomics.kmers.device.parts import Part, gather
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence import packed_blocks


@given(
    words=st.integers(1, 3),
    sizes=st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 5000)), max_size=6),
    seed=st.integers(0, 1 << 32),
)
def test_parts_of_any_sizes(engine: Engine, words: int, sizes: list[tuple[int, int]], seed: int) -> None:
    """Whatever share of all k-mers a part has, and whatever that lets expect of the others."""
    rng = np.random.default_rng(seed)
    blocks, parts = [], []
    for size, others in sizes:
        keys = rng.integers(0, 1 << 63, (words, size), np.uint64)
        counts = rng.integers(1, 1 << 32, size).astype(np.uint32)
        blocks.append(KmerBlock(keys, counts))
        parts.append(Part(Runs(engine.upload(keys), engine.upload(counts), size), size + others + 1))
    kmers = sum(part.kmers for part in parts)
    found, expected = gather(engine, 32 * words, kmers, iter(parts)), join(words, blocks)
    np.testing.assert_array_equal(found.keys, expected.keys)
    np.testing.assert_array_equal(found.counts, expected.counts)


@pytest.mark.parametrize("k", [3, 21, 40])
@pytest.mark.parametrize("limit", [1 << 20, 5 << 18, 1 << 30])
def test_counted_in_parts(device: Device, tmp_path: Path, k: int, limit: int) -> None:
    path = tmp_path / "x.fa"
    path.write_bytes(random_text(np.random.default_rng(k), 40_000, b"ACGT", 7000) + b">a\n" + b"A" * 5000)
    options = CountOptions(k, min_count=2)
    with Engine(device, max_memory=limit) as engine:
        counting = KmerCounter(engine, options)
        for block in packed_blocks(engine, [path], overlap=k - 1, block_bytes=20_000):
            counting.add(block.symbols)
        block = counting.block()
        assert engine.memory.peak <= limit
    expected = reference.count([path.read_bytes()], options)
    assert as_dict([block], k) == expected
