"""Memory and CPU time of `classify query` by the size of the database, as whole processes.

    python benchmarks/classify_memory.py [-d intel] [--genomes 1,36,180] [--letters 1000000] [--reads 1000000]
                                         [--repeat 3] [--folder DIR] [--json FILE]

Databases of so many simulated genomes, and the same reads against each: a single one, and many. The first database is
the base, which should be small: what a query takes above it, divided by what its database is larger by, is how many
times a database is in memory. MB are 2^20 bytes.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from classify_data import Genomes, Shape, make_genomes, make_reads
from classify_tools import Ours
from measure import machine, run_process, table, write_json

from oclgenomics.runtime import select_device

SEED = 11
LENGTH, ERRORS = 100, 0.01  # of reads


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument(
        "--genomes", type=lambda text: [*map(int, text.split(","))], default=[1, 36, 180], metavar="N,..."
    )
    parser.add_argument("--letters", type=int, default=1_000_000, help="of a genome")
    parser.add_argument("--reads", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for the data; a temporary one if not given")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def make_databases(args: argparse.Namespace, genomes: Genomes, folder: Path, ours: Ours) -> list[Path]:
    """Build a database of the first so many genomes, for each number."""
    folders = [folder / str(count) for count in args.genomes]
    for count, database in zip(args.genomes, folders, strict=True):
        database.mkdir(parents=True, exist_ok=True)
        run_process(ours.build(genomes.references[:count], genomes.taxonomy, database), 1)
    return folders


def rows(args: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Time and memory of each database with few reads and many; runs of the databases take turns."""
    ours, genomes = Ours(args.device), make_genomes(folder / "genomes", Shape(max(args.genomes), 1, args.letters), SEED)
    databases = make_databases(args, genomes, folder, ours)
    found = []
    for reads in (1, args.reads):
        sample = folder / f"{reads} reads"
        sample.mkdir(exist_ok=True)
        files = make_reads(sample, genomes, SEED, reads, LENGTH, insert=0, errors=ERRORS)
        runs: list[list[dict[str, Any]]] = [[] for _ in databases]
        for _ in range(args.repeat + 1):  # the first one compiles kernels
            for database, own in zip(databases, runs, strict=True):
                own.append(run_process(ours.query(database, files, folder / "found"), 1))
        found += [row(reads, size_mb(database), own[1:]) for database, own in zip(databases, runs, strict=True)]
        add_times(found[-len(databases) :])
    return found


def size_mb(database: Path) -> float:
    """Size of a database."""
    return (database / "ours.db").stat().st_size / 2**20


def row(reads: int, size: float, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Say what runs with one database take."""
    peak, wall, cpu = (
        max(run["peak_mb"] for run in runs),
        min(run["best"] for run in runs),
        min(run["cpu"] for run in runs),
    )
    return {"reads": reads, "database MB": size, "peak MB": peak, "wall s": wall, "CPU s": cpu}


def add_times(found: list[dict[str, Any]]) -> None:
    """Say how many times a database is in memory, from what it takes above the first one."""
    found[0]["times the database"] = None
    for one in found[1:]:
        more = {name: one[name] - found[0][name] for name in ("peak MB", "database MB")}
        one["times the database"] = more["peak MB"] / more["database MB"]


def main() -> int:
    """Measure, print and write."""
    args = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        found = rows(args, args.folder or Path(temporary))
    print(table(found))
    if args.json:
        write_json(args.json, {"machine": machine(select_device(args.device)), "query": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
