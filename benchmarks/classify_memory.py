"""Memory and CPU time of `classify query` and `classify verify` by the size of the database, as whole processes.

    python benchmarks/classify_memory.py [-d intel] [--genomes 1,36,180] [--letters 1000000] [--reads 1000000]
                                         [--repeat 3] [--folder DIR] [--before TREE] [--json FILE]

Databases of so many simulated genomes, and the same reads against each: a single one, and many. The first database is
the base, which should be small: what a query takes above it, divided by what its database is larger by, is how many
times a database is in memory. MB are 2^20 bytes.

With --before, the sources of another version of the program are measured, too, with databases of its own: each of its
runs comes right before one of this version's. `verify` reads all of a database on the host, without a device. Times are
medians, so that other work on the machine meets both.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from classify_data import Genomes, Shape, make_genomes, make_reads
from classify_tools import Ours, measure_queries
from measure import run_process

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
    parser.add_argument("--before", type=Path, metavar="TREE", help="sources of a version to compare with")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


@dataclass(frozen=True)
class Version:
    """A version of the program, and its databases."""

    name: str
    tree: Path | None
    ours: Ours
    folder: Path

    def run(self, command: list[str]) -> dict[str, Any]:
        """Run a command of this version."""
        path = {} if self.tree is None else {"PYTHONPATH": str(self.tree)}
        with mock.patch.dict(os.environ, path):
            return run_process(command, 1, folder=self.folder)

    def make_databases(self, counts: Sequence[int], genomes: Genomes) -> list[Path]:
        """Build a database of the first so many genomes, for each number."""
        folders = [self.folder / str(count) for count in counts]
        for count, database in zip(counts, folders, strict=True):
            database.mkdir(parents=True, exist_ok=True)
            self.run(self.ours.build(genomes.references[:count], genomes.taxonomy, database))
        return folders


def rows(args: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Time and memory of each database with few reads and many, and of verifying it; runs take turns."""
    ours, genomes = Ours(args.device), make_genomes(folder / "genomes", Shape(max(args.genomes), 1, args.letters), SEED)
    versions = [Version("", None, ours, folder)]
    if args.before:
        versions.insert(0, Version("before", args.before, ours, folder / "before"))
    databases = [version.make_databases(args.genomes, genomes) for version in versions]
    places = [(version, path) for version, own in zip(versions, databases, strict=True) for path in own]
    places = [place for number in range(len(args.genomes)) for place in places[number :: len(args.genomes)]]
    works: list[tuple[str, Callable[[Path], list[str]]]] = []
    for reads in (1, args.reads):
        sample = folder / f"{reads} reads"
        sample.mkdir(exist_ok=True)
        files = make_reads(sample, genomes, SEED, reads, LENGTH, insert=0, errors=ERRORS)
        works.append((f"query, {reads:,} reads", partial(ours.query, reads=files, output=folder / "found")))
    works.append(("verify", lambda path: [*ours.command("verify"), str(path / "ours.db"), "-q"]))
    found = []
    for what, command in works:
        runs: list[list[dict[str, Any]]] = [[] for _ in places]
        for _ in range(args.repeat + 1):  # the first one compiles kernels
            for (version, database), own in zip(places, runs, strict=True):
                own.append(version.run(command(database)))
        own_rows = [row(what, *place, own[1:]) for place, own in zip(places, runs, strict=True)]
        for version in versions:
            add_times([one for one in own_rows if one["version"] == version.name])
        found += own_rows
    return found


def row(what: str, version: Version, database: Path, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Say what runs with one database take."""
    size = (database / "ours.db").stat().st_size / 2**20
    wall, cpu = (float(np.median([run[name] for run in runs])) for name in ("best", "cpu"))
    peak = max(run["peak_mb"] for run in runs)
    return {
        "what": what, "version": version.name, "database MB": size, "peak MB": peak, "wall s": wall, "CPU s": cpu,
        "CPU seconds": [run["cpu"] for run in runs], "wall seconds": [run["best"] for run in runs],
    }  # fmt: skip


def add_times(found: list[dict[str, Any]]) -> None:
    """Say how many times a database is in memory, from what it takes above the first one."""
    found[0]["times the database"] = None
    for one in found[1:]:
        more = {name: one[name] - found[0][name] for name in ("peak MB", "database MB")}
        one["times the database"] = more["peak MB"] / more["database MB"]


if __name__ == "__main__":
    measure_queries(arguments(), rows)
