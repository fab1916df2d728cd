"""R10.4.1 signals by another simulator, squigulator: how well reads of a target are told from those of backgrounds.

    python benchmarks/sdtw_r10.py --squigulator PROGRAM --model LEVELS --target REF.fa [--target REF.fa ...]
                                  [-d auto] [--reads 400] [--noisy] [--steps 4] [--json FILE] [--quick]

LEVELS is a model that `sdtw index` takes, with deviations, such as that of Uncalled4; squigulator gets it in pA, so
errors of a model are not in the figures. Reads are of 1,500 bases on average, without adapters (profile dna-r10-min).
`--noisy` adds `--amp-noise 1.5 --dwell-std 8`.

Backgrounds are drawn here. `bacterial` has 4 Mbp at 51 % GC, with copies of an operon and of an insertion element.
`human-like` has 20 Mbp of isochores (36 to 54 % GC) with repeats like Alu (10 %, a twelfth of the bases changed), like
L1 (17 %) and microsatellites (3 %).

A threshold is chosen on one set of reads, the one with the highest F, and judged on another. F weighs both classes the
same; `recall` and `false` have 95 % intervals.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, table, write_json
from numpy.typing import NDArray

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sdtw import AlignOptions, align, build_squiggle
from oclgenomics.sdtw.decisions.intervals import share_interval
from oclgenomics.signals import KmerModel, read_model

SEED = 20
PREFIXES = (1000, 2000, 3000, 4000)
CURRENT = (92.56, 23.11)  # pA, where levels are in standard units
RATE = 5000.0
NOISY = ("--amp-noise", "1.5", "--dwell-std", "8")
BASES = np.frombuffer(b"ACGT", np.uint8)
ISOCHORES, SHARES = (0.36, 0.39, 0.42, 0.47, 0.54), (0.30, 0.30, 0.20, 0.12, 0.08)
Codes = NDArray[np.uint8]


def main() -> None:
    args = arguments()
    model = levels(args.model)
    with tempfile.TemporaryDirectory() as name, Engine(select_device(args.device)) as engine:
        folder = Path(name)
        signals = Signals(args, folder, model)
        scale = 20 if args.quick else 1
        backgrounds = {
            "bacterial": write_fasta(folder / "bacterial.fa", bacterial(4_000_000 // scale)),
            "human-like": write_fasta(folder / "human.fa", human_like(20_000_000 // scale)),
        }
        rows = [row for target in args.target for row in judged(args, engine, signals, model, target, backgrounds)]
        record = {"rows": rows, "reads": args.reads, "noisy": args.noisy, "model": model.name} | machine(engine.device)
    print(table(rows))
    write_json(args.json, record)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--squigulator", required=True, metavar="PROGRAM")
    parser.add_argument("--model", required=True, metavar="LEVELS")
    parser.add_argument("--target", required=True, action="append", metavar="REF.fa")
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--reads", type=int, default=400, help="of each class and set")
    parser.add_argument("--noisy", action="store_true")
    parser.add_argument("--steps", default="4", help="with commas")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="small backgrounds and few reads, to see that it runs")
    args = parser.parse_args()
    if args.quick:
        args.reads = 20
    return args


def levels(path: str) -> KmerModel:
    """The model in pA."""
    model = replace(read_model(path), pore="R10", rate=RATE)
    if not model.in_standard_units:
        return model
    mean, deviation = model.current or CURRENT
    return replace(model, mean=mean + deviation * model.mean, deviation=deviation * model.deviation, current=None)


def drawn(rng: np.random.Generator, count: int, gc: float) -> Codes:
    return rng.choice(4, count, p=[(1 - gc) / 2, gc / 2, gc / 2, (1 - gc) / 2]).astype(np.uint8)


def changed(rng: np.random.Generator, codes: Codes, share: float) -> Codes:
    """The codes with a share of them exchanged for others."""
    codes = codes.copy()
    at = rng.random(len(codes)) < share
    codes[at] = (codes[at] + rng.integers(1, 4, np.count_nonzero(at))) % 4
    return codes


def bacterial(size: int) -> Codes:
    rng = np.random.default_rng(SEED)
    genome = drawn(rng, size, 0.51)
    for length, gc, copies in ((5_000, 0.54, 7), (1_200, 0.50, 40)):
        element = drawn(rng, length, gc)
        for place in rng.integers(0, size - length, copies):
            genome[place : place + length] = changed(rng, element, 0.005)
    return genome


def human_like(size: int) -> Codes:
    rng = np.random.default_rng(SEED + 1)
    stretches: list[Codes] = []
    while sum(map(len, stretches)) < size:
        stretches.append(drawn(rng, int(rng.integers(50_000, 300_000)), float(rng.choice(ISOCHORES, p=SHARES))))
    genome = np.concatenate(stretches)[:size]
    alu, l1 = np.append(drawn(rng, 280, 0.6), np.zeros(20, np.uint8)), drawn(rng, 6_000, 0.42)
    kinds = (
        (0.10, lambda: changed(rng, alu, 0.12)),
        (0.17, lambda: changed(rng, l1[-int(min(6_000, rng.exponential(900) + 100)) :], 0.10)),
        (0.03, lambda: changed(rng, np.resize(rng.integers(0, 4, rng.integers(1, 7)), rng.integers(20, 150)), 0.05)),
    )
    for share, repeat in kinds:
        covered = 0
        while covered < share * size:
            element = repeat().astype(np.uint8)
            if rng.random() < 0.5:
                element = 3 - element[::-1]
            place = int(rng.integers(0, size - len(element)))
            genome[place : place + len(element)] = element
            covered += len(element)
    return genome


def write_fasta(path: Path, codes: Codes) -> Path:
    path.write_bytes(b">" + path.stem.encode() + b"\n" + BASES[codes].tobytes() + b"\n")
    return path


def write_levels(path: Path, model: KmerModel) -> None:
    """The levels as a table that squigulator and RawHash2 read."""
    with path.open("w") as file:
        file.write(f"#k\t{model.k}\nkmer\tlevel_mean\tlevel_stdv\tsd_mean\tsd_stdv\tweight\n")
        for number, (mean, deviation) in enumerate(zip(model.mean.tolist(), model.deviation.tolist(), strict=True)):
            kmer = "".join("ACGT"[number >> shift & 3] for shift in range(2 * model.k - 2, -1, -2))
            file.write(f"{kmer}\t{mean:.6f}\t{deviation:.6f}\t1\t1\t1\n")


class Signals:
    """Reads that squigulator draws, as files."""

    def __init__(
        self, args: argparse.Namespace, folder: Path, model: KmerModel, words: Sequence[str] = ("-x", "dna-r10-min")
    ) -> None:
        self._args, self._folder, self._model, self._words = args, folder, folder / "levels.model", words
        self._drawn: dict[tuple[Path, int], Path] = {}
        write_levels(self._model, model)

    def of(self, genome: Path, seed: int) -> str:
        """The reads of a genome with a seed."""
        path = self._drawn.get((genome, seed), self._folder / f"{genome.stem}.{seed}.blow5")
        if (genome, seed) not in self._drawn:
            words = [*self._words, "--kmer-model", self._model, "-n", self._args.reads, "-r", 1500]
            words += ["-o", path, "--seed", seed, "-t", 1, *(NOISY if self._args.noisy else ()), genome]
            subprocess.run([self._args.squigulator, *map(str, words)], check=True, capture_output=True)
            self._drawn[genome, seed] = path
        return str(path)


def judged(
    args: argparse.Namespace, engine: Engine, signals: Signals, model: KmerModel, target: str,
    backgrounds: dict[str, Path],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """A row for each background, step and prefix."""
    squiggle = build_squiggle(target, model)
    for step in map(int, args.steps.split(",")):
        options, begun = AlignOptions(step=step), time.process_time()
        costs = {
            (name, seed): align(
                signals.of(path, seed), squiggle, options, prefixes=PREFIXES, trim=None, engine=engine
            ).cost[:, :, 0]
            for name, path in {"target": Path(target), **backgrounds}.items()
            for seed in (1, 2)
        }
        print(f"{target}, step {step}: {time.process_time() - begun:.1f} s of CPU time", file=sys.stderr)
        for name in backgrounds:
            for place, prefix in enumerate(PREFIXES):
                sets = {key: known(costs[key][:, place]) for key in costs}
                threshold = best_threshold(sets["target", 1], sets[name, 1])
                found, wrong = sets["target", 2] <= threshold, sets[name, 2] <= threshold
                recall, false = found.mean(), wrong.mean()
                yield {
                    "target": Path(target).stem, "background": name, "step": step, "prefix": prefix,
                    "F": 2 * recall / (recall + false + 1), "recall": recall,
                    "recall_interval": interval(found), "false": false, "false_interval": interval(wrong),
                    "reads": [len(found), len(wrong)],
                }  # fmt: skip


def known(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The costs of reads that are long enough."""
    return costs[~np.isnan(costs)]


def best_threshold(targets: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """The cost up to which reads are taken with the highest F, both classes weighed alike: amid those that do."""
    costs = np.unique(np.concatenate([targets, others]))
    recall = np.searchsorted(np.sort(targets), costs, "right") / len(targets)
    false = np.searchsorted(np.sort(others), costs, "right") / len(others)
    best = int(np.argmax(2 * recall / (recall + false + 1)))
    return float(costs[best : best + 2].mean())


def interval(taken: NDArray[np.bool_]) -> tuple[float, float]:
    low, high = share_interval(int(np.count_nonzero(taken)), len(taken))
    return float(low), float(high)


if __name__ == "__main__":
    main()
