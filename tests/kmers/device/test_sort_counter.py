"""Counting by sorting, with the kernels for GPUs, too, against the oracle."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from helpers.kmer_sets import as_dict, random_text
from helpers.products import on_one_cpu, only_whole

from oclgenomics.kmers import reference
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.device.parts import Kept, kept_runs
from oclgenomics.kmers.device.sort_counter import SortCounter
from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.primitives.compaction import Runs
from oclgenomics.runtime import Engine
from oclgenomics.sequence import packed_blocks

K_AND_STRANDS = [(5, True), (16, True), (21, False), (31, True), (33, True), (40, False), (65, True)]
KINDS = ["plain", "one letter", "repeats", "A and T"]
CASES = [*((kind, k, canonical) for kind in KINDS[:2] for k, canonical in K_AND_STRANDS[::2]), ("plain", 256, True)]
CASES += [("plain", k, canonical) for k, canonical in K_AND_STRANDS[1::2]]
CASES += on_one_cpu(*((kind, k, canonical) for kind in KINDS[2:] for k, canonical in K_AND_STRANDS[::3]))
CASES += only_whole(*(("one letter", k, canonical) for k, canonical in K_AND_STRANDS[1::2]))
CASES += only_whole(*((kind, *case) for kind in KINDS[2:] for case in K_AND_STRANDS if case not in K_AND_STRANDS[::3]))


def text_of(kind: str) -> bytes:
    """FASTA records that are easy or hard to count."""
    rng = np.random.default_rng(3)
    some = random_text(rng, 4500, b"ACGT", 150) + b"\n>none\nN\n>short\nACG\n"
    if kind == "plain":
        return some + some[500:2500]
    if kind == "one letter":
        return some + b">r\n" + b"A" * 6000 + b"\n" + some + b">t\n" + b"T" * 400
    if kind == "repeats":
        unit = rng.choice(np.frombuffer(b"ACGT", np.uint8), 300).tobytes()
        return b">r\n" + unit * 20 + b"N" + some
    return b">r\n" + rng.choice(np.frombuffer(b"AT", np.uint8), 8000).tobytes()


@functools.cache
def counts_of(kind: str, k: int, canonical: bool) -> dict[str, int]:
    return reference.count([text_of(kind)], CountOptions(k, canonical))


BORDERS = [1, 2, 3, 4, 5, 6, MAX_COUNTER - 1, MAX_COUNTER]


@pytest.mark.parametrize("least", [1, 2, 5, MAX_COUNTER])
@pytest.mark.parametrize("most", [5, MAX_COUNTER - 1, MAX_COUNTER])
@pytest.mark.parametrize("cap", [1, 4, 5, MAX_COUNTER])
def test_counts_at_the_borders_of_what_is_kept(engine: Engine, least: int, most: int, cap: int) -> None:
    keys = np.arange(len(BORDERS), dtype=np.uint64)[None]
    runs = Runs(engine.upload(keys), engine.upload(np.array(BORDERS, np.uint32)), len(BORDERS))
    kept = kept_runs(engine, Kept(least, most, cap), runs)
    found = list(zip(engine.download(kept.keys).ravel().tolist(), engine.download(kept.counts).tolist(), strict=True))
    expected = [(key, min(count, cap)) for key, count in enumerate(BORDERS) if least <= count <= most]
    assert (found, kept.size) == (expected, len(expected))


def counter_of(engine: Engine, path: Path, options: CountOptions, block_bytes: int) -> SortCounter:
    counter = SortCounter(engine, options)
    for block in packed_blocks(engine, [path], overlap=options.k - 1, block_bytes=block_bytes):
        counter.add(block.symbols)
    return counter


@pytest.mark.parametrize(("kind", "k", "canonical"), CASES)
def test_kinds_of_text(shaped: Engine, tmp_path: Path, kind: str, k: int, canonical: bool) -> None:
    path, options = tmp_path / "x.fa", CountOptions(k, canonical)
    path.write_bytes(text_of(kind))
    expected = counts_of(kind, k, canonical)
    for block_bytes in (2500, 1 << 20):
        counter = counter_of(shaped, path, options, block_bytes)
        for most in (counter.kmers, max(500, counter.largest_prefix)):
            blocks = []
            for runs, _ in counter.ranges(most):
                blocks.append(KmerBlock(shaped.download(runs.keys), shaped.download(runs.counts)))
            assert list(as_dict(blocks, k).items()) == list(expected.items())
