"""Look-up of all k-mers of FASTA and FASTQ files in a database, compared with Jellyfish where it is installed.

    python benchmarks/kmers_query.py [--device gpu] [--genome FILE] [--bases 10e6] [--coverage 10] [--k 31]
                                     [--letters 50e6] [--reports per-record,counts,...] [--repeat 3] [--host]
                                     [--peers jellyfish] [--json FILE]

The database holds the k-mers that reads of a genome have at least twice; it is made first, and so is Jellyfish's. The
FASTA is of contigs of that genome with 0.2 % of the bases changed, the FASTQ of the first reads. Each program is a
process of its own, timed from start to exit, output on disk. Programs run in turn, `--repeat` times, Jellyfish once
in each file, with one thread: it has no more for this. Its lines are those of `--per-kmer` without record and position,
and the sums of all counts are compared. `--host` runs our look-ups on the host as well, once for the first report.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from kmers_data import BASES, SEED, genome_of, write_set
from measure import host, machine, run_process, table, write_json

from oclgenomics.runtime import select_device

REPORTS = ["per-record", "counts", "bed", "bedgraph", "per-kmer"]
OUTPUTS = "outputs"
CHANGED, CONTIG, WIDTH = 0.002, 20_000, 80

Row = dict[str, Any]


def write_contigs(path: Path, genome: np.ndarray, letters: int) -> None:
    """Write contigs of a genome, of which some bases differ."""
    rng = np.random.default_rng(SEED + 5)
    with path.open("wb") as stream:
        for number in itertools.count():
            if letters <= 0:
                return
            size = int(min(rng.exponential(CONTIG) + 200, letters, len(genome) // 2))
            begin = int(rng.integers(0, len(genome) - size))
            contig = genome[begin : begin + size].copy()
            wrong = rng.random(size) < CHANGED
            contig[wrong] = BASES[rng.integers(0, 4, int(wrong.sum()))]
            lines = [contig[at : at + WIDTH].tobytes() for at in range(0, size, WIDTH)]
            stream.write(b"\n".join([b">contig%d" % number, *lines]) + b"\n")
            letters -= size


def write_first_reads(reads: Path, path: Path, letters: int) -> None:
    """Write the first records of a FASTQ file with four lines each."""
    with reads.open("rb") as source, path.open("wb") as stream:
        while letters > 0:
            record = list(itertools.islice(source, 4))
            if not record:
                return
            stream.write(b"".join(record))
            letters -= len(record[1]) - 1


def own(database: Path, file: Path, report: str, output: Path, device: str) -> list[str]:
    """Our command line."""
    words = [sys.executable, "-m", "oclgenomics", "kmers", "query", str(database), "--file", str(file)]
    return [*words, f"--{report}", "-o", str(output), "-d", device, "-q"]


def total_of(path: Path, column: int, separator: str) -> int:
    """The sum of a column."""
    command = ["awk", "-F", separator, f'{{ total += ${column} }} END {{ printf "%.0f", total }}', str(path)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measured(args: argparse.Namespace, folder: Path, file: Path, device: str) -> list[Row]:
    """Every report of a file, and its peers, in turn."""
    outputs = folder / OUTPUTS
    runs: dict[str, list[dict[str, Any]]] = {}
    totals: dict[str, int] = {}
    for number in range(args.repeat):
        for report in args.reports:
            command = own(folder / "db", file, report, outputs / "own", device)
            runs.setdefault(report, []).append(run_process(command, 1, outputs=outputs))
            if report == "per-kmer" and not number:
                totals["own"] = total_of(outputs / "own", 4, "\t")
        if not number and "jellyfish" in args.peers:
            command = [shutil.which("jellyfish") or "jellyfish", "query", "-s", str(file), "-o", str(outputs / "jf")]
            runs["jellyfish"] = [run_process([*command, str(folder / "db.jf")], 1, outputs=outputs)]
            totals["jellyfish"] = total_of(outputs / "jf", 2, " ")
        if not number and args.host:
            command = own(folder / "db", file, args.reports[0], outputs / "own", "host")
            runs[f"{args.reports[0]}, host"] = [run_process(command, 1, outputs=outputs)]
    if len(set(totals.values())) > 1:
        raise SystemExit(f"the sums of the counts differ: {totals}")
    rows = []
    for name, some in runs.items():
        seconds = [run["best"] for run in some]
        rows.append({
            "file": file.name, "megabytes": file.stat().st_size / 1e6, "report": name, "runs": len(some),
            "median s": float(np.median(seconds)), "least s": min(seconds), "most s": max(seconds),
            "CPU s": min(run["cpu"] for run in some), "peak MB": max(run["peak_mb"] for run in some),
        })  # fmt: skip
    return rows


def main() -> int:
    """Make the files and run everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--genome", metavar="FILE")
    parser.add_argument("--bases", type=float, default=10e6)
    parser.add_argument("--coverage", type=float, default=10)
    parser.add_argument("--k", type=int, default=31)
    parser.add_argument("--letters", type=float, default=50e6, help="bases of each file that is looked up")
    parser.add_argument("--reports", type=lambda text: text.split(","), default=REPORTS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=["jellyfish"], help="none for ours alone")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    device, genome = select_device(args.device), genome_of(args.genome, int(args.bases))
    record: dict[str, Any] = {"machine": machine(device), "host": host(), "k": args.k, "rows": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_set("plain", folder / "all.fq", genome, args.coverage)
        write_contigs(folder / "contigs.fa", genome, int(args.letters))
        write_first_reads(folder / "all.fq", folder / "reads.fq", int(args.letters))
        count = [sys.executable, "-m", "oclgenomics", "kmers", "count", str(folder / "all.fq"), "-k", str(args.k)]
        subprocess.run([*count, "--min-count", "2", "-o", str(folder / "db"), "-q"], check=True)
        if "jellyfish" in args.peers:
            jellyfish = ["jellyfish", "count", "-m", str(args.k), "-C", "-L", "2", "-s", "100M"]
            cores = str(len(os.sched_getaffinity(0)))
            subprocess.run([*jellyfish, "-t", cores, "-o", str(folder / "db.jf"), str(folder / "all.fq")], check=True)
        for file in ("contigs.fa", "reads.fq"):
            record["rows"] += measured(args, folder, folder / file, str(device.index))
            print(table(record["rows"]), file=sys.stderr, flush=True)
            write_json(args.json, record)
    print(f"{device}\n{table(record['rows'])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
