"""A whole chromosome at once: a million sites of 5,000 haplotypes with windows of 10,000 sites, in bounded memory.

    python benchmarks/omega_chromosome.py [--device gpu] [--sites 1000000] [--haplotypes 5000] [--window 10000]
        [--grid 10000] [--memory 0,4000,1000] [--json FILE]

Sites are random and one bp apart. Each of the memory limits (MB of device memory, 0 for none) has one scan of the
alignment in memory; the results have to be the same. `peak MB` is what the scan took of the device.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from measure import machine, table, write_json

from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.result import Scan
from oclgenomics.runtime import Engine, select_device
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import words_for

SEED = 20210517


def make_alignment(sites: int, haplotypes: int) -> Alignment:
    """Random sites, states equally frequent."""
    rng = np.random.default_rng(SEED)
    bits = rng.integers(0, 2**32, (words_for(haplotypes), sites), np.uint32)
    if haplotypes % 32:
        bits[-1] &= np.uint32(2 ** (haplotypes % 32) - 1)
    letters = np.tile(np.frombuffer(b"01", np.uint8), (sites, 1))
    return Alignment("1", np.arange(1, sites + 1), bits, haplotypes, letters)


def measure(device: str, alignment: Alignment, options: ScanOptions, megabytes: int) -> tuple[dict[str, Any], Scan]:
    """One scan within a memory limit."""
    with Engine(select_device(device), max_memory=megabytes << 20 or None, profile=True) as engine:
        OmegaScanner(engine).scan(alignment_part(alignment), options)  # builds the kernels
        engine.profile.clear()
        start = time.perf_counter()
        scan = OmegaScanner(engine).scan(alignment, options)
        seconds = time.perf_counter() - start
        kernels = {name: row["total_ms"] / 1e3 for name, row in engine.profile.totals().items()}
        pairs, scores = scan.stats.pairs, scan.stats.scores
        return {
            "limit MB": megabytes,
            "seconds": seconds,
            "peak MB": engine.memory.peak / (1 << 20),
            "LD s": kernels["pair_values"],
            "T hap pairs/s": pairs * alignment.haplotypes / kernels["pair_values"] / 1e12,
            "upload s": kernels.get("to device", 0.0),
            "pairs": pairs,
            "scores": scores,
            "Gw/s": scores / seconds / 1e9,
            "kernels": kernels,
        }, scan


def alignment_part(alignment: Alignment) -> Alignment:
    """The first few thousand sites."""
    some = slice(0, 4096)
    bits = np.ascontiguousarray(alignment.bits[:, some])
    return Alignment("1", alignment.positions[some], bits, alignment.haplotypes, alignment.letters[some])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", "-d", default="auto")
    parser.add_argument("--sites", type=int, default=1_000_000)
    parser.add_argument("--haplotypes", type=int, default=5_000)
    parser.add_argument("--window", type=int, default=10_000)
    parser.add_argument("--grid", type=int, default=10_000)
    parser.add_argument("--memory", default="0,4000,1000")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    alignment = make_alignment(args.sites, args.haplotypes)
    options = ScanOptions(grid=args.grid, minwin=100, maxwin=args.window // 2)
    rows, first = [], None
    for megabytes in map(int, args.memory.split(",")):
        row, scan = measure(args.device, alignment, options, megabytes)
        rows.append(row)
        first = first or scan
        for name in ("omega", "left", "right"):
            np.testing.assert_array_equal(getattr(scan, name), getattr(first, name))
    print(table([{name: value for name, value in row.items() if name != "kernels"} for row in rows]))
    print(f"packed sites: {alignment.packed_bytes / (1 << 20):,.0f} MB; results are the same for every limit")
    sizes = {name: getattr(args, name) for name in ("sites", "haplotypes", "window", "grid")}
    where = machine(select_device(args.device))
    write_json(args.json, {"benchmark": "omega_chromosome", "machine": where, **sizes, "scans": rows})


if __name__ == "__main__":
    main()
