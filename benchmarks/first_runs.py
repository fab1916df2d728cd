"""What first runs take that compile their programs, and whether a device's compiler works on several at a time.

    python benchmarks/first_runs.py [-d auto] [--jobs kmers,query,signatures,sdtw,omega,sweeps] [--repeat 3]
                                    [--json FILE]

Each command runs on a small input: with a cache that holds no program, and once more. `cpu s` are all threads'. Then
its programs are compiled in one process one after the other (`in turn`), and in a thread each (`in threads`), and are
loaded from binaries in both ways. The device has passed its self-test before.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, run_process, table, write_json
from scale import PROGRAM
from scale_data import SEED, random_bases, write_fasta, write_reads

from oclgenomics.cli.main import main as run_command
from oclgenomics.runtime import Device, program, select_device
from oclgenomics.runtime.diskcache import VARIABLE, cache_folder
from oclgenomics.runtime.loader import opencl
from oclgenomics.runtime.source import load_source

REGION = Path(__file__).resolve().parent.parent / "tests" / "data" / "omega" / "chr20_1000G_300samples.vcf.gz"
Built = list[tuple[str, list[str]]]  # sources and options


def commands(folder: Path) -> dict[str, list[str]]:
    """Write small inputs, and return the words of each command."""
    genome = random_bases(np.random.default_rng(SEED), 200_000)
    reads, panel, target = folder / "reads.fq", folder / "panel.fa", folder / "target.fa"
    write_reads(reads, [genome], 5_000, 120)
    write_fasta(panel, [genome[at : at + 60] for at in range(0, 100_000, 1_000)])
    write_fasta(target, [genome[:30_000]])
    signals, squiggle, database = (str(folder / name) for name in ("signals.npz", "target.sq", "target.db"))
    made = ["simulate", "signals", "--seed", str(SEED), "--reads", "100", "--target", str(target), "-o", signals]
    index = ["sdtw", "index", str(target), "--model", "r9.4.1", "-o", squiggle]
    for words in (made, index, ["classify", "build", database, str(target)]):
        run_process([*PROGRAM, *words, "-q"], 1)
    windows = ["--grid", "500", "--minwin", "1000", "--maxwin", "100000"]
    return {
        "kmers": ["kmers", "count", "-k", "21", str(reads)],
        "query": ["classify", "query", database, str(reads), "--lowest", "sequence"],
        "signatures": ["signatures", "scan", str(reads), str(panel), "--max-mismatch", "3"],
        "sdtw": ["sdtw", "classify", signals, "--reference", squiggle, "--stages", "1000:30000,2000:60000"],
        "omega": ["omega", "scan", str(REGION), *windows],
        "sweeps": ["sweeps", "scan", str(REGION)],
    }


@contextmanager
def empty_cache(folder: Path) -> Iterator[None]:
    """Have commands use a copy of the cache without programs."""
    kept, copied = cache_folder(), folder / "cache"
    if kept is not None:
        shutil.copytree(kept, copied, ignore=shutil.ignore_patterns("programs"))
    os.environ[VARIABLE] = str(copied)
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        shutil.rmtree(copied)


def programs_of(words: list[str]) -> Built:
    """Run a command in this process, and return what it builds."""
    found: Built = []
    build = program.build_program

    def noted(context: Any, device: Device, source: str, options: list[str]) -> Any:
        found.append((source, options))
        return build(context, device, source, options)

    program.build_program = noted  # type: ignore[assignment]
    try:
        run_command(words)
    finally:
        program.build_program = build
    return found


def ways_of(device: Device, built: Built) -> dict[str, float]:
    """Return the seconds of wall and CPU time that all programs take, by way of building."""
    cl: Any = opencl()
    context = cl.Context([device.handle])

    def compiled(one: tuple[str, list[str]]) -> Any:
        raw = cl._Program(context, load_source(one[0]))
        raw._build(options=" ".join(one[1]).encode(), devices=[device.handle])  # which lets go of Python's lock
        return raw

    binaries = [(cl.Program(compiled(one)).binaries[0], one[1]) for one in built]

    def loaded(one: tuple[bytes, list[str]]) -> None:
        raw = cl._Program(context, [device.handle], [one[0]])
        raw._build(options=" ".join(one[1]).encode(), devices=[device.handle])

    found = {}
    with ThreadPoolExecutor(len(built)) as pool:
        ways: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[Any]]] = {
            "in turn": (map, compiled, built), "in threads": (pool.map, compiled, built),
            "loaded in turn": (map, loaded, binaries), "loaded in threads": (pool.map, loaded, binaries),
        }  # fmt: skip
        for name, (each, build, items) in ways.items():
            start, cpu = time.perf_counter(), time.process_time()
            list(each(build, items))
            found |= {f"{name}, s": time.perf_counter() - start, f"{name}, cpu s": time.process_time() - cpu}
    return found


def main() -> None:
    """Time the commands and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--jobs", default="kmers,query,signatures,sdtw,omega,sweeps")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    device, rows = select_device(args.device), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = commands(folder)
        for job in args.jobs.split(","):
            words = [*made[job], "-q", "-d", str(device.index), "-o", str(folder / "out")]
            row: dict[str, Any] = {"command": " ".join(words[:2])}
            runs = []
            for _ in range(args.repeat):
                with empty_cache(folder):
                    runs.append([run_process([*PROGRAM, *words], 1) for _ in range(2)])
            for number, which in enumerate(("first", "second")):
                row[f"{which} s"] = min(run[number]["best"] for run in runs)
                row[f"{which} cpu s"] = min(run[number]["cpu"] for run in runs)
            built = programs_of(words)
            rows.append(row | {"programs": len(built)} | ways_of(device, built))
    print(table(rows))
    write_json(args.json, {**machine(device), "repeat": args.repeat, "rows": rows})


if __name__ == "__main__":
    main()
