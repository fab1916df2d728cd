"""Classification of reads: databases built and queried, by ours and by other programs, as in the paper's tables.

    python benchmarks/classify.py [-d gpu] [--parts build,query,otf,breakdown] [--species 36] [--strains 1]
                                  [--letters 1000000] [--reads 2000000] [--repeat 3] [--json FILE] [--plot FILE.png]
                                  [--folder DIR] [--quick]

References are families of random genomes (`classify_data`), reads are of 64 species at most with 1 % errors: 100 and
250 letters, and pairs of 101. All files are in the page cache. Programs on PATH (`metacache`, `kraken2`) run in turn
with ours, with as many threads as there are cores.

`build` (Table 3): wall time of processes, databases written, and peak memory. `warm` is `build()` in a process that has
built before, without writing; `device GB/s` are bytes of FASTA over the time of all kernels.

`query` (Table 4): `process s` is the wall time of a process with all reads, and `reads/s` what all reads take more than
a tenth of them, so that starting and loading do not count. `warm` is `Index.iter_query` in a process that has done it
before, calls included, without text; `device M/s` are reads over the time of all kernels.

`otf` (Table 5, Fig. 4): the time until reads can be queried, and of build, write, load and query in one process and
in two.

`breakdown` (Fig. 5): shares of kernels in a query.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classify_data import Genomes, Shape, make_genomes, make_reads
from classify_figures import draw
from classify_steps import breakdown, warm_build, warm_query
from classify_tools import Ours, tools
from measure import machine, run_process, table, write_json

from oclgenomics.io.cores import usable_cores
from oclgenomics.runtime import Engine, select_device

PARTS = ("build", "query", "otf", "breakdown")
SEED = 20
ERRORS = 0.01


@dataclass(frozen=True)
class Sample:
    """Reads of one kind: all of them, and a tenth."""

    name: str
    reads: int
    files: list[Path]
    few: list[Path]

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.files)


@dataclass(frozen=True)
class Bench:
    """What all parts work with."""

    args: argparse.Namespace
    engine: Engine
    folder: Path
    genomes: Genomes
    samples: list[Sample]

    @property
    def databases(self) -> Path:
        return self.folder / "databases"


def make_sample(folder: Path, genomes: Genomes, name: str, reads: int, length: int, insert: int = 0) -> Sample:
    """Simulate reads."""
    parts = []
    for part, number in (("all", reads), ("few", max(reads // 10, 1))):
        (folder / part).mkdir(exist_ok=True)
        parts.append(make_reads(folder / part, genomes, SEED, number, length, insert=insert, errors=ERRORS))
    return Sample(name, reads, *parts)


def build_rows(bench: Bench) -> list[dict[str, Any]]:
    """Databases of all programs."""
    genomes, rows = bench.genomes, []
    for tool in tools(bench.args.device, usable_cores()):
        for command in tool.prepare(genomes.references, genomes.taxonomy, bench.databases):
            run_process(command, 1)
        command = tool.build(genomes.references, genomes.taxonomy, bench.databases)
        repeat = 1 if tool.name.startswith("Kraken2") else bench.args.repeat
        run = run_process(command, repeat + isinstance(tool, Ours))
        seconds = run["seconds"][isinstance(tool, Ours) :]  # the first one of ours compiles kernels
        best = min(seconds)
        row = {"program": tool.name, "process s": best, "MB/s": genomes.bytes / 1e6 / best, "peak MB": run["peak_mb"]}
        row |= {"seconds": seconds, "first s": run["seconds"][0]}
        if isinstance(tool, Ours):
            row |= {"database MB": (bench.databases / "ours.db").stat().st_size / 1e6}
            row |= warm_build(bench.engine, genomes, bench.args.repeat)
        rows.append(row)
    return rows


def query_rows(bench: Bench) -> list[dict[str, Any]]:
    """Samples classified by all programs that have built a database."""
    rows = []
    for sample in bench.samples:
        for tool in tools(bench.args.device, usable_cores()):
            if "--fast-build" in tool.name:
                continue
            output = bench.folder / "output.txt"
            warm_up = isinstance(tool, Ours)
            few = run_process(tool.query(bench.databases, sample.few, output), bench.args.repeat + warm_up)
            whole = run_process(tool.query(bench.databases, sample.files, output), bench.args.repeat)
            output.unlink(missing_ok=True)
            more = max(whole["best"] - min(few["seconds"][warm_up:]), 1e-9)
            rate = 0.9 * sample.reads / more
            row = {"reads": sample.name, "program": tool.name, "process s": whole["best"], "M reads/s": rate / 1e6}
            row |= {"M reads/min": rate * 60 / 1e6, "peak MB": whole["peak_mb"], "seconds": whole["seconds"]}
            row |= {"few seconds": few["seconds"]}
            if isinstance(tool, Ours):
                row |= warm_query(bench.engine, bench.databases / "ours.db", sample, bench.args.repeat)
            rows.append(row)
    return rows


def otf_rows(bench: Bench) -> list[dict[str, Any]]:
    """Building and querying in one process, and in two."""
    rows, genomes = [], bench.genomes
    for sample in bench.samples:
        reads = ["--paired", *map(str, sample.files)] if len(sample.files) == 2 else [str(sample.files[0])]
        own, output = Ours(bench.args.device), bench.folder / "output.txt"
        given = ["--targets", *map(str, genomes.references), "--taxonomy", str(genomes.taxonomy)]
        options = ["-o", str(output), "-d", bench.args.device, "-q"]
        # the reads come first: --targets takes all names behind it
        fly = run_process([*own.command("run"), *reads, *given, *options], bench.args.repeat + 1)
        build = run_process(own.build(genomes.references, genomes.taxonomy, bench.databases), bench.args.repeat)
        query = run_process(own.query(bench.databases, sample.files, output), bench.args.repeat)
        row = {"reads": sample.name, "on the fly s": min(fly["seconds"][1:]), "build and write s": build["best"]}
        row |= {"load and query s": query["best"], "two processes s": build["best"] + query["best"]}
        rows.append(row | {"runs": {"fly": fly, "build": build, "query": query}})
    return rows


def breakdown_rows(bench: Bench) -> list[dict[str, Any]]:
    """Kernels of queries."""
    rows = []
    with Engine(bench.engine.device, profile=True) as engine:
        for sample in bench.samples:
            rows += [{"reads": sample.name, **row} for row in breakdown(engine, bench.databases / "ours.db", sample)]
    return rows


ROWS = {"build": build_rows, "query": query_rows, "otf": otf_rows, "breakdown": breakdown_rows}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS), metavar="NAME,NAME,...")
    parser.add_argument("--species", type=int, default=36)
    parser.add_argument("--strains", type=int, default=1)
    parser.add_argument("--letters", type=int, default=1_000_000, help="of a genome")
    parser.add_argument("--reads", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="for the data; a temporary one if not given")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE.png", help="Figs. 4 and 5")
    parser.add_argument("--quick", action="store_true", help="small data, to see that all runs")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"--parts: there is no {', '.join(sorted(unknown))}; choose of {', '.join(PARTS)}")
    if args.parts != ["build"] and "build" not in args.parts:
        parser.error("--parts: the others need the databases of build")
    if args.quick:
        args.species, args.letters, args.reads, args.repeat = 4, 20_000, 2_000, 1
    return args


def make_bench(args: argparse.Namespace, engine: Engine, folder: Path) -> Bench:
    """Simulate the data."""
    genomes = make_genomes(folder / "genomes", Shape(args.species, args.strains, args.letters), SEED)
    (folder / "databases").mkdir(exist_ok=True)
    samples = [
        make_sample(folder, genomes, "100", args.reads, 100),
        make_sample(folder, genomes, "250", args.reads // 2, 250),
        make_sample(folder, genomes, "2 x 101", args.reads // 2, 101, 350),
    ]
    return Bench(args, engine, folder, genomes, samples)


def main() -> int:
    """Run the parts, and keep what is done if a later one fails."""
    args = arguments()
    with tempfile.TemporaryDirectory() as temporary, Engine(select_device(args.device)) as engine:
        bench = make_bench(args, engine, args.folder or Path(temporary))
        record: dict[str, Any] = {"machine": machine(engine.device), "references": bench.genomes.bytes}
        record["samples"] = {sample.name: {"reads": sample.reads, "bytes": sample.bytes} for sample in bench.samples}
        try:
            for part in args.parts:
                record[part] = ROWS[part](bench)
                shown = [{k: v for k, v in row.items() if not isinstance(v, (list, dict))} for row in record[part]]
                for group in _alike(shown):
                    print(f"\n{part}\n{table(group)}", flush=True)
        finally:
            write_json(args.json, record)
        if args.plot:
            draw(record, args.plot)
    return 0


def _alike(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Rows of the same columns together: ours have more than those of other programs."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row), []).append(row)
    return list(groups.values())


if __name__ == "__main__":
    sys.exit(main())
