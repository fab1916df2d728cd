"""Power of the statistics of `sweeps scan` on fresh replicates of known sweeps, and the false-positive rate of each.

    python benchmarks/sweeps_power.py [--neutral 400] [--swept 140] [--tested 0] [--seed N] [--scenarios S1,S2,...]
        [--earlier FILE] [--pairs] [--alone] [--json FILE]

Replicates of msprime: 100 haplotypes of 500 kb, 10,000 individuals, 1.25e-8 mutations and 1e-8 crossovers per bp; the
selected site lies in the middle. Rows lie every 5 kb: the extreme of the windows of sites around each (mu 50 sites,
haplotypes 100 sites every 10), and pi, theta, D and H in windows of 20 kb. Thresholds are those of neutral replicates
of the same history at 5 and 1 %, by ranks. Combined scores (`+`) have as many other replicates for
local p, so their thresholds rest on as many replicates as those of single statistics; backgrounds are those of the
neutral replicates. With --tested so many other neutral replicates of each history, growth among them, are judged by
thresholds of their own history (`right`) and by those of a constant size (`wrong`). With --earlier these rates are
pooled with those of another run (another seed), whose thresholds rest on replicates of its own.

With --pairs, two populations of 10,000 individuals each, which were one until 1,000 generations ago, with 100
haplotypes of each, and a sweep in the first: statistics between them, and nSL and iHS of the first alone. With --alone,
nSL and iHS of the scenarios of one population, with the scores of sites near the ends (`ehh_edge="keep"`).
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msprime
import numpy as np
from measure import machine, table, write_json

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sweeps import STATISTICS as ALL, Scan, SweepOptions, iter_scan
from oclgenomics.sweeps.options import POPULATION_STATISTICS
from oclgenomics.sweeps.significance.combined import combine
from oclgenomics.sweeps.significance.thresholds import sign_of
from oclgenomics.sweeps.statistics.families import Background
from oclgenomics.variation import Alignment
from oclgenomics.variation.packing import unpack_sites

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
# The same of the first of two populations that parted SPLIT generations ago.
PAIRS: dict[str, tuple[str, float, int, float, float]] = {
    "X1": ("constant", 0.05, 0, 1 - ONE, ONE),
    "X2": ("constant", 0.02, 0, 0.6, ONE),
    "X3": ("constant", 0.02, 0, 0.3, ONE),
    "X4": ("constant", 0.05, 400, 1 - ONE, ONE),
}
SPLIT = 1_000
ALONE = SweepOptions(statistics=("nsl", "ihs"), step=5_000, ehh_edge="keep")  # of the first population
STATISTICS = tuple(name for name in ALL if name not in POPULATION_STATISTICS)
RATES = (0.05, 0.01)
OPTIONS = SweepOptions(statistics=STATISTICS, step=5_000, window=20_000)
SETS = [
    one
    for one in (
        ("mu", "saltilassi"), ("mu", "h12"), ("pi", "saltilassi"), ("pi", "mu", "saltilassi"),
        ("mu", "saltilassi", "nsl"), ("mu", "saltilassi", "clr", "nsl"), ("pi", "mu", "saltilassi", "nsl"),
    )
    if set(one) <= set(STATISTICS)
]  # fmt: skip
Values = dict[str, np.ndarray]


def demography(kind: str) -> msprime.Demography:
    """A constant size; 500 individuals from 2,800 to 2,600 generations ago; or growth by 0.4 % in 1,000 generations."""
    history = msprime.Demography()
    history.add_population(name="A", initial_size=SIZE)
    if kind == "bottleneck":
        history.add_population_parameters_change(time=2600, initial_size=500, population="A")
        history.add_population_parameters_change(time=2800, initial_size=SIZE, population="A")
    if kind == "growth":
        size = SIZE * math.exp(4)
        history.add_population_parameters_change(time=0, initial_size=size, growth_rate=0.004, population="A")
        history.add_population_parameters_change(time=1000, initial_size=SIZE, growth_rate=0, population="A")
    return history


def replicates(kind: str, scenario: str | None, count: int, rng: np.random.Generator) -> Iterator[Alignment]:
    """Neutral replicates of a history, or those of a scenario."""
    models = [msprime.StandardCoalescent()] if scenario is None else sweep_models(SCENARIOS[scenario])
    for number in range(1, count + 1):
        seed, other = (int(word) for word in rng.integers(1, 2**32, 2))
        trees = msprime.sim_ancestry(
            samples={"A": HAPLOTYPES // 2}, demography=demography(kind), sequence_length=LENGTH,
            recombination_rate=RECOMBINATION, model=models, random_seed=seed,
        )  # fmt: skip
        yield Alignment.from_haplotypes(*mutated(trees, other), name=str(number))


def sweep_models(scenario: tuple[str, float, int, float, float]) -> list[Any]:
    """What msprime simulates one after the other, backwards in time."""
    _, s, since, end, start = scenario
    sweep = msprime.SweepGenicSelection(
        position=LENGTH // 2, start_frequency=start, end_frequency=end, s=s, dt=1 / (40 * SIZE)
    )
    return [*[msprime.StandardCoalescent(duration=since)] * bool(since), sweep, msprime.StandardCoalescent()]


def mutated(trees: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions and states of sites (sites, haplotypes)."""
    trees = msprime.sim_mutations(trees, rate=MUTATION, model=msprime.BinaryMutationModel(), random_seed=seed)
    return trees.tables.sites.position.astype(np.int64) + 1, trees.genotype_matrix()


def pairs(scenario: str | None, count: int, rng: np.random.Generator) -> Iterator[Alignment]:
    """Replicates of two populations that parted SPLIT generations ago; those of the first one come first.

    msprime has no sweeps in one of several populations, so both are simulated back to the split on their own, and their
    ancestors together. A sweep that is older than the split is drawn again.
    """
    for number in range(1, count + 1):
        first = None if scenario is None else swept_part(scenario, rng)
        first, second = to_split(first, rng), to_split(None, rng)
        tables = first.dump_tables()
        tables.individuals.clear()
        tables.nodes.individual = np.full(len(tables.nodes), -1, np.int32)
        offset = len(tables.nodes)
        for node in second.nodes():
            tables.nodes.add_row(node.flags, node.time, node.population)
        for edge in second.edges():
            tables.edges.add_row(edge.left, edge.right, edge.parent + offset, edge.child + offset)
        tables.sort()
        seed, other = (int(word) for word in rng.integers(1, 2**32, 2))
        trees = msprime.sim_ancestry(
            initial_state=tables.tree_sequence(), start_time=SPLIT, demography=demography("constant"),
            recombination_rate=RECOMBINATION, random_seed=seed,
        )  # fmt: skip
        yield Alignment.from_haplotypes(*mutated(trees, other), name=str(number))


def swept_part(scenario: str, rng: np.random.Generator) -> Any:
    """One population back to the beginning of a sweep that is not older than the split."""
    while True:
        trees = msprime.sim_ancestry(
            samples={"A": HAPLOTYPES // 2}, demography=demography("constant"), sequence_length=LENGTH,
            recombination_rate=RECOMBINATION, model=sweep_models(PAIRS[scenario])[:-1],
            random_seed=int(rng.integers(1, 2**32)),
        )  # fmt: skip
        if trees.tables.nodes.time.max() < SPLIT:
            return trees


def to_split(trees: Any, rng: np.random.Generator) -> Any:
    """One population back to the split, from the present or from the oldest node of `trees` on."""
    begin: dict[str, Any] = {"samples": {"A": HAPLOTYPES // 2}, "sequence_length": LENGTH}
    if trees is not None:
        begin = {"initial_state": trees, "start_time": float(trees.tables.nodes.time.max())}
    return msprime.sim_ancestry(
        demography=demography("constant"), recombination_rate=RECOMBINATION, end_time=SPLIT,
        random_seed=int(rng.integers(1, 2**32)), **begin,
    )  # fmt: skip


def first_of(pair: Alignment) -> Alignment:
    """The sites that vary in the first population."""
    states = unpack_sites(pair.bits, pair.haplotypes)[:, :HAPLOTYPES]
    counts = states.sum(axis=1, dtype=np.int64)
    keep = (counts > 0) & (counts < HAPLOTYPES)
    return Alignment.from_haplotypes(pair.positions[keep], states[keep], name=pair.name)


def pair_results(neutral: int, swept: int, rng: np.random.Generator, engine: Engine) -> list[dict[str, Any]]:
    """Rows of each scenario of two populations: of statistics between them, and of nSL and iHS in the first alone."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{number + 1}\t{'AB'[number // HAPLOTYPES]}\n" for number in range(2 * HAPLOTYPES))
        file.flush()
        between = SweepOptions(
            statistics=POPULATION_STATISTICS, step=5_000, window=20_000, ehh_edge="keep", populations=file.name
        )

        def judged(source: Sequence[Alignment], known: list[Mapping[str, Background]]) -> Values:
            found: Values = {}
            for options, data in ((between, source), (ALONE, [first_of(one) for one in source])):
                given = known[len(found) > 0] if known else {}
                scans = list(iter_scan(data, options, backgrounds=given, engine=engine))
                backgrounds.append(scans[0].backgrounds)
                found |= extremes_of(scans)
            return found

        backgrounds: list[Mapping[str, Background]] = []
        null = judged(list(pairs(None, neutral, rng)), [])
        known = backgrounds[:2]
        results: list[dict[str, Any]] = []
        for name in PAIRS:
            values = judged(list(pairs(name, swept, rng)), known)
            results += power(name, lambda statistic, rate: limit_of(null[statistic], rate), values)
    return results


def alone_results(
    names: Sequence[str], neutral: int, swept: int, rng: np.random.Generator, engine: Engine
) -> list[dict[str, Any]]:
    """Rows of scenarios of one population, of nSL and iHS with the scores of sites near the ends."""
    results: list[dict[str, Any]] = []
    for kind in sorted({SCENARIOS[name][0] for name in names}):
        scans = list(iter_scan(replicates(kind, None, neutral, rng), ALONE, engine=engine))
        null, backgrounds = extremes_of(scans), scans[0].backgrounds
        for name in (one for one in names if SCENARIOS[one][0] == kind):
            source = replicates(kind, name, swept, rng)
            found = extremes_of(list(iter_scan(source, ALONE, backgrounds=backgrounds, engine=engine)))
            results += power(name, lambda statistic, rate, null=null: limit_of(null[statistic], rate), found)
    return results


def extremes_of(scans: Sequence[Scan]) -> Values:
    """The value of each statistic that is most like a sweep in each scan, and where, (replicates, 2)."""
    names = scans[0].values
    return {name: np.array([best_of(scan, sign_of(name) * scan.values[name]) for scan in scans]) for name in names}


def limit_of(extremes: np.ndarray, rate: float) -> float:
    """The value that a share of neutral replicates exceeds: the k-th highest, k = floor(rate * (R + 1))."""
    values = extremes[:, 0]
    return float(np.sort(values)[::-1][max(math.floor(rate * (len(values) + 1)) - 1, 0)])


class Null:
    """What neutral replicates of a history say: calibrations of combined scores, and backgrounds of statistics."""

    def __init__(self, kind: str, count: int, rng: np.random.Generator, engine: Engine) -> None:
        scans = list(iter_scan(replicates(kind, None, 2 * count, rng), OPTIONS, engine=engine))
        self.backgrounds: Mapping[str, Background] = scans[0].backgrounds
        self.combinations = {"+".join(one): combine(scans, one)[0] for one in SETS}
        self.values = self.judged(scans[1::2])

    def limit(self, statistic: str, rate: float) -> float:
        """The value that a share of neutral replicates exceeds."""
        return limit_of(self.values[statistic], rate)

    def scanned(self, source: Iterator[Alignment], engine: Engine) -> list[Scan]:
        """Scans of replicates, with the backgrounds of the neutral ones."""
        return list(iter_scan(source, OPTIONS, backgrounds=self.backgrounds, engine=engine))

    def judged(self, scans: Sequence[Scan]) -> Values:
        """The value of each statistic and score that is most like a sweep in each scan, and where, (replicates, 2)."""
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in (*STATISTICS, *self.combinations)}
        for scan in scans:
            for name in STATISTICS:
                found[name].append(best_of(scan, sign_of(name) * scan.values[name]))
            for name, combination in self.combinations.items():
                found[name].append(best_of(scan, combination.scores(scan)))
        return {name: np.array(values) for name, values in found.items()}


def best_of(scan: Scan, scores: np.ndarray) -> tuple[float, float]:
    """The highest score, and the middle of the rows that have it."""
    if np.isnan(scores).all():
        return -math.inf, math.nan
    best = float(np.nanmax(scores))
    rows = np.flatnonzero(scores == best)
    plateau = rows[: int(np.argmin(np.append(np.diff(rows) == 1, False))) + 1]
    return best, float(scan.positions[plateau].mean())


def power(name: str, limit: Callable[[str, float], float], swept: Values) -> Iterator[dict[str, Any]]:
    """Rows of a scenario."""
    for statistic, values in swept.items():
        rates = [float((values[:, 0] > limit(statistic, rate)).mean()) for rate in RATES]
        distance = np.abs(values[:, 1] - LENGTH / 2)
        yield {
            "scenario": name, "statistic": statistic, "power_fpr05": rates[0], "power_fpr01": rates[1],
            "median_distance_kb": float(np.nanmedian(distance)) / 1000,
            "within_25kb": float((distance <= 25_000).mean()),
        }  # fmt: skip


def false_positives(
    nulls: Mapping[str, Null], count: int, rng: np.random.Generator, engine: Engine
) -> Iterator[dict[str, Any]]:
    """Rows of each history: the share of its neutral replicates that pass its own thresholds, and those of another."""
    other = nulls["constant"]
    for kind, null in nulls.items():
        neutral = list(replicates(kind, None, count, rng))
        judges = [null] if null is other else [null, other]
        found = [(by, by.judged(by.scanned(iter(neutral), engine))) for by in judges]
        for statistic in null.values:
            rates = [float((each[statistic][:, 0] > by.limit(statistic, RATES[0])).mean()) for by, each in found]
            yield {"history": kind, "statistic": statistic, "right": rates[0], "wrong": rates[-1]}


def pooled(rows: Sequence[dict[str, Any]], tested: int, earlier: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rates of two runs together, each weighted by the replicates that it judged."""
    known = {(row["history"], row["statistic"]): row for row in earlier["false"]}
    share = tested / (tested + earlier["tested"])
    return [
        row
        | {
            rate: share * row[rate] + (1 - share) * known[row["history"], row["statistic"]][rate]
            for rate in ("right", "wrong")
        }
        for row in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", "-d", default="auto")
    parser.add_argument("--neutral", type=int, default=400)
    parser.add_argument("--swept", type=int, default=140)
    parser.add_argument("--tested", type=int, default=0)
    parser.add_argument("--seed", type=int, default=20260)
    parser.add_argument("--scenarios", default=",".join(SCENARIOS))
    parser.add_argument("--earlier", metavar="FILE", help="pool false-positive rates with those of this run")
    parser.add_argument("--pairs", action="store_true", help="two populations")
    parser.add_argument("--alone", action="store_true", help="nSL and iHS alone")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    names = [name for name in args.scenarios.split(",") if name]
    rng = np.random.default_rng(args.seed)
    device = select_device(args.device)
    results: list[dict[str, Any]] = []
    with Engine(device) as engine:
        if args.pairs:
            names, results = [], pair_results(args.neutral, args.swept, rng, engine)
        if args.alone:
            names, results = [], alone_results(names, args.neutral, args.swept, rng, engine)
        histories = {"constant", "bottleneck", "growth"} if args.tested else set()
        histories |= {"constant"} if names else set()
        histories |= {SCENARIOS[name][0] for name in names}
        nulls = {kind: Null(kind, args.neutral, rng, engine) for kind in sorted(histories)}
        for name in names:
            kind = SCENARIOS[name][0]
            swept = nulls[kind].scanned(replicates(kind, name, args.swept, rng), engine)
            results += power(name, nulls[kind].limit, nulls[kind].judged(swept))
        false = list(false_positives(nulls, args.tested, rng, engine)) if args.tested else []
    sizes: dict[str, Any] = {"neutral": args.neutral, "swept": args.swept, "tested": args.tested, "seed": args.seed}
    if args.earlier:
        with open(args.earlier) as file:
            earlier = json.load(file)
        if earlier["seed"] == args.seed:
            parser.error("--earlier has the same replicates; give another --seed")
        false = pooled(false, args.tested, earlier)
        more = {name: sizes[name] + earlier[name] for name in ("neutral", "tested")}
        sizes |= more | {"seed": [earlier["seed"], args.seed]}
    print("\n\n".join(table(rows) for rows in (results, false) if rows))
    if args.json:
        write_json(
            args.json,
            {"benchmark": "sweeps_power", "machine": machine(device), **sizes, "results": results, "false": false},
        )


if __name__ == "__main__":
    main()
