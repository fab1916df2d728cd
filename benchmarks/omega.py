"""Omega scans: whole processes from file to report, in turn with OmegaPlus, and kernels inside one.

    python benchmarks/omega.py [--device cpu] [--sets a,c,d] [--repeat 5] [--json benchmarks/results/NAME.json]
    python benchmarks/omega.py --sets w15k,w5k --peers OmegaPlus-C,OmegaPlus-F,OmegaPlus-M --peer-repeat 3

The data sets have fixed sizes (haplotypes x sites, window, grid) and seeded independent sites: the work of a scan
depends on sizes and positions alone. a to d have windows of about 1,000 sites on either side. The windows of bfull
reach over the whole region. chr20 is the real VCF of the tests. The w sets have the sizes of the paper's three
workloads.

`whole s` is the median wall time of a process, program start, reading and report included, after one run that fills
the program cache (`first s`). The kernel columns come from the second of two scans in one process. `bound` is the rate
of the kernel over that of reading the 8 bytes of region sums of each omega at the device's measured copy rate. Above
1, tiles or a cache serve them.

OmegaPlus runs if it is on PATH, each of its builds with --peer-threads threads. Its runs and ours alternate, so a
machine whose speed changes is as slow for the one as for the other. `times` is the ratio of the medians, `CPU times`
that of the CPU seconds, which says more on a machine with other work. Peers are not run on real inputs, since OmegaPlus
reads no gzip.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import copy_rate, machine, run_process, table, write_json

from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.sites.filters import prepare
from oclgenomics.runtime import Engine, select_device
from oclgenomics.simulate import simulate_independent
from oclgenomics.variation import ReadOptions, read_alignments
from oclgenomics.variation.writers import write_ms_head, write_ms_replicate

SEED = 20210517
SUM_BYTES = 8
PEERS = ("OmegaPlus", "OmegaPlus-C", "OmegaPlus-F", "OmegaPlus-M")  # the builds without threads, and with three kinds
SCORING = ("scan_one", "scan_two", "scan_tiles", "best_tiles", "save_left_tiles", "save_right_tiles")


CHR20 = Path(__file__).parents[1] / "tests" / "data" / "omega" / "chr20_1000G_300samples.vcf.gz"


@dataclass(frozen=True)
class DataSet:
    """Sizes of one scan."""

    samples: int
    sites: int
    length: int
    maxwin: int
    grid: int
    file: Path | None = None  # a real input instead of a generated one


SETS = {
    "a": DataSet(50, 4_836, 2_230_000, 450_000, 1000),
    "b": DataSet(50, 20_534, 8_930_000, 450_000, 100),
    "bfull": DataSet(50, 20_534, 8_930_000, 8_930_000, 20),
    "c": DataSet(500, 14_943, 4_400_000, 290_000, 100),
    "d": DataSet(7_000, 3_006, 640_000, 210_000, 100),
    "chr20": DataSet(600, 18_788, 0, 100_000, 100, CHR20),
    "w15k": DataSet(500, 15_000, 100_000, 20_000, 1000),
    "w13k": DataSet(7_000, 13_000, 100_000, 20_000, 1000),
    "w5k": DataSet(60_000, 5_000, 100_000, 20_000, 1000),
}


def make_input(data: DataSet, path: Path) -> None:
    """Write the set's ms file, or copy the real input."""
    if data.file is not None:
        shutil.copyfile(data.file, path)
        return
    haplotypes = simulate_independent(data.sites, data.samples, np.random.default_rng(SEED))
    with path.open("wb") as stream:
        write_ms_head(stream, "independent", data.samples, 1, f"-s {data.sites}", SEED)
        write_ms_replicate(stream, haplotypes.positions, haplotypes.rows, digits=7)


def command_line(data: DataSet, path: Path, device: str, report: Path, extra: list[str]) -> list[str]:
    """Our command for a set."""
    windows = f"--grid {data.grid} --minwin 1000 --maxwin {data.maxwin}".split()
    windows += ["--length", str(data.length)] if data.length else []
    command = [sys.executable, "-m", "oclgenomics", "omega", "scan", str(path), *windows]
    return [*command, "-d", device, "-o", str(report), "--format", "omegaplus", "--all", "-q", *extra]


def in_process(engine: Engine, data: DataSet, path: Path, precision: str) -> dict[str, Any]:
    """Stage and kernel times of the second of two scans."""
    start = time.perf_counter()
    alignment = next(iter(read_alignments(path, ReadOptions(length=data.length))))
    read = time.perf_counter() - start
    start = time.perf_counter()
    prepared = prepare(alignment, ScanOptions(precision=precision)).alignment
    preparing = time.perf_counter() - start
    options = ScanOptions(grid=data.grid, minwin=1000, maxwin=data.maxwin, precision=precision)
    OmegaScanner(engine).scan(prepared, options)
    engine.profile.clear()
    used = time.process_time()
    scan = OmegaScanner(engine).scan(prepared, options)
    used = time.process_time() - used
    kernels = {name: row["total_ms"] / 1e3 for name, row in engine.profile.totals().items()}
    scoring = sum(kernels.get(name, 0.0) for name in SCORING)
    return {
        "read_seconds": read,
        "prepare_seconds": preparing,
        "scan_seconds": scan.stats.seconds,
        "scan_cpu_seconds": used,
        "scores": scan.stats.scores,
        "pairs": scan.stats.pairs,
        "omega_per_second": scan.stats.scores / scan.stats.seconds,
        "kernel_omega_per_second": scan.stats.scores / scoring if scoring else 0.0,
        "pairs_per_second": scan.stats.pairs / kernels["pair_values"] if "pair_values" in kernels else 0.0,
        "haplotype_pairs_per_second": scan.stats.pairs * data.samples / kernels.get("pair_values", np.inf),
        "kernel_seconds": kernels,
        "largest_omega": float(scan.omega.max()),
        "device_mb": engine.memory.peak / 1e6,
    }


def peer_command(program: str, data: DataSet, path: Path, threads: int) -> list[str]:
    """OmegaPlus' command for a set; it writes its report into the working folder."""
    windows = f"-grid {data.grid} -minwin 1000 -maxwin {data.maxwin} -length {data.length}".split()
    several = [] if Path(program).name == "OmegaPlus" else ["-threads", str(threads)]  # the build without threads
    return [program, "-name", "peer", "-input", str(path), *windows, "-all", *several]


def run_in_turn(
    own: list[str], peers: dict[str, list[str]], repeat: int, peer_repeat: int, folder: Path
) -> dict[str, dict[str, Any]]:
    """Wall seconds of every program, whose runs alternate: one of each, then the next of each."""
    runs: dict[str, list[dict[str, Any]]] = {}
    for number in range(max(repeat, peer_repeat if peers else 0)):
        if number < repeat:
            runs.setdefault("own", []).append(run_process(own, 1))
        for name, command in peers.items() if number < peer_repeat else ():
            runs.setdefault(name, []).append(run_process(command, 1, folder=folder))
    return {name: together(some) for name, some in runs.items()}


def together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """One record of several runs."""
    seconds, worked = ([run[what] for run in runs] for what in ("best", "cpu"))
    middles = {"median": float(np.median(seconds)), "cpu_median": float(np.median(worked))}
    peak = max(run["peak_mb"] for run in runs)
    return {"seconds": seconds, "cpu_seconds": worked, "best": min(seconds), **middles, "peak_mb": peak}


def measure(name: str, args: argparse.Namespace, engine: Engine, rate: float, folder: Path) -> dict[str, Any]:
    """All numbers of one set."""
    data, path = SETS[name], folder / f"{name}.ms"
    make_input(data, path)
    own = command_line(data, path, args.device, folder / "report", ["--precision", args.precision])
    found = {peer: shutil.which(peer) for peer in args.peers} if data.file is None else {}
    peers = {p: peer_command(program, data, path, args.peer_threads) for p, program in found.items() if program}
    first = run_process(own, 1)
    whole = run_in_turn(own, peers, args.repeat, args.peer_repeat, folder)
    inside = in_process(engine, data, path, args.precision)
    path.unlink()
    return {
        "set": name,
        "samples": data.samples,
        "sites": data.sites,
        "grid": data.grid,
        "first": first["best"],
        "whole": whole.pop("own"),
        "peers": whole,
        "peer_threads": args.peer_threads,
        "inside": inside,
        "bound": inside["kernel_omega_per_second"] * SUM_BYTES / (rate * 1e9),
    }


def summary(record: dict[str, Any]) -> dict[str, Any]:
    """A row of the printed table."""
    inside, own = record["inside"], record["whole"]["median"]
    peer = min(record["peers"], key=lambda name: record["peers"][name]["median"], default=None)
    theirs = record["peers"][peer]["median"] if peer else None
    return {
        "set": record["set"],
        "haplotypes x sites": f"{record['samples']} x {record['sites']}",
        "first s": record["first"],
        "whole s": own,
        "least s": min(record["whole"]["seconds"]),
        "most s": max(record["whole"]["seconds"]),
        "best peer": peer or "-",
        "peer s": theirs or "-",
        "times": theirs / own if theirs else "-",
        "CPU s": record["whole"]["cpu_median"],
        "peer CPU s": record["peers"][peer]["cpu_median"] if peer else "-",
        "CPU times": record["peers"][peer]["cpu_median"] / record["whole"]["cpu_median"] if peer else "-",
        "peak MB": record["whole"]["peak_mb"],
        "read s": inside["read_seconds"],
        "scan s": inside["scan_seconds"],
        "scan CPU s": inside["scan_cpu_seconds"],
        "scan Gw/s": inside["omega_per_second"] / 1e9,
        "kernel Gw/s": inside["kernel_omega_per_second"] / 1e9,
        "bound": record["bound"],
        "M pairs/s": inside["pairs_per_second"] / 1e6,
        "T hap pairs/s": inside["haplotype_pairs_per_second"] / 1e12,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", "-d", default="auto")
    parser.add_argument("--sets", default="a,b,c,d,w15k")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peers", type=lambda text: text.split(","), default=list(PEERS), metavar="NAME,NAME,...")
    parser.add_argument("--peer-repeat", type=int, default=1)
    parser.add_argument("--peer-threads", type=int, default=2)
    parser.add_argument("--precision", choices=("accurate", "compat"), default="accurate")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    device = select_device(args.device)
    args.device = str(device.index)  # the processes use the very same one
    engine = Engine(device, profile=True)
    rate, where = copy_rate(engine), machine(device)
    print(f"{device.name} [{device.platform}, {device.driver}], copy {rate:.1f} GB/s", file=sys.stderr)
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.sets.split(","):
            records.append(measure(name, args, engine, rate, Path(folder)))
            print(table([summary(record) for record in records]).splitlines()[-1], file=sys.stderr, flush=True)
    print(table([summary(record) for record in records]))
    result = {"benchmark": "omega", "precision": args.precision, "machine": where, "copy_gb_per_s": rate}
    write_json(args.json, {**result, "sets": records})


if __name__ == "__main__":
    main()
