"""Live selection: how soon channels get their decisions, and what selection brings if a machine cannot serve them all.

    python benchmarks/sdtw_live.py [-d cpu] [--seconds 30] [--channels 512 3000] [--runs RUN ...] [--chunks 0.4 1]
                                   [--model r9.4.1|r10.4.1|FILE|drawn] [--kbp 48.5] [--cores 2] [--against CHECKOUT]
                                   [--json FILE]

A flow cell is played in real time: as many samples a second and channel as the pore has, a chunk every 0.4 s, reads of
4,000 to 30,000 samples (preset `normal`), a tenth of them of the target, a genome of 48,502 bp on both strands. Runs
differ in the stages: two, three, and two with pores that wait a tenth of a second for a read instead of one, which
gives more reads than a flow cell has; and two where all but 512 channels are control. With R9.4.1 stages are at 1,000,
2,000 and 3,000 samples and thresholds are fixed; with any other model they are at 2,000, 3,000 and 4,000, and are
chosen on 300 other reads of each class. `drawn` draws the levels of 9-mers of R10.4.1, where no table is at hand: the
speed does not depend on them. The decision latency is the time from the arrival of the chunk that completed a prefix to
the action.

Every verdict is compared with that of `align` on the whole read: `unlike` counts those that differ. What a machine that
is too slow leaves out is counted by why: reads `delayed` (judged too late or not at all), reads `unselected` (of
channels that are left out), verdicts and actions `too late` (the read was over).

`--cores N` plays in simulated time instead, in which a batch takes the CPU time that all of this program took since the
last batch, divided by N: what a machine with N free cores would do, measured on one with other work.

Each run is a process of its own. `--against` plays each run with the package of another checkout as well, in turn.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from measure import machine, table, write_json
from numpy.typing import NDArray
from sdtw_data import MODEL, REFERENCES, SEED

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sdtw import AlignOptions, LiveOptions, Squiggle, Thresholds, align, build_squiggle, calibrate
from oclgenomics.sdtw.decisions.thresholds import parse_stages
from oclgenomics.sdtw.live.judging import Job
from oclgenomics.sdtw.live.options import FlowCellOptions
from oclgenomics.sdtw.live.playback import Played, named_classes, of_class, play
from oclgenomics.sdtw.squiggles.opened import options_for
from oclgenomics.signals import KmerModel, Signals, read_model
from oclgenomics.simulate.signals.drawing import preset_for
from oclgenomics.simulate.signals.reads import Genome, random_genome, simulate_signals

TARGETS, OTHERS = 200, 1800
CHOOSING = 300  # reads of each class that choose thresholds
SAMPLES = (4000, 30_000)
BACKGROUND = 1_000_000  # bp
FIXED = (2800, 5600, 8400)  # of R9.4.1
RUNS = {"two stages": (2, 1.0), "three stages": (3, 1.0), "two stages, busy pores": (2, 0.1),
        "two stages, control": (2, 1.0)}  # fmt: skip
UNCONTROLLED = 512  # channels of a run with control


def model_named(name: str) -> KmerModel:
    """A model by name or of a file, or one of R10.4.1 whose levels are drawn."""
    if name != "drawn":
        return read_model(name)
    levels = np.random.default_rng(SEED).standard_normal(4**9)
    return KmerModel("drawn", 9, levels, np.full(4**9, np.nan), pore="R10", rate=5000.0)


def genomes_of(letters: int, targets: int, others: int) -> tuple[Genome, Genome]:
    """The target and the other genome, with so many reads of each."""
    return (
        random_genome("lambda", letters, 0.5, targets, SEED),
        random_genome("other", BACKGROUND, 0.5, others, SEED + 1),
    )


def drawn_reads(genomes: tuple[Genome, ...], model: KmerModel, seed: int, samples: tuple[int, int]) -> Signals:
    """Reads of genomes."""
    scenario = replace(preset_for("normal", model, "dna"), samples=samples)
    return Signals.joined([batch.signals for batch in simulate_signals(genomes, model, scenario, seed)])


def squiggle_of(genome: Genome, model: KmerModel) -> Squiggle:
    """The reference of a genome."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lambda.fasta"
        path.write_bytes(b">lambda\n" + genome.letters[0] + b"\n")
        return build_squiggle(path, model, name="lambda")


def thresholds_of(
    name: str, count: int, model: KmerModel, reference: Squiggle, letters: int, engine: Engine
) -> Thresholds:
    """Those of R9.4.1 as they are, and of any other model by reads that are not played."""
    if name == MODEL:
        stages = ",".join(f"{1000 * (number + 1)}:{FIXED[number]}" for number in range(count))
        return Thresholds(parse_stages(stages), AlignOptions())
    prefixes = tuple(1000 * (number + 2) for number in range(count))
    target, other = (
        drawn_reads((genome,), model, SEED + 2, (prefixes[-1], prefixes[-1]))
        for genome in genomes_of(letters, CHOOSING, CHOOSING)
    )
    report = calibrate(target, other, reference, options_for(AlignOptions(), [reference]), prefixes=prefixes,
                       trim=None, engine=engine)  # fmt: skip
    assert report.thresholds is not None
    return report.thresholds


def unlike(log: str, signals: Signals, reference: Squiggle, thresholds: Thresholds, engine: Engine) -> tuple[int, int]:
    """How many verdicts there were, and how many of them have another score than the same samples by themselves."""
    found = align(signals, reference, thresholds.options, prefixes=thresholds.prefixes, trim=None, engine=engine)
    place = {name: number for number, name in enumerate(signals.names.tolist())}
    verdicts = wrong = 0
    for row in csv.DictReader(io.StringIO(log), delimiter="\t"):
        if row["outcome"] in ("accept", "reject"):
            verdicts += 1
            stage = thresholds.prefixes.index(int(row["prefix"]))
            cost = found.cost[place[row["read"].rsplit(".", 2)[0]], stage, 0]
            kept = cost <= thresholds.stages[stage].reject_above
            wrong += float(row["score"]) != cost or (row["outcome"] == "accept") != bool(kept)
    return verdicts, wrong


def live_row(args: argparse.Namespace, run: str, channels: int, chunk: float) -> dict[str, Any]:
    """Play one run."""
    letters, model = round(1000 * args.kbp), model_named(args.model)
    genomes = genomes_of(letters, TARGETS, OTHERS)
    reference, signals = squiggle_of(genomes[0], model), drawn_reads(genomes, model, SEED, SAMPLES)
    names = signals.names.tolist()
    truth: NDArray[np.bool_] = of_class(names, named_classes(names), "lambda", "names")
    count, capture = RUNS[run]
    flow_cell = FlowCellOptions(
        channels=channels, duration=args.seconds, capture=capture, chunk=chunk, rate=model.rate or 4000.0
    )
    control = frozenset(range(UNCONTROLLED + 1, channels + 1)) if run.endswith("control") else frozenset[int]()
    log = io.StringIO()
    with Engine(select_device(args.device)) as engine:
        thresholds = thresholds_of(args.model, count, model, reference, letters, engine)
        begun = time.process_time()
        played = play(
            signals, reference, thresholds, truth=truth, flow_cell=flow_cell, debug=log,
            live=LiveOptions(control_channels=control, trim=None), engine=engine,
            speed=0.0 if args.cores else 1.0, seconds=free_cores(args.cores) if args.cores else None,
        )  # fmt: skip
        spent = time.process_time() - begun
        verdicts, wrong = unlike(log.getvalue(), signals, reference, thresholds, engine)
        about = machine(engine.device)
    about |= {"stages": ",".join(map(str, thresholds.stages)), "model": model.name, "kbp": args.kbp}
    return {
        "run": run, "channels": channels, "chunk s": chunk, **row_of(played), "CPU s": spent, "verdicts": verdicts,
        "unlike": wrong, "machine": about, "record": played.record(),
    }  # fmt: skip


def free_cores(cores: float) -> Callable[[Job, float], float]:
    """How long batches take in simulated time: their CPU time, and that of the loop before them, on so many cores."""
    spent = time.process_time()

    def seconds(job: Job, real: float) -> float:
        nonlocal spent
        before, spent = spent, time.process_time()
        return (spent - before) / cores

    return seconds


def row_of(played: Played) -> dict[str, Any]:
    """What is shown of a run."""
    record, counts = played.record(), played.metrics.outcome_counts()
    latency = 1000 * played.latency[~np.isnan(played.latency)]
    shares = {f"p{q} ms": float(np.percentile(latency, q)) if len(latency) else None for q in (50, 95, 99)}
    return {
        "selected": record.get("selection", {}).get("selected"),
        "reads": played.metrics.reads,
        **{name: counts[name] for name in ("accept", "reject", "delayed", "unselected")},
        "too late": played.metrics.gone + played.missed,
        **shares,
        "max ms": float(latency.max(initial=0)),
        "slow batches": played.metrics.slow_batches,
        "busy": record["device_busy"],
        "enrichment": played.enrichment,
    }


def in_turn(args: argparse.Namespace, run: str, channels: int, chunk: float, checkout: str | None) -> dict[str, Any]:
    """Play one run in a process, with this package or that of a checkout."""
    command = [sys.executable, __file__, "-d", args.device, "--seconds", args.seconds, "--model", args.model,
               "--kbp", args.kbp, "--cores", args.cores, "--one", run, channels, chunk]  # fmt: skip
    paths = [] if checkout is None else [os.path.abspath(checkout)]
    paths += filter(None, [os.environ.get("PYTHONPATH")])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    made = subprocess.run(list(map(str, command)), env=environment, stdout=subprocess.PIPE, check=True, text=True)
    row: dict[str, Any] = {"package": "this" if checkout is None else "against", **json.loads(made.stdout)}
    print(table([{key: value for key, value in row.items() if key not in ("record", "machine")}]), flush=True)
    return row


def main() -> None:
    """Play all runs, and print and keep what they brought."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--channels", type=int, nargs="+", default=[512, 3000])
    parser.add_argument("--chunks", type=float, nargs="+", default=[0.4], metavar="SECONDS")
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=list(RUNS), metavar="RUN")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--kbp", type=float, default=REFERENCES["lambda"] / 1000, help="of the target")
    parser.add_argument("--cores", type=float, default=0.0, help="of a machine without other work; 0: in real time")
    parser.add_argument("--against", metavar="CHECKOUT")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(live_row(args, args.one[0], int(args.one[1]), float(args.one[2]))))
        return
    packages = (args.against, None) if args.against else (None,)
    wanted = [(run, channels, chunk) for channels in args.channels for chunk in args.chunks for run in args.runs
              if channels > UNCONTROLLED or not run.endswith("control")]  # fmt: skip
    rows = [in_turn(args, *one, package) for one in wanted for package in packages]
    write_json(
        args.json,
        {**rows[-1]["machine"], "seconds": args.seconds, "model": args.model, "cores": args.cores, "runs": rows},
    )


if __name__ == "__main__":
    main()
