"""Counts against the oracle."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import numpy as np
import pytest
from helpers.devices import gpu_shape
from helpers.kmer_sets import GOLDEN, as_dict, random_text
from helpers.products import drawn, examples, on_one_cpu, only_whole
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import AllocationError
from oclgenomics.kmers import reference
from oclgenomics.kmers.api import count
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.device.bin_counter import BinCounter
from oclgenomics.kmers.device.counting import KmerCounter
from oclgenomics.kmers.device.parts import EVERY, dense, gather
from oclgenomics.kmers.device.sort_counter import SortCounter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import bins as bin_plan
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence import packed_blocks

K_EDGES = [1, 5, 16, 17, 31, 32, 33, 64, 65, 256]
SOME_K = drawn(st.sampled_from(K_EDGES), whole=st.one_of(st.integers(1, 256), st.sampled_from(K_EDGES)))


def check(engine: Engine, paths: list[Path], options: CountOptions) -> None:
    found = as_dict(list(count(paths, options, engine=engine).blocks()), options.k)
    expected = reference.count([path.read_bytes() for path in paths], options)
    assert list(found.items()) == list(expected.items())


@pytest.mark.parametrize(("text", "k", "canonical", "expected"), GOLDEN)
def test_published_counts(engine: Engine, tmp_path: Path, text: bytes, k: int, canonical: bool, expected: str) -> None:
    (tmp_path / "x.fa").write_bytes(text)
    (tmp_path / "x.fa.gz").write_bytes(gzip.compress(text))
    for name in ("x.fa", "x.fa.gz"):
        counted = count([tmp_path / name], CountOptions(k, canonical=canonical), engine=engine)
        found = as_dict(list(counted.blocks()), k)
        assert " ".join(f"{kmer}{times}" for kmer, times in found.items()) == expected


ANY_COUNT = given(
    k=SOME_K,
    letters=st.integers(0, 3000),
    alphabet=st.sampled_from([b"ACGT", b"ACGTacgtN", b"AT", b"A", b"ACGTACGTACGTACGTACGTACGTACGTACGTN"]),
    record=st.sampled_from([1, 40, 300, 5000]),
    canonical=st.booleans(),
    min_count=st.sampled_from([1, 2]),
    max_count=st.sampled_from([3, 1 << 32 - 1]),
    counter_max=st.sampled_from([2, 255, (1 << 32) - 1]),
    seed=st.integers(0, 1 << 32),
)


def any_count(
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


test_any_count = pytest.mark.one_cpu(settings(max_examples=examples(60))(ANY_COUNT(any_count)))
test_some_counts = pytest.mark.other_cpus(settings(max_examples=10)(ANY_COUNT(any_count)))


@pytest.mark.parametrize("k", [3, 21, 40])
@pytest.mark.parametrize("limit", [1 << 20, *on_one_cpu(5 << 18, 1 << 30)])
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
        blocks = []
        for counted in counter.counted():
            runs = dense(small, counted, k)
            blocks.append(KmerBlock(small.download(runs.keys), small.download(runs.counts)))
            del counted, runs
        assert small.memory.peak <= limit
    assert len(blocks) > 1 or k == 3 or limit == 1 << 30
    np.testing.assert_array_equal(np.concatenate([block.keys for block in blocks], axis=1), expected.keys)
    np.testing.assert_array_equal(np.concatenate([block.counts for block in blocks]), expected.counts)


UNIT = b"ACGGTTAACCGATTACAGGGTCATTTTTTTAC"


def hard_text(kind: str, rng: np.random.Generator) -> bytes:
    """Text whose k-mers crowd in few prefixes."""
    if kind == "A and T":
        return b">r\n" + rng.choice(np.frombuffer(b"ACGT", np.uint8), 3000, p=[0.475, 0.025, 0.025, 0.475]).tobytes()
    some = random_text(rng, 700, b"ACGT", 300)
    if kind == "one letter":
        return some + b">r\n" + b"A" * 1500 + b"\n" + some
    return some + b">r\n" + UNIT * 40 + b"NN" + UNIT * 20 + b"\n" + some


@pytest.mark.parametrize("kind", ["A and T", *on_one_cpu("one letter", "repeats")])
@pytest.mark.parametrize("k", [*K_EDGES, *only_whole(2, 15, 21, 28, 40, 55, 63, 96, 97, 127, 128, 129)])
def test_crowded_prefixes(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, k: int) -> None:
    monkeypatch.setattr(bin_plan, "MAX_LINES", 8)
    monkeypatch.setattr(bin_plan, "MIN_LINES", 8)
    path = tmp_path / "x.fa"
    path.write_bytes(hard_text(kind, np.random.default_rng(k)))
    for canonical in (True, False):
        check(engine, [path], CountOptions(k, canonical))


BINS_AND_SORTING_AGREE = given(
    k=SOME_K,
    letters=st.integers(0, 4000),
    alphabet=st.sampled_from([b"ACGT", b"ACGTACGTACGTACGTACGTACGTACGTACGTN", b"AT", b"AAAAAAAAAAAAAAAAAAAT"]),
    block_bytes=st.sampled_from([64, 700, 1 << 20]),
    canonical=st.booleans(),
    free=st.sampled_from([1 << 16, 1 << 22]),
    bins=st.sampled_from([1, 8, 4096]),
    lines=st.sampled_from([4, 4096]),
    seed=st.integers(0, 1 << 32),
)


def bins_and_sorting_agree(
    engine: Engine,
    tmp_path_factory: pytest.TempPathFactory,
    k: int,
    letters: int,
    alphabet: bytes,
    block_bytes: int,
    canonical: bool,
    free: int,
    bins: int,
    lines: int,
    seed: int,
) -> None:
    path = tmp_path_factory.mktemp("both") / "x.fa"
    path.write_bytes(b">\n" + random_text(np.random.default_rng(seed), letters, alphabet, 500))
    options = CountOptions(k, canonical)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bin_plan, "MAX_BINS", bins)
        patch.setattr(bin_plan, "MAX_LINES", lines)
        patch.setattr(bin_plan, "MIN_LINES", 4)
        patch.setattr(bin_plan, "BIN_KMERS", 100)
        binned, sorted_ = BinCounter(engine, options), SortCounter(engine, options)
        for block in packed_blocks(engine, [path], overlap=k - 1, block_bytes=block_bytes):
            binned.add(block.symbols)
            sorted_.add(block.symbols)
        assert binned.kmers == sorted_.kmers
        if not binned.kmers:
            return
        expected = sorted_.runs(0, sorted_.prefixes)
        try:
            found = gather(engine, k, binned.kmers, binned.parts(free, EVERY))
        except AllocationError:
            assert free == 1 << 16
            assert block_bytes == 1 << 20
            return
    np.testing.assert_array_equal(found.keys, engine.download(expected.keys))
    np.testing.assert_array_equal(found.counts, engine.download(expected.counts))


test_bins_and_sorting_agree = pytest.mark.one_cpu(
    settings(max_examples=examples(20))(BINS_AND_SORTING_AGREE(bins_and_sorting_agree))
)
test_bins_and_sorting_agree_on_some = pytest.mark.other_cpus(
    settings(max_examples=6)(BINS_AND_SORTING_AGREE(bins_and_sorting_agree))
)


@pytest.mark.parametrize("k", [5, 40])
def test_ranges_of_the_sort_counter_share_nothing(engine: Engine, tmp_path: Path, k: int) -> None:
    """Ranges that meet give each k-mer once, also those whose prefix is the first or the last of one."""
    path = tmp_path / "x.fa"
    path.write_bytes(b">\n" + random_text(np.random.default_rng(k), 3000, b"ACGT", 500))
    counter = SortCounter(engine, CountOptions(k))
    for block in packed_blocks(engine, [path], overlap=k - 1):
        counter.add(block.symbols)
    whole = counter.runs(0, counter.prefixes)
    keys, counts = engine.download(whole.keys), engine.download(whole.counts)
    used = np.flatnonzero(counter.prefix_counts())
    cuts = [0, int(used[len(used) // 3]), int(used[len(used) // 2]), int(used[-1]), counter.prefixes]
    parts = [counter.runs(low, high) for low, high in itertools.pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate([engine.download(part.keys) for part in parts], axis=1), keys)
    np.testing.assert_array_equal(np.concatenate([engine.download(part.counts) for part in parts]), counts)


@pytest.mark.parametrize("cpu", [True, False])
def test_asking_for_room_changes_nothing(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpu: bool
) -> None:
    if not cpu and device.family != "intel":
        pytest.skip("the kernels for GPUs run on GPUs, and on Intel's CPU runtime as a check")
    path = tmp_path / "x.fa"
    path.write_bytes(random_text(np.random.default_rng(1), 4_000_000, b"ACGT", 7000))
    with Engine(device, tuning=None if cpu else gpu_shape(device), max_memory=3 << 20) as engine:
        counter, answers = KmerCounter(engine, CountOptions(31)), []
        for block in packed_blocks(engine, [path], overlap=30, block_bytes=30_000):
            before = engine.memory.used, engine.memory.peak
            with monkeypatch.context() as patch:
                patch.setattr(Engine, "launch", None)
                patch.setattr(Engine, "empty", None)
                answers.append(counter.has_room(block.symbols))
                assert counter.has_room(block.symbols) == answers[-1]
            assert (engine.memory.used, engine.memory.peak) == before
            if not answers[-1]:
                break
            counter.add(block.symbols)
    assert len(answers) > 3
    assert not answers[-1]


def test_no_kmers(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "x.fa"
    path.write_bytes(b">a\nACG\n>b\nNNNNNNN\n")
    counted = count([path], CountOptions(40), engine=engine)
    assert (counted.distinct, counted.total, counted.keys.shape) == (0, 0, (2, 0))
    nothing = KmerCounter(engine, CountOptions(40))
    assert list(nothing.counted()) == []
    assert nothing.block().keys.shape == (2, 0)
