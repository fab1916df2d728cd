"""A database of the size of RefSeq's bacteria, built and queried by whole processes, from references made on the spot.

    python benchmarks/classify_large.py [-d DEVICE] [--bases 20e9] [--reads 4000000] [--folder DIR] [--kmerlen 16]
                                        [--max-memory 8G] [--limit 540] [--keep] [--peers kraken2,metacache]
                                        [--json FILE]

References are relatives: a genus has three species, whose bases differ from their ancestor's by 5 %, and a species has
four genomes that differ from its own ancestor by 0.5 %. Reads are of the genomes in the database (half of them), of
other genomes of the same species (30 %), of a fourth species of each genus, which has no reference (15 %), and of
unrelated genomes (5 %); 150 bp with 1 % of substitutions.

Steps: make the references; `classify build`; ten reads with --memory-mapping, once and then three times more; all reads
with the default options, calls judged on some of them; 100,000 reads with --evidence. Each has wall time, CPU time and
the peak of resident memory, and the JSON is written again after each, so that what was measured is there if time runs
out. The largest process takes about 3.5 bytes of host memory for each base, and the folder 2 bytes on disk.

Those of --peers, which are on PATH, build databases of the same references and classify all reads after that: Kraken 2
with --fast-build, its library made of links, MetaCache with its defaults. Both use all cores.

With --kmerlen 12 and 80e6 bases, k-mers are as crowded as with 16 and 20e9.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from classify_data import COMPLEMENT, LETTERS, LINE, fastq, write_taxonomy
from classify_tools import Kraken2, MetaCache
from measure import LAUNCHER, machine, write_json
from numpy.typing import NDArray

from oclgenomics.classify.formats.truth import read_calls, read_truth
from oclgenomics.classify.taxonomy.evaluation import evaluate
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.io.cores import usable_cores
from oclgenomics.runtime import select_device

SPECIES, GENOMES = 3, 4  # of a genus and of a species, with references
GENOME = 4_000_000  # bases
SPECIES_APART, GENOMES_APART = 0.05, 0.005
CLASSES = {"reference": 0.5, "strain": 0.3, "novel": 0.15, "alien": 0.05}
LENGTH, ERRORS = 150, 0.01
SAMPLED = 200  # genera that reads are of, at most
JUDGED, LISTED, FEW = 200_000, 100_000, 10
READ = re.compile(rb"\br([0-9]{9})\b")
ANCESTOR, OWN, HELD_OUT, ALIEN = range(4)


def codes(draws: np.random.Generator, size: int) -> NDArray[np.uint8]:
    """Random bases as 0 to 3, four of each byte drawn."""
    packed = np.frombuffer(draws.bytes(-(-size // 4)), np.uint8)
    found = np.empty((len(packed), 4), np.uint8)
    for place in range(4):
        found[:, place] = packed >> 2 * place & 3
    return found.reshape(-1)[:size]


def changed(genome: NDArray[np.uint8], share: float, draws: np.random.Generator) -> NDArray[np.uint8]:
    """A copy in which so many bases are others."""
    copy = genome.copy()
    places = draws.integers(0, len(copy), draws.poisson(share * len(copy)))
    copy[places] = (copy[places] + draws.integers(1, 4, len(places), np.uint8)) & 3
    return copy


def genus_genomes(seed: int, genus: int, size: int, what: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Genomes of a genus with the numbers of their species in it: the references, or those that only reads are of."""
    ancestor = codes(np.random.default_rng([seed, genus, ANCESTOR]), size)
    for species in range(SPECIES + (what == HELD_OUT)):
        own = changed(ancestor, SPECIES_APART, np.random.default_rng([seed, genus, ANCESTOR, species]))
        for number in range(GENOMES if what == OWN else 1):
            yield species, changed(own, GENOMES_APART, np.random.default_rng([seed, genus, what, species, number]))


def write_genus(folder: Path, seed: int, size: int, genus: int) -> int:
    """Write the references of a genus, a file of each genome, and return how many bytes they are."""
    rows, total = -(-size // LINE), 0
    for number, (species, genome) in enumerate(genus_genomes(seed, genus, size, OWN)):
        lines = np.full((rows, LINE + 1), ord("\n"), np.uint8)
        padded = np.zeros(rows * LINE, np.uint8)
        padded[:size] = LETTERS[genome]
        lines[:, :LINE] = padded.reshape(rows, LINE)
        accession = f"LRG_{genus * SPECIES * GENOMES + number:07}.1"
        head = f">kraken:taxid|{species_taxid(genus, species)}|{accession}\n".encode()
        body = lines.reshape(-1)[: size + (size - 1) // LINE]
        with (folder / f"{accession}.fna").open("wb") as file:
            for piece in (head, body.data, b"\n"):
                total += file.write(piece)
    return total


def species_taxid(genus: int, species: int) -> int:
    """The taxid of a species; the fourth one of a genus has no reference."""
    return 1_000_000 + genus * (SPECIES + 1) + species


def sample_genus(seed: int, size: int, job: tuple[int, int]) -> tuple[NDArray[np.uint8], list[str]]:
    """Reads of a genus as rows of bases, and what the table of the truth says of each."""
    genus, count = job
    draws = np.random.default_rng([seed, genus, LENGTH])
    counts = draws.multinomial(count, list(CLASSES.values()))
    references = list(genus_genomes(seed, genus, size, OWN))
    others = list(genus_genomes(seed, genus, size, HELD_OUT))
    aliens = [(0, codes(np.random.default_rng([seed, genus, ALIEN]), size))]
    rows, truth = [], []
    for (name, own), genomes in zip(
        zip(CLASSES, counts.tolist(), strict=True),
        (references, others[:SPECIES], others[SPECIES:], aliens),
        strict=True,
    ):
        which, begin = draws.integers(0, len(genomes), own), draws.integers(0, size - LENGTH, own)
        for number, (species, genome) in enumerate(genomes):
            starts = begin[which == number]
            rows.append(genome[starts[:, None] + np.arange(LENGTH)])
            taxids = "0\t0" if name == "alien" else f"{species_taxid(genus, species)}\t{1000 + genus}"
            truth += [f"{taxids}\t{name}"] * len(starts)
    reads = changed(np.concatenate(rows).reshape(-1), ERRORS, draws).reshape(-1, LENGTH)
    letters = LETTERS[reads]
    turned = draws.random(len(letters)) < 0.5
    letters[turned] = COMPLEMENT[letters[turned]][:, ::-1]
    return letters, truth


def write_reads(folder: Path, seed: int, size: int, genera: int, reads: int) -> None:
    """Write reads of many genera in a random order, all, a few and some, and what they are of."""
    chosen = np.unique(np.linspace(0, genera - 1, min(genera, SAMPLED)).astype(int)).tolist()
    counts = np.diff(np.linspace(0, reads, len(chosen) + 1).astype(int)).tolist()
    with ProcessPoolExecutor(usable_cores()) as processes:
        found = list(processes.map(partial(sample_genus, seed, size), zip(chosen, counts, strict=True)))
    letters = np.concatenate([one for one, _ in found])
    truth = [line for _, lines in found for line in lines]
    order = np.random.default_rng(seed).permutation(len(letters))
    for name, count in (("few", FEW), ("some", LISTED), ("all", reads)):
        (folder / f"{name}.fq").write_bytes(fastq(letters[order[:count]], 0))
    judged = order[: min(JUDGED, reads)].tolist()
    (folder / "truth.tsv").write_text("".join(f"r{at:09}\t{truth[row]}\n" for at, row in enumerate(judged)))


def write_taxa(folder: Path, genera: int) -> None:
    """Write the taxonomy of all species."""
    nodes = [(1, 1, "no rank", "root"), (2, 1, "superkingdom", "Synthetica")]
    nodes += [(1000 + genus, 2, "genus", f"Genus{genus}") for genus in range(genera)]
    nodes += [
        (species_taxid(genus, one), 1000 + genus, "species", f"Genus{genus} species{one}")
        for genus in range(genera) for one in range(SPECIES + 1)
    ]  # fmt: skip
    folder.mkdir()
    write_taxonomy(folder, nodes)


class Steps:
    """Runs the steps, each in the time that is left, and writes what is known after each."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self._args, self._folder, self._end = args, folder, time.monotonic() + args.limit
        self.record: dict[str, Any] = {
            "bases": int(args.bases),
            "reads": args.reads,
            "kmerlen": args.kmerlen,
            "steps": {},
        }

    def note(self, name: str, **facts: Any) -> None:
        """Keep what is known of a step."""
        self.record["steps"].setdefault(name, {}).update(facts)
        print(name, facts, file=sys.stderr, flush=True)
        if self._args.json:
            write_json(self._args.json, self.record)

    def run(self, name: str, *words: object) -> None:
        """Run a command of `classify`."""
        said = self.run_command(
            name, [sys.executable, "-m", "oclgenomics", "classify", *map(str, words), "-d", self._args.device]
        )
        outcomes = [line.partition("; wrote ")[0] for line in said.splitlines() if ": wrote " not in line]
        self.note(name, said=outcomes[-1:])

    def run_command(self, name: str, command: list[str]) -> str:
        """Run a command, and return what it wrote to its standard error."""
        launched = [sys.executable, "-S", "-c", LAUNCHER, *command]
        left = self._end - time.monotonic()
        with subprocess.Popen(launched, stdout=-1, stderr=-1, text=True, start_new_session=True) as process:
            try:
                out, said = process.communicate(timeout=max(left, 1))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                self.note(name, stopped_after_s=left)
                raise SystemExit(f"{name}: no time was left") from None
        took = out.split()
        if len(took) != 4 or int(took[3]):
            self.note(name, failed=said[-2000:])
            raise SystemExit(f"{name} failed: {said[-2000:]}")
        self.note(name, wall_s=float(took[0]), cpu_s=float(took[1]), peak_mib=int(took[2]) / 1024)
        return said


def measure(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Do all steps."""
    steps, genomes, database = Steps(args, folder), folder / "genomes", folder / "large.db"
    genera = max(round(args.bases / (SPECIES * GENOMES * args.genome)), 1)
    genomes.mkdir()
    start = time.monotonic()
    with ProcessPoolExecutor(usable_cores()) as processes:
        jobs = processes.map(partial(write_genus, genomes, args.seed, args.genome), range(genera))
        size = sum(jobs)
    write_taxa(folder / "taxonomy", genera)
    steps.note("references", wall_s=time.monotonic() - start, genera=genera, bytes=size)
    start = time.monotonic()
    write_reads(folder, args.seed, args.genome, genera, args.reads)
    steps.record = {"machine": machine(select_device(args.device)), **steps.record}  # drivers are not for forks
    steps.note("reads", wall_s=time.monotonic() - start)
    more = ["--max-memory", args.max_memory] if args.max_memory else []
    sketch = ["--kmerlen", args.kmerlen]
    steps.run("build", "build", database, genomes, "--taxonomy", folder / "taxonomy", *sketch, *more, "--profile")
    steps.note("build", database_bytes=database.stat().st_size)
    if not args.keep and not args.peers:
        shutil.rmtree(genomes)
    output = folder / "calls.kraken"
    query, told = ["query", database], ["--format", "kraken", "-o", output]
    for at in range(4):
        steps.run(f"ten reads, run {at}", *query, folder / "few.fq", *told, "--memory-mapping", *more)
    steps.run("all reads", *query, folder / "all.fq", *told, *more)
    judge(steps, "all reads", folder, output)
    steps.run(
        "evidence", *query, folder / "some.fq", "--no-map", "-o", folder / "native", "--evidence", folder / "evidence",
        *more,
    )  # fmt: skip
    database.unlink()
    if "kraken2" in args.peers:
        run_kraken2(steps, folder, genomes)
    if "metacache" in args.peers:
        run_metacache(steps, folder, genomes)
    return steps.record


def found(program: str) -> str:
    """Return where a program is."""
    if (path := shutil.which(program)) is None:
        raise SystemExit(f"{program} is not on PATH")
    return path


def run_kraken2(steps: Steps, folder: Path, genomes: Path) -> None:
    """Build a database with Kraken 2 of links to the references, and classify all reads."""
    tool, database, output = Kraken2(found("kraken2"), usable_cores(), fast=True), folder / "k2", folder / "k2.calls"
    library = database / "kraken2" / "library"
    library.mkdir(parents=True)
    shutil.copytree(folder / "taxonomy", database / "kraken2" / "taxonomy")
    names = [next(genome.open()).split()[0][1:] for genome in sorted(genomes.iterdir())]
    (library / "prelim_map.txt").write_text("".join(f"TAXID\t{name}\t{name.split('|')[1]}\n" for name in names))
    for genome in genomes.iterdir():
        (library / genome.name).symlink_to(genome)
    steps.run_command("Kraken 2 build", tool.build([], folder / "taxonomy", database))
    steps.note("Kraken 2 build", database_bytes=sum(one.stat().st_size for one in (database / "kraken2").glob("*.k2d")))
    steps.run_command("Kraken 2, all reads", tool.query(database, [folder / "all.fq"], output))
    judge(steps, "Kraken 2, all reads", folder, output)
    shutil.rmtree(database)


def run_metacache(steps: Steps, folder: Path, genomes: Path) -> None:
    """Build a database with MetaCache, and classify all reads."""
    calls = ("-lowest", "species", "-taxids-only", "-lineage", "-separate-cols")
    tool, database, output = MetaCache(found("metacache"), usable_cores(), calls), folder / "mc", folder / "mc.calls"
    database.mkdir()
    steps.run_command("MetaCache build", tool.build([genomes], folder / "taxonomy", database))
    steps.note("MetaCache build", database_bytes=sum(one.stat().st_size for one in database.iterdir()))
    steps.run_command("MetaCache, all reads", tool.query(database, [folder / "all.fq"], output))
    judge(steps, "MetaCache, all reads", folder, output)


def judge(steps: Steps, name: str, folder: Path, output: Path) -> None:
    """Compare the calls of the first reads with the truth; programs write them in orders of their own."""
    truth = read_truth(folder / "truth.tsv")
    first = folder / "first.kraken"
    with output.open("rb") as lines, first.open("wb") as some:
        some.writelines(line for line in lines if (of := READ.search(line)) is None or int(of[1]) < len(truth))
    judged = evaluate(truth, read_calls(first), read_taxonomy(folder / "taxonomy"))
    ranks = {
        rank.rank: {name: getattr(rank, name.lower()).value for name in ("precision", "sensitivity", "F1")}
        | {"counts": dict(rank.counts)}
        for rank in judged.ranks
    }  # fmt: skip
    steps.note(name, judged=len(truth), accuracy=ranks, aliens=asdict(judged)["aliens"])


def room(args: argparse.Namespace) -> Path:
    """Return a folder with room for references, database, reads and calls."""
    needs = int(2.1 * args.bases + 400 * args.reads)
    for folder in (Path(tempfile.gettempdir()), Path.cwd(), Path("/dev/shm")):  # memory last, as the build needs it
        if folder.is_dir() and shutil.disk_usage(folder).free > needs:
            return folder
    raise SystemExit(f"no folder has {needs / 1e9:.0f} GB of room; name one with --folder")


def main() -> int:
    """Measure, and print what was found as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--bases", type=float, default=20e9, help="of all references (default: %(default)g)")
    parser.add_argument("--genome", type=int, default=GENOME, help="bases of a genome (default: %(default)s)")
    parser.add_argument("--reads", type=int, default=4_000_000)
    parser.add_argument("--kmerlen", type=int, default=16)
    parser.add_argument("--max-memory", metavar="SIZE", help="of the device, for builds in several runs")
    parser.add_argument("--limit", type=float, default=540, metavar="S", help="of all steps (default: %(default)g)")
    parser.add_argument(
        "--folder", type=Path, help="for the data; the first of /tmp, . and /dev/shm with room if not given"
    )
    parser.add_argument("--peers", default=[], type=lambda text: text.split(","), help="programs, with commas")
    parser.add_argument("--seed", type=int, default=36)
    parser.add_argument("--keep", action="store_true", help="keep the references until the end")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder or room(args)) as folder:
        write_json("-", measure(args, Path(folder)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
