"""Many small alignments: neutral replicates scanned one by one, and together as `omega threshold` does.

    python benchmarks/omega_replicates.py [--device gpu] [--replicates 1000] [--repeat 5] [--json FILE]

Replicates of 50 haplotypes with independent sites, in memory; 100 positions each. Rates are those of the
median of --repeat runs, with the least and the most next to it, from alignments to scans, filters included. The results
have to be the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import machine, table, write_json

from oclgenomics.omega.api import scan_alignment, scan_alignments
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.result import Scan
from oclgenomics.runtime import Engine, select_device
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import words_for
from oclgenomics.variation.sources import batches

SEED, SAMPLES, LENGTH = 20210517, 50, 1_000_000
SITES = (100, 500, 2000)


def make_replicates(count: int, sites: int) -> list[Alignment]:
    """Alignments of independent sites at random places."""
    rng = np.random.default_rng(SEED)
    letters = np.tile(np.frombuffer(b"01", np.uint8), (sites, 1))
    made = []
    for number in range(1, count + 1):
        bits = rng.integers(0, 2**32, (words_for(SAMPLES), sites), np.uint32)
        bits[-1] &= np.uint32(2 ** (SAMPLES % 32) - 1)
        positions = np.sort(rng.integers(1, LENGTH, sites))
        made.append(Alignment(str(number), positions, bits, SAMPLES, letters, replicate=number))
    return made


def timed(work: Callable[[], list[Scan]], repeat: int) -> tuple[list[float], list[Scan]]:
    """Seconds of each run after one to warm up, and the scans."""
    scans, times = work(), []
    for _ in range(repeat):
        start = time.perf_counter()
        scans = work()
        times.append(time.perf_counter() - start)
    return times, scans


def measure(engine: Engine, count: int, sites: int, repeat: int) -> dict[str, Any]:
    """Both ways for replicates of so many sites."""
    replicates, scanner = make_replicates(count, sites), OmegaScanner(engine)
    options = ScanOptions(grid=100, minwin=1000, maxwin=LENGTH // 10)
    alone, one = timed(lambda: [scan_alignment(each, options, scanner) for each in replicates], repeat)
    together, all_ = timed(
        lambda: [scan for batch in batches(replicates) for scan in scan_alignments(batch, options, scanner)], repeat
    )
    for first, second in zip(one, all_, strict=True):
        np.testing.assert_array_equal(first.omega, second.omega)
    return {
        "sites": sites,
        "replicates": count,
        **rates("one by one", count, alone),
        **rates("together", count, together),
        "times": float(np.median(alone) / np.median(together)),
    }


def rates(name: str, count: int, seconds: list[float]) -> dict[str, float]:
    """Replicates a second: of the median run, the slowest and the fastest."""
    middle = float(np.median(seconds))
    return {f"{name} /s": count / middle, f"{name}, least": count / max(seconds), f"{name}, most": count / min(seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", "-d", default="auto")
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    device = select_device(args.device)
    with Engine(device) as engine:
        rows = [measure(engine, args.replicates, sites, args.repeat) for sites in SITES]
    print(f"{device.name} [{device.platform}, {device.driver}]")
    print(table(rows))
    write_json(args.json, {"benchmark": "omega_replicates", "machine": machine(device), "scans": rows})


if __name__ == "__main__":
    main()
