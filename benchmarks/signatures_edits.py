"""Signatures with insertions and deletions: whole processes, and those of Sassy in turn.

    python benchmarks/signatures_edits.py [-d auto] [--sassy PYTHON] [--letters 1e8] [--repeat 3] [--json FILE]
                                          [--few] [--quick]

A random genome has 200 copies of signatures, with up to a twelfth of their letters edited. `reads` are of 150 bp, each
from a random place of a genome that has all signatures; all others look through the genome as one record. Both strands,
all matches, the best of some runs after one that is not counted, with inputs in the system's cache.

--sassy names a Python that has the package `sassy-rs`. Its process reads the file, joins all sequences and searches
them for all signatures by `search_many` with as many threads as cores, which takes as much CPU time as `search` does.
On `reads` that spares it all that short texts cost it, but finds matches across reads.
Sassy gives the ends at which the edits are fewest nearby, ours a match for each run of ends, so numbers of matches
differ by a few where matches overlap.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, run_process, table, write_json
from numpy.typing import NDArray

from oclgenomics.runtime import select_device

SEED = 5
LETTERS = np.frombuffer(b"ACGT", np.uint8)
COPIES, READ = 200, 150
SASSY = """
import os, sassy, sys
lines = open(sys.argv[1], "rb").read().split(b"\\n")
text = b"".join(lines[1::4] if lines[0][:1] == b"@" else lines[1::2])
patterns = open(sys.argv[2], "rb").read().split(b"\\n")[1::2]
cores = len(os.sched_getaffinity(0))
with open(sys.argv[4], "w") as out:
    for match in sassy.Searcher("iupac", rc=True).search_many(patterns, [text], int(sys.argv[3]), cores, "single"):
        print(match.text_start, match.text_end, match.cost, match.strand, sep="\\t", file=out)
"""


@dataclass(frozen=True)
class Set:
    """Signatures of one length, and how many edits they may have."""

    signatures: int
    length: int
    edits: int
    reads: bool = False

    def __str__(self) -> str:
        return f"{self.signatures} x {self.length} bp, {self.edits} edits{', reads' if self.reads else ''}"


SETS = (
    Set(1, 24, 3), Set(10, 20, 1), Set(10, 24, 3), Set(10, 64, 6), Set(32, 24, 3), Set(96, 20, 1), Set(96, 20, 2),
    Set(96, 24, 3), Set(96, 24, 3, reads=True), Set(96, 24, 6), Set(96, 32, 4), Set(96, 40, 3), Set(96, 64, 6),
    Set(10, 200, 20), Set(10, 500, 50), Set(10, 1000, 50), Set(10, 1000, 100),
)  # fmt: skip


def edited(rng: np.random.Generator, letters: NDArray[np.uint8], edits: int) -> NDArray[np.uint8]:
    """Substitute, insert and delete letters at random places."""
    copy = letters.tolist()
    for _ in range(edits):
        at, kind = int(rng.integers(len(copy))), int(rng.integers(3))
        copy[at : at + (kind != 1)] = [] if kind == 2 else [int(rng.choice(LETTERS))]
    return np.array(copy, np.uint8)


def write_set(folder: Path, one: Set, letters: int) -> tuple[Path, Path]:
    """Write samples and signatures."""
    rng = np.random.default_rng(SEED)
    genome = LETTERS[rng.integers(0, 4, letters, np.uint8)]
    signatures = [LETTERS[rng.integers(0, 4, one.length)] for _ in range(one.signatures)]
    for number in range(COPIES):
        copy = edited(rng, signatures[number % one.signatures], int(rng.integers(0, max(2, one.length // 12))))
        at = int(rng.integers(0, letters - len(copy)))
        genome[at : at + len(copy)] = copy
    samples, panel = folder / f"samples.{'fq' if one.reads else 'fa'}", folder / "signatures.fa"
    panel.write_bytes(b"".join(b">s%d\n%b\n" % (number, text.tobytes()) for number, text in enumerate(signatures)))
    with samples.open("wb") as stream:
        if not one.reads:
            stream.write(b">genome\n%b\n" % genome.tobytes())
        for number, at in enumerate(rng.integers(0, letters - READ, letters // READ).tolist() if one.reads else []):
            stream.write(b"@%d\n%b\n+\n%b\n" % (number, genome[at : at + READ].tobytes(), b"I" * READ))
    return samples, panel


def rows_in(path: Path) -> int:
    """Lines of a table without those that begin with # and without a header of ours."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return len(lines) - bool(lines and lines[0].startswith("sample\t"))


def measured(one: Set, args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """The row of a set."""
    samples, panel = write_set(folder, one, int(args.letters))
    output, inputs = folder / "out.tsv", [str(samples), str(panel)]
    own = [sys.executable, "-m", "oclgenomics", "signatures", "scan", *inputs, "--max-edits", str(one.edits)]
    own += ["--strand", "both", "--report", "all", "-q", "-d", args.device, "-o", str(output)]
    run_process(own, 1)
    runs = {"own": run_process(own, args.repeat)}
    row: dict[str, Any] = {"set": str(one), "matches": rows_in(output)}
    row |= {"CPU s": runs["own"]["cpu"], "s": runs["own"]["best"], "MB": runs["own"]["peak_mb"]}
    if args.sassy:
        runs["sassy"] = run_process([args.sassy, "-c", SASSY, *inputs, str(one.edits), str(output)], args.repeat)
        row["Sassy's"] = rows_in(output)
        row |= {"Sassy CPU s": runs["sassy"]["cpu"], "Sassy s": runs["sassy"]["best"]}
        row["of Sassy"] = row["CPU s"] / row["Sassy CPU s"]
    return {**row, "runs": runs}


def main() -> int:
    """Measure all sets, and keep what is done if a later one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--sassy", metavar="PYTHON", help="a Python that has the package sassy-rs")
    parser.add_argument("--letters", type=float, default=1e8)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--few", action="store_true", help="only sets of at most 32 signatures of at most 64 bp")
    parser.add_argument("--quick", action="store_true", help="a small genome, to see that everything runs")
    args = parser.parse_args()
    device = select_device(args.device)
    args.device, args.letters = str(device.index), 1e6 if args.quick else args.letters
    record: dict[str, Any] = {"benchmark": "signatures with edits", "machine": machine(device), "seed": SEED}
    record |= {"letters": args.letters, "rows": []}
    if args.sassy:
        version = "from importlib.metadata import version; print(version('sassy-rs'))"
        record["sassy"] = subprocess.run([args.sassy, "-c", version], capture_output=True, text=True, check=True).stdout
    for one in (one for one in SETS if not args.few or (one.signatures <= 32 and one.length <= 64)):
        with tempfile.TemporaryDirectory() as folder:
            record["rows"].append(measured(one, args, Path(folder)))
        write_json(args.json, record)
        print(table([{key: value for key, value in record["rows"][-1].items() if key != "runs"}]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
