"""Launch every kernel family on tiny inputs, to be run under oclgrind, which watches each memory access.

    oclgrind --data-races --uninitialized --build-options -cl-opt-disable --log F python tests/smoke_oclgrind.py SHAPE

SHAPE is gpu or cpu: the kernels as they are specialised for either.
oclgrind simulates some 400,000 instructions a second: keep inputs to a few dozen items.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
from helpers.alignments import correlated_states, make_alignment, make_multiallelic

from oclgenomics.kmers import distinct
from oclgenomics.kmers.bins import BinnedWindows
from oclgenomics.kmers.counter import KmerCounter
from oclgenomics.kmers.database import KmerDatabase
from oclgenomics.kmers.database_writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.prefixed import PrefixedWindows
from oclgenomics.kmers.sets import KmerBlock
from oclgenomics.omega.engine import OmegaScanner
from oclgenomics.omega.ld import ld_matrix
from oclgenomics.omega.options import ScanOptions
from oclgenomics.primitives import compact, merge, partition, run_lengths, scan, sort
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence import names_of, packed_blocks


def common(engine: Engine) -> None:
    """Hashes, bit helpers, population counts with and without vectors, and the probes of traits."""
    size = np.uint32(20)
    key = np.uint64(0x0706050403020100), np.uint64(0x0F0E0D0C0B0A0908)
    data = engine.upload(np.arange(200, dtype=np.uint8))
    offsets = engine.upload(np.arange(0, 201, 10, dtype=np.uint64)[:21])
    hashes = engine.empty(20, np.uint64)
    engine.launch(engine.kernel("common/hash.cl", "hash_strings"), (32,), (16,), data, offsets, *key, size, hashes)
    numbers = engine.upload(np.arange(20, dtype=np.uint64))
    engine.launch(engine.kernel("common/hash.cl", "hash_numbers"), (32,), (16,), numbers, *key, size, hashes)
    engine.download(hashes)
    words = engine.upload(np.arange(33, dtype=np.uint64))
    for width in (1, 4, 16):
        for builtin in (0, 1):
            defines = {"VW": width, "BUILTIN_POPCOUNT": builtin}
            bits = engine.empty((32, 5), np.uint64)
            engine.launch(engine.kernel("common/probe_bits.cl", "probe_bits", **defines), (32,), (16,), words, bits)
            counts = engine.empty(32, np.uint32)
            kernel = engine.kernel("common/probe_bits.cl", "probe_vectors", **defines)
            engine.launch(kernel, (32 // width,), None, words, counts)
            engine.download(bits)
            engine.download(counts)


def omega(engine: Engine) -> None:
    """All kernels of a scan, on complete, missing, unphased and multiallelic sites."""
    rng = np.random.default_rng(1)
    states, positions = correlated_states(rng, 70, 40), np.arange(70) * 5 + 1
    seen = rng.random(states.shape) < 0.9
    four = np.where(rng.random(states.shape) < 0.1, 2, states)
    for alignment, kernel, precision in (
        (make_alignment(states, positions), "1", "accurate"),
        (make_alignment(states, positions), "2", "compat"),
        (make_alignment(states, positions, seen), "2", "accurate"),
        (make_alignment(states, positions), "tiles", "accurate"),
        (make_alignment(states, positions, seen, unphased=True), "auto", "accurate"),
        (make_multiallelic(four, positions, seen), "auto", "accurate"),
        (make_multiallelic(four, positions, seen), "auto", "compat"),
    ):
        options = ScanOptions(grid=3, minwin=100, maxwin=170, kernel=kernel, precision=precision)
        # in a context of its own: the simulator mistakes memory that is used again for memory never written
        with Engine(engine.device) as fresh:
            fresh.tuning = engine.tuning
            scan = OmegaScanner(fresh, block_rows=64).scan(alignment, options)
        assert scan.valid.any()


def linkage(engine: Engine) -> None:
    """Matrices of linkage disequilibrium, on the same kinds of sites."""
    rng = np.random.default_rng(2)
    states, positions = correlated_states(rng, 70, 40), np.arange(70)
    seen = rng.random(states.shape) < 0.9
    four = np.where(rng.random(states.shape) < 0.1, 2, states)
    for alignment, measure in (
        (make_alignment(states, positions), "r2"),
        (make_alignment(states, positions, seen), "nr2"),
        (make_alignment(states, positions, seen, unphased=True), "r2"),
        (make_multiallelic(four, positions, seen), "r2"),
    ):
        with Engine(engine.device) as fresh:
            fresh.tuning = engine.tuning
            assert ld_matrix(alignment, 0, 69, engine=fresh, measure=measure).any()


def primitives(engine: Engine) -> None:
    """Scans, sorts, partitions, runs, compaction and merges, over more than one tile."""
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 1 << 10, (2, 700), np.uint64)
    tasks: tuple[Callable[[Engine], DeviceArray], ...] = (
        lambda fresh: scan(fresh, fresh.upload(keys[0])),
        lambda fresh: scan(fresh, fresh.upload(keys[0]), heads=fresh.upload((keys[1] < 9).astype(np.uint8))),
        lambda fresh: sort(fresh, fresh.upload(keys), fresh.upload(np.arange(700, dtype=np.uint32)), bits=12).keys,
        lambda fresh: partition(fresh, fresh.upload(keys), bits=6, first_bit=62).starts,
        lambda fresh: partition(fresh, fresh.upload(keys), splitters=fresh.upload(np.sort(keys[:, :9], axis=1))).starts,
        lambda fresh: run_lengths(fresh, fresh.upload(keys[0] >> np.uint64(9)), most=3).counts,
        lambda fresh: compact(fresh, fresh.upload(keys), fresh.upload((keys[1] < 99).astype(np.uint8))),
        lambda fresh: merge(fresh, fresh.upload(np.sort(keys, axis=1)), [700]).keys,
        lambda fresh: merge(fresh, fresh.upload(np.sort(keys.reshape(4, 350), axis=1).reshape(-1)), [350, 700]).keys,
    )
    for task in tasks:
        with Engine(engine.device) as fresh:
            fresh.tuning = engine.tuning
            fresh.download(task(fresh))


def kmers(engine: Engine) -> None:
    """K-mers of FASTA and FASTQ text, of one word and of two, at once and by ranges of prefixes."""
    rng = np.random.default_rng(4)
    letters = rng.choice(np.frombuffer(b"ACGT" * 50 + b"N", np.uint8), 90).tobytes()
    fasta = b">a\n" + b"\n".join(letters[i : i + 30] for i in range(0, 90, 30)) + b"\r\n>b\nACGT"
    fastq = b"@a\n%b\n+\n%b\n" % (letters, b"I" * 90)
    for k, text, block_bytes in ((5, fasta, 60), (40, fastq, 1000)):
        with tempfile.TemporaryDirectory() as folder, Engine(engine.device) as fresh:
            fresh.tuning = engine.tuning
            path = Path(folder) / "x"
            path.write_bytes(text)
            counter = KmerCounter(fresh, CountOptions(k, max_count=100))
            blocks = list(packed_blocks(fresh, [path], overlap=k - 1, block_bytes=block_bytes))
            for block in blocks:
                counter.add(block.symbols)
            assert len(counter.block())
            windows = PrefixedWindows(fresh, CountOptions(k))
            windows.add(blocks[0].symbols)
            assert windows.prefix_counts().sum() == windows.size
            windows.runs(0, 600)
            fresh.finish()


def sequences(engine: Engine) -> None:
    """Qualities, records and names of FASTQ and FASTA text."""
    name, letters = b"read " * 50, b"ACGTN" * 10
    fastq = b"@%b\n%b\n+\n%b\n" % (name, letters, b"#IIII" * 10)
    fasta = b">%b\n%b\n%b\n>b\nACGT" % (name, letters, letters)
    for text, options in ((fastq, {"min_quality": 20, "qualities": True}), (fasta, {})):
        with tempfile.TemporaryDirectory() as folder, Engine(engine.device) as fresh:
            fresh.tuning = engine.tuning
            path = Path(folder) / "x"
            path.write_bytes(text * 2)
            for block in packed_blocks(fresh, [path], block_bytes=400, names=True, **options):
                assert block.records is not None
                assert names_of(fresh, block.records)
                fresh.finish()


def kmer_bins(engine: Engine) -> None:
    """K-mers in bins, with tables so small that bins have to be split."""
    letters = np.random.default_rng(5).choice(np.frombuffer(b"ACGTN", np.uint8), 150, p=[0.4, 0.1, 0.1, 0.39, 0.01])
    for k, canonical in ((21, True), (40, True), (12, False), (70, False)):
        with tempfile.TemporaryDirectory() as folder, Engine(engine.device) as fresh:
            path = Path(folder) / "x"
            path.write_bytes(b">a\n%b\n" % letters.tobytes())
            with mock.patch.multiple(distinct, SLOTS=16, LEAST_SLOTS=16, PROBES=2):
                windows = BinnedWindows(fresh, CountOptions(k, canonical))
                for block in packed_blocks(fresh, [path], overlap=k - 1, block_bytes=90):
                    windows.add(block.symbols)
                assert sum(int(fresh.download(part.runs.counts).sum()) for part in windows.parts(60)) == windows.size


def kmer_database(engine: Engine) -> None:
    """Sections of a database, for keys of one word and of several: gathered from two runs, written and read."""
    counts = np.array([1] * 240 + [2, 300, 1 << 31, *range(1, 40)], np.uint32)
    for words in (1, 3):
        keys = np.zeros((words, len(counts)), np.uint64)
        keys[-1] = np.cumsum(counts, dtype=np.uint64)
        with tempfile.TemporaryDirectory() as folder, Engine(engine.device) as fresh:
            fresh.tuning = engine.tuning
            path, options = Path(folder) / "x", CountOptions(32 * words)
            with DatabaseWriter(path, options, engine=fresh) as writer:
                for part in (slice(100), slice(100, None)):
                    writer.append(KmerBlock(keys[:, part], counts[part]))
            found = path.read_bytes()
            with DatabaseWriter(path, options) as writer:
                writer.append(KmerBlock(keys, counts))
            assert found == path.read_bytes()
            with KmerDatabase.open(path) as database:
                np.testing.assert_array_equal(database.keys_counts(fresh).keys, keys)


FAMILIES: tuple[Callable[[Engine], None], ...] = (
    common, omega, linkage, primitives, kmers, kmer_bins, sequences, kmer_database,
)  # fmt: skip
SHAPES = {"gpu": {"cpu": False, "vector_width": 1}, "cpu": {"cpu": True, "vector_width": 8}}


def main() -> int:
    """Run all families on the simulator."""
    shape = sys.argv[1] if len(sys.argv) == 2 else ""
    if shape not in SHAPES:
        print(f"usage: {sys.argv[0]} {'|'.join(SHAPES)}", file=sys.stderr)
        return 2
    with Engine() as engine:
        if engine.device.family != "oclgrind":
            print(f"this is {engine.device}: run the script under oclgrind", file=sys.stderr)
            return 2
        engine.tuning = dataclasses.replace(engine.tuning, **SHAPES[shape])
        for family in FAMILIES:
            start = time.perf_counter()
            family(engine)
            engine.finish()
            print(f"{family.__name__} ({shape}): {time.perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
