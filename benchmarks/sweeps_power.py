"""Power of the statistics of `sweeps scan` on fresh replicates of known sweeps, and the false-positive rate of each.

    python benchmarks/sweeps_power.py [--neutral 400] [--swept 140] [--seed N] [--scenarios S1,S2,...]
        [--statistics NAME,...] [--json FILE]

Replicates of msprime: 100 haplotypes of 500 kb, 10,000 individuals, 1.25e-8 mutations and 1e-8 crossovers per bp; the
selected site lies in the middle. mu is the highest of all windows of 50 sites; pi, theta, D and H are the lowest of
windows of 20 kb every 5 kb; CLR is the highest of a place every 5 kb, with the spectrum of neutral replicates of the
same history as background. Thresholds are those of neutral replicates of the same history at 5 and 1 %, by ranks.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from typing import Any

import msprime
import numpy as np
from measure import machine, table, write_json

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sweeps import STATISTICS, SweepOptions, iter_scan
from oclgenomics.sweeps.options import LOW
from oclgenomics.variation import Alignment

LENGTH, HAPLOTYPES, SIZE = 500_000, 100, 10_000
MUTATION, RECOMBINATION = 1.25e-8, 1e-8
ONE = 1 / (2 * SIZE)
# history, selection coefficient, generations since the end, frequencies at the end and at the beginning
SCENARIOS: dict[str, tuple[str, float, int, float, float]] = {
    "S1": ("constant", 0.02, 0, 1 - ONE, ONE),
    "S2": ("constant", 0.005, 0, 1 - ONE, ONE),
    "S3": ("constant", 0.02, 1000, 1 - ONE, ONE),
    "S4": ("constant", 0.02, 0, 0.6, ONE),
    "S5": ("constant", 0.02, 0, 1 - ONE, 0.05),
    "B1": ("bottleneck", 0.02, 0, 1 - ONE, ONE),
    "B2": ("bottleneck", 0.02, 0, 0.6, ONE),
}
RATES = (0.05, 0.01)


def demography(kind: str) -> msprime.Demography:
    """A constant size, or 500 individuals from 2,800 to 2,600 generations ago."""
    history = msprime.Demography()
    history.add_population(name="A", initial_size=SIZE)
    if kind == "bottleneck":
        history.add_population_parameters_change(time=2600, initial_size=500, population="A")
        history.add_population_parameters_change(time=2800, initial_size=SIZE, population="A")
    return history


def replicates(kind: str, scenario: str | None, count: int, rng: np.random.Generator) -> Iterator[Alignment]:
    """Neutral replicates of a history, or those of a scenario."""
    models: list[Any] = [msprime.StandardCoalescent()]
    if scenario is not None:
        _, s, since, end, start = SCENARIOS[scenario]
        sweep = msprime.SweepGenicSelection(
            position=LENGTH // 2, start_frequency=start, end_frequency=end, s=s, dt=1 / (40 * SIZE)
        )
        models = [*[msprime.StandardCoalescent(duration=since)] * bool(since), sweep, msprime.StandardCoalescent()]
    for number in range(1, count + 1):
        seed, other = (int(word) for word in rng.integers(1, 2**32, 2))
        trees = msprime.sim_ancestry(
            samples={"A": HAPLOTYPES // 2}, demography=demography(kind), sequence_length=LENGTH,
            recombination_rate=RECOMBINATION, model=models, random_seed=seed,
        )  # fmt: skip
        trees = msprime.sim_mutations(trees, rate=MUTATION, model=msprime.BinaryMutationModel(), random_seed=other)
        at = trees.tables.sites.position.astype(np.int64) + 1
        yield Alignment.from_haplotypes(at, trees.genotype_matrix(), name=str(number))


def extremes(
    source: Iterator[Alignment], engine: Engine, statistics: Sequence[str], backgrounds: dict[str, Any]
) -> dict[str, np.ndarray]:
    """The value of each statistic that is most like a sweep in each replicate, and where, (replicates, 2).

    `backgrounds` are those of the first replicates of a history, which are neutral, and are kept there.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in statistics}
    groups = (["mu"], [name for name in statistics if name not in ("mu", "clr")], ["clr"])
    options = [
        SweepOptions(statistics=names, **({} if names == ["mu"] else {"step": 5_000, "window": 20_000}))
        for names in groups
        if names and set(names) <= set(statistics)
    ]
    batch: list[Alignment] = []

    def scanned() -> None:
        for one in options:
            for scan in iter_scan(batch, one, backgrounds=backgrounds, engine=engine):
                backgrounds.update({name: each for name, each in scan.backgrounds.items() if name not in backgrounds})
                for name in one.statistics:
                    row = scan.best(name)
                    sign = -1 if name in LOW else 1
                    value = (
                        (-math.inf, math.nan) if row is None else (sign * scan.values[name][row], scan.positions[row])
                    )
                    found[name].append(value)
        batch.clear()

    for alignment in source:
        batch.append(alignment)
        if len(batch) == 50:
            scanned()
    scanned()
    return {name: np.array(values) for name, values in found.items()}


def threshold(values: np.ndarray, rate: float) -> float:
    """The value that a share of neutral replicates exceeds: the k-th highest, k = floor(rate * (R + 1))."""
    return float(np.sort(values)[::-1][max(math.floor(rate * (len(values) + 1)) - 1, 0)])


def wrong_null(neutral: dict[str, dict[str, np.ndarray]]) -> Iterator[dict[str, Any]]:
    """The share of neutral replicates of the bottleneck that pass thresholds of the constant size."""
    for statistic in neutral["bottleneck"]:
        values = neutral["bottleneck"][statistic][:, 0]
        limits = [threshold(neutral["constant"][statistic][:, 0], rate) for rate in RATES]
        rates = [float((values > limit).mean()) for limit in limits]
        yield {"statistic": statistic, "rate_fpr05": rates[0], "rate_fpr01": rates[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", "-d", default="auto")
    parser.add_argument("--neutral", type=int, default=400)
    parser.add_argument("--swept", type=int, default=140)
    parser.add_argument("--seed", type=int, default=20260)
    parser.add_argument("--scenarios", default=",".join(SCENARIOS))
    parser.add_argument("--statistics", default=",".join(STATISTICS))
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    names, statistics = args.scenarios.split(","), args.statistics.split(",")
    backgrounds: dict[str, dict[str, Any]] = {kind: {} for kind in ("constant", "bottleneck")}
    rng = np.random.default_rng(args.seed)
    device = select_device(args.device)
    results: list[dict[str, Any]] = []
    with Engine(device) as engine:
        neutral = {
            kind: extremes(replicates(kind, None, args.neutral, rng), engine, statistics, backgrounds[kind])
            for kind in sorted({SCENARIOS[name][0] for name in names})
        }
        for name in names:
            kind = SCENARIOS[name][0]
            swept = extremes(replicates(kind, name, args.swept, rng), engine, statistics, backgrounds[kind])
            for statistic in statistics:
                values = swept[statistic]
                limits = [threshold(neutral[SCENARIOS[name][0]][statistic][:, 0], rate) for rate in RATES]
                power = [float((values[:, 0] > limit).mean()) for limit in limits]
                distance = np.abs(values[:, 1] - LENGTH / 2)
                results.append({
                    "scenario": name, "statistic": statistic, "power_fpr05": power[0], "power_fpr01": power[1],
                    "median_distance_kb": float(np.nanmedian(distance)) / 1000,
                    "within_25kb": float((distance <= 25_000).mean()),
                })  # fmt: skip
    wrong = list(wrong_null(neutral)) if len(neutral) == 2 else []
    print("\n\n".join(table(rows) for rows in (results, wrong) if rows))
    sizes = {"neutral": args.neutral, "swept": args.swept, "seed": args.seed}
    if args.json:
        write_json(
            args.json,
            {"benchmark": "sweeps_power", "machine": machine(device), **sizes, "results": results, "wrong_null": wrong},
        )


if __name__ == "__main__":
    main()
