"""Counts against the oracle."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import GOLDEN
from hypothesis import given, settings
from hypothesis import strategies as st

from oclgenomics.errors import AllocationError
from oclgenomics.kmers import reference
from oclgenomics.kmers.counter import KmerCounter, split_prefixes
from oclgenomics.kmers.keys import letters_of
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.run import count
from oclgenomics.kmers.sets import KmerBlock
from oclgenomics.runtime import Engine
from oclgenomics.sequence import packed_blocks


def as_dict(blocks: Sequence[KmerBlock], k: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for block in blocks:
        kmers = [row.tobytes().decode() for row in letters_of(block.keys, k)]
        found |= dict(zip(kmers, block.counts.tolist(), strict=True))
    return found


def check(engine: Engine, paths: list[Path], options: CountOptions) -> None:
    found = as_dict(list(count(paths, options, engine=engine).blocks()), options.k)
    expected = reference.count([path.read_bytes() for path in paths], options)
    assert list(found.items()) == list(expected.items())


@pytest.mark.parametrize(("text", "k", "canonical", "expected"), GOLDEN)
def test_published_counts(
    engine: Engine, tmp_path: Path, text: bytes, k: int, canonical: bool, expected: str
) -> None:
    (tmp_path / "x.fa").write_bytes(text)
    (tmp_path / "x.fa.gz").write_bytes(gzip.compress(text))
    for name in ("x.fa", "x.fa.gz"):
        counted = count([tmp_path / name], CountOptions(k, canonical=canonical), engine=engine)
        found = as_dict(list(counted.blocks()), k)
        assert " ".join(f"{kmer}{times}" for kmer, times in found.items()) == expected


def random_text(rng: np.random.Generator, letters: int, alphabet: bytes, record: int) -> bytes:
    sequence = rng.choice(np.frombuffer(alphabet, np.uint8), letters).tobytes()
    return b"".join(b">r\n%b\n" % sequence[i : i + record] for i in range(0, letters, record))


@settings(max_examples=40)
@given(
    k=st.one_of(st.integers(1, 256), st.sampled_from([15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 256])),
    letters=st.integers(0, 3000),
    alphabet=st.sampled_from([b"ACGT", b"ACGTacgtN", b"AT", b"A", b"ACGTACGTACGTACGTACGTACGTACGTACGTN"]),
    record=st.sampled_from([1, 40, 300, 5000]),
    canonical=st.booleans(),
    min_count=st.sampled_from([1, 2]),
    max_count=st.sampled_from([3, 1 << 32 - 1]),
    counter_max=st.sampled_from([2, 255, (1 << 32) - 1]),
    seed=st.integers(0, 1 << 32),
)
def test_any_count(
    engine: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    k: int,
    letters: int,
    alphabet: bytes,
    record: int,
    canonical: bool,
    min_count: int,
    max_count: int,
    counter_max: int,
    seed: int,
) -> None:
    path = tmp_path_factory.mktemp("any") / "x.fa"
    path.write_bytes(b">\n" + random_text(np.random.default_rng(seed), letters, alphabet, record))
    check(engine, [path], CountOptions(k, canonical, min_count, max_count, counter_max))


@pytest.mark.parametrize("k", [3, 21, 40])
@pytest.mark.parametrize("limit", [1 << 20, 3 << 19, 1 << 30])
def test_little_memory_gives_the_same(engine: Engine, tmp_path: Path, k: int, limit: int) -> None:
    rng = np.random.default_rng(k)
    path = tmp_path / "x.fa"
    path.write_bytes(random_text(rng, 60_000, b"ACGT", 7000))
    options = CountOptions(k)
    expected = count([path], options, engine=engine)
    with Engine(engine.device, max_memory=limit) as small:
        counter = KmerCounter(small, options)
        for block in packed_blocks(small, [path], overlap=k - 1, block_bytes=30_000):
            counter.add(block.symbols)
        blocks = list(counter.blocks())
        assert small.memory.peak <= limit
    assert (len(blocks) > 1) == (limit < 1 << 30)
    np.testing.assert_array_equal(np.concatenate([block.keys for block in blocks], axis=1), expected.keys)
    np.testing.assert_array_equal(np.concatenate([block.counts for block in blocks]), expected.counts)


def test_no_kmers(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "x.fa"
    path.write_bytes(b">a\nACG\n>b\nNNNNNNN\n")
    counted = count([path], CountOptions(40), engine=engine)
    assert (counted.distinct, counted.total, counted.keys.shape) == (0, 0, (2, 0))
    assert list(KmerCounter(engine, CountOptions(3)).blocks()) == []


@given(counts=st.lists(st.integers(0, 50), min_size=1, max_size=60), most=st.integers(50, 120))
def test_ranges_of_prefixes(counts: list[int], most: int) -> None:
    ranges = split_prefixes(np.array(counts, np.uint32), most)
    assert sum(sum(counts[low:high]) for low, high in ranges) == sum(counts)
    assert [low for low, _ in ranges[1:]] == [high for _, high in ranges[:-1]] or 0 in counts
    assert all(0 < sum(counts[low:high]) <= most for low, high in ranges)
    assert all(sum(counts[low : high + 1]) > most for low, high in ranges[:-1])  # none could be longer


def test_one_prefix_that_does_not_fit() -> None:
    with pytest.raises(AllocationError, match="raise --max-memory"):
        split_prefixes(np.array([1, 9], np.uint32), 8)
