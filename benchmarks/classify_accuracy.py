"""How well reads are classified: precision, sensitivity and F1 by species and genus, beside other programs.

    python benchmarks/classify_accuracy.py [-d cpu] [--seeds 3001,3002] [--reads 40000] [--kinds 100,250,2x150]
                                           [--viral DIR] [--json FILE] [--quick]

Each seed makes a set of 36 reference genomes (36 Mbp) by `oclgenomics simulate genomes`, with its defaults, and reads
of other strains of their species (70 %), of novel species of their genera (20 %) and of aliens (10 %), with 1 % of
errors.
`--viral` names a folder of real ones with ref/, tax/ and reads/: se150 and pe125, with tables of what they are of.

Kraken 2 runs with its defaults and with --confidence 0.1, MetaCache with its defaults and with -hitmin 2 and 3, where
they are on PATH; all results are judged by `oclgenomics classify evaluate`. `aliens` are those called a genus.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from classify_tools import Kraken2, MetaCache, Ours, Tool, tools
from measure import machine, table, write_json

from oclgenomics.classify.evaluation import Evaluation, evaluate, read_calls, read_truth
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.runtime import select_device

KINDS = {"100": ["--length", "100"], "150": ["--length", "150"], "250": ["--length", "250"],
         "2x150": ["--length", "150", "--paired"]}  # fmt: skip
QUICK = ["--genera", "4", "--length", "100k"]
QUICK_READS = 2_000


@dataclass(frozen=True)
class Reads:
    """Reads of a set, and what they are of."""

    name: str
    files: list[Path]
    truth: Path


@dataclass(frozen=True)
class Sample:
    """References, and reads to classify with them."""

    name: str
    references: list[Path]
    taxonomy: Path
    reads: list[Reads]


def simulated(args: argparse.Namespace, seed: int, folder: Path) -> Sample:
    """Simulate a set."""
    genomes = folder / f"genomes-{seed}"
    run(ours("simulate", "genomes", "--seed", seed, "-o", genomes, "-q", *(QUICK if args.quick else [])))
    reads = []
    for number, kind in enumerate(args.kinds):
        names = [folder / f"{seed}-{kind}-{mate}.fq" for mate in range(1 + ("x" in kind))]
        truth = folder / f"{seed}-{kind}.tsv"
        mates = ["--mates", names[1]] if len(names) == 2 else []
        run(ours("simulate", "reads", "--seed", 10 * seed + number, "--genomes", genomes, "--reads", args.reads,
                 *KINDS[kind], "-o", names[0], *mates, "--truth", truth, "-q"))  # fmt: skip
        reads.append(Reads(kind, names, truth))
    return Sample(f"simulated {seed}", sorted((genomes / "references").iterdir()), genomes / "taxonomy", reads)


def real_viruses(folder: Path) -> Sample:
    """The set of a folder."""
    reads = folder / "reads"
    single = Reads("150", [reads / "se150.fq.gz"], reads / "se150.truth.tsv")
    pairs = Reads("2x125", [reads / "pe125_1.fq.gz", reads / "pe125_2.fq.gz"], reads / "pe125.truth.tsv")
    return Sample("viruses", sorted((folder / "ref").iterdir()), folder / "tax", [single, pairs])


def rivals(device: str) -> Iterator[tuple[Tool, list[Tool]]]:
    """Programs, each with its variants that query the same database."""
    for tool in tools(device, 2):
        if isinstance(tool, MetaCache):
            taxids = ("-lowest", "species", "-taxids-only", "-lineage", "-separate-cols")
            fewer = [replace(tool, options=(*taxids, "-hitmin", f"{hits}"), name=f"MetaCache -hitmin {hits}")
                     for hits in (2, 3)]  # fmt: skip
            yield tool, [replace(tool, options=taxids), *fewer]
        elif isinstance(tool, Kraken2) and not tool.fast:
            yield tool, [tool, replace(tool, options=("--confidence", "0.1"), name="Kraken2 --confidence 0.1")]
        elif isinstance(tool, Ours):
            yield tool, [tool]


def query(tool: Tool, database: Path, reads: Reads, output: Path) -> list[str]:
    """The command of a query whose output holds taxids."""
    command = tool.query(database, reads.files, output)
    if isinstance(tool, Ours):
        command[command.index("native")] = "kraken"
    return command


def judged(sample: Sample, device: str, folder: Path) -> Iterator[tuple[str, str, Evaluation]]:
    """Classify the reads of a set by all programs."""
    taxonomy = read_taxonomy(sample.taxonomy)
    for builder, variants in rivals(device):
        with tempfile.TemporaryDirectory(dir=folder) as database:
            for command in builder.prepare(sample.references, sample.taxonomy, Path(database)):
                run(command)
            run(builder.build(sample.references, sample.taxonomy, Path(database)))
            for tool in variants:
                for reads in sample.reads:
                    output = Path(database) / "calls"
                    run(query(tool, Path(database), reads, output))
                    found = evaluate(read_truth(reads.truth), read_calls(output), taxonomy)
                    yield tool.name, reads.name, found


def run(command: list[str]) -> None:
    """Run a program to its end."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")


def ours(*words: object) -> list[str]:
    """A command of this package."""
    return [sys.executable, "-m", "oclgenomics", *map(str, words)]


def row_of(sample: str, reads: str, tool: str, found: Evaluation) -> dict[str, Any]:
    """What the table and the JSON tell of a result."""
    row: dict[str, Any] = {"set": sample, "reads": reads, "tool": tool}
    for at in found.ranks:
        row |= {f"{at.rank} {name}": getattr(at, name.lower()).value for name in ("precision", "sensitivity", "F1")}
    aliens = found.ranks[-1].counts["false"] / found.aliens if found.aliens else None
    return row | {"aliens": aliens, "evaluation": asdict(found)}


def main() -> None:
    """Print a table, and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--seeds", default="3001,3002", type=lambda text: [int(one) for one in text.split(",") if one])
    parser.add_argument("--reads", type=int, default=40_000)
    parser.add_argument("--kinds", default="100,150,250,2x150", type=lambda text: text.split(","))
    parser.add_argument("--viral", type=Path, metavar="DIR")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="small sets, to see that all works")
    args = parser.parse_args()
    if args.quick:
        args.seeds, args.reads = args.seeds[:1], min(args.reads, QUICK_READS)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples = [simulated(args, seed, folder) for seed in args.seeds]
        samples += [real_viruses(args.viral)] if args.viral else []
        for sample in samples:
            for tool, reads, found in judged(sample, args.device, folder):
                rows.append(row_of(sample.name, reads, tool, found))
                print(f"{sample.name}, {reads}: {tool}", file=sys.stderr)
    rows.sort(key=lambda row: (row["set"], row["reads"]))
    print(table([shown(row) for row in rows]))
    if args.json:
        write_json(args.json, machine(select_device(args.device)) | {"results": rows})


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table: shares with three digits."""
    return {name: f"{value:.3f}" if isinstance(value, float) else value or "-" for name, value in row.items()
            if name != "evaluation"}  # fmt: skip


if __name__ == "__main__":
    main()
