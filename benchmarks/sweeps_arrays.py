"""Statistics of haplotypes that are in memory as an array, and pg_gpu in turn where it is installed (NVIDIA alone).

    python benchmarks/sweeps_arrays.py [-d auto] [--haplotypes 2000] [--sites 50000] [--repeat 3] [--json FILE]

Haplotypes are mosaics of 60 founders that change about every 400 sites, with own mutations, as in `sweeps.py`. Seconds
are from an array of 8-bit states in the host's memory to values there, the best of --repeat runs after the first one,
which also compiles kernels; `packed s` begins with the planes that `Alignment.from_haplotypes` makes, which all
statistics share. Scores of nSL and iHS are compared site by site: `differ` is the largest relative difference, `r` the
correlation; pg_gpu's are those of scikit-allel, ours those of selscan.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from measure import machine, table, write_json
from numpy.typing import NDArray
from sweeps import FOUNDERS, OWN, SEED, STRETCH

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sweeps import Scan, SweepOptions, scan
from oclgenomics.variation import Alignment

WINDOW = 200  # sites of haplotypes
SETS = {
    "nsl": SweepOptions(statistics=("nsl",), step=50_000),
    "ihs": SweepOptions(statistics=("ihs",), step=50_000),
    "h12": SweepOptions(statistics=("h12",), haplotype_window=WINDOW, haplotype_step=WINDOW, step=10_000),
    "pi,theta,tajima_d": SweepOptions(statistics=("pi", "theta", "tajima_d"), step=50_000, window=50_000),
    "mu": SweepOptions(statistics=("mu",)),
}


def mosaics(haplotypes: int, sites: int) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Positions about 50 bp apart, and states, (haplotypes, sites)."""
    rng = np.random.default_rng(SEED)
    founders = (rng.random((FOUNDERS, sites)) < rng.beta(0.3, 1.2, sites)).astype(np.int8)
    states = np.empty((haplotypes, sites), np.int8)
    for row in states:
        borders = np.flatnonzero(rng.random(sites) < 1 / STRETCH)
        lengths = np.diff(np.concatenate([[0], borders, [sites]]))
        row[:] = founders[np.repeat(rng.integers(0, FOUNDERS, len(lengths)), lengths), np.arange(sites)]
        row[rng.integers(0, sites, rng.poisson(OWN * sites))] ^= 1
    states[0, states.min(0) == states.max(0)] ^= 1
    return np.cumsum(rng.integers(1, 100, sites)), states


def timed(work: Callable[[], Any], repeat: int) -> tuple[float, float, Any]:
    """Seconds of the first run, the best of the others, and the last result."""
    seconds = []
    for _ in range(repeat + 1):
        begun = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - begun)
    return seconds[0], min(seconds[1:]), result


def peers(positions: NDArray[np.int64], states: NDArray[np.int8]) -> dict[str, Callable[[], Any]]:
    """What pg_gpu calls the statistics, or nothing where it is missing."""
    if importlib.util.find_spec("pg_gpu") is None:
        return {}
    pg_gpu = importlib.import_module("pg_gpu")

    def matrix() -> Any:
        return pg_gpu.HaplotypeMatrix(states, positions.copy())

    windows = {"window_size": 50_000, "statistics": ["pi", "theta_w", "tajimas_d"]}
    return {
        "nsl": lambda: pg_gpu.selection.nsl(matrix()),
        "ihs": lambda: pg_gpu.selection.ihs(matrix()),
        "h12": lambda: pg_gpu.selection.moving_garud_h(matrix(), WINDOW),
        "pi,theta,tajima_d": lambda: pg_gpu.windowed_analysis(matrix(), **windows),
    }


def compared(ours: Any, theirs: NDArray[Any], positions: NDArray[np.int64]) -> dict[str, float]:
    """The largest relative difference of scores at sites that have both, and their correlation."""
    other = np.asarray(theirs)[np.searchsorted(positions, ours.positions.astype(np.int64))]
    own = np.log(ours.first / ours.second)
    both = np.isfinite(own) & np.isfinite(other)
    own, other = own[both], other[both]
    far = (np.abs(own - other) / np.maximum(np.abs(own), 1)).max(initial=0)
    return {"differ": float(far), "r": float(np.corrcoef(own, other)[0, 1])}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--haplotypes", type=int, default=2_000)
    parser.add_argument("--sites", type=int, default=50_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json")
    args = parser.parse_args()
    positions, states = mosaics(args.haplotypes, args.sites)
    others = peers(positions, states)
    with Engine(select_device(args.device)) as engine:
        record = {"benchmark": "sweeps_arrays", "haplotypes": args.haplotypes, "sites": args.sites}
        record |= {**machine(engine.device), "rows": []}

        def packed() -> Alignment:
            return Alignment.from_haplotypes(positions, states.T)

        def scanned(options: SweepOptions, source: Alignment | None = None) -> list[Scan]:
            return list(scan(packed() if source is None else source, options, engine=engine))

        alignment = packed()
        for name, options in SETS.items():
            first, seconds, _ = timed(partial(scanned, options), args.repeat)
            _, short, found = timed(partial(scanned, options, alignment), args.repeat)
            row: dict[str, Any] = {"statistics": name, "first s": first, "s": seconds, "packed s": short}
            if name in others:
                row["pg_gpu first s"], row["pg_gpu s"], other = timed(others[name], args.repeat)
                row["times"] = row["pg_gpu s"] / seconds
                if name in found[0].details:
                    row |= compared(found[0].details[name], other, positions)
            record["rows"].append(row)
            print(table([row]), flush=True)
        write_json(args.json, record)


if __name__ == "__main__":
    main()
