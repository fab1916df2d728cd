"""CPU time of nSL and iHS of sites: `sweeps scan --format selscan` and selscan in turn, and whether lines are the same.

    python benchmarks/sweeps_selscan.py SELSCAN [--mb 4.9] [--statistics nsl,ihs] [--repeat 1] [--json FILE]

SELSCAN is the program (3.0.0); it runs with two threads. The input is a VCF of 2,000 haplotypes of msprime (10,000
individuals, 1.25e-8 mutations and 1e-8 crossovers per bp); 4.9 Mb have some 19,000 sites.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msprime
from measure import machine, run_process, table, write_json

from oclgenomics.runtime import select_device

HAPLOTYPES, SIZE = 2_000, 10_000
MUTATION, RECOMBINATION = 1.25e-8, 1e-8
SELSCAN_OPTIONS = {"nsl": ["--nsl"], "ihs": ["--ihs", "--pmap"]}


def simulate(path: Path, length: float, seed: int) -> int:
    """Write the VCF, and return how many sites it has."""
    trees = msprime.sim_ancestry(
        HAPLOTYPES // 2,
        population_size=SIZE,
        sequence_length=length,
        recombination_rate=RECOMBINATION,
        random_seed=seed,
    )
    trees = msprime.sim_mutations(trees, rate=MUTATION, model=msprime.BinaryMutationModel(), random_seed=seed + 1)
    with path.open("w") as stream:
        trees.write_vcf(stream, position_transform=lambda at: [int(one) + 1 for one in at])
    return int(trees.num_sites)


def differing(ours: Path, theirs: Path) -> int:
    """How many lines differ in the columns from the position on."""
    pairs = zip_longest(ours.read_text().splitlines()[1:], theirs.read_text().splitlines()[1:], fillvalue="\t\t")
    return sum(one.split("\t")[2:] != other.split("\t")[2:] for one, other in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("selscan")
    parser.add_argument("--device", "-d", default="auto")
    parser.add_argument("--mb", type=float, default=4.9)
    parser.add_argument("--statistics", default="nsl,ihs")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    device = select_device(args.device)
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vcf = folder / "input.vcf"
        sites = simulate(vcf, args.mb * 1e6, args.seed)
        for statistic in args.statistics.split(","):
            ours, theirs = folder / "ours", folder / f"theirs.{statistic}.out"
            scan = [sys.executable, "-m", "oclgenomics", "sweeps", "scan", str(vcf), "-d", str(device.index), "-q"]
            scan += ["--stat", statistic, "--format", "selscan", "-o", str(ours)]
            peer = [str(Path(args.selscan).resolve()), *SELSCAN_OPTIONS[statistic], "--vcf", str(vcf)]
            peer += ["--threads", "2", "--out", str(folder / "theirs")]
            run_process(scan, 1)  # builds kernels
            found = {"ours": run_process(scan, args.repeat), "selscan": run_process(peer, args.repeat)}
            results += [
                {
                    "statistic": statistic, "sites": sites, "program": program, "cpu": each["cpu"],
                    "peak_mb": each["peak_mb"], "lines_that_differ": differing(ours, theirs),
                }
                for program, each in found.items()
            ]  # fmt: skip
    print(table(results))
    write_json(
        args.json, {"benchmark": "sweeps_selscan", "machine": machine(device), "mb": args.mb, "results": results}
    )


if __name__ == "__main__":
    main()
