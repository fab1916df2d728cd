"""Scans for sweeps in pieces, and on workers of one device: CPU seconds of each piece and of `combine`.

    python benchmarks/sweeps_pieces.py [-d cpu] [--haplotypes 400] [--sites 20000] [--pieces 4]
                                       [--statistics pi,theta mu saltilassi nsl,ihs clr] [--replicates 99] [--json FILE]

The VCF of `sweeps.py`, and neutral replicates that each piece simulates. Pieces run one after the other, each as a
process of its own. `one` is one run, `piece` the largest of the pieces, `combine` what puts them together, `workers` a
run with `--workers D,D`: two processes on the same device. What comes out is compared with that of one run.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measure import host, run_process, table, write_json
from scale import PROGRAM, same
from sweeps import write_vcf

from oclgenomics.runtime import select_device

SETS = ["pi,theta", "mu", "h12", "saltilassi", "nsl,ihs", "clr"]
REPLICATES = (
    "sweeps threshold --samples 100 --length 500k --seed 1 --jobs 1 --stat mu,pi,saltilassi,nsl --ehh-edge keep"
)


def measured(words: Sequence[str], folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """CPU seconds of a command as one run, in pieces and on workers."""
    where = ["-d", args.device, "-q"]
    whole, combined = folder / "whole.tsv", folder / "combined.tsv"
    row = {"one": run_process([*PROGRAM, *words, *where, "-o", str(whole)], args.repeat)["cpu"]}
    pieces = [folder / f"{number}.piece" for number in range(1, args.pieces + 1)]
    seconds = []
    for number, piece in enumerate(pieces, 1):
        shard = ["--shard", f"{number}/{args.pieces}", "-o", str(piece)]
        seconds.append(run_process([*PROGRAM, *words, *where, *shard], args.repeat)["cpu"])
    row |= {"piece": max(seconds), "all pieces": sum(seconds)}
    combine = [*PROGRAM, "sweeps", "combine", *map(str, pieces), "-o", str(combined), "-q"]
    row["combine"] = run_process(combine, args.repeat)["cpu"]
    row["pieces MB"] = sum(piece.stat().st_size for piece in pieces) / 1e6
    if not same(whole, combined):
        raise SystemExit(f"{' '.join(words)}: pieces do not give what one run gives")
    number = select_device(args.device).index
    workers = [*PROGRAM, *words, "--workers", f"{number},{number}", "-q", "-o", str(combined)]
    row["workers"] = run_process(workers, args.repeat)["cpu"]
    if not same(whole, combined):
        raise SystemExit(f"{' '.join(words)}: workers do not give what one run gives")
    return row


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--haplotypes", type=int, default=400)
    parser.add_argument("--sites", type=int, default=20_000)
    parser.add_argument("--pieces", type=int, default=4)
    parser.add_argument("--statistics", nargs="*", default=SETS)
    parser.add_argument("--replicates", type=int, default=99)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json")
    args = parser.parse_args()
    device = select_device(args.device)
    record: dict[str, Any] = {
        "benchmark": "sweeps in pieces", "host": host(), "device": f"{device.name}, driver {device.driver}",
        "haplotypes": args.haplotypes, "sites": args.sites, "pieces": args.pieces, "rows": [],
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_vcf(folder / "x.vcf", args.haplotypes, args.sites)
        jobs = {one: ["sweeps", "scan", str(folder / "x.vcf"), "--stat", one] for one in args.statistics}
        if args.replicates:
            jobs["threshold"] = [*REPLICATES.split(), "--replicates", str(args.replicates)]
        for job, words in jobs.items():
            record["rows"].append({"job": job, **measured(words, folder, args)})
            print(table(record["rows"][-1:]), flush=True)
    write_json(args.json, record)


if __name__ == "__main__":
    main()
