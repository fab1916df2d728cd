"""Alignments of raw signals by subsequence dynamic time warping: throughput, shapes, minima, batches.

    python benchmarks/sdtw.py [-d gpu] [--parts throughput,shapes,minima,batches] [--repeat 5] [--most 3] [--ghz 3.7]
                              [--fasta lambda=FILE] [--json FILE] [--plot FILE.png] [--quick]

References have the lengths of the paper's: lambda (48,502 bp), HAdV-B (35,343), OC43 (30,741), SARS-CoV-2 (29,903) and
Tai Forest ebolavirus (18,935). They are random sequences of these lengths with a fixed seed, unless `--fasta` names
a file; what they hold does not change the speed. All are on both strands, by the model of R9.4.1. Reads are simulated
signals of 2,000 samples. Times are of `Aligner.align` in a warm process, from samples in the host's memory to costs
there; `kernel` is the time of the kernel that aligns. Cells are rows times columns of the reference: what segments
repeat is not counted. Parts are those of the modules `sdtw_PART.py`, which say what they measure. `--most` is the
number of seconds after which a case is not repeated. `--ghz` is the clock of a CPU under load, which OpenCL does not
tell; without it there are no cells a cycle.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from measure import machine, run_parts, table
from sdtw_batches import batch_rows
from sdtw_bench import Bench
from sdtw_data import MODEL, PREFIX, REFERENCES, SEED, make_reads, make_references
from sdtw_figures import draw
from sdtw_minima import minima_rows
from sdtw_shapes import shape_rows
from sdtw_throughput import PUBLISHED, throughput_rows, throughput_table
from sdtw_timing import Clock

from oclgenomics.runtime import Engine, select_device

CPU_COUNTS, GPU_COUNTS, QUICK_COUNTS = (512, 4096), (512, 4096, 16_384), (64, 128)
QUICK_SCALE = 1 / 32
Part = tuple[Callable[[Bench], list[dict[str, Any]]], Callable[[list[dict[str, Any]]], str]]
PARTS: dict[str, Part] = {
    "throughput": (throughput_rows, throughput_table),
    "shapes": (shape_rows, table),
    "minima": (minima_rows, table),
    "batches": (batch_rows, table),
}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS), metavar="NAME,NAME,...")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--most", type=float, default=1.5, metavar="SECONDS")
    parser.add_argument("--ghz", type=float, help="clock of a CPU")
    parser.add_argument("--fasta", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--quick", action="store_true", help="short references and few reads, to see that all runs")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE.png", help="the throughput as a figure")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"--parts: there is no {', '.join(sorted(unknown))}; choose of {', '.join(PARTS)}")
    if args.plot and "throughput" not in args.parts:
        parser.error("--plot draws what the part `throughput` measures")
    args.fasta = dict(given.partition("=")[::2] for given in args.fasta)
    if unknown := set(args.fasta) - set(REFERENCES):
        parser.error(f"--fasta: there is no {', '.join(sorted(unknown))}; choose of {', '.join(REFERENCES)}")
    return args


def make_bench(args: argparse.Namespace, engine: Engine) -> Bench:
    """Simulate the data."""
    counts = QUICK_COUNTS if args.quick else CPU_COUNTS if engine.tuning.cpu else GPU_COUNTS
    references = make_references(args.fasta, QUICK_SCALE if args.quick else 1)
    repeat, most = (1, 0.0) if args.quick else (args.repeat, args.most)
    return Bench(engine, references, make_reads(max(*counts, 512)), counts, Clock(repeat, most), args.ghz)


def main() -> int:
    """Run the parts, and keep what is done if a later one fails."""
    args = arguments()
    device = select_device(args.device)
    engine = Engine(device)
    bench = make_bench(args, engine)
    record: dict[str, Any] = {"benchmark": "sdtw", "machine": machine(device) | {"clock_mhz": device.clock}}
    record |= {"seed": SEED, "model": MODEL, "prefix": PREFIX, "quick": args.quick, "ghz": args.ghz}
    record |= {"columns": {name: len(one) for name, one in bench.references.items()}, "files": sorted(args.fasta)}
    record["published"] = PUBLISHED
    print(f"{device.name} [{device.platform}, {device.driver}]", flush=True)
    run_parts(PARTS, args.parts, bench, record, args.json)
    if args.plot:
        draw(record, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
