"""Ten reads, and many, against databases of several sizes that stay in their files, as whole processes.

    python benchmarks/classify_mapping.py [-d intel] [--species 60,240,800] [--bases 1000000] [--reads 10,1000000]
                                          [--repeat 3] [--folder DIR] [--json FILE]

References are families of four strains of a species each (`classify_data`). Reads are classified with --memory-mapping,
with the default, and by programs on PATH that have databases in the folders (`metacache`, and `kraken2` with its
--memory-mapping and without); runs take turns, and the first run of each, after which a database is in the page cache,
does not count. Databases in --folder that are there already are not built again, and programs without one are left
out. MB are 2^20 bytes.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from classify_data import Genomes, Shape, make_genomes, make_reads
from classify_tools import Kraken2, MetaCache, Ours, measure_queries
from measure import run_process

SEED, STRAINS = 13, 4
LENGTH, ERRORS = 150, 0.01  # of reads
THREADS = 2
MAPPED = ["--memory-mapping"]


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = {"type": lambda text: [*map(int, text.split(","))], "metavar": "N,..."}
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--species", default=[60, 240, 800], **numbers)
    parser.add_argument("--bases", type=int, default=1_000_000, help="of a genome")
    parser.add_argument("--reads", default=[10, 1_000_000], **numbers)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for the data; a temporary one if not given")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def references(folder: Path, shape: Shape) -> Genomes:
    """The references of a folder, which are made if they are not there."""
    found, taxonomy = sorted((folder / "genomes").glob("*.fna")), folder / "genomes" / "taxonomy"
    if len(found) < shape.species or not (taxonomy / "names.dmp").exists():
        return make_genomes(folder / "genomes", shape, SEED)
    return Genomes(found, taxonomy, shape, sum(path.stat().st_size for path in found))


def commands(ours: Ours, folder: Path, reads: Path) -> Iterator[tuple[str, Path, list[str]]]:
    """Name each program with the file of its database, and how it classifies reads."""
    query, output = ours.query(folder, [reads], folder / "found"), folder / "found"
    yield "oclgenomics --memory-mapping", folder / "ours.db", [*query, *MAPPED]
    yield "oclgenomics", folder / "ours.db", query
    if (path := shutil.which("metacache")) and (database := folder / "mc.cache0").exists():
        yield "MetaCache", database, MetaCache(path, THREADS).query(folder, [reads], output)
    if (path := shutil.which("kraken2")) and (database := folder / "kraken2" / "hash.k2d").exists():
        for options in (MAPPED, []):
            command = Kraken2(path, THREADS, tuple(options)).query(folder, [reads], output)
            yield " ".join(["Kraken 2", *options]), database, command


def rows(args: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Time and memory of each program with each database and number of reads."""
    ours, found = Ours(args.device), []
    for species in args.species:
        place = folder / str(species)
        place.mkdir(exist_ok=True)
        genomes = references(place, Shape(species, STRAINS, args.bases))
        if not (place / "ours.db").exists():
            run_process(ours.build([place / "genomes"], genomes.taxonomy, place), 1)
        for count in args.reads:
            sample = place / f"{count} reads"
            sample.mkdir(exist_ok=True)
            (reads,) = make_reads(sample, genomes, SEED, count, LENGTH, insert=0, errors=ERRORS)
            known = list(commands(ours, place, reads))
            runs: list[list[dict[str, Any]]] = [[] for _ in known]
            for _ in range(args.repeat + 1):
                for own, (_, _, command) in zip(runs, known, strict=True):
                    own.append(run_process(command, 1, folder=place))
            for own, (name, database, _) in zip(runs, known, strict=True):
                found.append(row(name, count, genomes, database, own[1:]))
    return found


def row(name: str, reads: int, genomes: Genomes, database: Path, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Say what runs of a program with a database take."""
    return {
        "program": name, "reads": reads, "references MB": genomes.bytes / 2**20,
        "database MB": database.stat().st_size / 2**20, "CPU s": float(np.median([run["cpu"] for run in runs])),
        "wall s": min(run["best"] for run in runs), "peak MB": max(run["peak_mb"] for run in runs),
        "CPU seconds": [run["cpu"] for run in runs],
    }  # fmt: skip


if __name__ == "__main__":
    measure_queries(arguments(), rows)
