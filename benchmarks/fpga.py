"""How fast the FPGA model's arithmetic is, and the Verilog: scores a second, cycles a second, time to build.

    python benchmarks/fpga.py [--repeat 5] [--verilog 1,4] [--json FILE]

`functional` computes whole positions in float32 with maxima, in one thread, on sums of one magnitude (the common case)
and on sums among which operators flush subnormals. `verilog` builds the circuits of the lanes given and runs their part
of the golden table. The best of the repeats counts; `fpga_timing.py` times the levels of timing.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import best_time, host, table, write_json

from hls_model import load
from hls_model.functional import run
from hls_model.rtl import twin
from hls_model.rtl.golden import read_cases
from hls_model.rtl.stimulus import operands

POSITIONS = ((2_600, 2_600), (500, 4_500), (1_000, 30_000), (20_000, 100))  # left, right
DESIGNS = ("zcu102", "u200")


def functional(repeat: int) -> list[dict[str, Any]]:
    """Million scores a second of the functional path."""
    rows = []
    for left, right in POSITIONS:
        for kind in ("plain", "tiny"):
            sums = operands(left, right, 1, kind)
            row: dict[str, Any] = {"left": left, "right": right, "operands": kind}
            for name in DESIGNS:
                row[f"{name}_Momega_per_s"] = left * right / 1e6 / best_time(repeat, run, sums, load(name))
            rows.append(row)
    return rows


def verilog(repeat: int, lanes: list[int]) -> list[dict[str, Any]]:
    """Seconds to build each circuit of the golden table, and thousand cycles a second of its runs."""
    circuits: dict[twin.Circuit, list[Any]] = {}
    for case in read_cases():
        if case.touches_hardware and case.config.lanes in lanes:
            circuits.setdefault(twin.Circuit.of(case.config), []).append((case.sums, case.config))
    rows = []
    for circuit, positions in circuits.items():
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            bench = twin.build(circuit, Path(folder))
            seconds = time.perf_counter() - start
            cycles = sum(one.cycles for one in twin.run(bench, positions))
            rows.append(
                {
                    "lanes": circuit.lanes,
                    "port_words": circuit.port_words,
                    "build_s": seconds,
                    "cycles": cycles,
                    "kcycles_per_s": cycles / 1e3 / best_time(repeat, twin.run, bench, positions),
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--verilog", default="", metavar="P,P", help="numbers of lanes whose Verilog is timed")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    record: dict[str, Any] = {"benchmark": "fpga", "machine": host(), "functional": functional(args.repeat)}
    print(table(record["functional"]))
    if args.verilog:
        record["verilog"] = verilog(args.repeat, [int(lanes) for lanes in args.verilog.split(",")])
        print(table(record["verilog"]))
    write_json(args.json, record)


if __name__ == "__main__":
    main()
