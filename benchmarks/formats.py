"""Throughput and peak memory of the readers on generated, seeded data.

    python benchmarks/formats.py [--megabytes 100] [--cases trees vcz] [--json]

Rates are megabytes of decompressed input per second of wall time, best of three in one process, and genotypes that end
up in the matrix, per second of wall time and of processor time; `memory` is the peak of traced allocations less one
block, over the size of the packed planes, measured in a run of its own. Sizes of tree sequences and VCF Zarr are those
of the same data as VCF; they need msprime (with tskit) and zarr, and are left out where these are not installed.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import host, write_json

from oclgenomics.formats import read_alignments
from oclgenomics.formats.read import BLOCK_BYTES

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
CASES: dict[str, tuple[Lines, bool]] = {
    "ms": (ms_lines, False),
    "macs": (macs_lines, False),
    "fasta": (fasta_lines, False),
    "vcf GT": (lambda rng, size: vcf_lines(rng, size, b"GT", "|"), False),
    "vcf GT unphased": (lambda rng, size: vcf_lines(rng, size, b"GT", "/"), False),
    "vcf GT 1% missing": (lambda rng, size: vcf_lines(rng, size, b"GT", "|", 0.01), False),
    "vcf GT:DP:GQ": (lambda rng, size: vcf_lines(rng, size, b"GT:DP:GQ", "/"), False),
    "vcf.gz GT": (lambda rng, size: vcf_lines(rng, size, b"GT", "|"), True),
    "vcf.gz GT:DP:GQ": (lambda rng, size: vcf_lines(rng, size, b"GT:DP:GQ", "/"), True),
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


def write(path: Path, lines: Lines, size: int, packed: bool) -> int:
    """Write about `size` bytes of input; the number of decompressed bytes."""
    rng = np.random.default_rng(1)
    total = 0
    with gzip.open(path, "wb", 6) if packed else path.open("wb") as file:
        for line in lines(rng, size):
            total += file.write(line)
    return total


def read_times(path: Path) -> tuple[float, float, int]:
    """Seconds of wall time and of processor time, best of three, and genotypes read."""
    times, genotypes = [], 0
    for _ in range(3):
        start, start_used = time.perf_counter(), time.process_time()
        genotypes = sum(alignment.sites * alignment.haplotypes for alignment in read_alignments(path, length=1e6))
        times.append((time.perf_counter() - start, time.process_time() - start_used))
    return min(wall for wall, _ in times), min(used for _, used in times), genotypes


def memory_ratio(path: Path) -> float:
    """(Peak - one block) / packed planes."""
    tracemalloc.start()
    (alignment,) = read_alignments(path, length=1e6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - BLOCK_BYTES) / alignment.packed_bytes


def measure(name: str, path: Path, size: int) -> dict[str, Any]:
    """Write and measure one case; ImportError where its extra is not installed."""
    if name in STORES:
        size = STORES[name](path, size)
    else:
        lines, packed = CASES[name]
        size = write(path, lines, size, packed)
    wall, used, genotypes = read_times(path)
    return {
        "format": name,
        "bytes": size,
        "seconds": wall,
        "MB/s": size / wall / 1e6,
        "genotypes/s": genotypes / wall,
        "genotypes/s of processor": genotypes / used,
        "memory": memory_ratio(path),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=100, help="size of each input (default: 100)")
    parser.add_argument("--cases", nargs="+", choices=[*CASES, *STORES], default=[*CASES, *STORES], metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    results, where = [], host()
    for name in args.cases:
        with tempfile.TemporaryDirectory() as folder:
            try:
                result = measure(name, Path(folder, "input"), int(args.megabytes * 1e6))
            except ImportError as error:
                print(f"{name}: left out ({error})", file=sys.stderr)
                continue
        results.append(result)
        if not args.json:
            print(
                f"{name:20} {result['MB/s']:8.0f} MB/s {result['genotypes/s'] / 1e6:8.0f} M genotypes/s   "
                f"memory {result['memory']:5.2f} x packed",
                flush=True,
            )
    if args.json:
        write_json("-", {"benchmark": "formats", "machine": where, "cases": results})


if __name__ == "__main__":
    main()
