"""How jobs scale that are done in pieces: strong and weak scaling as measured, and a model projected to more devices.

    python benchmarks/scale.py [--device cpu] [--jobs kmers,omega,classify,sdtw,signatures] [--pieces 1,2,4,8]
                               [--size 1] [--json FILE] [--plot FILE.png]

Strong scaling: the same work in N pieces. Each piece is a process of its own, from start to exit, and pieces run one
after the other, so that each has the machine for itself, as on N machines that share nothing but their files. The time
on N machines is that of the slowest piece and of `combine` behind it. Weak scaling: N times the work in N pieces.

What `combine` writes is compared with what one run writes, without the lines that say what made it.

The model of a job on N devices has four terms:

    start + whole      what each piece takes, however small: the program, the device, inputs that all pieces read
    share / N          what is shared out
    pieces / write     N pieces to be written, side by side
    combine            one process that reads all pieces: seconds to start, and bytes at a rate

`start + whole` and `share` are fitted to the slowest pieces, `combine` to the bytes of all pieces. `error` is the
largest difference between the model and a measured point.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import host, machine, run_process, table, write_json

from oclgenomics.app import figures
from oclgenomics.runtime import select_device

SEED = 32
PROGRAM = [sys.executable, "-m", "oclgenomics"]
BASES = np.frombuffer(b"ACGT", np.uint8)
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
    option : str
        The option of the output's file.
    """

    words: list[str]
    suffix: str


def random_bases(rng: np.random.Generator, count: int) -> bytes:
    """Text of so many bases."""
    return BASES[rng.integers(0, 4, count)].tobytes()


def write_reads(path: Path, genomes: Sequence[bytes], reads: int, length: int, rng: np.random.Generator) -> None:
    """Write reads of genomes, with 0.5 % errors, as FASTQ."""
    quality = b"I" * length
    with path.open("wb") as file:
        for genome, some in zip(genomes, np.array_split(np.arange(reads), len(genomes)), strict=True):
            letters = np.frombuffer(genome, np.uint8)
            for block in np.array_split(some, max(1, len(some) // 100_000)):
                places = rng.integers(0, len(letters) - length, len(block))
                text = letters[places[:, None] + np.arange(length)]
                wrong = rng.random(text.shape) < 0.005
                text[wrong] = BASES[rng.integers(0, 4, int(wrong.sum()))]
                file.writelines(b"@%d\n%s\n+\n%s\n" % (n, one.tobytes(), quality) for n, one in zip(block, text, strict=True))


def kmers_work(folder: Path, size: float) -> Work:
    """Count the 31-mers of 30-fold reads of a genome of 4 Mbp."""
    rng = np.random.default_rng(SEED)
    bases = int(4e6 * size)
    write_reads(folder / "reads.fq", [random_bases(rng, bases)], bases * 30 // 150, 150, rng)
    return Work(["kmers", "count", str(folder / "reads.fq"), "-k", "31"], ".db")


def omega_work(folder: Path, size: float) -> Work:
    """Scan a chromosome of 20,000 sites of 400 haplotypes at 1,000 positions, in windows of a tenth of it."""
    rng = np.random.default_rng(SEED)
    sites, haplotypes = int(20_000 * size), 400
    counts = rng.integers(1, haplotypes, sites)
    states = (rng.random((haplotypes, sites)) < counts / haplotypes).astype(np.uint8) + ord("0")
    text = "\n".join(row.tobytes().decode() for row in states)
    places = " ".join(f"{(place + 0.5) / sites:.7f}" for place in range(sites))
    (folder / "chromosome.ms").write_text(f"ms {haplotypes} 1\n{SEED}\n\n//\nsegsites: {sites}\npositions: {places}\n{text}\n")
    length = int(10_000_000 * size)
    words = ["omega", "scan", str(folder / "chromosome.ms"), "--length", str(length), "--grid", str(int(1_000 * size))]
    return Work([*words, "--minwin", "1000", "--maxwin", "1000000"], ".tsv")


def classify_work(folder: Path, size: float) -> Work:
    """Classify 150 bp reads of 20 genomes of 2 Mbp."""
    rng = np.random.default_rng(SEED)
    genomes = [random_bases(rng, 2_000_000) for _ in range(20)]
    (folder / "genomes.fa").write_bytes(b"".join(b">genome%d\n%s\n" % (n, one) for n, one in enumerate(genomes)))
    write_reads(folder / "reads.fq", genomes, int(1_500_000 * size), 150, rng)
    run_process([*PROGRAM, "classify", "build", str(folder / "genomes.db"), str(folder / "genomes.fa"), "-q"], 1)
    words = ["classify", "query", str(folder / "genomes.db"), str(folder / "reads.fq"), "--lowest", "sequence"]
    return Work(words, ".txt")


def sdtw_work(folder: Path, size: float) -> Work:
    """Align reads with a reference of 48,500 bp."""
    reads = str(int(4_000 * size))
    (folder / "genome.fa").write_bytes(b">genome\n" + random_bases(np.random.default_rng(SEED), 48_500) + b"\n")
    made = [*PROGRAM, "simulate", "signals", "--seed", str(SEED), "--reads", reads, "--target", str(folder / "genome.fa")]
    run_process([*made, "-o", str(folder / "reads.npz"), "-q"], 1)
    run_process([*PROGRAM, "sdtw", "index", str(folder / "genome.fa"), "--model", "r9.4.1", "-o", str(folder / "genome.sq"), "-q"], 1)
    return Work(["sdtw", "align", str(folder / "reads.npz"), "--reference", str(folder / "genome.sq")], ".tsv")


def signatures_work(folder: Path, size: float) -> Work:
    """Find 1,000 signatures of 60 bp with up to 3 mismatches in reads."""
    rng = np.random.default_rng(SEED)
    genome = random_bases(rng, 1_000_000)
    write_reads(folder / "reads.fq", [genome], int(600_000 * size), 150, rng)
    places = rng.integers(0, len(genome) - 60, 1_000)
    (folder / "signatures.fa").write_bytes(
        b"".join(b">s%d\n%s\n" % (n, genome[at : at + 60]) for n, at in enumerate(places.tolist()))
    )
    words = ["signatures", "scan", str(folder / "reads.fq"), str(folder / "signatures.fa"), "--max-mismatch", "3"]
    return Work([*words, "--report", "all"], ".tsv")


JOBS: dict[str, Callable[[Path, float], Work]] = {
    "kmers": kmers_work, "omega": omega_work, "classify": classify_work, "sdtw": sdtw_work,
    "signatures": signatures_work,
}  # fmt: skip


def same(one: Path, other: Path) -> bool:
    """Whether two outputs are the same but for the lines that say what made them."""
    lines = [[line for line in path.read_bytes().split(b"\n") if not line.startswith(b"#")] for path in (one, other)]
    return lines[0] == lines[1]


def in_pieces(work: Work, folder: Path, of: int, device: str, repeat: int) -> Row:
    """Do a job in pieces, one after the other, and combine them."""
    common = ["-d", device, "-q"]
    pieces = [folder / f"{number}.piece" for number in range(1, of + 1)]
    seconds = []
    for number, piece in enumerate(pieces, 1):
        words = [*PROGRAM, *work.words, *common, "--shard", f"{number}/{of}", "-o", str(piece)]
        seconds.append(run_process(words, repeat)["best"])
    output = folder / f"combined{work.suffix}"
    combine = [*PROGRAM, work.words[0], "combine", *map(str, pieces), "-o", str(output), "-q"]
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
    rows = []
    for of in numbers:
        row = {"job": name, **in_pieces(work, folder, of, args.device, args.repeat)}
        if not same(whole, folder / f"combined{work.suffix}"):
            raise SystemExit(f"{name} in {of} pieces does not give what one run gives")
        rows.append(row | {"one run s": one, "speed-up": one / row["total s"]})
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


def main() -> None:
    """Measure, fit, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", default=",".join(JOBS), type=lambda text: text.split(","))
    parser.add_argument("--pieces", default="1,2,4,8", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--plot")
    args = parser.parse_args()
    record: dict[str, Any] = {"machine": machine(select_device(args.device)), "host": host(), "size": args.size}
    rows, weak_rows, models = [], [], {}
    for name in args.jobs:
        with tempfile.TemporaryDirectory() as folder:
            own = strong(name, args.pieces, Path(folder), args)
            weak_rows += weak(name, args.pieces, Path(folder), args)
        model = Model.fitted(own)
        models[name] = model
        for row in own:
            row["model s"] = model.seconds(row["N"])
        rows += own
    print(table(rows), table(weak_rows), sep="\n\n")
