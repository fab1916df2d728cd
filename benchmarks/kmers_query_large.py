"""Look-up of few and of many sequences in a large database, next to reading it, and Jellyfish where it is installed.

    python benchmarks/kmers_query_large.py [--device cpu] [--cases 200e6:5e6,200e6:100e6,5e6:0.1e6] [--ks 31,55]
                                           [--repeat 3] [--before FOLDER] [--peers jellyfish] [--keep FOLDER]
                                           [--json FILE]

A case is the bases of a random genome, whose k-mers the database holds, and those of a FASTA file: half of it is that
genome with 0.2 % of the bases changed, half is another one. Each program is a process of its own, timed from start to
exit, output on disk. Programs run in turn, `--repeat` times; Jellyfish runs once for each case with the first k, with
one thread: it has no more for this. `read and verify` decodes all sections and verifies their checksums, without a
look-up. `--before` names a folder with another version of the package, whose results are compared with ours.
`--keep` names a folder for files, in which databases stay and are used again; 10^9 k-mers take 5 GB there, 4 GB of
memory and a minute.
"""

from __future__ import annotations

import argparse
import contextlib
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from kmers_data import BASES, SEED
from measure import host, machine, run_process, table, write_json

from oclgenomics.runtime import select_device

CHANGED, RECORDS, WIDTH = 0.002, 10, 80
READ = """import sys
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.runtime import Engine
with Engine(sys.argv[2]) as engine, KmerDatabase.open(sys.argv[1]) as database:
    for runs in database.runs(engine):
        pass
"""
AS_MODULE = "import sys; sys.path.insert(0, sys.argv.pop(1)); from oclgenomics.cli.main import main; sys.exit(main())"

Row = dict[str, Any]


def write_fasta(path: Path, records: list[np.ndarray]) -> None:
    """Write sequences in lines of the usual width."""
    with path.open("wb") as stream:
        for number, record in enumerate(records):
            whole = len(record) // WIDTH * WIDTH
            lines = np.full((whole // WIDTH, WIDTH + 1), ord("\n"), np.uint8)
            lines[:, :WIDTH] = record[:whole].reshape(-1, WIDTH)
            stream.write(b">s%d\n%b%b\n" % (number, lines.tobytes(), record[whole:].tobytes()))


def write_related(path: Path, genome: np.ndarray, length: int) -> None:
    """Write sequences of which half are those of a genome, some bases changed."""
    rng = np.random.default_rng(SEED + length)
    records, size = [], length // RECORDS
    for number in range(RECORDS):
        begin = len(genome) // RECORDS * number
        record = genome[begin : begin + size].copy() if number % 2 else BASES[rng.integers(0, 4, size, np.uint8)]
        wrong = rng.random(len(record)) < CHANGED
        record[wrong] = BASES[rng.integers(0, 4, int(wrong.sum()))]
        records.append(record)
    write_fasta(path, records)


def database_of(folder: Path, bases: int, k: int) -> Path:
    """Return where the database of a genome is."""
    return folder / f"db-{bases}-{k}"


def measured(args: argparse.Namespace, folder: Path, case: Row, peers: list[str], device: str) -> list[Row]:
    """Every program with a database and a file, in turn."""
    outputs, database = folder / "outputs", database_of(folder, case["bases"], case["k"])
    query = ["kmers", "query", str(database), "--file", str(folder / "x.fa"), "--per-record", "-d", device, "-q"]
    query += ["-o", str(outputs / "out")]
    commands = {
        "read and verify": [sys.executable, "-c", READ, str(database), device],
        "kmers query": [sys.executable, "-m", "oclgenomics", *query],
    }
    if args.before:
        commands["kmers query, before"] = [sys.executable, "-c", AS_MODULE, args.before, *query]
    if "jellyfish" in peers:
        jellyfish = shutil.which("jellyfish") or "jellyfish"
        line = [jellyfish, "query", "-s", str(folder / "x.fa"), "-o", str(outputs / "out"), str(folder / "db.jf")]
        commands["jellyfish query"] = line
    runs: dict[str, list[dict[str, Any]]] = {}
    for number in range(args.repeat):
        for name, command in commands.items():
            if number and name.startswith("jellyfish"):
                continue
            runs.setdefault(name, []).append(run_process(command, 1, outputs=outputs))
            if name == "kmers query":
                shutil.copy(outputs / "out", folder / "expected")
            elif name == "kmers query, before" and not filecmp.cmp(outputs / "out", folder / "expected", False):
                raise SystemExit("the results differ")
    return [
        {
            **case, "program": name, "runs": len(some), "median s": float(np.median([run["best"] for run in some])),
            "CPU s": min(run["cpu"] for run in some), "most CPU s": max(run["cpu"] for run in some),
            "peak MB": max(run["peak_mb"] for run in some),
        }
        for name, some in runs.items()
    ]  # fmt: skip


def main() -> int:
    """Make the files and run everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--cases", type=lambda text: text.split(","), default=["200e6:5e6", "200e6:100e6", "5e6:0.1e6"])
    parser.add_argument("--ks", type=lambda text: [int(k) for k in text.split(",")], default=[31, 55])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--before", metavar="FOLDER")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=["jellyfish"], help="none for ours alone")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    device = select_device(args.device)
    record: dict[str, Any] = {"machine": machine(device), "host": host(), "rows": []}
    cases = [tuple(int(float(size)) for size in case.split(":")) for case in args.cases]
    for bases in sorted({bases for bases, _ in cases}):
        genome = BASES[np.random.default_rng(SEED).integers(0, 4, bases, np.uint8)]
        with contextlib.nullcontext(args.keep) if args.keep else tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if "jellyfish" in args.peers or not all(database_of(folder, bases, k).exists() for k in args.ks):
                write_fasta(folder / "genome.fa", [genome])
            for k in args.ks:
                database = database_of(folder, bases, k)
                if not database.exists():
                    count = [sys.executable, "-m", "oclgenomics", "kmers", "count", str(folder / "genome.fa")]
                    count += ["-k", str(k), "-o", str(database), "-q", "-d", str(device.index)]
                    subprocess.run(count, check=True)
                peers = args.peers if k == args.ks[0] else []
                if "jellyfish" in peers:
                    line = ["jellyfish", "count", "-m", str(k), "-C", "-s", str(bases * 5 // 4), "-o"]
                    cores = str(len(os.sched_getaffinity(0)))
                    subprocess.run([*line, str(folder / "db.jf"), "-t", cores, str(folder / "genome.fa")], check=True)
                megabytes = database.stat().st_size / 1e6
                for length in (length for size, length in cases if size == bases):
                    write_related(folder / "x.fa", genome, length)
                    case = {"bases": bases, "database MB": megabytes, "k": k, "query bases": length}
                    record["rows"] += measured(args, folder, case, peers, str(device.index))
                    print(table(record["rows"]), file=sys.stderr, flush=True)
                    write_json(args.json, record)
    print(f"{device}\n{table(record['rows'])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
