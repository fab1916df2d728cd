"""Signatures in samples: whole commands, stages, methods, what the time depends on, other programs, and bad cases.

    python benchmarks/signatures.py [-d gpu] [--parts paper,steps,factors,peers,bad] [--scale 1] [--repeat 3]
                                    [--most 1e9] [--json FILE] [--plot FILE.png] [--quick]

The sets of `paper`, `steps` and `factors` are the paper's, simulated with a fixed seed: 1,010 samples, of which 10 hold
100 to 200 copies of signatures, and 1,000 signatures, long (3,000 to 10,000 letters) or short (300 to 1,000); samples
are large (100,000 to 200,000 letters), medium (50,000 to 100,000) or small (10,000 to 20,000). All files are in the
page cache. A scan that misses a planted copy ends the benchmark.

`paper`: `command s` is the median wall time of processes, from start to exit, after one that is not counted; the rest
is of `scan()` in a process that has run it once, from files to results in memory. `of bound` is the time that the
bytes of the file take over the link to the device, or to be copied in memory that the device shares with the host,
over that of the scan. Stages are wall seconds; the kernels' own times are in the JSON.

`steps`: brute force, with one launch a sample and its quality sums added up; with prefix sums; with all samples by one
launch; then planes and index. All have the same letters on the device. Kernel times, and wall times of the matching.
On CPU devices these get the first samples that make at most --most alignments.

`factors`: length of samples and signatures, rate of N, copies in a sample, and number of samples. The paper's method
runs where there are at most --most alignments.

`peers`: programs on PATH that can answer, in turn, as processes, and how many of the pairs of a sample and a signature
they find. The truth is what brute force finds.

`bad`: sets that make methods slow.

--scale multiplies the number of samples in `factors` and `bad`. --most is 1e9 on CPU devices and unlimited on others.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from measure import copy_rate, machine, run_process, table, write_json
from signatures_bad import BAD, bad_set
from signatures_data import PAPER, SEED, DataSet, of_length, scaled, simulate_set, simulate_sets
from signatures_factors import factor_rows, factor_table
from signatures_figures import draw
from signatures_peers import compare
from signatures_scans import OURS, STEPS, kernel_seconds, link_rate, measure_method, measure_scan

from oclgenomics.io.threads import usable_cores
from oclgenomics.runtime import Engine, select_device
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.scan import scan
from oclgenomics.simulate.scenarios import Scenario

PARTS = ("paper", "steps", "factors", "peers", "bad")
STEP_SETS = ("large, long", "small, short")
MOST_ON_CPUS = 1e9
QUICK, QUICK_LENGTH = 0.01, 1 / 16  # of the samples, and of all lengths
GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "signatures"
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
        first = run_process(command, 1)["best"]
        whole = run_process(command, bench.args.repeat)
        warm, _ = measure_scan(bench.engine, data, repeat=bench.args.repeat)
        row = {"set": name, "samples": data.records, "letters": data.letters, "alignments": data.alignments}
        row |= {"megabytes": data.bytes / 1e6, "first": first, "command": whole, "scan": warm}
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
        short |= {"peak MB": whole["peak_mb"], "scan s": warm["median"]}
        short |= warm["stages"]
        short |= {"M letters/s": warm["letters_per_second"] / 1e6}
        short |= {"T align/s": warm["alignments_per_second"] / 1e12, "of bound": row["of_bound"]}
        shown.append({**short, "matches": warm["matches"]})
    return table(shown)


def step_rows(bench: Bench) -> list[dict[str, Any]]:
    """Every method on the same letters."""
    rows = []
    for name, scenario in bench.sets(STEP_SETS).items():
        data = simulate_set(scenario, bench.folder / "steps", None if math.isinf(bench.most) else int(bench.most))
        runs = measure_method(bench.profiled, data, list(STEPS))
        for _ in range(bench.args.repeat):
            again = measure_method(bench.profiled, data, list(OURS))
            runs |= {step: run for step, run in again.items() if run["wall_s"] < runs[step]["wall_s"]}
        for step, run in runs.items():
            row = {"set": name, "samples": data.records, "of samples": scenario.samples}
            row |= {"alignments": data.alignments, "step": step, "kernel s": run["kernel_s"], "wall s": run["wall_s"]}
            rows.append({**row, "G align/s": data.alignments / run["kernel_s"] / 1e9, "pairs": run["pairs"]})
        remove(data)
    return rows


def peer_rows(bench: Bench) -> list[dict[str, Any]]:
    """Other programs on sets that they can finish."""
    sets = {name: (GOLDEN / f"{name}.sample.fastq", GOLDEN / f"{name}.sig.fasta") for name in ("small", "extraN")}
    data = simulate_set(scaled(MEDIUM, 0.1) if bench.args.quick else MEDIUM, bench.folder / "medium")
    sets["simulated"] = data.samples, data.signatures
    rows = []
    for name, (samples, signatures) in sets.items():
        if samples.exists():
            truth = brute_pairs(bench.engine, samples, signatures)
            place = bench.folder / f"peers_{name}"
            place.mkdir()
            cores, device = usable_cores(), bench.args.device
            rows += compare(name, samples, signatures, truth, place, device, cores, bench.args.repeat)
    return rows


def brute_pairs(engine: Engine, samples: Path, signatures: Path) -> set[tuple[str, str]]:
    """The names of samples and signatures that match."""
    columns = scan(samples, signatures, ScanOptions(method="brute"), engine=engine).columns()
    return set(zip(columns["sample"].tolist(), columns["signature"].tolist(), strict=True))


def bad_rows(bench: Bench) -> list[dict[str, Any]]:
    """Sets that make methods slow: a command, for its memory, and a scan."""
    rows = []
    for name, (_, report) in BAD.items():
        data = bad_set(name, bench.folder / "bad", bench.args.scale * (QUICK if bench.args.quick else 1))
        whole = run_process(bench.command(data, "tsv", report), 1)
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
    return factor_rows(*engines, bench.folder, base, repeat=bench.args.repeat, most=bench.most)


Part = tuple[Callable[[Bench], list[dict[str, Any]]], Callable[[list[dict[str, Any]]], str]]
RUNS: dict[str, Part] = {
    "paper": (paper_rows, paper_table),
    "steps": (step_rows, table),
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
    most = args.most or (MOST_ON_CPUS if engine.tuning.cpu else math.inf)
    record: dict[str, Any] = {"benchmark": "signatures", "machine": machine(device), "seed": SEED}
    record |= {"scale": args.scale, "quick": args.quick, "copy_gb_per_s": copy, "link_gb_per_s": link}
    print(f"{device.name} [{device.platform}, {device.driver}], copy {copy:.1f} GB/s, link {link:.1f} GB/s", flush=True)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        bench = Bench(args, engine, profiled, Path(folder), copy if shared else link, most)
        warm_up(bench)
        for name in args.parts:
            run, as_text = RUNS[name]
            print(f"{name} ...", file=sys.stderr, flush=True)
            record[name] = run(bench)
            print(f"\n{name}\n{as_text(record[name])}", flush=True)
            if args.json:
                write_json(args.json, record)
    if args.plot:
        draw(record, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
