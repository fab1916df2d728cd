"""How well alignments of raw signals tell target reads from others: F by length of prefix, for several options.

    python benchmarks/sdtw_accuracy.py [-d gpu] [--target SIGNALS ... --reference REF.fa --others NAME=SIGNALS ...]
                                       [--prefixes 1000,2000,3000,5000] [--variants NAME,...] [--most 200] [--windows 1]
                                       [--rounds 1000] [--json FILE] [--plot FILE.png] [--quick]

Without files, reads are simulated of random genomes as long as those of the paper's Fig. 8, and of another random
genome; `--preset` says how noisy. Of files, reads begin after the stall and `--extra` samples. Sets of others that have
few but long reads give more with `--windows`: so many pieces of each; the pieces of a read are drawn together.

`F` is the highest of all thresholds with both classes weighed alike, with the interval that holds 95 % of the rounds of
the bootstrap, and `out` that of each half of the reads by the threshold of the other (held-out F). `gain` is F less
that of the paper's variant, Crescent without bonus; its intervals, of the same reads in each round, are in the JSON.
`s` is the wall time of the alignments of all prefixes and sets, without the first run, which builds kernels.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import machine, table, write_json
from sdtw_accuracy_data import GENOMES, LabelledReads, read_reads, simulate_reads
from sdtw_accuracy_figures import draw

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sdtw import (
    CRESCENT,
    SQUIGGLEFILTER,
    Alignments,
    AlignOptions,
    Evaluation,
    align,
    differences,
    evaluate,
    labelled_scores,
)
from oclgenomics.sdtw.options import check_prefixes
from oclgenomics.signals import TrimOptions, read_model
from oclgenomics.simulate.signals.drawing import PRESETS

SEED, BASELINE = 1103, "Crescent"
VARIANTS = {
    BASELINE: CRESCENT,
    "SquiggleFilter": SQUIGGLEFILTER,
    "default": AlignOptions(),
    "each sample": AlignOptions(step=1),
    "step 4": AlignOptions(step=4),
    "5 bits": AlignOptions(bits=5),
    "8 bits": AlignOptions(bits=8),
    "differences": AlignOptions(cost="absolute"),
    "float32": AlignOptions(arithmetic="float32"),
    "bonus": AlignOptions(bonus="dwell"),
    "differences, bonus": AlignOptions(cost="absolute", bonus="dwell"),
}
DRAWN = ("default", BASELINE, "bonus", "each sample", "SquiggleFilter")  # more lines hide each other
ALL = "all"
QUICK_READS, QUICK_PREFIXES, QUICK_ROUNDS = 8, (300, 600), 20


def labelled_reads(args: argparse.Namespace, folder: Path) -> Iterator[LabelledReads]:
    """The sets of reads that the command line asks for."""
    model, samples = read_model(args.model), args.prefixes[-1]
    if args.target:
        others = dict(one.split("=", 1) for one in args.others)
        trim = TrimOptions(extra=args.extra)
        yield read_reads(
            args.target, args.reference, others, model, samples, most=args.most, windows=args.windows, trim=trim
        )
        return
    for name in args.genomes:
        yield simulate_reads(name, model, samples, most=args.most, preset=args.preset, seed=SEED, folder=folder)


Found = tuple[str, Evaluation, float]  # the set of others, what is found, and seconds


def evaluations(reads: LabelledReads, engine: Engine, args: argparse.Namespace) -> Iterator[Found]:
    """Each variant with each set of others, and the seconds of its alignments."""
    for variant in args.variants:
        options = VARIANTS[variant]
        align(reads.target.take(slice(1)), reads.reference, options, prefixes=args.prefixes, engine=engine)
        start = time.perf_counter()
        target, *others = (
            align(signals, reads.reference, options, prefixes=args.prefixes, engine=engine)
            for signals in (reads.target, *reads.others.values())
        )
        seconds = time.perf_counter() - start
        sets = dict(zip(reads.others, others, strict=True))
        if len(sets) > 1:
            sets[ALL] = Alignments.joined(others)
        for name, other in sets.items():
            scores = labelled_scores(target, other, name=variant)
            yield name, evaluate(scores, rounds=args.rounds, seed=SEED), seconds


def rows_of(reads: LabelledReads, found: list[Found]) -> list[dict[str, Any]]:
    """What is known of each variant, set and prefix."""
    baselines = {name: one for name, one, _ in found if one.labelled.name == BASELINE}
    rows = []
    for name, evaluation, seconds in found:
        gains = differences(evaluation, baselines[name])
        for record, gain in zip(evaluation.records(), gains, strict=True):
            difference = {f"gain_{key}": value for key, value in gain.record().items() if "f" in key}
            rows.append({"target": reads.name, "set": name, **record, **difference, "seconds": seconds})
    return rows


def shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A line for each variant and set, with all prefixes."""
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        names = {key: row[key] for key in ("target", "set", "variant")}
        line = lines.setdefault(tuple(names.values()), {**names, "s": row["seconds"]})
        line[f"F {row['prefix']}"] = f"{row['f']:.3f} {interval(row['f_low'], row['f_high'])}"
        line[f"out {row['prefix']}"] = "-" if row["held_out_f"] is None else f"{row['held_out_f']:.3f}"
        line[f"gain {row['prefix']}"] = f"{row['gain_f']:+.3f}"
    return list(lines.values())


def interval(low: float | None, high: float | None) -> str:
    """Two numbers as text."""
    return "" if low is None or high is None else f"({low:.3f} {high:.3f})"


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--target", nargs="+", metavar="SIGNALS", help="reads of the target")
    parser.add_argument("--reference", metavar="FASTA", help="of the target")
    parser.add_argument("--others", nargs="+", metavar="NAME=SIGNALS", help="reads of something else, set by set")
    parser.add_argument("--model", default="r9.4.1", help="of k-mers: a name or a file")
    parser.add_argument("--prefixes", type=lambda text: tuple(map(int, names(text))), default=(1000, 2000, 3000, 5000))
    parser.add_argument("--variants", type=names, default=list(VARIANTS), metavar="NAME,NAME,...")
    parser.add_argument("--genomes", type=names, default=list(GENOMES), metavar="NAME,NAME,...")
    parser.add_argument("--preset", choices=PRESETS, default="normal", help="of simulated signals")
    parser.add_argument("--most", type=int, default=200, help="reads of a set")
    parser.add_argument("--windows", type=int, default=1, help="pieces of each of the other reads")
    parser.add_argument("--extra", type=int, default=1000, help="samples left out after the stall")
    parser.add_argument("--rounds", type=int, default=1000, help="of the bootstrap")
    parser.add_argument("--quick", action="store_true", help="few reads, to see that everything runs")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE.png", help="F of some variants by prefix")
    args = parser.parse_args()
    for given, known, option in ((args.variants, VARIANTS, "variants"), (args.genomes, GENOMES, "genomes")):
        if unknown := set(given) - set(known):
            parser.error(f"--{option}: there is no {', '.join(sorted(unknown))}; choose of {', '.join(known)}")
    if args.target and not (args.reference and args.others):
        parser.error("--target needs --reference and --others")
    if args.others and not all("=" in one for one in args.others):
        parser.error("--others: give NAME=SIGNALS")
    if args.quick:
        args.most, args.prefixes, args.rounds = QUICK_READS, QUICK_PREFIXES, QUICK_ROUNDS
    args.prefixes = check_prefixes(args.prefixes)
    args.variants = [BASELINE, *(name for name in args.variants if name != BASELINE)]
    return args


def main() -> int:
    """Evaluate target by target, and keep what is done if a later one fails."""
    args = arguments()
    device = select_device(args.device)
    record: dict[str, Any] = {"benchmark": "sdtw_accuracy", "machine": machine(device), "seed": SEED}
    record |= {name: getattr(args, name) for name in ("prefixes", "most", "windows", "extra", "rounds", "quick")}
    record |= {"simulated": None if args.target else args.preset, "rows": []}
    record["variants"] = {name: vars(VARIANTS[name]) for name in args.variants}
    print(f"{device.name} [{device.platform}, {device.driver}]", flush=True)
    found = {}
    with tempfile.TemporaryDirectory() as folder, Engine(device) as engine:
        for reads in labelled_reads(args, Path(folder)):
            found[reads.name] = list(evaluations(reads, engine, args))
            rows = rows_of(reads, found[reads.name])
            record["rows"] += rows
            print(f"\n{table(shown(rows))}", flush=True)
            write_json(args.json, record)
    if args.plot:
        draw({target: [(name, one) for name, one, _ in ones] for target, ones in found.items()}, DRAWN, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
