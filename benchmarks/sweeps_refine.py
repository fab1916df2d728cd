"""How close `sweeps scan --refine` comes to the selected site, and what it costs, against a coarse and a fine grid.

    python benchmarks/sweeps_refine.py [--replicates 40] [--neutral 20] [--coarse 20000] [--fine 1000] [--seed N]
        [--json FILE]

Replicates of the scenarios S1 and S2 of `sweeps_power.py`, in memory, each shifted against the grids; the background of
CLR is that of neutral replicates. All grids have windows of the coarse one's size. Each scan is of one statistic, and
its CPU time is that of the process (user and system, all threads), after a first scan that builds kernels.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from measure import machine, table, write_json
from sweeps_power import LENGTH, replicates

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sweeps import Scan, SweepOptions, iter_scan
from oclgenomics.sweeps.significance import sign_of
from oclgenomics.variation import Alignment

SCENARIOS = ("S1", "S2")
FAMILIES = (("clr",), ("mu",), ("pi",))


def shifted(source: Iterator[Alignment], most: int, rng: np.random.Generator) -> list[tuple[Alignment, int]]:
    """Replicates that begin anywhere between two positions of the coarse grid, and where their selected site is."""
    found = []
    for one in source:
        shift = int(rng.integers(0, most))
        found.append((replace(one, positions=one.positions + shift), LENGTH // 2 + shift))
    return found


def distance(scan: Scan, statistic: str, site: int) -> float:
    """Bp from the selected site to the row that is most like a sweep, fine ones among them."""
    best = scan.best(statistic)
    if best is None:
        return LENGTH / 2
    place, value = scan.positions[best], sign_of(statistic) * scan.values[statistic][best]
    row = None if scan.fine is None else scan.fine.best(statistic)
    if scan.fine is not None and row is not None and sign_of(statistic) * scan.fine.values[statistic][row] >= value:
        place = scan.fine.positions[row]
    return abs(float(place) - site)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", "-d", default="auto")
    parser.add_argument("--replicates", type=int, default=40)
    parser.add_argument("--neutral", type=int, default=20)
    parser.add_argument("--coarse", type=int, default=20_000)
    parser.add_argument("--fine", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=20261)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    neutral = list(replicates("constant", None, args.neutral, rng))
    swept = {
        name: shifted(replicates("constant", name, args.replicates, rng), args.coarse, rng) for name in SCENARIOS
    }  # fmt: skip
    device = select_device(args.device)
    results: list[dict[str, Any]] = []
    with Engine(device) as engine:
        for family in FAMILIES:
            coarse = SweepOptions(statistics=family, step=args.coarse, window=args.coarse)
            grids = {
                "coarse": coarse, "fine everywhere": replace(coarse, step=args.fine),
                "refined": replace(coarse, refine=args.fine),
            }  # fmt: skip
            backgrounds = next(iter(iter_scan(neutral, coarse, engine=engine))).backgrounds
            for name, placed in swept.items():
                sources = [one for one, _ in placed]
                for grid, options in grids.items():
                    list(iter_scan(sources[:1], options, backgrounds=backgrounds, engine=engine))
                    start = time.process_time()
                    scans = list(iter_scan(sources, options, backgrounds=backgrounds, engine=engine))
                    seconds = time.process_time() - start
                    far = [
                        distance(scan, family[0], site) / 1000 for scan, (_, site) in zip(scans, placed, strict=True)
                    ]
                    rows = sum(
                        len(one.positions) + (0 if one.fine is None else len(one.fine.positions)) for one in scans
                    )
                    results.append({
                        "statistic": family[0], "scenario": name, "grid": grid, "rows": rows / len(scans),
                        "median_kb": float(np.median(far)), "within_5kb": float(np.mean(np.array(far) <= 5)),
                        "cpu_s": seconds,
                    })  # fmt: skip
    print(table(results))
    sizes = {"replicates": args.replicates, "coarse": args.coarse, "fine": args.fine, "seed": args.seed}
    if args.json:
        write_json(args.json, {"benchmark": "sweeps_refine", "machine": machine(device), **sizes, "results": results})


if __name__ == "__main__":
    main()
