"""How long commands take that have next to nothing to do, as whole processes: the start is most of it.

    python benchmarks/startup.py [-d intel] [--peer FOLDER] [--repeat 20] [--json FILE]

`--version`, helps, `kmers count` of one read and of 1 MB of FASTQ, and the scan of the README's first command. FOLDER
is another version's checkout; commands of both take turns, and the ratio of the medians says whether this one starts
slower. A change of few percent is noise on a busy machine, where `chrt -r 20` before the command helps.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, run_process, table, write_json

from oclgenomics.runtime import select_device

ROOT = Path(__file__).resolve().parent.parent
REGION = ROOT / "tests" / "data" / "omega" / "chr20_1000G_300samples.vcf.gz"
READS, LENGTH = 4_000, 120  # 1 MB of FASTQ


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--peer", type=Path, metavar="FOLDER", help="checkout of the version to compare with")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def commands(device: str, folder: Path) -> dict[str, list[str]]:
    """Return the words of each command."""
    bases = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(1).integers(0, 4, (READS, LENGTH))]
    reads = folder / "reads.fq"
    reads.write_bytes(b"".join(b"@r%d\n%s\n+\n%s\n" % (i, row.tobytes(), b"I" * LENGTH) for i, row in enumerate(bases)))
    one = folder / "one.fq"
    one.write_text("@r\nACGTACGTTGCA\n+\nIIIIIIIIIIII\n")
    scan = ["--grid", "500", "--minwin", "1000", "--maxwin", "100000", "--format", "tsv", "-q", "-d", device]
    return {
        "--version": ["--version"],
        "kmers count --help": ["kmers", "count", "--help"],
        "fpga project --help": ["fpga", "project", "--help"],
        "kmers count, one read": ["kmers", "count", "-q", "-d", device, "-k", "5", "-o", str(folder / "o"), str(one)],
        "kmers count, 1 MB": ["kmers", "count", "-q", "-d", device, "-k", "28", "-o", str(folder / "k.db"), str(reads)],
        "omega scan, table": ["omega", "scan", str(REGION), *scan, "-o", str(folder / "x.tsv")],
        "omega scan, with plot": [
            "omega", "scan", str(REGION), *scan, "-o", str(folder / "x.tsv"), "--plot", str(folder / "x.png")
        ],
    }  # fmt: skip


def median(folder: Path, words: list[str], seconds: list[float]) -> float:
    """Run a command once more with the package of a folder, and return the median of all its runs, in seconds."""
    os.environ["PYTHONPATH"] = str(folder)
    seconds += run_process([sys.executable, "-m", "oclgenomics", *words], 1, folder=folder)["seconds"]
    return float(np.median(seconds))


def main() -> None:
    """Time the commands and print a table."""
    args = arguments()
    device = select_device(args.device)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        for command, words in commands(str(device.index), Path(name)).items():
            ours: list[float] = []
            theirs: list[float] = []
            for _ in range(args.repeat + 1):  # the first compiles
                own = median(ROOT, words, ours)
                peer = median(args.peer, words, theirs) if args.peer else None
            row: dict[str, Any] = {"command": command, "ms": 1e3 * own}
            if peer is not None:
                row |= {"peer_ms": 1e3 * peer, "ratio": own / peer}
            rows.append(row)
    print(table(rows))
    write_json(args.json, {**machine(device), "repeat": args.repeat, "rows": rows})


if __name__ == "__main__":
    main()
