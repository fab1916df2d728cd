"""Throughput, stages and peak memory of the readers on generated, seeded data, for several numbers of threads.

    python benchmarks/formats.py [--megabytes 100] [--threads 1,2,all] [--only "vcf GT,ms"] [--json FILE]

Rates are megabytes of decompressed input per second of wall time, best of `--repeat` in one process. A stage's seconds
are those of processor time in all threads together, from a run of its own; `waited` is the share of the wall time of
all stages but "cut" in which they did not run: for the interpreter's lock, or for a core. `memory` is the peak of
traced allocations over the size of the packed planes, in a run of its own. Tree sequences and VCF Zarr are counted as
the same data would be as VCF, and in genotypes; they need msprime (with tskit) and zarr, and are left out without them.
Arrays of states are packed by `Alignment.from_haplotypes` with as many threads as there are cores (`taskset` gives
fewer); of one with wider states there are fewer states.
"""

from __future__ import annotations

import argparse
import gzip
import struct
import sys
import tempfile
import threading
import time
import tracemalloc
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
from measure import best_time, host, table, write_json
from numpy.typing import NDArray

from oclgenomics.io import inflate
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.workers import MAX_THREADS
from oclgenomics.variation import Alignment, ReadOptions, packing, read_alignments
from oclgenomics.variation.readers import chromosome, input_buffer, line_blocks, macs, ms
from oclgenomics.variation.readers.vcf import read as vcf

HAPLOTYPES = 2000


def ms_lines(rng: np.random.Generator, size: int) -> Iterator[bytes]:
    """Rows of 10,000 sites."""
    sites = 10_000
    yield b"ms\n1 2 3\n\n//\nsegsites: %d\npositions: " % sites
    yield " ".join(f"{i / sites:.6f}" for i in range(sites)).encode() + b"\n"
    for _ in range(size // sites):
        yield rng.integers(ord("0"), ord("2"), sites, np.uint8).tobytes() + b"\n"


def macs_lines(rng: np.random.Generator, size: int) -> Iterator[bytes]:
    """Sites of `HAPLOTYPES` haplotypes with the column of times."""
    yield b"COMMAND:\tmacs\nSEED:\t1\n"
    sites = size // (HAPLOTYPES + 30)
    for site in range(sites):
        row = rng.integers(ord("0"), ord("2"), HAPLOTYPES, np.uint8).tobytes()
        yield f"SITE:\t{site}\t{site / sites:.9f}\t0.123\t".encode() + row + b"\n"


def fasta_lines(rng: np.random.Generator, size: int) -> Iterator[bytes]:
    """Sequences of 30,000 bases in lines of 60, a fifth of the columns polymorphic."""
    length = 30_000
    reference = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, length)]
    varying = rng.choice(length, length // 5, replace=False)
    for i in range(size // length):
        sequence = reference.copy()
        changed = varying[rng.random(len(varying)) < 0.05]
        sequence[changed] = ord("T")
        yield b">sample%d\n" % i
        yield b"\n".join(sequence[at : at + 60].tobytes() for at in range(0, length, 60)) + b"\n"


def vcf_lines(
    rng: np.random.Generator, size: int, keys: bytes, separator: str, missing: float = 0.0
) -> Iterator[bytes]:
    """Records of `HAPLOTYPES` haplotypes in the style of a population panel."""
    samples = HAPLOTYPES // 2
    names = b"\t".join(b"sample%d" % i for i in range(samples))
    yield b"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t" + names + b"\n"
    written = site = 0
    extra = [f":{depth}:{quality}".encode() for depth in (7, 23, 104) for quality in (9, 48, 99)]
    while written < size:
        site += 1
        calls = (rng.random((samples, 2)) < 1 / rng.integers(2, 60)).astype(np.uint8) + ord("0")
        if missing:
            calls[rng.random((samples, 2)) < missing] = ord(".")
        quads = np.full((samples, 4), ord("\t"), np.uint8)
        quads[:, [0, 2]], quads[:, 1] = calls, ord(separator)
        row = quads.tobytes()[:-1]
        if keys != b"GT":
            tails = [extra[i] for i in rng.integers(0, len(extra), samples)]
            row = b"\t".join(call + tail for call, tail in zip(row.split(b"\t"), tails, strict=True))
        info = b"AC=%d;AF=0.%03d;AN=%d;NS=%d;VT=SNP" % (site % 99, site % 997 + 1, HAPLOTYPES, samples)
        line = b"20\t%d\trs%d\tA\tG\t100\tPASS\t%s\t%s\t%s\n" % (1000 + 37 * site, site, info, keys, row)
        written += len(line)
        yield line


Lines = Callable[[np.random.Generator, int], Iterator[bytes]]
PHASED: Lines = partial(vcf_lines, keys=b"GT", separator="|")
DEPTHS: Lines = partial(vcf_lines, keys=b"GT:DP:GQ", separator="/")
CASES: dict[str, tuple[Lines, str]] = {
    "ms": (ms_lines, "plain"),
    "ms bgzip": (ms_lines, "bgzip"),
    "macs": (macs_lines, "plain"),
    "fasta": (fasta_lines, "plain"),
    "vcf GT": (PHASED, "plain"),
    "vcf GT unphased": (partial(vcf_lines, keys=b"GT", separator="/"), "plain"),
    "vcf GT 1% missing": (partial(vcf_lines, keys=b"GT", separator="|", missing=0.01), "plain"),
    "vcf GT:DP:GQ": (DEPTHS, "plain"),
    "vcf GT gzip": (PHASED, "gzip"),
    "vcf GT bgzip": (PHASED, "bgzip"),
    "vcf GT:DP:GQ bgzip": (DEPTHS, "bgzip"),
}
STAGES: dict[str, list[tuple[Any, str]]] = {
    "inflate": [(inflate, "_inflate_stretch")],
    "cut": [(input_buffer.InputBuffer, "require")],
    "split": [(line_blocks.LineBlock, "split")],
    "decode": [(vcf._Parser, "parse"), (macs, "_parse"), (ms, "_combine")],
    "join": [(chromosome.Chromosome, "finish"), (macs._Sites, "finish"), (packing.RowPacker, "finish")],
}


def write_trees(path: Path, size: int) -> int:
    """A tree sequence of a panmictic population with about as many sites as a VCF of `size` bytes has."""
    import msprime

    sites = size // (2 * HAPLOTYPES + 40)
    length = sites * 306  # at this rate, 2,000 haplotypes of 10,000 people differ at one bp in 306
    history = msprime.sim_ancestry(
        HAPLOTYPES // 2, sequence_length=length, recombination_rate=1e-8, population_size=10_000, random_seed=1
    )
    history = msprime.sim_mutations(history, rate=1e-8, random_seed=1)
    history.dump(path)
    return int(history.num_sites) * (2 * HAPLOTYPES + 40)


def write_vcz(path: Path, size: int, missing: float) -> int:
    """A VCF Zarr in the chunks and with the packing of vcf2zarr."""
    import zarr
    from numcodecs import Blosc

    rng = np.random.default_rng(1)
    sites, samples = size // (2 * HAPLOTYPES + 40), HAPLOTYPES // 2
    frequency = 1 / rng.integers(2, 60, sites)
    genotypes = np.empty((sites, samples, 2), np.int8)
    for site in range(sites):
        genotypes[site] = rng.random((samples, 2)) < frequency[site]
        if missing:
            genotypes[site][rng.random((samples, 2)) < missing] = -1
    text = np.dtypes.StringDType()
    arrays = {
        "call_genotype": genotypes,
        "call_genotype_phased": np.ones((sites, samples), bool),
        "variant_allele": np.tile(np.array(["A", "G"], text), (sites, 1)),
        "variant_position": 1000 + 37 * np.arange(sites, dtype=np.int32),
        "variant_contig": np.zeros(sites, np.int8),
        "variant_filter": np.ones((sites, 1), bool),
        "variant_AF": frequency.astype(np.float32)[:, None],
        "filter_id": np.array(["PASS"], text),
        "contig_id": np.array(["20"], text),
        "sample_id": np.array([f"sample{i}" for i in range(samples)], text),
    }
    group = zarr.create_group(path, zarr_format=2)
    for name, values in arrays.items():
        packer = Blosc("zstd", 7, Blosc.BITSHUFFLE if name.startswith("call") else Blosc.SHUFFLE)
        chunks = (min(1000, len(values)), *values.shape[1:])
        group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=chunks, compressors=packer)
        group[name][...] = values
    return sites * (2 * HAPLOTYPES + 40)


STORES: dict[str, Callable[[Path, int], int]] = {
    "trees": write_trees,
    "vcz": lambda path, size: write_vcz(path, size, 0),
    "vcz 1% missing": lambda path, size: write_vcz(path, size, 0.01),
}


def states(
    size: int, kind: str = "i1", order: Literal["C", "F"] = "C", missing: float = 0, many: float = 0
) -> NDArray[Any]:
    """An array of so many bytes, (sites, `HAPLOTYPES`), with a share of missing states and of sites with a third."""
    rng = np.random.default_rng(1)
    array = rng.integers(0, 2, (size // HAPLOTYPES // np.dtype(kind).itemsize, HAPLOTYPES), np.int8)
    array[rng.random(len(array)) < many, 0] = 2
    if missing:
        array[rng.random(array.shape, np.float32) < missing] = -1
    return array.astype(kind, order=order)


ARRAYS: dict[str, dict[str, Any]] = {
    "array int8": {},
    "array int8 1% missing": {"missing": 0.01},
    "array int8 1% of sites with three": {"many": 0.01},
    "array int8 transposed": {"order": "F"},
    "array int8 transposed 1% missing": {"order": "F", "missing": 0.01},
    "array bool": {"kind": "?"},
    "array int64": {"kind": "i8"},
}


def write(path: Path, lines: Lines, size: int, packed: str) -> int:
    """Write about `size` bytes of input; the number of decompressed bytes."""
    text = b"".join(lines(np.random.default_rng(1), size))
    path.write_bytes({"plain": bytes, "gzip": lambda data: gzip.compress(data, 6), "bgzip": bgzip}[packed](text))
    return len(text)


def bgzip(text: bytes) -> bytes:
    """The blocks that bgzip writes, the empty one at the end included."""
    blocks = []
    for at in [*range(0, len(text), 65280), len(text)]:
        part = text[at : at + 65280]
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        packed = packer.compress(part) + packer.flush()
        head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(packed) + 25)
        blocks.append(head + packed + struct.pack("<II", zlib.crc32(part), len(part)))
    return b"".join(blocks)


def read(path: Path, threads: int) -> int:
    """Read all; bytes of the packed planes of the last alignment."""
    size = 0
    for alignment in read_alignments(path, ReadOptions(length=1e6), threads=threads):
        size = alignment.packed_bytes
    return size


def seconds_to_read(path: Path, threads: int, repeat: int) -> float:
    """The best time."""
    return best_time(repeat, read, path, threads)


class Stages:
    """Adds up the time that the stages take in all threads, each without the stages within it."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = defaultdict(float)
        self.wall: dict[str, float] = defaultdict(float)
        self._lock = threading.Lock()
        self._within = threading.local()

    def measure(self, path: Path, threads: int) -> dict[str, Any]:
        """Read with clocks around the stages."""
        with ExitStack() as stack:
            for stage, places in STAGES.items():
                for place, name in places:
                    timed = self._timed(stage, getattr(place, name))
                    stack.enter_context(patch.object(place, name, staticmethod(timed) if name == "split" else timed))
            read(path, threads)
        seconds = {stage: self.cpu[stage] for stage in STAGES}
        return {**seconds, "waited": 1 - sum(self.cpu[stage] for stage in self.wall) / sum(self.wall.values())}

    def _timed(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            outside = getattr(self._within, "seconds", (0.0, 0.0))
            self._within.seconds = (0.0, 0.0)
            cpu, wall = time.thread_time(), time.perf_counter()
            try:
                return work(*args, **options)
            finally:
                took = time.thread_time() - cpu, time.perf_counter() - wall
                inner = self._within.seconds
                self._within.seconds = (outside[0] + took[0], outside[1] + took[1])
                if stage != "cut":  # it waits for what others inflate
                    self._add(self.wall, stage, took[1] - inner[1])
                self._add(self.cpu, stage, took[0] - inner[0])

        return timed

    def _add(self, clock: dict[str, float], stage: str, seconds: float) -> None:
        with self._lock:
            clock[stage] += seconds


def memory_ratio(path: Path, threads: int) -> float:
    """Peak / packed planes."""
    tracemalloc.start()
    packed = read(path, threads)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / packed


def thread_counts(text: str) -> list[int]:
    """Numbers of threads, "all" being those of the cores; each once, in order."""
    return sorted({usable_cores() if word == "all" else int(word) for word in text.split(",")})


def measure(path: Path, name: str, size: int, threads: int, repeat: int) -> dict[str, Any]:
    """One row of the table."""
    seconds = seconds_to_read(path, threads, repeat)
    return {
        "input": name,
        "threads": threads,
        "seconds": seconds,
        "MB/s": round(size / seconds / 1e6),
        **Stages().measure(path, threads),
        "memory": memory_ratio(path, threads),
    }


def least_times(repeat: int, work: Callable[[], object]) -> tuple[float, float]:
    """The least wall and CPU time."""
    times = []
    for _ in range(repeat):
        start, start_used = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - start, time.process_time() - start_used))
    return min(wall for wall, _ in times), min(used for _, used in times)


def measure_array(name: str, size: int, repeat: int) -> dict[str, Any]:
    """One row of the table of arrays."""
    array = states(size, **ARRAYS[name])
    positions = np.arange(1, len(array) + 1)
    wall, used = least_times(repeat, lambda: Alignment.from_haplotypes(positions, array))
    tracemalloc.start()
    packed = Alignment.from_haplotypes(positions, array).packed_bytes
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "input": name,
        "threads": min(usable_cores(), MAX_THREADS),
        "seconds": wall,
        "CPU seconds": used,
        "MB/s of CPU time": round(array.nbytes / used / 1e6),
        "memory": peak / packed,
    }


def measure_store(path: Path, name: str, size: int, repeat: int) -> dict[str, Any]:
    """One row of the table of tree sequences and VCF Zarr; ImportError where its extra is not installed."""
    size, genotypes = STORES[name](path, size), 0

    def count() -> None:
        nonlocal genotypes
        genotypes = sum(alignment.sites * alignment.haplotypes for alignment in read_alignments(path))

    wall, used = least_times(repeat, count)
    return {
        "input": name,
        "seconds": wall,
        "MB/s": round(size / wall / 1e6),
        "genotypes/s": genotypes / wall,
        "genotypes/s of processor": genotypes / used,
        "memory": memory_ratio(path, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=100, help="size of each input (default: 100)")
    parser.add_argument("--threads", default="1,2,all", metavar="N,N,...", help="default: %(default)s")
    parser.add_argument(
        "--only", metavar="INPUT,...", help=f"of {', '.join([*CASES, *STORES, *ARRAYS])}".replace("%", "%%")
    )
    parser.add_argument("--repeat", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--json", metavar="FILE", help="write a record as well")
    args = parser.parse_args()
    record: dict[str, Any] = {"benchmark": "formats", "megabytes": args.megabytes, "machine": host(), "inputs": []}
    size = int(args.megabytes * 1e6)
    for name in args.only.split(",") if args.only else [*CASES, *STORES, *ARRAYS]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "input")
            if name in ARRAYS:
                rows = [measure_array(name, size, args.repeat)]
            elif name in STORES:
                try:
                    rows = [measure_store(path, name, size, args.repeat)]
                except ImportError as error:
                    print(f"{name}: left out ({error})", file=sys.stderr)
                    continue
            else:
                size_written = write(path, CASES[name][0], size, CASES[name][1])
                counts = thread_counts(args.threads)
                rows = [measure(path, name, size_written, threads, args.repeat) for threads in counts]
        print(table(rows), flush=True)
        record["inputs"] += rows
    write_json(args.json, record)


if __name__ == "__main__":
    main()
