"""K-mer counting from a file to a written database, compared with Gerbil, KMC and Jellyfish where they are installed.

    python benchmarks/kmers.py [--device gpu] [--sets plain] [--genome FILE] [--bases 24e6] [--coverage 10]
                               [--k 21,31,55] [--repeat 3] [--max-memory 500M] [--peers gerbil,kmc] [--json FILE]

Sets of reads are those of `kmers_data.py`. Each program is a process of its own, timed from start to exit. Programs run
in turn, Jellyfish once, the others `--repeat` times; rates are of the median run, and so is the ratio of a peer's time
to ours. CPU time is the least of all runs, and says more where others use the cores, too. `peak` is the process'
resident memory. All keep all k-mers and have a thread for each core, Gerbil two, with which it is faster: Gerbil with
`-l 1 -e 4GB`, KMC with `-ci1` and 8 GB; Jellyfish gets the table size that it needs.

`--pipeline` times the device alone instead: packed bases in device memory to counted k-mers in device memory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from kmers_data import SETS, genome_of, write_set
from measure import host, machine, run_process, table, write_json

from oclgenomics.kmers.device.sort_counter import SortCounter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.runtime import Engine, select_device
from oclgenomics.sequence import packed_blocks

OUTPUTS, OWN = "outputs", "oclgenomics"
PEERS = ["gerbil", "kmc"]
ONCE = ("jellyfish",)  # that take so long that another run would tell nothing


Command = tuple[str, list[str]]
Row = dict[str, Any]


def commands(args: argparse.Namespace, reads: Path, folder: Path, k: int, device: str) -> Iterator[Command]:
    """The programs' command lines."""
    own = [sys.executable, "-m", "oclgenomics", "kmers", "count", str(reads), "-k", str(k)]
    own += ["-o", str(folder / OUTPUTS / "own.db"), "-d", device, "-q"]
    own += ["--max-memory", args.max_memory] if args.max_memory else []
    yield OWN, own
    cores = len(os.sched_getaffinity(0))
    peers = {name: shutil.which(name) for name in args.peers}
    if gerbil := peers.get("gerbil"):
        options = ["-k", str(k), "-t", str(2 * cores), "-e", "4GB", "-l", "1"]
        yield "gerbil", [gerbil, *options, str(reads), str(folder), str(folder / OUTPUTS / "gerbil")]
    if kmc := peers.get("kmc"):
        output = [str(reads), str(folder / OUTPUTS / "kmc"), str(folder)]
        yield "kmc", [kmc, f"-k{k}", f"-t{cores}", "-m8", "-ci1", "-cs65535", *output]
    if jellyfish := peers.get("jellyfish"):
        output = ["-o", str(folder / OUTPUTS / "jf"), str(reads)]
        yield "jellyfish", [jellyfish, "count", "-m", str(k), "-C", "-t", str(cores), "-s", "100M", *output]


def whole_processes(args: argparse.Namespace, name: str, reads: Path, shape: list[int], device: str) -> list[Row]:
    """Every program for every k, in turn."""
    rows: list[Row] = []
    count, length = shape
    outputs = reads.parent / OUTPUTS
    for k in args.k:
        runs: dict[str, list[dict[str, Any]]] = {}
        for number in range(args.repeat):
            for program, command in commands(args, reads, reads.parent, k, device):
                if not number or program not in ONCE:
                    runs.setdefault(program, []).append(run_process(command, 1, outputs=outputs))
                    if not any(outputs.iterdir()):
                        raise SystemExit(f"{program} wrote nothing: {' '.join(command)}")
        kmers = count * (length - k + 1)
        medians = {program: float(np.median([run["best"] for run in some])) for program, some in runs.items()}
        cpu = {program: min(run["cpu"] for run in some) for program, some in runs.items()}
        for program, some in runs.items():
            seconds, middle = [run["best"] for run in some], medians[program]
            row: Row = {"set": name, "k": k, "program": program, "runs": len(some), "median s": middle}
            row |= {"least s": min(seconds), "most s": max(seconds), "M k-mers/s": kmers / middle / 1e6}
            row |= {"times ours": middle / medians[OWN], "peak MB": max(run["peak_mb"] for run in some)}
            row |= {"CPU s": cpu[program], "CPU times ours": cpu[program] / cpu[OWN]}
            rows.append(row)
            print(table(rows).splitlines()[-1], file=sys.stderr, flush=True)
    return rows


def pipelines(args: argparse.Namespace, reads: Path, engine: Engine) -> list[Row]:
    """Packed bases to counted k-mers, both in device memory."""
    rows = []
    for k in args.k:
        times = []
        for _ in range(args.repeat + 1):
            blocks = [block.symbols for block in packed_blocks(engine, [reads], overlap=k - 1)]
            engine.finish()
            start = time.perf_counter()
            counter = SortCounter(engine, CountOptions(k))
            for symbols in blocks:
                counter.add(symbols)
            runs = counter.runs(0, counter.prefixes)
            engine.finish()
            times.append(time.perf_counter() - start)
            kmers, distinct = counter.kmers, runs.size
            del blocks, counter, runs
        rate = kmers / min(times[1:]) / 1e9
        rows.append({"k": k, "M k-mers": kmers / 1e6, "M distinct": distinct / 1e6, "G k-mers/s": rate})
    return rows


def main() -> int:
    """Make the reads and run everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--sets", type=lambda text: text.split(","), default=["plain"], help=f"of {', '.join(SETS)}")
    parser.add_argument("--genome", metavar="FILE")
    parser.add_argument("--bases", type=float, default=24e6)
    parser.add_argument("--coverage", type=float, default=10)
    parser.add_argument("--k", type=lambda text: [int(k) for k in text.split(",")], default=[21, 31, 55])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--max-memory")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=PEERS, help="none for ours alone")
    parser.add_argument("--pipeline", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    device, genome = select_device(args.device), genome_of(args.genome, int(args.bases))
    record: dict[str, Any] = {"machine": machine(device), "host": host(), "reads": {}, "rows": []}
    for name in args.sets:
        with tempfile.TemporaryDirectory() as folder:
            reads = Path(folder) / "reads.fq"
            shape = write_set(name, reads, genome, args.coverage)
            record["reads"][name] = {"reads": shape[0], "length": shape[1], "megabytes": os.path.getsize(reads) / 1e6}
            if args.pipeline:
                with Engine(device) as engine:
                    record["rows"] += pipelines(args, reads, engine)
            else:
                record["rows"] += whole_processes(args, name, reads, shape, str(device.index))
    print(f"{device}\n{table(record['rows'])}")
    write_json(args.json, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
