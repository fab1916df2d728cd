"""Scans for sweeps as whole processes, of many haplotypes from a file to a table; RAiSD in turn where it is installed.

    python benchmarks/sweeps.py [-d auto] [--haplotypes 2000] [--sites 200000] [--repeat 3] [--statistics mu nsl,ihs]
                                [--positions 1000] [--raisd PROGRAM] [--folder FOLDER] [--json FILE]

Haplotypes are mosaics of 60 founders that change about every 400 sites, with own mutations, so that linkage ends; a VCF
of phased diploid samples, in the system's cache. `mu` has a row for each window of sites, all other sets --positions
rows. `first s` is the first run, `s` the best of the others; `bound s` is the reading of the file by all cores at the
rate that was measured first.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, run_process, table, write_json
from processes import rates
from scale import PROGRAM

from oclgenomics.runtime import Engine, select_device

SEED, FOUNDERS, STRETCH, OWN, CHUNK = 37, 60, 400, 0.0005, 5_000
SETS = ["mu", "mu,pi,theta,tajima_d,fay_wu_h", "h12", "saltilassi", "nsl,ihs", "clr", "mu,clr,saltilassi,nsl"]


def write_vcf(path: Path, haplotypes: int, sites: int) -> None:
    """Write mosaics of founders, sites about 50 bp apart."""
    rng = np.random.default_rng(SEED)
    frequency = rng.beta(0.3, 1.2, sites)
    founders = (rng.random((FOUNDERS, sites)) < frequency).astype(np.uint8)
    positions = np.cumsum(rng.integers(1, 100, sites))
    now = rng.integers(0, FOUNDERS, haplotypes)
    with path.open("wb") as stream:
        names = "\t".join(f"s{number}" for number in range(haplotypes // 2))
        stream.write(b"##fileformat=VCFv4.2\n##contig=<ID=1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t")
        stream.write(names.encode() + b"\n")
        text = np.tile(np.frombuffer(b"\t0|0", np.uint8), (CHUNK, haplotypes // 2, 1))
        for begin in range(0, sites, CHUNK):
            size = min(CHUNK, sites - begin)
            changes = rng.random((haplotypes, size)) < 1 / STRETCH
            path_of = np.where(changes, rng.integers(0, FOUNDERS, changes.shape), -1)
            path_of[:, 0] = now
            last = np.maximum.accumulate(np.where(path_of >= 0, np.arange(size), 0), axis=1)
            path_of = np.take_along_axis(path_of, last, 1)
            now = path_of[:, -1]
            states = founders[path_of, np.arange(begin, begin + size)]
            states ^= rng.random(states.shape) < OWN
            states[0, states.min(0) == states.max(0)] ^= 1
            text[:size, :, 1] = ord("0") + states[::2].T
            text[:size, :, 3] = ord("0") + states[1::2].T
            rows = text.reshape(CHUNK, -1)
            for row, position in zip(rows[:size], positions[begin : begin + size].tolist(), strict=True):
                stream.write(b"1\t%d\t.\tA\tT\t.\tPASS\t.\tGT" % position)
                stream.write(row.data)
                stream.write(b"\n")


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--haplotypes", type=int, default=2_000)
    parser.add_argument("--sites", type=int, default=200_000)
    parser.add_argument("--positions", type=int, default=1_000)
    parser.add_argument("--statistics", nargs="+", default=SETS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--raisd")
    parser.add_argument("--folder")
    parser.add_argument("--json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        with Engine(select_device(args.device)) as engine:
            record: dict[str, Any] = {"benchmark": "sweeps", **machine(engine.device)}
            record |= {"haplotypes": args.haplotypes, "sites": args.sites, "GB/s": rates(engine, folder)}
        path, outputs, rows = folder / "mosaics.vcf", folder / "outputs", []
        write_vcf(path, args.haplotypes, args.sites)
        record["MB"] = path.stat().st_size / 1e6
        bound = record["MB"] / 1e3 / record["GB/s"]["file"]
        for statistics in args.statistics:
            grid = [] if statistics == "mu" else ["--grid", str(args.positions)]
            words = ["sweeps", "scan", str(path), "--stat", statistics, *grid, "-q", "-d", args.device]
            run = run_process([*PROGRAM, *words, "-o", str(outputs / "own.tsv")], args.repeat + 1, outputs=outputs)
            row = {"statistics": statistics, "first s": run["seconds"][0], "s": min(run["seconds"][1:])}
            rows.append({**row, "CPU s": run["cpu"], "MB": run["peak_mb"], "bound s": bound})
            print(table(rows[-1:]), flush=True)
            if args.raisd and statistics == "mu":
                words = [args.raisd, "-n", "peer", "-I", str(path), "-f"]
                peer = run_process(words, 1, outputs=outputs, folder=outputs)
                rows.append({"statistics": "mu, RAiSD", "s": peer["best"], "CPU s": peer["cpu"], "MB": peer["peak_mb"]})
                print(table(rows[-1:]), flush=True)
            record["rows"] = rows
            write_json(args.json, record)


if __name__ == "__main__":
    main()
