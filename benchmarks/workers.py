"""Several devices of one machine, a process on each: whole commands with `--workers` compared with one device.

    python benchmarks/workers.py --devices 0,1 [--jobs kmers,omega,classify,sdtw,signatures] [--size 1] [--repeat 2]
        [--folder FOLDER] [--json FILE]

Long jobs, whose inputs the system's cache holds. Runs with one device and with all of them take turns; the outputs are
compared, without the lines that say what made them. `times` is how many times as fast several devices are.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import host, run_process, table, write_json
from scale import PROGRAM, Work, same
from scale_data import SEED, random_bases, write_fasta, write_reads

from oclgenomics.runtime import select_devices


def kmers_work(folder: Path, size: float) -> Work:
    """Count the 31-mers of 80 million reads of 150 bp (26 GB) of a genome of 5 Mbp."""
    reads = int(80e6 * size)
    write_reads(folder / "reads.fq", [random_bases(np.random.default_rng(SEED), 5_000_000)], reads, 150, 0.0005)
    return Work(["kmers", "count", str(folder / "reads.fq"), "-k", "31"], ".db", {"reads": reads})


def omega_work(folder: Path, size: float) -> Work:
    """Scan a chromosome of 100,000 sites of 1,000 haplotypes at 200,000 positions, in windows of 20,000 sites."""
    rng = np.random.default_rng(SEED)
    sites, haplotypes, grid = 100_000, 1_000, int(200_000 * size)
    counts = rng.integers(1, haplotypes, sites)
    with (folder / "chromosome.ms").open("wb") as file:
        places = " ".join(f"{(place + 0.5) / sites:.8f}" for place in range(sites))
        file.write(f"ms {haplotypes} 1\n{SEED}\n\n//\nsegsites: {sites}\npositions: {places}\n".encode())
        for _ in range(haplotypes):
            file.write(((rng.random(sites) < counts / haplotypes).astype(np.uint8) + ord("0")).tobytes() + b"\n")
    length = 100 * sites
    words = ["omega", "scan", str(folder / "chromosome.ms"), "--length", str(length), "--grid", str(grid)]
    return Work([*words, "--minwin", "1000", "--maxwin", str(length // 10)], ".tsv", {"grid": grid})


def classify_work(folder: Path, size: float) -> Work:
    """Classify 150 million reads of 100 bp (32 GB) of 200 genomes of 2 Mbp."""
    rng = np.random.default_rng(SEED)
    genomes = [random_bases(rng, 2_000_000) for _ in range(200)]
    reads = int(150e6 * size)
    write_fasta(folder / "genomes.fa", genomes)
    write_reads(folder / "reads.fq", genomes, reads, 100)
    run_process([*PROGRAM, "classify", "build", str(folder / "genomes.db"), str(folder / "genomes.fa"), "-q"], 1)
    words = ["classify", "query", str(folder / "genomes.db"), str(folder / "reads.fq"), "--lowest", "sequence"]
    return Work(words, ".txt", {"reads": reads})


def sdtw_work(folder: Path, size: float) -> Work:
    """Align 40,000 reads with a reference of 1 Mbp."""
    genome, reads, squiggle = (str(folder / name) for name in ("genome.fa", "reads.npz", "genome.sq"))
    write_fasta(Path(genome), [random_bases(np.random.default_rng(SEED), 1_000_000)])
    count = int(40_000 * size)
    made = ["simulate", "signals", "--seed", str(SEED), "--reads", str(count), "--target", genome, "-o", reads]
    for words in (made, ["sdtw", "index", genome, "--model", "r9.4.1", "-o", squiggle]):
        run_process([*PROGRAM, *words, "-q"], 1)
    return Work(["sdtw", "align", reads, "--reference", squiggle], ".tsv", {"reads": count})


def signatures_work(folder: Path, size: float) -> Work:
    """Find 10,000 signatures of 60 bp with up to 3 mismatches in 60 million reads of 150 bp (20 GB)."""
    rng = np.random.default_rng(SEED)
    genome, reads = random_bases(rng, 50_000_000), int(60e6 * size)
    write_reads(folder / "reads.fq", [genome], reads, 150)
    places = rng.integers(0, len(genome) - 60, 10_000).tolist()
    write_fasta(folder / "signatures.fa", [genome[at : at + 60] for at in places])
    words = ["signatures", "scan", str(folder / "reads.fq"), str(folder / "signatures.fa"), "--max-mismatch", "3"]
    return Work([*words, "--report", "all"], ".tsv", {"reads": reads})


JOBS: dict[str, Callable[[Path, float], Work]] = {
    "kmers": kmers_work, "omega": omega_work, "classify": classify_work, "sdtw": sdtw_work,
    "signatures": signatures_work,
}  # fmt: skip


def measured(name: str, folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Do a job on the first device and on all, in turn."""
    work = JOBS[name](folder, args.size)
    outputs = {way: folder / f"{way}{work.suffix}" for way in ("one", "all")}
    ways = {"one": ["-d", args.devices.split(",")[0]], "all": ["--workers", args.devices]}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(args.repeat):
        for way, options in ways.items():
            outputs[way].unlink(missing_ok=True)
            seconds[way] += run_process([*PROGRAM, *work.words, *options, "-q", "-o", str(outputs[way])], 1)["seconds"]
    if not same(*outputs.values()):
        raise SystemExit(f"{name}: {args.devices} do not give what one device gives")
    one, every = min(seconds["one"]), min(seconds["all"])
    return {"job": name, **work.counts, "one s": one, "all s": every, "times": one / every, "seconds": seconds}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", required=True)
    parser.add_argument("--jobs", default=list(JOBS), type=lambda text: text.split(","))
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--folder")
    parser.add_argument("--json")
    args = parser.parse_args()
    devices = [f"{device.index}: {device.name}, driver {device.driver}" for device in select_devices(args.devices)]
    record: dict[str, Any] = {"benchmark": "workers", "host": host(), "devices": devices, "rows": []}
    for name in args.jobs:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            record["rows"].append(measured(name, Path(folder), args))
        shown = {key: value for key, value in record["rows"][-1].items() if key not in ("seconds", "reads", "grid")}
        print(table([shown]), flush=True)
        write_json(args.json, record)


if __name__ == "__main__":
    main()
