"""How well long reads are classified, compared with other programs.

    python benchmarks/classify_long.py [-d cpu] [--worlds own:7001,genes-near:7103] [--reads 1000]
                                       [--kinds ont-1k-8,ont-5k-5,...] [--json FILE] [--quick]

Worlds are those of classify_accuracy.py: 18 references of 6 genera (18 Mbp); reads of other strains of their species
(70 %), of species of their genera without a reference (20 %) and of aliens (10 %). In a world that ends in -near the
species of a genus are nearer to each other. Reads have indels: of each hundred
errors of ONT 45 are substitutions, 35 deletions and 20 insertions, and of HiFi 10, 45 and 45; indels are three times as
likely within runs of three equal bases or more. The rate of each read is drawn from a gamma distribution about that of
the kind, its length from a lognormal one (ONT) or a normal one (HiFi). A kind is named platform-length-percent.

Kraken 2 and MetaCache run with their defaults, Kraken 2 also with --confidence 0.05 and 0.1; ours with its defaults,
with `--preset`, and with the `--error-rate` of the kind. All calls are judged by `oclgenomics classify evaluate`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from classify_accuracy import Reads, row_of, run, shown, weighted_genomes, write_world
from classify_tools import Kraken2, MetaCache, Ours, Tool, tools
from measure import machine, table, write_json
from numpy.typing import NDArray

from oclgenomics.classify.formats.truth import read_calls, read_truth
from oclgenomics.classify.taxonomy.evaluation import evaluate
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.runtime import select_device
from oclgenomics.simulate.metagenomes.files import ListedGenome, read_text

WORLDS = "own:7001,genes:7101,own-near:7003,genes-near:7103"
PRESET, RATE = "--preset", "--error-rate"
KINDS = "ont-1k-8,ont-2k-5,ont-5k-8,ont-5k-5,ont-5k-2,ont-10k-5,ont-20k-5,hifi-15k-1,hifi-15k-0.2"
MIX = {"ont": (0.45, 0.35, 0.2), "hifi": (0.1, 0.45, 0.45)}  # substitutions, deletions, insertions
RUN, RUN_FACTOR = 3, 3.0  # equal bases, and how much likelier indels are among them
SPREAD = {"ont": 0.35, "hifi": 0.15}  # of lengths: of their logarithms, and of themselves
SHAPE = 6.0  # of the gamma distribution of rates
SHORTEST = 300
BASES = np.frombuffer(b"ACGT", np.uint8)


@dataclass(frozen=True)
class Kind:
    """Reads of a platform: their mean length in bases, and share of wrong ones."""

    name: str
    platform: str
    length: int
    rate: float

    @classmethod
    def of(cls, name: str) -> Kind:
        """Read the name of a kind."""
        platform, length, percent = name.split("-")
        return cls(name, platform, int(float(length.removesuffix("k")) * 1000), float(percent) / 100)


def noisy(codes: NDArray[np.uint8], kind: Kind, rate: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return a read of some bases, 0 to 3, with errors."""
    same = np.concatenate([[False], codes[1:] == codes[:-1]])
    runs = np.flatnonzero(~same)
    lengths = np.repeat(np.diff(np.append(runs, len(codes))), np.diff(np.append(runs, len(codes))))
    factor = np.where(lengths >= RUN, RUN_FACTOR, 1.0)
    factor /= factor.mean()
    substituted, deleted, inserted = (rate * share for share in MIX[kind.platform])
    draws = rng.random((3, len(codes)))
    changed = draws[0] < substituted
    read = np.where(changed, (codes + rng.integers(1, 4, len(codes), np.uint8)) % 4, codes).astype(np.uint8)
    copies = np.ones(len(codes), np.int64)
    copies[draws[1] < deleted * factor] = 0
    copies += draws[2] < inserted * factor
    made = np.repeat(read, copies)
    ends = np.cumsum(copies)
    extra = ends[copies == 2] - 1  # the second copy: in a run the same base, else any
    of_run = (lengths >= RUN)[copies == 2]
    made[extra] = np.where(of_run, made[extra], rng.integers(0, 4, len(extra), np.uint8))
    return made


def write_reads(
    root: Path, kind: Kind, count: int, genomes: Sequence[ListedGenome], weights: NDArray[np.float64], seed: int
) -> Reads:
    """Write reads of a kind as FASTA, and what they are of."""
    rng = np.random.default_rng(seed)
    table = np.full(256, 0, np.uint8)
    table[BASES] = np.arange(4)
    codes = [table[read_text(one)] for one in genomes]
    complete = weights * np.array([len(one) for one in codes])
    chosen = rng.choice(len(genomes), count, p=complete / complete.sum())
    lengths = (
        rng.lognormal(np.log(kind.length) - SPREAD["ont"] ** 2 / 2, SPREAD["ont"], count)
        if kind.platform == "ont"
        else rng.normal(kind.length, SPREAD["hifi"] * kind.length, count)
    )
    records, rows = [], []
    for number, (at, length) in enumerate(zip(chosen.tolist(), lengths.tolist(), strict=True)):
        genome = codes[at]
        size = min(max(int(length), SHORTEST), len(genome))
        begin = int(rng.integers(len(genome) - size + 1))
        part = genome[begin : begin + size]
        part = (3 - part[::-1]) if rng.random() < 0.5 else part
        read = noisy(part, kind, min(kind.rate * rng.gamma(SHAPE) / SHAPE, 0.3), rng)
        records.append(f">r{number}\n{BASES[read].tobytes().decode()}\n")
        one = genomes[at]
        species, genus = (0, 0) if one.role == "alien" else (one.species_taxid, one.genus_taxid)
        rows.append(f"r{number}\t{species}\t{genus}\t{one.role}\n")
    files, truth = root / f"{kind.name}.fa", root / f"{kind.name}.tsv"
    files.write_text("".join(records))
    truth.write_text("".join(rows))
    return Reads(kind.name, [files], truth)


def simulated(args: argparse.Namespace, world: str, root: Path) -> tuple[list[Path], Path, list[Reads]]:
    """Simulate a set: references, their taxonomy, and reads."""
    seed = write_world(root, world, quick=args.quick)
    genomes, weights = weighted_genomes(root, seed)
    kinds = [Kind.of(name) for name in args.kinds]
    reads = [write_reads(root, kind, args.reads, genomes, weights, 100 * seed + at) for at, kind in enumerate(kinds)]
    return sorted((root / "references").iterdir()), root / "taxonomy", reads


def rivals(device: str) -> Iterator[tuple[Tool, list[Tool]]]:
    """Programs, each with its variants that query the same database."""
    for tool in tools(device, 2):
        if isinstance(tool, MetaCache):
            yield tool, [replace(tool, options=("-lowest", "species", "-taxids-only", "-lineage", "-separate-cols"))]
        elif isinstance(tool, Kraken2) and not tool.fast:
            sure = [replace(tool, options=("--confidence", at), name=f"{tool.name} {at}") for at in ("0.05", "0.1")]
            yield tool, [tool, *sure]
        elif isinstance(tool, Ours):
            yield tool, [tool, replace(tool, name=f"{tool.name} {PRESET}"), replace(tool, name=f"{tool.name} {RATE}")]


def query(tool: Tool, database: Path, reads: Reads, output: Path) -> list[str]:
    """The command of a query whose output holds taxids."""
    command = tool.query(database, reads.files, output)
    if isinstance(tool, Ours):
        command[command.index("native")] = "kraken"
        kind = Kind.of(reads.name)
        command += ["--preset", kind.platform] if PRESET in tool.name else []
        command += ["--error-rate", f"{kind.rate}"] if RATE in tool.name else []
    return command


def main() -> None:
    """Print a table, and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--worlds", default=WORLDS, type=lambda text: text.split(","))
    parser.add_argument("--reads", type=int, default=1_000)
    parser.add_argument("--kinds", default=KINDS, type=lambda text: text.split(","))
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="small sets, to see that all works")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for world in args.worlds:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name) / "world"
            references, taxonomy, reads = simulated(args, world, root)
            tree = read_taxonomy(taxonomy)
            for builder, variants in rivals(args.device):
                database = Path(name) / builder.name
                database.mkdir()
                for command in builder.prepare(references, taxonomy, database):
                    run(command)
                run(builder.build(references, taxonomy, database))
                for tool in variants:
                    for some in reads:
                        output = database / "calls"
                        run(query(tool, database, some, output))
                        found = evaluate(read_truth(some.truth), read_calls(output), tree)
                        rows.append(row_of(world, some.name, tool.name, found))
                        print(f"{world}, {some.name}: {tool.name}", file=sys.stderr)
    rows.sort(key=lambda row: (row["set"], row["reads"]))
    print(table([shown(row) for row in rows]))
    write_json(args.json, machine(select_device(args.device)) | {"results": rows})


if __name__ == "__main__":
    main()
