"""Where the time of whole processes goes: start, host and device, and what their bytes would take.

    python benchmarks/processes.py [-d auto] [--jobs omega,kmers28,kmers55,build,query,signatures,edits,sdtw]
                                   [--size 1] [--repeat 5] [--folder FOLDER] [--traces FOLDER] [--json FILE]
    python benchmarks/processes.py --from FOLDER --plot FILE.png

Inputs are --size times as large as those of an H200; omega:0.5 among the jobs is half as large again.

A process runs from start to exit, its inputs in the system's cache. `first s` is its first run, `s` the best of the
others. Another run is profiled, of which are `device s`, when a kernel runs, and `link s`, when something is copied to
or from the device; --traces keeps its trace, which ui.perfetto.dev shows. `cpu s` is the host's, of all its threads.
`start s` is a command on the device with next to nothing to do, `host s` what is left of `s`: neither the start, nor a
kernel, nor a copy. `most` names the largest of these four, which stands between the process and its bound, with its
seconds; of kernels also the one that runs longest. --plot draws the traces of a folder.

Three rates are measured first: reading a cached file with up to eight threads, copying to the device, and copying
within its memory. The bytes of inputs and outputs at the least of them take `bound s`; `times` is how many times as
long the process takes.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
from matplotlib import pyplot
from measure import copy_rate, machine, run_process, table, write_json
from omega import SETS, make_input
from scale import PROGRAM
from scale_data import SEED, random_bases, write_fasta, write_reads

from oclgenomics.runtime import Engine, select_device

RATE_BYTES = 1 << 29
BLOCK = 1 << 24
LEAST_DRAWN = 0.002  # seconds, which a short kernel is drawn as
READERS = min(8, os.cpu_count() or 1)
Row = dict[str, Any]


@dataclass(frozen=True)
class Process:
    """A command, the files that it reads, and how its output's name ends."""

    words: list[str]
    inputs: list[Path]
    suffix: str


def omega_process(folder: Path, size: float) -> Process:
    """Scan 15,000 sites of 500 haplotypes at 1,000 positions."""
    data, path = replace(SETS["w15k"], sites=int(SETS["w15k"].sites * size)), folder / "alignment.ms"
    make_input(data, path)
    windows = ["--length", str(data.length), "--grid", str(data.grid), "--minwin", "1000", "--maxwin", str(data.maxwin)]
    return Process(["omega", "scan", str(path), *windows], [path], ".tsv")


def kmers_process(k: int) -> Callable[[Path, float], Process]:
    """Count the k-mers of 10 million reads of 150 bp, 20-fold (3.2 GB)."""

    def made(folder: Path, size: float) -> Process:
        path, reads = folder / "reads.fq", int(10e6 * size)
        if not path.exists():
            write_reads(path, [random_bases(np.random.default_rng(SEED), reads * 150 // 20)], reads, 150)
        return Process(["kmers", "count", str(path), "-k", str(k)], [path], ".db")

    return made


def genomes(folder: Path, size: float) -> Path:
    """Write 200 genomes of 2 Mbp (400 MB)."""
    path, rng = folder / "genomes.fa", np.random.default_rng(SEED)
    if not path.exists():
        write_fasta(path, [random_bases(rng, int(2e6 * size)) for _ in range(200)])
    return path


def build_process(folder: Path, size: float) -> Process:
    """Build a database of 200 genomes; its output comes before its input."""
    path = genomes(folder, size)
    return Process(["classify", "build", "OUT", str(path)], [path], ".db")


def query_process(folder: Path, size: float) -> Process:
    """Classify 4 million reads of 100 bp of these genomes (870 MB)."""
    path, database, reads = genomes(folder, size), folder / "genomes.db", folder / "short.fq"
    run_process([*PROGRAM, "classify", "build", str(database), str(path), "-q"], 1)
    text = np.frombuffer(path.read_bytes().partition(b"\n")[2].partition(b"\n")[0], np.uint8)
    write_reads(reads, [text], int(4e6 * size), 100)
    return Process(["classify", "query", str(database), str(reads), "--lowest", "sequence"], [database, reads], ".txt")


def signatures_process(folder: Path, size: float) -> Process:
    """Find 1,000 signatures of 60 bp with up to 3 mismatches in 10 million reads of 150 bp (3.2 GB)."""
    reads, panel, rng = folder / "samples.fq", folder / "signatures.fa", np.random.default_rng(SEED)
    genome = random_bases(rng, 5_000_000)
    write_reads(reads, [genome], int(10e6 * size), 150)
    places = rng.integers(0, len(genome) - 60, 1_000).tolist()
    write_fasta(panel, [genome[at : at + 60] for at in places])
    words = ["signatures", "scan", str(reads), str(panel), "--max-mismatch", "3", "--report", "all"]
    return Process(words, [reads, panel], ".tsv")


def edits_process(folder: Path, size: float) -> Process:
    """Find 96 barcodes of 24 bp with up to 3 edits on both strands of reads of 25 Mbp (54 MB)."""
    reads, panel, rng = folder / "barcoded.fq", folder / "barcodes.fa", np.random.default_rng(SEED)
    genome = random_bases(rng, 5_000_000)
    write_reads(reads, [genome], int(25e6 * size) // 150, 150)
    places = rng.integers(0, len(genome) - 24, 96).tolist()
    write_fasta(panel, [genome[at : at + 24] for at in places])
    words = ["signatures", "scan", str(reads), str(panel), "--max-edits", "3", "--strand", "both", "--report", "all"]
    return Process(words, [reads, panel], ".tsv")


def sdtw_process(folder: Path, size: float) -> Process:
    """Align 10,000 reads with a reference of 30,000 bp."""
    genome, reads, squiggle = (folder / name for name in ("target.fa", "reads.npz", "target.sq"))
    write_fasta(genome, [random_bases(np.random.default_rng(SEED), 30_000)])
    count = str(int(10_000 * size))
    made = ["simulate", "signals", "--seed", str(SEED), "--reads", count, "--target", str(genome), "-o", str(reads)]
    for words in (made, ["sdtw", "index", str(genome), "--model", "r9.4.1", "-o", str(squiggle)]):
        run_process([*PROGRAM, *words, "-q"], 1)
    return Process(["sdtw", "align", str(reads), "--reference", str(squiggle)], [reads, squiggle], ".tsv")


JOBS: dict[str, Callable[[Path, float], Process]] = {
    "omega": omega_process, "kmers28": kmers_process(28), "kmers55": kmers_process(55), "build": build_process,
    "query": query_process, "signatures": signatures_process,
    "edits": edits_process, "sdtw": sdtw_process,
}  # fmt: skip


def command(process: Process, output: Path, device: str) -> list[str]:
    """The words of a process that writes to a file."""
    words = [str(output) if word == "OUT" else word for word in process.words]
    return [*PROGRAM, *words, "-q", "-d", device, *([] if "OUT" in process.words else ["-o", str(output)])]


def spans(trace: Path, lane: str) -> Iterator[tuple[float, float]]:
    """Yield when something of a lane began and ended, in seconds."""
    for event in lane_events(trace, lane):
        yield event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6


def lane_events(trace: Path, lane: str) -> Iterator[dict[str, Any]]:
    """Yield what happened in a lane."""
    events = json.loads(trace.read_text())["traceEvents"]
    lanes = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    for event in events:
        if event["ph"] == "X" and lanes[event["pid"], event["tid"]] == lane:
            yield event


def kernel_seconds(trace: Path) -> dict[str, float]:
    """Return how long each kernel ran."""
    found: dict[str, float] = {}
    for event in lane_events(trace, "compute"):
        found[event["name"]] = found.get(event["name"], 0.0) + event["dur"] / 1e6
    return found


def covered(pairs: Iterable[tuple[float, float]]) -> float:
    """Seconds that are within any of some spans."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(pairs):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def largest(parts: dict[str, float], kernels: dict[str, float]) -> str:
    """Name the part of a process that takes longest, with its seconds; of kernels also the longest."""
    name = max(parts, key=lambda part: parts[part])
    told = f"{name} {parts[name]:.2f} s"
    if name != "kernels":
        return told
    kernel = max(kernels, key=lambda one: kernels[one])
    return f"{told} ({kernel} {kernels[kernel]:.2f} s)"


def rates(engine: Engine, folder: Path) -> dict[str, float]:
    """GB/s of reading a cached file by all cores, of copies to the device, and of copies within its memory."""
    path, array = folder / "zeros", np.zeros(RATE_BYTES, np.uint8)
    path.write_bytes(array.data)
    room = engine.empty(RATE_BYTES, np.uint8)
    reading, copying = [], []
    blocks = SimpleQueue[bytearray]()
    with path.open("rb") as file, ThreadPoolExecutor(READERS) as pool:
        for _ in range(READERS):
            blocks.put(bytearray(BLOCK))

        def read(begin: int) -> None:
            block = blocks.get()
            os.preadv(file.fileno(), [block], begin)
            blocks.put(block)

        for _ in range(5):
            start = time.perf_counter()
            list(pool.map(read, range(0, RATE_BYTES, BLOCK)))
            reading.append(time.perf_counter() - start)
            start = time.perf_counter()
            engine.write(room, array)
            engine.finish()
            copying.append(time.perf_counter() - start)
    room.release()
    path.unlink()
    file_rate, link_rate = (RATE_BYTES / min(times) / 1e9 for times in (reading, copying))
    return {"file": file_rate, "link": link_rate, "memory": copy_rate(engine)}


def start_seconds(folder: Path, device: str, repeat: int) -> float:
    """Count the k-mers of one read."""
    reads = folder / "one.fq"
    reads.write_text("@r\nACGTACGTTGCA\n+\nIIIIIIIIIIII\n")
    words = command(Process(["kmers", "count", str(reads), "-k", "5"], [reads], ".db"), folder / "one.db", device)
    return float(run_process(words, repeat)["best"])


def measured(name: str, folder: Path, args: argparse.Namespace, least: float, start: float) -> Row:
    """Run a process, and once more with its profile."""
    name, _, share = name.partition(":")
    size = args.size * float(share or 1)
    process = JOBS[name](folder, size)
    outputs, trace = folder / "outputs", (args.traces or folder) / f"{name}.json"
    output = outputs / f"{name}{process.suffix}"
    words = command(process, output, args.device)
    run = run_process(words, args.repeat + 1, outputs=outputs)
    written = output.stat().st_size
    run_process([*words, "--profile", str(trace)], 1, outputs=outputs)
    read = sum(path.stat().st_size for path in process.inputs)
    seconds, bound = min(run["seconds"][1:]), (read + written) / least / 1e9
    running, copying = list(spans(trace, "compute")), list(spans(trace, "transfer"))
    device, link, host = covered(running), covered(copying), seconds - start - covered(running + copying)
    parts = {"start": start, "host": max(0.0, host), "kernels": device, "copies": link}
    return {
        "job": name, "size": size, "MB in": read / 1e6, "MB out": written / 1e6,
        "first s": run["seconds"][0], "s": seconds, "start s": start, "cpu s": run["cpu"],
        "device s": device, "link s": link, "host s": parts["host"],
        "bound s": bound, "times": seconds / bound, "most": largest(parts, kernel_seconds(trace)),
    }  # fmt: skip


def draw(traces: Path, path: str) -> None:
    """Draw when kernels ran and copies were under way, from the moment on when the device was open."""
    found = [name for name in JOBS if (traces / f"{name}.json").exists()]
    figure, axes = pyplot.subplots(figsize=(9, 0.55 * len(found) + 1.1), layout="constrained")
    lanes = {"kernels": ("compute", 0.02, "#1b6ca8"), "copies": ("transfer", -0.34, "#e08214")}
    until = 0.0
    for place, name in enumerate(found):
        axes.axhspan(place - 0.4, place + 0.4, color="0.95", lw=0)
        for what, (lane, low, colour) in lanes.items():
            pairs = sorted(spans(traces / f"{name}.json", lane))
            until = max(until, *(end for _, end in pairs))
            bars = [(start, max(end - start, LEAST_DRAWN)) for start, end in pairs]
            axes.broken_barh(bars, (place + low, 0.32), color=colour, lw=0, label=what if not place else None)
    axes.set_yticks(range(len(found)), found)
    axes.set(ylim=(len(found) - 0.5, -0.5), xlim=(0, until * 1.02), xlabel="seconds since the device was opened")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper right", ncols=2, frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--jobs", default=list(JOBS), type=lambda text: text.split(","))
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder")
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--json")
    parser.add_argument("--from", dest="drawn", type=Path)
    parser.add_argument("--plot")
    args = parser.parse_args()
    if args.drawn:
        draw(args.drawn, args.plot)
        return
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        with Engine(select_device(args.device)) as engine:
            record: Row = {"benchmark": "processes", "size": args.size, **machine(engine.device)}
            record["GB/s"] = rates(engine, folder)
        print(table([record["GB/s"]]), flush=True)
        start, least = start_seconds(folder, args.device, args.repeat), min(record["GB/s"].values())
        record["rows"] = []
        for job in args.jobs:
            record["rows"].append(measured(job, folder, args, least, start))
            print(table(record["rows"][-1:]), flush=True)
            write_json(args.json, record)


if __name__ == "__main__":
    main()
