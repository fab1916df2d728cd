"""Reading takes less than twice the packed planes, and four blocks for each thread and four more."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from helpers.bgzf import bgzip

from oclgenomics.io.workers import Workers
from oclgenomics.variation import ReadOptions, read_alignments

BLOCK = 1 << 20


def vcf(rng: np.random.Generator, samples: int, sites: int, call: bytes, missing: bool) -> bytes:
    """A VCF whose calls are `call` with the zeros drawn."""
    columns = b"\t".join(b"s%d" % i for i in range(samples))
    head = b"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t" + columns + b"\n"
    keys = b"GT:DP" if b":" in call else b"GT"
    row = np.frombuffer((call + b"\t") * samples, np.uint8)[:-1]
    zeros = np.flatnonzero(row == ord("0"))
    lines = [head]
    for site in range(sites):
        text = row.copy()
        text[zeros] += rng.random(len(zeros)) < 0.3
        if missing:
            text[rng.choice(zeros, len(zeros) // 20)] = ord(".")
        lines.append(b"1\t%d\t.\tA\tG\t.\t.\t.\t" % (site + 1) + keys + b"\t" + text.tobytes() + b"\n")
    return b"".join(lines)


def ms(rng: np.random.Generator, rows: int, sites: int) -> bytes:
    positions = " ".join(f"{i / sites:.6f}" for i in range(sites))
    table = np.full((rows, sites + 1), ord("\n"), np.uint8)
    table[:, :-1] = rng.integers(ord("0"), ord("2"), (rows, sites))
    return f"ms\n\n//\nsegsites: {sites}\npositions: {positions}\n".encode() + table.tobytes()


def macs(rng: np.random.Generator, haplotypes: int, sites: int) -> bytes:
    rows = rng.integers(ord("0"), ord("2"), (sites, haplotypes), np.uint8)
    return b"COMMAND:\tx\n" + b"".join(
        b"SITE:\t%d\t%.6f\t%s\n" % (i, i / sites, rows[i].tobytes()) for i in range(sites)
    )


def fasta(rng: np.random.Generator, rows: int, sites: int) -> bytes:
    letters = np.frombuffer(b"AC", np.uint8)
    return b"".join(b">s%d\n%s\n" % (i, letters[rng.integers(0, 2, sites)].tobytes()) for i in range(rows))


@pytest.mark.each_value  # what unpacks does not know what is read, nor the other way round
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(bytes, id="plain"),
        pytest.param(lambda data: gzip.compress(data, 1), id="gzip"),
        pytest.param(lambda data: bgzip(data, level=1), id="bgzip"),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(lambda rng: vcf(rng, 1000, 4000, b"0|0", False), id="vcf"),
        pytest.param(lambda rng: vcf(rng, 1000, 4000, b"0/0", True), id="vcf with missing calls"),
        pytest.param(lambda rng: vcf(rng, 1000, 2000, b"0|0:31", True), id="vcf with depths"),
        pytest.param(lambda rng: vcf(rng, 4000, 2000, b"0", False), id="haploid vcf"),
        pytest.param(lambda rng: ms(rng, 2000, 8000), id="ms"),
        pytest.param(lambda rng: macs(rng, 2000, 4000), id="macs"),
        pytest.param(lambda rng: fasta(rng, 2000, 8000), id="fasta"),
    ],
)
def test_peak_memory(tmp_path: Path, text, pack, threads):
    data = text(np.random.default_rng(1))
    path = tmp_path / "x"
    path.write_bytes(pack(data))
    del data
    Workers(1)  # its one allocation that is never touched does not count
    tracemalloc.start()
    (alignment,) = read_alignments(path, ReadOptions(length=1e6), block_bytes=BLOCK, threads=threads)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * alignment.packed_bytes + (4 + 4 * threads) * BLOCK
