"""How well shares of species are estimated in mixtures of relatives, compared with Bracken.

    python benchmarks/classify_shares.py [-d cpu] [--worlds own:7201,genes-near:7303] [--novel 0,0.2] [--reads 20000]
                                         [--bracken DIR] [--json FILE] [--quick]

Worlds are those of classify_accuracy.py and classify_long.py (-near: species of a genus are nearer to each other): 18
references of 6 genera. The genomes of each species are cut to 0.3 to 1 of their length. Strains of the references'
species are in the sample with shares of genomes drawn from a lognormal distribution (sigma 1.5); a share of the reads
is from species without a reference, a tenth from aliens; 150 bp with 1 % of errors.

Ways: `EM` is `--shares`, `EM per genome` the same with --per-genome, `calls` our calls with those above species dealt
out as MetaCache does, `Kraken2` the calls of species, `Bracken` its estimate from Kraken 2's report. L1 is the sum of
the differences between true and estimated shares of the species with a reference: of reads, and of genomes (reads by
lengths). `within` is the part of these species with 20 reads or more whose true share lies in the interval of 95 %.
`--bracken` names a folder with Bracken's src/, its program built.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from classify_accuracy import Reads, _written, run, shares_of_calls, write_world
from classify_tools import Kraken2, Ours, tools
from measure import machine, table, write_json

from oclgenomics.classify.formats.truth import read_calls, read_truth
from oclgenomics.classify.taxonomy.evaluation import CLASSES
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.runtime import select_device
from oclgenomics.simulate.metagenomes.files import read_table, read_text
from oclgenomics.simulate.metagenomes.reads import ReadScenario, simulate_reads

WORLDS = "own:7201,genes:7301,own-near:7203,genes-near:7303"
SIGMA, ALIENS, LEAST = 1.5, 0.1, 20
Shares = dict[int, float]


def simulated(args: argparse.Namespace, world: str, root: Path) -> tuple[list[Path], list[Reads], dict[int, int]]:
    """Simulate a world: references that are cut, reads for each share of novel species, and lengths of genomes."""
    seed = write_world(root, world, quick=args.quick)
    rng, genomes = np.random.default_rng(seed), read_table(root)
    species = sorted({one.species_taxid for one in genomes})
    kept = dict(zip(species, rng.uniform(0.3, 1, len(species)).tolist(), strict=True))
    lengths: dict[int, int] = {}
    texts = []
    for one in genomes:
        text = read_text(one)
        text = text[: int(kept[one.species_taxid] * len(text))] if one.role in ("reference", "strain") else text
        texts.append(text)
        if one.role == "reference":
            head = one.path.read_text().split("\n", 1)[0]
            one.path.write_text(f"{head}\n{text.tobytes().decode()}\n")
            lengths[one.species_taxid] = len(text)
    roles = np.array([one.role for one in genomes])
    copies = rng.lognormal(0, SIGMA, len(genomes)) * np.array([len(text) for text in texts])
    found = []
    for at, novel in enumerate(args.novel):
        weights = np.zeros(len(genomes))
        for role, share in (("strain", 1 - ALIENS - novel), ("novel", novel), ("alien", ALIENS)):
            weights[roles == role] = copies[roles == role] / copies[roles == role].sum() * share
        scenario = ReadScenario(reads=args.reads)
        batches = simulate_reads(texts, weights.tolist(), scenario, 10 * seed + at)
        found.append(_written(root, f"novel {novel:g}", scenario, batches, genomes))
    return sorted((root / "references").iterdir()), found, lengths


def shares_of_table(path: Path) -> dict[int, tuple[float, float, float]]:
    """Estimated reads, and their interval, of each species of a table of --shares."""
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return {int(row[0]): (float(row[3]), float(row[4]), float(row[5])) for row in rows if row[1] == "species"}


def ours(tool: Ours, database: Path, reads: Reads, root: Path) -> Iterator[tuple[str, Shares, Any]]:
    """The ways of this package."""
    for name, more in (("EM", []), ("EM per genome", ["--per-genome"])):
        command = tool.query(database, reads.files, root / "calls")
        command[command.index("native")] = "kraken"
        run([*command, "--shares", str(root / "shares"), *more])
        rows = shares_of_table(root / "shares")
        yield name, {taxid: row[0] for taxid, row in rows.items()}, rows
    dealt, _ = shares_of_calls(read_calls(root / "calls"), read_taxonomy(database.parent / "world" / "taxonomy"))
    yield "calls", dealt, None


def krakens(tool: Kraken2, database: Path, reads: Reads, root: Path, src: Path | None) -> Iterator[Any]:
    """Kraken 2's calls, and Bracken's estimate."""
    report = root / "report"
    command = tool.query(database, reads.files, root / "calls")
    run([*command, "--report", str(report)])
    _, called = shares_of_calls(read_calls(root / "calls"), read_taxonomy(database.parent / "world" / "taxonomy"))
    yield "Kraken2", called, None
    if src is not None:
        text = _with_ranks(report, database.parent / "world" / "taxonomy")
        report.write_text(text)
        kmers, output = database / "150.kmer_distrib", root / "bracken"
        run([sys.executable, str(src / "est_abundance.py"), "-i", str(report), "-k", str(kmers), "-o", str(output),
             "-l", "S", "-t", "0"])  # fmt: skip
        rows = [line.split("\t") for line in output.read_text().splitlines()[1:]]
        yield "Bracken", {int(row[1]): float(row[5]) for row in rows}, None


def _with_ranks(report: Path, taxonomy: Path) -> str:
    """The report with the ranks that Debian's Kraken 2.1.2 leaves out."""
    codes = {"root": "R", "superkingdom": "D", "domain": "D", "phylum": "P", "class": "C", "order": "O",
               "family": "F", "genus": "G", "species": "S"}  # fmt: skip
    nodes = [line.split("\t|\t") for line in (taxonomy / "nodes.dmp").read_text().splitlines()]
    rank = {row[0].strip(): codes.get(row[2].strip(), "R") for row in nodes} | {"1": "R", "0": "U"}
    lines = []
    for line in report.read_text().splitlines():
        fields = line.split("\t")
        lines.append("\t".join([*fields[:3], rank.get(fields[4].strip(), "-"), *fields[4:]]))
    return "\n".join(lines) + "\n"


def count_kmers(tool: Kraken2, database: Path, library: Path, src: Path) -> None:
    """Make Bracken's table of a database, for reads of 150 bp."""
    folder, calls = database / "kraken2", database / "database.kraken"
    with calls.open("wb") as stream:
        subprocess.run([tool.path, "--db", str(folder), str(library)], stdout=stream, stderr=subprocess.DEVNULL,
                       check=True)  # fmt: skip
    run([str(src / "kmer2read_distr"), "--seqid2taxid", str(folder / "seqid2taxid.map"), "--taxonomy",
         f"{folder / 'taxonomy'}/", "--kraken", str(calls), "--output", str(database / "150.kraken"), "-k", "35",
         "-l", "150", "-t", "1"])  # fmt: skip
    run([sys.executable, str(src / "generate_kmer_distribution.py"), "-i", str(database / "150.kraken"), "-o",
         str(database / "150.kmer_distrib")])  # fmt: skip


def unlike(true: Mapping[int, float], found: Mapping[int, float], weights: Mapping[int, float]) -> float:
    """The sum of differences between shares, each weighted."""
    one, other = ({taxid: shares.get(taxid, 0.0) * weights[taxid] for taxid in weights} for shares in (true, found))
    sums = [max(sum(shares.values()), 1e-9) for shares in (one, other)]
    return sum(abs(one[taxid] / sums[0] - other[taxid] / sums[1]) for taxid in weights)


def row_of(
    world: str, reads: Reads, way: str, found: Shares, between: Any, lengths: Mapping[int, int]
) -> dict[str, Any]:
    """Errors of an estimate."""
    truth = read_truth(reads.truth)
    known = truth.classes == CLASSES.index("strain")
    species, counts = np.unique(truth.species[known], return_counts=True)
    true = dict(zip(species.tolist(), counts.astype(float).tolist(), strict=True))
    row = {"set": world, "reads": reads.name, "way": way}
    row["L1 reads"] = unlike(true, found, dict.fromkeys(lengths, 1.0))
    row["L1 genomes"] = unlike(true, found, {taxid: 1 / length for taxid, length in lengths.items()})
    if between is not None:
        scale = sum(true.values()) / max(sum(found.get(taxid, 0.0) for taxid in lengths), 1e-9)
        often = [taxid for taxid, count in true.items() if count >= LEAST]
        ends = {taxid: between.get(taxid, (0, 0, 0))[1:] for taxid in often}
        inside = sum(low * scale <= true[taxid] <= high * scale for taxid, (low, high) in ends.items())
        row["within"] = inside / max(len(often), 1)
    return row


def main() -> None:
    """Print a table, and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="cpu")
    parser.add_argument("--worlds", default=WORLDS, type=lambda text: text.split(","))
    parser.add_argument("--novel", default="0,0.2", type=lambda text: [float(one) for one in text.split(",")])
    parser.add_argument("--reads", type=int, default=20_000)
    parser.add_argument("--bracken", type=Path, metavar="DIR")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="small sets, to see that all works")
    args = parser.parse_args()
    src = args.bracken / "src" if args.bracken else None
    rows: list[dict[str, Any]] = []
    for world in args.worlds:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            references, every, lengths = simulated(args, world, root / "world")
            for tool in tools(args.device, 2):
                if not isinstance(tool, Ours) and not (isinstance(tool, Kraken2) and not tool.fast):
                    continue
                database = root / tool.name
                database.mkdir()
                for command in tool.prepare(references, root / "world" / "taxonomy", database):
                    run(command)
                run(tool.build(references, root / "world" / "taxonomy", database))
                if isinstance(tool, Kraken2) and src is not None:
                    count_kmers(tool, database, database / "library.fna", src)
                for reads in every:
                    ways = ours(tool, database, reads, root) if isinstance(tool, Ours) else krakens(
                        tool, database, reads, root, src
                    )  # fmt: skip
                    for way, found, between in ways:
                        rows.append(row_of(world, reads, way, found, between, lengths))
                        print(rows[-1], file=sys.stderr)
    rows.sort(key=lambda row: (row["set"], row["reads"]))
    shown = [
        {name: f"{value:.3f}" if isinstance(value, float) else value for name, value in row.items()} for row in rows
    ]
    print(table([{"within": "-"} | row for row in shown]))
    write_json(args.json, machine(select_device(args.device)) | {"results": rows})


if __name__ == "__main__":
    main()
