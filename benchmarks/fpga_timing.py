"""How fast the FPGA model's levels of timing are: the paper's three grids, and cycles a second of the cycle level.

    python benchmarks/fpga_timing.py [--repeat 5] [--json FILE]

`grids` times whole scans of 1,000 positions by events (L1), `cycles` long columns cycle by
cycle (L2) and what a recording and its waveforms take, `drams` the same level with a DRAM behind the ports. The best of
the repeats counts.
"""

from __future__ import annotations

import argparse
import io
from typing import Any

from measure import best_time, host, table, write_json

from hls_model import Workload, change, load, simulate
from hls_model.extras.trace import trace
from hls_model.extras.waves import write_vcd

SNPS = (13_000, 15_000, 5_000)
DESIGNS = ("zcu102", "u200", "u200_overlap")
LEFT, RIGHT = 900, 30_000  # about a million cycles
DRAMS = {"zcu102": "ddr4_2133", "u200": "ddr4_2400", "u200_overlap": "ddr4_2400", "u280_hbm": "hbm2"}


def grids(repeat: int) -> list[dict[str, Any]]:
    """Milliseconds of the paper's grids at L1."""
    rows = []
    for snps in SNPS:
        workload = Workload.uniform(snps)
        for name in DESIGNS:
            config = load(name)
            row: dict[str, Any] = {"snps": snps, "design": name, "cycles": simulate(workload, config).cycles}
            row["L1_ms"] = 1e3 * best_time(repeat, simulate, workload, config)
            rows.append(row)
    return rows


def cycles(repeat: int) -> list[dict[str, Any]]:
    """Million cycles a second of the cycle level, and seconds of a recording and its waveforms."""
    rows = []
    for name in DESIGNS:
        config = load(name).but(rs_buffer_words=RIGHT)
        left = LEFT if config.lanes > 4 else LEFT // 8
        workload = Workload.single(left, RIGHT)
        steps = simulate(workload, config).cycles
        recording = trace(config, left, RIGHT).recording
        rows.append(
            {
                "design": name,
                "cycles": steps,
                "L2_Mcycles_per_s": steps / 1e6 / best_time(repeat, simulate, workload, config, "L2"),
                "recording_s": best_time(1, trace, config, left, RIGHT),
                "vcd_s": best_time(1, write_vcd, recording, io.StringIO()),
            }
        )
    return rows


def drams(repeat: int) -> list[dict[str, Any]]:
    """Million cycles a second of the cycle level with a DRAM, and its cycles compared with those of the events."""
    rows = []
    for name, part in DRAMS.items():
        config = load(name)
        workload = Workload.single(200, 2_496)
        with_dram = change(config, {"memory": {"dram": part}})
        steps = simulate(workload, with_dram, "L2").cycles
        seconds = best_time(repeat, simulate, workload, with_dram, "L2")
        rows.append(
            {
                "design": name,
                "dram": part,
                "cycles": steps,
                "of_L1": steps / simulate(workload, config).cycles,
                "L2_Mcycles_per_s": steps / 1e6 / seconds,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    record: dict[str, Any] = {"benchmark": "fpga_timing", "machine": host(), "grids": grids(args.repeat)}
    record |= {"cycles": cycles(args.repeat), "drams": drams(args.repeat)}
    for part in ("grids", "cycles", "drams"):
        print(table(record[part]))
    write_json(args.json, record)


if __name__ == "__main__":
    main()
