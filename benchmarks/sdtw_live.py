"""Live selection: how soon 512 channels get their decisions.

    python benchmarks/sdtw_live.py [-d cpu] [--seconds 30] [--channels 512] [--json FILE]

A flow cell is played in real time: 4,000 samples a second and channel, a chunk every 0.4 s, reads of 4,000 to 30,000
samples (preset `normal`), a tenth of them of the target, a genome of 48,502 letters on both strands. Runs differ in the
stages: two, three, and two with pores that wait a tenth of a second for a read instead of one, which gives more reads
than a flow cell has. Thresholds are fixed. The decision latency is the time from the arrival of the chunk that
completed a prefix to the action.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from measure import machine, table, write_json
from numpy.typing import NDArray
from sdtw_data import MODEL, REFERENCES, SEED, make_references

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sdtw import AlignOptions, LiveOptions, Squiggle, Thresholds
from oclgenomics.sdtw.decisions.stages import parse_stages
from oclgenomics.sdtw.live.flow_cell_options import FlowCellOptions
from oclgenomics.sdtw.live.playback import play
from oclgenomics.sdtw.live.truth import named_classes, of_class
from oclgenomics.signals import Signals, read_model
from oclgenomics.simulate.genomes import random_genome
from oclgenomics.simulate.signals import PRESETS, simulate_signals

TARGETS, OTHERS = 200, 1800
SAMPLES = (4000, 30_000)
BACKGROUND = 1_000_000  # letters
RUNS = {
    "two stages": ("1000:2800,2000:5600", 1.0),
    "three stages": ("1000:2800,2000:5600,3000:8400", 1.0),
    "two stages, busy pores": ("1000:2800,2000:5600", 0.1),
}


def make_run() -> tuple[Squiggle, Signals, NDArray[np.bool_]]:
    """The reference, reads of it and of other letters, and which are of it."""
    target = random_genome("lambda", REFERENCES["lambda"], 0.5, TARGETS, SEED)
    other = random_genome("other", BACKGROUND, 0.5, OTHERS, SEED + 1)
    scenario = replace(PRESETS["normal"], samples=SAMPLES)
    signals = Signals.joined([b.signals for b in simulate_signals([target, other], read_model(MODEL), scenario, SEED)])
    names = signals.names.tolist()
    return make_references({}, 1.0)["lambda"], signals, of_class(names, named_classes(names), "lambda", "names")


def live_row(engine: Engine, run: str, args: argparse.Namespace, made: tuple[Any, ...]) -> dict[str, Any]:
    """Play one run."""
    reference, signals, truth = made
    stages, capture = RUNS[run]
    thresholds = Thresholds(parse_stages(stages), AlignOptions())
    flow_cell = FlowCellOptions(channels=args.channels, duration=args.seconds, capture=capture)
    played = play(signals, reference, thresholds, truth=truth, flow_cell=flow_cell,
                  live=LiveOptions(), engine=engine)  # fmt: skip
    latency = 1000 * played.latency
    return {
        "run": run,
        "decisions": len(latency),
        **{f"p{q} ms": float(np.percentile(latency, q)) for q in (50, 95, 99)},
        "max ms": float(latency.max()),
        "slow batches": played.metrics.slow_batches,
        "record": played.record(),
    }


def main() -> None:
    """Play all runs, and print and keep what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--channels", type=int, default=512)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    made, rows = make_run(), []
    with Engine(select_device(args.device)) as engine:
        result = machine(engine.device)
        for run in RUNS:
            rows.append(live_row(engine, run, args, made))
            print(table([{key: value for key, value in rows[-1].items() if key != "record"}]), flush=True)
    if args.json:
        write_json(args.json, {**result, "seconds": args.seconds, "channels": args.channels, "runs": rows})


if __name__ == "__main__":
    main()
