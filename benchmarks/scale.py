"""How jobs scale that are done in pieces: strong and weak scaling as measured, and a model projected to more devices.

    python benchmarks/scale.py [--device cpu] [--jobs kmers,omega,classify,sdtw,signatures] [--pieces 1,2,4,8]
                               [--size 1] [--weak 1,2,4] [--storage FOLDER] [--json FILE] [--plot FILE.png]
    python benchmarks/scale.py --from FILE.json [--plot FILE.png]

Strong scaling: the same work in N pieces. Each piece is a process of its own, from start to exit, and pieces run one
after the other, so that each has the machine for itself, as on N machines that share nothing but their files. The time
on N machines is that of the slowest piece and of `combine` behind it. Weak scaling: N times the work in N pieces.

`kmers combine` merges on the device; the others need none. What `combine` writes is compared with what one run writes,
without the lines that say what made it.

The model of a job on N devices has four terms:

    start + whole      what each piece takes, however small: the program, the device, inputs that all pieces read
    share / N          what is shared out
    pieces / write     N pieces to be written, side by side
    combine            one process that reads all pieces: seconds to start, and bytes at a rate

`start + whole` and `share` are fitted to the slowest pieces, `combine` to the bytes of all pieces.

Three projections follow, to 1, 8 and 1,000 H200s, each with the longest of its terms. What an H200 does is taken from
the files in results/ that `MEASURED` names; what `combine` does and what storage gives was measured by this script on
the machine that it names. Nobody has run them: storage that 1,000 machines share, for one, is taken to be as fast for
each as it is for one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.ticker import FixedLocator, NullLocator
from measure import host, machine, run_process, table, write_json
from scale_data import SEED, random_bases, write_fasta, write_reads

from oclgenomics import kmers
from oclgenomics.app import figures
from oclgenomics.runtime import select_device

PROGRAM = [sys.executable, "-m", "oclgenomics"]
Row = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """A job of a size, whose inputs are there.

    Attributes
    ----------
    words : list of str
        The command and its inputs.
    suffix : str
        Of the output.
    counts : dict of str to float
        How much there is of what, for rates.
    """

    words: list[str]
    suffix: str
    counts: dict[str, float]


def kmers_work(folder: Path, size: float) -> Work:
    """Count the 31-mers of 30-fold reads of a genome of 4 Mbp."""
    rng = np.random.default_rng(SEED)
    bases = int(4e6 * size)
    write_reads(folder / "reads.fq", [random_bases(rng, bases)], bases * 30 // 150, 150)
    return Work(["kmers", "count", str(folder / "reads.fq"), "-k", "31"], ".db", {})


def omega_work(folder: Path, size: float) -> Work:
    """Scan a chromosome of 20,000 sites of 400 haplotypes at 1,000 positions, in windows of a tenth of it."""
    rng = np.random.default_rng(SEED)
    sites, haplotypes = int(20_000 * size), 400
    counts = rng.integers(1, haplotypes, sites)
    states = (rng.random((haplotypes, sites)) < counts / haplotypes).astype(np.uint8) + ord("0")
    text = "\n".join(row.tobytes().decode() for row in states)
    places = " ".join(f"{(place + 0.5) / sites:.7f}" for place in range(sites))
    head = f"ms {haplotypes} 1\n{SEED}\n\n//\nsegsites: {sites}\npositions: {places}\n"
    (folder / "chromosome.ms").write_text(f"{head}{text}\n")
    length = int(10_000_000 * size)
    words = ["omega", "scan", str(folder / "chromosome.ms"), "--length", str(length), "--grid", str(int(1_000 * size))]
    return Work([*words, "--minwin", "1000", "--maxwin", "1000000"], ".tsv", {"sites": sites})


def classify_work(folder: Path, size: float) -> Work:
    """Classify 150 bp reads of 20 genomes of 2 Mbp."""
    rng = np.random.default_rng(SEED)
    genomes = [random_bases(rng, 2_000_000) for _ in range(20)]
    write_fasta(folder / "genomes.fa", genomes)
    write_reads(folder / "reads.fq", genomes, int(1_500_000 * size), 150)
    run_process([*PROGRAM, "classify", "build", str(folder / "genomes.db"), str(folder / "genomes.fa"), "-q"], 1)
    words = ["classify", "query", str(folder / "genomes.db"), str(folder / "reads.fq"), "--lowest", "sequence"]
    return Work(words, ".txt", {"reads": int(1_500_000 * size)})


def sdtw_work(folder: Path, size: float) -> Work:
    """Align reads with a reference of 48,500 bp."""
    genome, reads, squiggle = (str(folder / name) for name in ("genome.fa", "reads.npz", "genome.sq"))
    write_fasta(Path(genome), [random_bases(np.random.default_rng(SEED), 48_500)])
    made = [
        "simulate",
        "signals",
        "--seed",
        str(SEED),
        "--reads",
        str(int(4_000 * size)),
        "--target",
        genome,
        "-o",
        reads,
    ]
    for words in (made, ["sdtw", "index", genome, "--model", "r9.4.1", "-o", squiggle]):
        run_process([*PROGRAM, *words, "-q"], 1)
    return Work(["sdtw", "align", reads, "--reference", squiggle], ".tsv", {})


def signatures_work(folder: Path, size: float) -> Work:
    """Find 1,000 signatures of 60 bp with up to 3 mismatches in reads."""
    rng = np.random.default_rng(SEED)
    genome = random_bases(rng, 1_000_000)
    write_reads(folder / "reads.fq", [genome], int(600_000 * size), 150)
    places = rng.integers(0, len(genome) - 60, 1_000).tolist()
    write_fasta(folder / "signatures.fa", [genome[at : at + 60] for at in places])
    words = ["signatures", "scan", str(folder / "reads.fq"), str(folder / "signatures.fa"), "--max-mismatch", "3"]
    return Work([*words, "--report", "all"], ".tsv", {})


JOBS: dict[str, Callable[[Path, float], Work]] = {
    "kmers": kmers_work, "omega": omega_work, "classify": classify_work, "sdtw": sdtw_work,
    "signatures": signatures_work,
}  # fmt: skip


def same(one: Path, other: Path) -> bool:
    """Whether two outputs are the same but for the lines that say what made them."""
    return without_comments(one) == without_comments(other)


def without_comments(path: Path) -> bytes:
    """Return a file without lines that begin with #, and with an end of a line before it."""
    first, *others = (b"\n" + path.read_bytes()).split(b"\n#")
    return b"".join([first, *(other[other.find(b"\n") :] for other in others if b"\n" in other)])


def in_pieces(work: Work, folder: Path, of: int, device: str, repeat: int) -> Row:
    """Do a job in pieces, one after the other, and combine them."""
    common = ["-d", device, "-q"]
    pieces = [folder / f"{number}.piece" for number in range(1, of + 1)]
    seconds = []
    for number, piece in enumerate(pieces, 1):
        words = [*PROGRAM, *work.words, *common, "--shard", f"{number}/{of}", "-o", str(piece)]
        seconds.append(run_process(words, repeat)["best"])
    output = folder / f"combined{work.suffix}"
    where = ["-d", device] if work.words[0] == "kmers" else []
    combine = [*PROGRAM, work.words[0], "combine", *map(str, pieces), *where, "-o", str(output), "-q"]
    combined = run_process(combine, repeat)["best"]
    size = sum(piece.stat().st_size for piece in pieces)
    return {
        "N": of, "slowest s": max(seconds), "mean s": float(np.mean(seconds)), "combine s": combined,
        "total s": max(seconds) + combined, "pieces MB": size / 1e6, "output MB": output.stat().st_size / 1e6,
    }  # fmt: skip


def strong(name: str, numbers: Sequence[int], folder: Path, args: argparse.Namespace) -> list[Row]:
    """The same work in more and more pieces, and what one run takes."""
    work = JOBS[name](folder, args.size)
    whole = folder / f"whole{work.suffix}"
    one = run_process([*PROGRAM, *work.words, "-d", args.device, "-q", "-o", str(whole)], args.repeat)["best"]
    counts = {"k-mers": int(kmers.histogram(whole).kmers.sum())} if name == "kmers" else work.counts
    rows = []
    for of in numbers:
        row = {"job": name, **in_pieces(work, folder, of, args.device, args.repeat)}
        if not same(whole, folder / f"combined{work.suffix}"):
            raise SystemExit(f"{name} in {of} pieces does not give what one run gives")
        rows.append(row | {"one run s": one, "speed-up": one / row["total s"], **counts})
    return rows


def weak(name: str, numbers: Sequence[int], folder: Path, args: argparse.Namespace) -> list[Row]:
    """N times the work in N pieces."""
    rows = []
    for of in numbers:
        part = folder / f"weak{of}"
        part.mkdir()
        row = in_pieces(JOBS[name](part, args.size * of / max(numbers)), part, of, args.device, args.repeat)
        rows.append({"job": name, **row})
        shutil.rmtree(part)
    return [row | {"efficiency": rows[0]["total s"] / row["total s"]} for row in rows]


@dataclass(frozen=True)
class Model:
    """What the terms of a job are, in seconds and bytes.

    Attributes
    ----------
    whole, share : float
        Seconds that each piece takes, and seconds that all pieces share.
    combine, rate : float
        Seconds that `combine` takes for nothing, and its bytes of pieces a second.
    size, growth : float
        Bytes of all pieces if there were one, and how much they grow each time that there are twice as many.
    """

    whole: float
    share: float
    combine: float
    rate: float
    size: float
    growth: float

    @classmethod
    def fitted(cls, rows: Sequence[Row]) -> Model:
        """Fit the terms to measured points, relative errors weighing the same."""
        n, slowest = (np.array([row[name] for row in rows], float) for name in ("N", "slowest s"))
        whole, share = np.linalg.lstsq(np.stack([1 / slowest, 1 / n / slowest], 1), np.ones(len(n)), rcond=None)[0]
        sizes, combined = (np.array([row[name] for row in rows]) for name in ("pieces MB", "combine s"))
        growth, size = np.polyfit(np.log2(n), sizes * 1e6, 1)
        slope, start = np.polyfit(sizes * 1e6, combined, 1)
        if slope <= 0 or start < 0:  # the bytes hardly differ: all of the time is theirs
            start, slope = 0.0, float((combined / sizes / 1e6).mean())
        return cls(float(whole), float(share), float(start), float(1 / slope), float(size), float(growth))

    def terms(self, n: float) -> dict[str, float]:
        """Seconds of each term on so many devices."""
        return {
            "start and whole inputs": self.whole,
            "shared work": self.share / n,
            "combine": self.combine + (self.size + self.growth * np.log2(n)) / self.rate,
        }

    def seconds(self, n: float) -> float:
        """Seconds in all."""
        return sum(self.terms(n).values())


# What an H200 does, and where that was measured.
MEASURED = {
    "counts": ("kmers-pipeline-h200.json", lambda known: 1e9 * _row(known["rows"], k=31)["G k-mers/s"]),
    "reads FASTQ": ("sequence-h200.json", lambda known: 1e9 * known["rows"][0]["file"]),
    "counting starts": ("kmers-h200.json", lambda known: _row(known["rows"], k=31)["median s"]),
    "loads": ("classify-h200.json", lambda known: known["build"][0]["database MB"] * 1e6 / known["query"][0]["load s"]),
    "database": ("classify-h200.json", lambda known: known["build"][0]["database MB"] * 1e6 / known["references"]),
    "classifies": ("classify-h200.json", lambda known: 1e6 * known["query"][0]["warm M/s"]),
    "scans": ("omega-chromosome-h200.json", lambda known: known["sites"] / known["scans"][0]["seconds"]),
    "parses VCF": ("formats-h200.json", lambda known: 1e6 * max(
        row["MB/s"] for row in known["inputs"] if row["input"] == "vcf GT"
    )),
}  # fmt: skip
COLOURS = (figures.BLUE, figures.ORANGE, figures.GREEN, figures.SKY, figures.INK)
RESULTS = Path(__file__).parent / "results"
PROJECTED = (1, 8, 1_000)
CHROMOSOME_1 = 0.08  # of the sites of all 22
Terms = dict[str, float]


def _row(rows: Sequence[Row], **wanted: Any) -> Row:
    return next(row for row in rows if wanted.items() <= row.items())


def of_h200() -> dict[str, float]:
    """What an H200 does, by name: seconds, and things a second."""
    return {name: float(of(json.loads((RESULTS / file).read_text()))) for name, (file, of) in MEASURED.items()}


def cohort(n: int, h200: dict[str, float], here: dict[str, float]) -> Terms:
    """Scan 84.7 million sites of 2,504 people, 22 chromosomes in VCF: a command for each, and pieces of it.

    Windows have 10,000 sites, and 10,000 positions a million sites are scanned, as in the file of the H200's rate.
    Pieces of a chromosome all parse it, so no more devices than chromosomes help with that.
    """
    sites, text = 84.7e6, 84.7e6 * (2_504 * 4 + 100)
    largest = max(1 / n, CHROMOSOME_1)
    return {
        "read": text * largest / here["storage"],
        "parse": text * largest / h200["parses VCF"],
        "device": sites / h200["scans"] / n,
        "combine": here["start"],
    }


def human(n: int, h200: dict[str, float], here: dict[str, float]) -> Terms:
    """Count the 31-mers of 600 million reads of 150 bp of a human genome (2.9 Gbp), 0.2 % of whose bases are wrong."""
    reads, length, k, bases, wrong = 600e6, 150, 31, 2.9e9, 0.002
    text, windows = reads * (2 * length + 40), reads * (length - k + 1)
    errors = reads * length * wrong * k * 0.8  # some are of k-mers with two errors, or at ends of reads
    depth = windows / bases
    listed = n * bases * (1 - np.exp(-depth / n)) + errors  # k-mers of all pieces together
    return {
        "start": h200["counting starts"],
        "read": text / n / min(here["storage"], h200["reads FASTQ"]),
        "device": windows / h200["counts"] / n,
        "combine": 0.0 if n == 1 else listed * here["bytes a k-mer"] / here["kmers combine"],
    }


def bacteria(n: int, h200: dict[str, float], here: dict[str, float]) -> Terms:
    """Classify a billion reads of 100 bp by a database of 80 Gbp: 20,000 genomes of bacteria."""
    database, reads = 80e9 * h200["database"], 1e9
    return {
        "load the database": database / min(here["storage"], h200["loads"]),
        "read": reads * 220 / n / here["storage"],
        "device": reads / h200["classifies"] / n,
        "combine": reads * here["bytes a read"] / here["classify combine"] if n > 1 else 0.0,
    }


EXAMPLES: dict[str, Callable[[int, dict[str, float], dict[str, float]], Terms]] = {
    "scan of 1000 Genomes": cohort, "31-mers of 90 Gbases": human, "1 G reads, 80 Gbp": bacteria,
}  # fmt: skip


def storage_rate(folder: str) -> float:
    """Bytes a second of a file in a folder that the system has not read before."""
    size, path = 1 << 30, Path(folder) / f"scale-{os.getpid()}.bin"
    try:
        with path.open("wb") as file:
            file.write(np.random.default_rng(SEED).bytes(size))
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start = time.perf_counter()
        with path.open("rb", buffering=0) as file:
            while file.read(16 << 20):
                pass
        return size / (time.perf_counter() - start)
    finally:
        path.unlink(missing_ok=True)


def of_here(rows: Sequence[Row], models: dict[str, Model], storage: float) -> dict[str, float]:
    """What was measured now, as the examples use it."""
    found = {"storage": storage, "start": min(model.whole for model in models.values())}
    for name, unit, count in (("kmers", "bytes a k-mer", "k-mers"), ("classify", "bytes a read", "reads")):
        one = _row(rows, job=name, N=1)
        found |= {unit: one["pieces MB"] * 1e6 / one[count], f"{name} combine": models[name].rate}
    return found


def projections(rows: Sequence[Row], models: dict[str, Model], storage: float) -> list[Row]:
    """What the examples take on more and more H200s, and which term is the longest."""
    h200, here = of_h200(), of_here(rows, models, storage)
    found = []
    for name, terms_of in EXAMPLES.items():
        for n in PROJECTED:
            terms = terms_of(n, h200, here)
            longest = max(terms, key=terms.__getitem__)
            found.append({
                "example": name, "H200s": n, "s": sum(terms.values()), "longest": longest,
                "longest s": terms[longest], "device s": terms["device"], "combine s": terms["combine"],
            })  # fmt: skip
    return found


def draw(path: str, rows: Sequence[Row], models: dict[str, Model]) -> None:
    """Draw measured points on the curves of the model, up to 1,000 devices."""
    figure, axes = pyplot.subplots(figsize=(7.5, 5))
    devices = np.logspace(0, 3, 200)
    for (name, model), colour in zip(models.items(), COLOURS, strict=False):
        one = model.seconds(1)
        curve = [one / model.seconds(n) for n in devices]
        axes.plot(devices, curve, color=colour, lw=1.8)
        own = [row for row in rows if row["job"] == name]
        axes.plot([row["N"] for row in own], [one / row["total s"] for row in own], "o", color=colour, ms=6)
        longest = max(model.terms(1_000).items(), key=lambda term: term[1])[0]
        axes.annotate(f"{name}: {longest}", (1_000, curve[-1]), xytext=(6, 0), textcoords="offset points",
                      color=colour, va="center", fontsize=10)  # fmt: skip
    axes.plot(devices[devices < 40], devices[devices < 40], color=figures.GREY, lw=0.8, ls=":")
    axes.annotate("if all of the work were shared", (28, 34), color=figures.GREY, fontsize=9, ha="right")
    axes.set(xscale="log", yscale="log", xlabel="pieces, each on a machine of its own", ylabel="times as fast as one")
    axes.set_xlim(0.9, 1_000)
    for axis, ticks in ((axes.xaxis, (1, 2, 4, 8, 32, 100, 1_000)), (axes.yaxis, (0.5, 1, 2, 4, 8, 16, 32))):
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter("{x:,g}")
        axis.set_minor_locator(NullLocator())
    figure.savefig(path, dpi=150, bbox_inches="tight")


def measured(args: argparse.Namespace) -> dict[str, Any]:
    """Measure everything; see the top."""
    record: dict[str, Any] = {"machine": machine(select_device(args.device)), "host": host(), "size": args.size}
    rows: list[Row] = []
    weak_rows: list[Row] = []
    for name in args.jobs:
        with tempfile.TemporaryDirectory() as folder:
            rows += strong(name, args.pieces, Path(folder), args)
            weak_rows += weak(name, args.weak, Path(folder), args)
    return record | {"strong": rows, "weak": weak_rows, "storage GB/s": storage_rate(args.storage) / 1e9}


def main() -> None:
    """Measure or read what was measured, fit, project, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = {"type": lambda text: [int(word) for word in text.split(",")]}
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", default=list(JOBS), type=lambda text: text.split(","))
    parser.add_argument("--pieces", default=[1, 2, 4, 8], **numbers)
    parser.add_argument("--weak", default=[1, 2, 4], **numbers)
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--storage", default=".")
    parser.add_argument("--from", dest="known")
    parser.add_argument("--json")
    parser.add_argument("--plot")
    args = parser.parse_args()
    record = json.loads(Path(args.known).read_text()) if args.known else measured(args)
    rows = record["strong"]
    jobs = list(dict.fromkeys(row["job"] for row in rows))
    models = {name: Model.fitted([row for row in rows if row["job"] == name]) for name in jobs}
    for row in rows:
        model = models[row["job"]]
        row |= {"model s": model.seconds(row["N"]), "1,000 s": model.seconds(1_000)}
    record["models"] = {name: asdict(model) for name, model in models.items()}
    shown = [{name: value for name, value in row.items() if name not in ("k-mers", "reads", "sites")} for row in rows]
    print(table(shown), table(record["weak"]), sep="\n\n")
    if {"kmers", "classify"} <= set(jobs):
        record["projected"] = projections(rows, models, 1e9 * record["storage GB/s"])
        print("", table(record["projected"]), sep="\n")
    write_json(args.json, record)
    if args.plot:
        draw(args.plot, rows, models)


if __name__ == "__main__":
    main()
