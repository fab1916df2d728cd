"""Signatures in samples: whole commands, stages, methods, what the time depends on, other programs, and bad cases.

    python benchmarks/signatures.py [-d gpu] [--parts paper,steps,factors,peers,bad] [--scale 1] [--repeat 3]
                                    [--most 5e8] [--json FILE] [--plot FILE.png] [--quick]

The sets of `paper`, `steps` and `factors` are the paper's, simulated with a fixed seed: 1,010 samples, of which 10 hold
100 to 200 copies of signatures, and 1,000 signatures, long (3,000 to 10,000 letters) or short (300 to 1,000); samples
are large (100,000 to 200,000 letters), medium (50,000 to 100,000) or small (10,000 to 20,000). All files are in the
page cache. A scan that misses a planted copy ends the benchmark.

`paper`: `command s` is the median wall time of processes, from start to exit, after one that is not counted, and
`built s` the same with a panel of `signatures build`. The rest is of `scan()` in a process that has run it once, from
files to results in memory. `of bound` is the time that the bytes of the file take over the link to the device, or to
be copied in memory that the device shares with the host, over that of the scan. Stages are wall seconds; the kernels'
own times are in the JSON.

`steps`: brute force, with one launch a sample and its quality sums added up; with prefix sums; with all samples by one
launch; then planes and index. All have the same letters on the device. Kernel times, and wall times of the matching.
All get the first samples that make about --most alignments; then planes, index and those that will take no more than
30 seconds get all samples. No time is extrapolated.

`factors`: length of samples and signatures, rate of N, copies in a sample, and number of samples. The paper's method
runs where there are at most --most alignments, on GPUs everywhere.

`peers`: programs on PATH that can answer, in turn, as processes, and how many of the pairs of a sample and a signature
they find. The truth is what brute force finds.

`bad`: sets that make methods slow.

--scale multiplies the number of samples in `factors` and `bad`. --most is 5e8 on CPU devices and 1e10 on others.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from measure import copy_rate, machine, run_parts, run_process, table
from signatures_bad import BAD, bad_set
from signatures_data import PAPER, SEED, DataSet, of_length, scaled, simulate_set, simulate_sets
from signatures_factors import factor_rows, factor_table
from signatures_figures import draw
from signatures_peers import compare
from signatures_scans import kernel_seconds, link_rate, measure_scan
from signatures_steps import STEPS, measure_method, step_rows

from oclgenomics.runtime import Engine, select_device
from oclgenomics.signatures import ScanOptions, build_panel
from oclgenomics.simulate.signatures.scenario import Scenario

PARTS = ("paper", "steps", "factors", "peers", "bad")
STEP_SETS = ("large, long", "small, short")
MOST_ON_CPUS, MOST = 5e8, 1e10
QUICK, QUICK_LENGTH = 0.01, 1 / 16  # of the samples, and of all lengths
GOLDEN = Path(__file__).parents[1] / "tests" / "data" / "signatures"
MEDIUM = Scenario(signatures=200, clean=70, infected=10, copies=(1, 5))


@dataclass(frozen=True)
class Bench:
    """What all parts work with."""

    args: argparse.Namespace
    engine: Engine
    profiled: Engine
    folder: Path
    bound: float  # GB/s at which letters come to the device
    most: float

    def sets(self, names: tuple[str, ...]) -> dict[str, Scenario]:
        """Some of the paper's sets, small ones for a quick run."""
        return {name: quick(PAPER[name]) if self.args.quick else PAPER[name] for name in names}

    def command(self, data: DataSet, form: str, report: str) -> list[str]:
        """Our command for a set."""
        command = [sys.executable, "-m", "oclgenomics", "signatures", "scan", str(data.samples), str(data.signatures)]
        options = ["--format", form, "--report", report, "-d", self.args.device, "-q"]
        return [*command, *options, "-o", str(self.folder / "output")]


def quick(scenario: Scenario) -> Scenario:
    """A tiny set of the same kind."""
    return replace(of_length(scaled(scenario, QUICK), QUICK_LENGTH), signatures=100, copies=(10, 20))


def remove(data: DataSet) -> None:
    """Make room for the next set."""
    data.samples.unlink()
    data.signatures.unlink()


def warm_up(bench: Bench) -> None:
    """Build the kernels of all methods."""
    data = simulate_set(quick(PAPER["small, short"]), bench.folder / "warm_up")
    measure_method(bench.profiled, data, list(STEPS))
    remove(data)


def paper_rows(bench: Bench) -> list[dict[str, Any]]:
    """The paper's sets: commands, scans and their stages."""
    rows = []
    for name, data in simulate_sets(bench.sets(tuple(PAPER)), bench.folder).items():
        command = bench.command(data, "course", "best")
        built = replace(data, signatures=bench.folder / "built")
        build_panel(data.signatures, built.signatures)
        with_built = bench.command(built, "course", "best")
        first = run_process(command, 1)["best"]
        run_process(with_built, 1)
        whole, prepared = (run_process(wanted, bench.args.repeat) for wanted in (command, with_built))
        warm, _ = measure_scan(bench.engine, data, repeat=bench.args.repeat)
        row = {"set": name, "samples": data.records, "letters": data.letters, "alignments": data.alignments}
        row |= {"megabytes": data.bytes / 1e6, "first": first, "command": whole}
        row |= {"command_built": prepared, "scan": warm}
        row["of_bound"] = data.bytes / (bench.bound * 1e9) / warm["median"]
        row["kernels"] = kernel_seconds(bench.profiled, data)
        rows.append({**row, "device_mb": bench.profiled.memory.peak / 1e6})
        remove(data)
    return rows


def paper_table(rows: list[dict[str, Any]]) -> str:
    """The rows as text."""
    shown = []
    for row in rows:
        warm, whole = row["scan"], row["command"]
        short = {"set": row["set"], "M letters": row["letters"] / 1e6, "command s": whole["median"]}
        short |= {"built s": row["command_built"]["median"]}
        short |= {"peak MB": whole["peak_mb"], "scan s": warm["median"]}
        short |= warm["stages"]
        short |= {"M letters/s": warm["letters_per_second"] / 1e6}
        short |= {"T align/s": warm["alignments_per_second"] / 1e12, "of bound": row["of_bound"]}
        shown.append({**short, "matches": warm["matches"]})
    return table(shown)


def all_steps(bench: Bench) -> list[dict[str, Any]]:
    """The paper's steps and our methods."""
    return step_rows(bench.profiled, bench.sets(STEP_SETS), bench.folder, most=bench.most, repeat=bench.args.repeat)


def peer_rows(bench: Bench) -> list[dict[str, Any]]:
    """Other programs on sets that they can finish."""
    sets = {}
    for name in ("small", "extraN"):
        samples = bench.folder / f"{name}.fastq"  # unpacked, as not all programs unpack
        samples.write_bytes(gzip.decompress((GOLDEN / f"{name}.sample.fastq.gz").read_bytes()))
        sets[name] = samples, GOLDEN / f"{name}.sig.fasta"
    data = simulate_set(scaled(MEDIUM, 0.1) if bench.args.quick else MEDIUM, bench.folder / "medium")
    sets["simulated"] = data.samples, data.signatures
    rows = []
    for name, (samples, signatures) in sets.items():
        place = bench.folder / f"peers_{name}"
        place.mkdir()
        rows += compare(name, samples, signatures, bench.engine, place, bench.args.repeat)
    return rows


def bad_rows(bench: Bench) -> list[dict[str, Any]]:
    """Sets that make methods slow: a command, for its memory, and a scan."""
    rows = []
    for name, (_, report) in BAD.items():
        data = bad_set(name, bench.folder / "bad", bench.args.scale * (QUICK if bench.args.quick else 1))
        whole = run_process(bench.command(data, "tsv", report), 2)  # the first one may build kernels
        warm, _ = measure_scan(bench.engine, data, ScanOptions(report=report), repeat=1)
        row = {"case": name, "report": report, "samples": data.records, "M letters": data.letters / 1e6}
        row |= {"G alignments": data.alignments / 1e9, "matches": warm["matches"], "hits": warm["hits"]}
        row |= {"command s": whole["best"], "peak MB": whole["peak_mb"], "scan s": warm["median"]}
        rows.append({**row, "M letters/s": warm["letters_per_second"] / 1e6})
        remove(data)
        print(table(rows).splitlines()[-1], file=sys.stderr, flush=True)
    return rows


def all_factors(bench: Bench) -> list[dict[str, Any]]:
    """The four factors of the paper."""
    base = scaled(bench.sets(("large, long",))["large, long"], bench.args.scale)
    engines = bench.engine, bench.profiled
    most = bench.most if bench.engine.tuning.cpu else float("inf")
    return factor_rows(*engines, bench.folder, base, repeat=bench.args.repeat, most=most)


Part = tuple[Callable[[Bench], list[dict[str, Any]]], Callable[[list[dict[str, Any]]], str]]
RUNS: dict[str, Part] = {
    "paper": (paper_rows, paper_table),
    "steps": (all_steps, table),
    "factors": (all_factors, factor_table),
    "peers": (peer_rows, table),
    "bad": (bad_rows, table),
}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS), metavar="NAME,NAME,...")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--most", type=float, metavar="ALIGNMENTS")
    parser.add_argument("--folder", help="where the sets are written; the system's for temporary files if not given")
    parser.add_argument("--quick", action="store_true", help="tiny sets, to see that everything runs")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE.png", help="the four factors as a figure")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"--parts: there is no {', '.join(sorted(unknown))}; choose of {', '.join(PARTS)}")
    if args.plot and "factors" not in args.parts:
        parser.error("--plot draws what the part `factors` measures")
    return args


def main() -> int:
    """Run the parts, and keep what is done if a later one fails."""
    args = arguments()
    device = select_device(args.device)
    args.device = str(device.index)  # the processes use the very same one
    engine, profiled = Engine(device), Engine(device, profile=True)
    shared = engine.tuning.shares_memory
    copy, link = copy_rate(engine), link_rate(engine)
    most = args.most or (MOST_ON_CPUS if engine.tuning.cpu else MOST)
    record: dict[str, Any] = {"benchmark": "signatures", "machine": machine(device), "seed": SEED}
    record |= {"scale": args.scale, "quick": args.quick, "copy_gb_per_s": copy, "link_gb_per_s": link}
    print(f"{device.name} [{device.platform}, {device.driver}], copy {copy:.1f} GB/s, link {link:.1f} GB/s", flush=True)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        bench = Bench(args, engine, profiled, Path(folder), copy if shared else link, most)
        warm_up(bench)
        run_parts(RUNS, args.parts, bench, record, args.json)
    if args.plot:
        draw(record, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
