"""How well reads are classified, and shares of species estimated, compared with other programs.

    python benchmarks/classify_accuracy.py [-d cpu] [--worlds own:7001,genes:7101] [--reads 20000]
                                           [--kinds 75,100,150,250,2x75,2x150,5000] [--viral DIR] [--json FILE]
                                           [--quick]

A world is simulated from its seed: `own` by the generator of `oclgenomics simulate genomes`, `genes` by the one of
classify_genes.py, and `tree` by that of classify_tree.py, with reads of its own. In a world that ends in -near the
species of a genus are nearer to each other. Each has 18 references (18 Mbp) of 6 genera; reads are of other strains of
their species (70 %), of novel species of their genera (20 %) and of aliens (10 %), and the genomes of each of these
kinds have shares drawn from a lognormal distribution. Reads have 1 % of errors, those of 5,000 bp 5 %, of which there
are a tenth as many.
`--viral` names a folder of real ones with ref/, tax/ and reads/: se150 and pe125, with tables of what they are of.

Kraken 2 (references not masked) runs with its defaults and with --confidence 0.1, MetaCache with its defaults, where
they are on PATH; all calls are judged by `oclgenomics classify evaluate`. `aliens` are those called a genus. `L1` is
the sum of differences between true and estimated shares of the reads of known species: of ours from `--bracken`, of the
others from calls, those above species dealt out as MetaCache does; `L1 calls` is from the calls of species alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from classify_genes import GeneWorld, write_gene_world
from classify_tools import Kraken2, MetaCache, Ours, Tool, tools
from classify_tree import ReadKind, TreeWorld, write_tree_reads, write_tree_world
from measure import machine, table, write_json
from numpy.typing import NDArray

from oclgenomics.classify.formats.truth import read_calls, read_truth
from oclgenomics.classify.options import RANKS
from oclgenomics.classify.taxonomy.abundances import estimated_abundances
from oclgenomics.classify.taxonomy.evaluation import CLASSES, Evaluation, Truth, evaluate
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy
from oclgenomics.runtime import select_device
from oclgenomics.simulate.metagenomes.files import ListedGenome, read_table, read_text, write_genomes, write_taxonomy
from oclgenomics.simulate.metagenomes.genomes import MetagenomeScenario, plan_taxa, simulate_genomes
from oclgenomics.simulate.metagenomes.reads import ReadScenario, fastq, simulate_reads, write_truth

KINDS = {
    "75": ReadScenario(length=75),
    "100": ReadScenario(length=100),
    "150": ReadScenario(),
    "250": ReadScenario(length=250),
    "2x75": ReadScenario(length=75, paired=True, insert=300),
    "2x150": ReadScenario(paired=True),
    "5000": ReadScenario(length=5_000, errors=0.05),
}
SHARES = {"strain": 0.7, "novel": 0.2, "alien": 0.1}
PLAN, QUICK_PLAN = MetagenomeScenario(genera=6), MetagenomeScenario(genera=4, length=100_000)
NEAR = (0.01, 0.06)  # divergence of near species from the ancestor of their genus
QUICK_READS = 2_000
WORLDS = "own:7001,own:7002,genes:7101,genes:7102"


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


def write_world(root: Path, world: str, *, quick: bool) -> int:
    """Write the references and the taxonomy of a world, such as own:7201 or tree-near:7203; return its seed."""
    made, _, number = world.partition(":")
    seed, plan, kind = int(number), QUICK_PLAN if quick else PLAN, made.removesuffix("-near")
    plan = plan if kind == made else replace(plan, species_divergence=NEAR)
    if kind == "tree":
        write_tree_world(root, TreeWorld(plan), seed)
    elif kind == "genes":
        write_gene_world(root, GeneWorld(plan), seed)
    else:
        write_genomes(root, simulate_genomes(plan, seed))
        write_taxonomy(root / "taxonomy", plan_taxa(plan))
    return seed


def weighted_genomes(root: Path, seed: int) -> tuple[list[ListedGenome], NDArray[np.float64]]:
    """Return the genomes of a world that reads are of, and the share of the reads that is of each, by `SHARES`."""
    genomes = [one for one in read_table(root) if one.role in SHARES]
    weights = np.random.default_rng(seed).lognormal(0, 1, len(genomes))
    roles = np.array([one.role for one in genomes])
    for role, share in SHARES.items():
        weights[roles == role] *= share / weights[roles == role].sum()
    return genomes, weights


def simulated(args: argparse.Namespace, world: str, folder: Path) -> Sample:
    """Simulate a set."""
    root = folder / world.replace(":", "-")
    seed = write_world(root, world, quick=args.quick)
    genomes, weights = weighted_genomes(root, seed)
    texts = [read_text(one) for one in genomes]
    reads = []
    for at, name in enumerate(args.kinds):
        scenario = replace(KINDS[name], reads=args.reads // (10 if name == "5000" else 1))
        if world.startswith("tree"):
            how = ReadKind(scenario.length, scenario.insert if scenario.paired else 0, long=name == "5000")
            written = write_tree_reads(root, name, genomes, weights.tolist(), how, scenario.reads, 10 * seed + at)
            reads.append(Reads(name, *written))
            continue
        batches = simulate_reads(texts, weights.tolist(), scenario, 10 * seed + at)
        reads.append(_written(root, name, scenario, batches, genomes))
    return Sample(world, sorted((root / "references").iterdir()), root / "taxonomy", reads)


def _written(
    root: Path, name: str, scenario: ReadScenario, batches: Iterator[Any], genomes: list[ListedGenome]
) -> Reads:
    files = [root / f"{name}_{mate + 1}.fq" for mate in range(1 + scenario.paired)]
    truth = root / f"{name}.tsv"
    for path in (*files, truth):
        path.write_bytes(b"")
    for batch in batches:
        for mate, path in enumerate(files):
            with path.open("ab") as stream:
                stream.write(fastq(batch, genomes, [mate]))
        with truth.open("ab") as stream:
            write_truth(stream, batch, genomes)
    return Reads(name, files, truth)


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
            yield tool, [replace(tool, options=("-lowest", "species", "-taxids-only", "-lineage", "-separate-cols"))]
        elif isinstance(tool, Kraken2) and not tool.fast:
            yield tool, [tool, replace(tool, options=("--confidence", "0.1"), name="Kraken2 --confidence 0.1")]
        elif isinstance(tool, Ours):
            yield tool, [tool]


def query(tool: Tool, database: Path, reads: Reads, output: Path) -> list[str]:
    """The command of a query whose output holds taxids."""
    command = tool.query(database, reads.files, output)
    if isinstance(tool, Ours):
        command[command.index("native")] = "kraken"
        command += ["--bracken", str(output) + ".bracken"]
    return command


def judged(sample: Sample, device: str, folder: Path) -> Iterator[dict[str, Any]]:
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
                    truth, calls = read_truth(reads.truth), read_calls(output)
                    row = row_of(sample.name, reads.name, tool.name, evaluate(truth, calls, taxonomy))
                    dealt, called = shares_of_calls(calls, taxonomy)
                    own = bracken_shares(Path(f"{output}.bracken")) if isinstance(tool, Ours) else dealt
                    yield row | {"L1": unlike(own, truth), "L1 calls": unlike(called, truth)}


def shares_of_calls(calls: Mapping[str, int], taxonomy: Taxonomy) -> tuple[dict[int, float], dict[int, float]]:
    """Reads of each species by its taxid: with those of higher taxa dealt out, and without these."""
    nothing = np.empty(0, np.int64)
    none = nothing.astype(np.int32)
    lineages = Lineages.of(taxonomy, Targets((), (), none, nothing, none, nothing, nothing))
    numbers = taxonomy.find(np.array(list(calls.values()), np.int64))
    counts = np.bincount(np.where(numbers == NO_TAXON, len(taxonomy), numbers), minlength=len(taxonomy) + 1)
    dealt = estimated_abundances(counts, lineages, "species")
    species = lineages.at_rank[:, RANKS.index("species")]
    called: dict[int, float] = {}
    for taxon in np.flatnonzero(counts[:-1] * (species != NO_TAXON)).tolist():
        taxid = int(taxonomy.taxids[species[taxon]])
        called[taxid] = called.get(taxid, 0.0) + float(counts[taxon])
    is_species = species[dealt.taxon] == dealt.taxon
    found = zip(taxonomy.taxids[dealt.taxon[is_species]].tolist(), dealt.reads[is_species].tolist(), strict=True)
    return dict(found), called


def bracken_shares(path: Path) -> dict[int, float]:
    """The estimated reads of a table of Bracken."""
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return {int(row[1]): float(row[5]) for row in rows}


def unlike(shares: Mapping[int, float], truth: Truth) -> float:
    """The sum of the differences between estimated and true shares of the reads of known species."""
    known = np.isin(truth.classes, [CLASSES.index(name) for name in ("reference", "strain")])
    species, counts = np.unique(truth.species[known], return_counts=True)
    true = dict(zip(species.tolist(), (counts / max(counts.sum(), 1)).tolist(), strict=True))
    total = max(sum(shares.values()), 1)
    return sum(abs(true.get(one, 0.0) - shares.get(one, 0.0) / total) for one in true.keys() | shares.keys())


def run(command: list[str]) -> None:
    """Run a program to its end."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")


def row_of(sample: str, reads: str, tool: str, found: Evaluation) -> dict[str, Any]:
    """What the table and the JSON tell of a result."""
    row: dict[str, Any] = {"set": sample, "reads": reads, "tool": tool}
    for at in found.ranks:
        row |= {f"{at.rank} {name}": getattr(at, name.lower()).value for name in ("precision", "sensitivity", "F1")}
        row |= {f"{at.rank} {name}": at.counts[name] for name in ("wrong", "false")}
    aliens = found.ranks[-1].counts["false"] / found.aliens if found.aliens else None
    return row | {"aliens": aliens, "evaluation": asdict(found)}


def main() -> None:
    """Print a table, and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--worlds", default=WORLDS, type=lambda text: [one for one in text.split(",") if one])
    parser.add_argument("--reads", type=int, default=20_000)
    parser.add_argument("--kinds", default=",".join(KINDS), type=lambda text: text.split(","))
    parser.add_argument("--viral", type=Path, metavar="DIR")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="small sets, to see that all works")
    args = parser.parse_args()
    if args.quick:
        args.worlds, args.reads = args.worlds[::2], min(args.reads, QUICK_READS)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples = [simulated(args, world, folder) for world in args.worlds]
        samples += [real_viruses(args.viral)] if args.viral else []
        for sample in samples:
            for row in judged(sample, args.device, folder):
                rows.append(row)
                print(f"{row['set']}, {row['reads']}: {row['tool']}", file=sys.stderr)
    rows.sort(key=lambda row: (row["set"], row["reads"]))
    print(table([shown(row) for row in rows]))
    write_json(args.json, machine(select_device(args.device)) | {"results": rows})


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table: shares with three digits."""
    return {name: f"{value:.3f}" if isinstance(value, float) else "-" if value is None else value
            for name, value in row.items() if name != "evaluation"}  # fmt: skip


if __name__ == "__main__":
    main()
