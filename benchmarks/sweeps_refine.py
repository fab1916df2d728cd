"""How close `sweeps scan --refine` comes to the selected site, and what it costs, against a coarse and a fine grid.

    python benchmarks/sweeps_refine.py [--replicates 40] [--neutral 20] [--coarse 20000] [--fine 1000]
        [--tested 0] [--combined mu,clr] [--seed N] [--json FILE]

Replicates of the scenarios S1 and S2 of `sweeps_power.py`, in memory, each shifted against the grids; the background of
CLR is that of neutral replicates. All grids have windows of the coarse one's size. Each scan is of one statistic, and
its CPU time is that of the process (user and system, all threads), after a first scan that builds kernels. With
--tested so many neutral replicates are judged by thresholds of as many others, whose coarse rows alone count. With
--combined, and nothing else then, the score of these statistics, refined beyond thresholds of neutral replicates.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from measure import machine, table, write_json
from sweeps_power import LENGTH, replicates

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sweeps import Scan, SweepOptions, find_peaks, find_thresholds, iter_scan
from oclgenomics.sweeps.significance.combined import COMBINED
from oclgenomics.sweeps.significance.thresholds import sign_of
from oclgenomics.variation import Alignment

SCENARIOS = ("S1", "S2")
RATE = 0.05
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


def false_positives(
    neutral: Sequence[Alignment],
    tested: Sequence[Alignment],
    coarse: SweepOptions,
    refined: SweepOptions,
    engine: Engine,
) -> dict[str, Any]:
    """The share of neutral replicates beyond a threshold of others at 5 %, by coarse rows and with fine ones."""
    (name,) = coarse.statistics
    first = list(iter_scan(neutral, coarse, engine=engine))
    known = np.sort([extreme(one, name) for one in first])[::-1]
    limit = float(known[max(int(RATE * (len(first) + 1)) - 1, 0)])
    second = list(iter_scan(tested, refined, backgrounds=first[0].backgrounds, engine=engine))
    fine = [max(extreme(one, name), extreme(one.fine, name)) for one in second if one.fine is not None]
    shares = [float(np.mean(np.array(values) > limit)) for values in ([extreme(one, name) for one in second], fine)]
    return {"statistic": name, "replicates": len(first), "coarse": shares[0], "with_fine": shares[1]}


def extreme(scan: Scan, statistic: str) -> float:
    """The value that is most like a sweep, the larger the more so."""
    best = scan.best(statistic)
    return -np.inf if best is None else sign_of(statistic) * float(scan.values[statistic][best])


def combined_places(
    names: Sequence[str], neutral: Sequence[Alignment], swept: dict[str, list[tuple[Alignment, int]]],
    coarse: SweepOptions, fine: int, engine: Engine,
) -> list[dict[str, Any]]:  # fmt: skip
    """Rows of each scenario: distance of the best row of the combined score, by coarse rows and refined."""
    null = find_thresholds(neutral, coarse, fpr=(0.1,), combined=names, length=LENGTH, engine=engine)
    null = replace(null, data=replace(null.data, least_density=0.0, most_density=1.0))  # sweeps take away sites
    results = []
    for name, placed in swept.items():
        options = replace(coarse, refine=fine)
        sources = [one for one, _ in placed]
        how: dict[str, Any] = {"backgrounds": null.backgrounds, "thresholds": null, "engine": engine}
        scans = [null.judged(one) for one in iter_scan(sources, options, **how)]
        far: dict[str, list[float]] = {"coarse": [], "refined": []}
        for scan, (_, site) in zip(scans, placed, strict=True):
            best = scan.best(COMBINED)
            assert best is not None
            place = float(scan.positions[best])
            peak = next(one for one in find_peaks([scan], COMBINED, top=1).peaks if one.start <= place <= one.end)
            far["coarse"].append(abs(place - site) / 1000)
            far["refined"].append(abs((place if peak.fine_position is None else peak.fine_position) - site) / 1000)
        results += [
            {"statistic": "+".join(names), "scenario": name, "grid": grid, "step": coarse.step,
             "median_kb": float(np.median(one)), "within_5kb": float(np.mean(np.array(one) <= 5))}
            for grid, one in far.items()
        ]  # fmt: skip
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", "-d", default="auto")
    parser.add_argument("--replicates", type=int, default=40)
    parser.add_argument("--neutral", type=int, default=20)
    parser.add_argument("--coarse", type=int, default=20_000)
    parser.add_argument("--fine", type=int, default=1_000)
    parser.add_argument("--tested", type=int, default=0)
    parser.add_argument("--combined", metavar="NAME,...")
    parser.add_argument("--seed", type=int, default=20261)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    neutral = list(replicates("constant", None, max(args.neutral, args.tested), rng))
    tested = list(replicates("constant", None, args.tested, rng))
    swept = {
        name: shifted(replicates("constant", name, args.replicates, rng), args.coarse, rng) for name in SCENARIOS
    }  # fmt: skip
    device = select_device(args.device)
    results: list[dict[str, Any]] = []
    false: list[dict[str, Any]] = []
    with Engine(device) as engine:
        if args.combined:
            together = tuple(args.combined.split(","))
            coarse = SweepOptions(statistics=together, step=args.coarse, window=20_000)
            results = combined_places(together, neutral, swept, coarse, args.fine, engine)
        for family in () if args.combined else FAMILIES:
            coarse = SweepOptions(statistics=family, step=args.coarse, window=args.coarse)
            grids = {
                "coarse": coarse, "fine everywhere": replace(coarse, step=args.fine),
                "refined": replace(coarse, refine=args.fine),
            }  # fmt: skip
            if tested:
                false.append(false_positives(neutral, tested, coarse, grids["refined"], engine))
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
    print("\n\n".join(table(rows) for rows in (results, false) if rows))
    sizes = {"replicates": args.replicates, "coarse": args.coarse, "fine": args.fine, "seed": args.seed}
    write_json(
        args.json,
        {"benchmark": "sweeps_refine", "machine": machine(device), **sizes, "results": results, "false": false},
    )


if __name__ == "__main__":
    main()
