"""Live selection: how soon channels get their decisions, and what selection brings if a machine cannot serve them all.

    python benchmarks/sdtw_live.py [-d cpu] [--seconds 30] [--channels 512 3000] [--against CHECKOUT] [--json FILE]

A flow cell is played in real time: 4,000 samples a second and channel, a chunk every 0.4 s, reads of 4,000 to 30,000
samples (preset `normal`), a tenth of them of the target, a genome of 48,502 letters on both strands. Runs differ in the
stages: two, three, and two with pores that wait a tenth of a second for a read instead of one, which gives more reads
than a flow cell has; and two where all but 512 channels are control. Thresholds are fixed. The decision latency is the
time from the arrival of the chunk that completed a prefix to the action.

Each run is a process of its own. `--against` plays each run with the package of another checkout as well, in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
from measure import machine, table, write_json
from numpy.typing import NDArray
from sdtw_data import MODEL, REFERENCES, SEED, make_references

from oclgenomics.runtime import Engine, select_device
from oclgenomics.sdtw import AlignOptions, LiveOptions, Squiggle, Thresholds
from oclgenomics.sdtw.decisions.thresholds import parse_stages
from oclgenomics.sdtw.live.options import FlowCellOptions
from oclgenomics.sdtw.live.playback import named_classes, of_class, play
from oclgenomics.signals import Signals, read_model
from oclgenomics.simulate.signals.drawing import PRESETS
from oclgenomics.simulate.signals.reads import random_genome, simulate_signals

TARGETS, OTHERS = 200, 1800
SAMPLES = (4000, 30_000)
BACKGROUND = 1_000_000  # letters
RUNS = {
    "two stages": ("1000:2800,2000:5600", 1.0),
    "three stages": ("1000:2800,2000:5600,3000:8400", 1.0),
    "two stages, busy pores": ("1000:2800,2000:5600", 0.1),
    "two stages, control": ("1000:2800,2000:5600", 1.0),
}
UNCONTROLLED = 512  # channels of a run with control


def make_run() -> tuple[Squiggle, Signals, NDArray[np.bool_]]:
    """The reference, reads of it and of other letters, and which are of it."""
    target = random_genome("lambda", REFERENCES["lambda"], 0.5, TARGETS, SEED)
    other = random_genome("other", BACKGROUND, 0.5, OTHERS, SEED + 1)
    scenario = replace(PRESETS["normal"], samples=SAMPLES)
    signals = Signals.joined([b.signals for b in simulate_signals([target, other], read_model(MODEL), scenario, SEED)])
    names = signals.names.tolist()
    return make_references({}, 1.0)["lambda"], signals, of_class(names, named_classes(names), "lambda", "names")


def live_row(device: str, run: str, channels: int, seconds: float) -> dict[str, Any]:
    """Play one run."""
    reference, signals, truth = make_run()
    stages, capture = RUNS[run]
    thresholds = Thresholds(parse_stages(stages), AlignOptions())
    flow_cell = FlowCellOptions(channels=channels, duration=seconds, capture=capture)
    control = frozenset(range(UNCONTROLLED + 1, channels + 1)) if run.endswith("control") else frozenset[int]()
    with Engine(select_device(device)) as engine:
        result = machine(engine.device)
        played = play(signals, reference, thresholds, truth=truth, flow_cell=flow_cell,
                      live=LiveOptions(control_channels=control), engine=engine)  # fmt: skip
    latency = 1000 * played.latency[~np.isnan(played.latency)]
    shares = {f"p{q} ms": float(np.percentile(latency, q)) if len(latency) else None for q in (50, 95, 99)}
    record = played.record()
    return {
        "run": run,
        "channels": channels,
        "selected": record.get("selection", {}).get("selected"),
        "enrichment": played.enrichment,
        "verdicts": len(latency),
        "too late": played.metrics.gone + played.missed,
        **shares,
        "max ms": float(latency.max(initial=0)),
        "slow batches": played.metrics.slow_batches,
        "busy": record["device_busy"],
        "machine": result,
        "record": record,
    }


def in_turn(args: argparse.Namespace, run: str, channels: int, checkout: str | None) -> dict[str, Any]:
    """Play one run in a process, with this package or that of a checkout."""
    command = [sys.executable, __file__, "-d", args.device, "--seconds", str(args.seconds), "--one", run, str(channels)]
    paths = [] if checkout is None else [os.path.abspath(checkout)]
    paths += filter(None, [os.environ.get("PYTHONPATH")])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    made = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    row: dict[str, Any] = {"package": "this" if checkout is None else "against", **json.loads(made.stdout)}
    print(table([{key: value for key, value in row.items() if key not in ("record", "machine")}]), flush=True)
    return row


def main() -> None:
    """Play all runs, and print and keep what they brought."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--channels", type=int, nargs="+", default=[512, 3000])
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=list(RUNS), metavar="RUN")
    parser.add_argument("--against", metavar="CHECKOUT")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(live_row(args.device, args.one[0], int(args.one[1]), args.seconds)))
        return
    packages = (args.against, None) if args.against else (None,)
    wanted = [(run, channels) for channels in args.channels for run in args.runs
              if channels > UNCONTROLLED or not run.endswith("control")]  # fmt: skip
    rows = [in_turn(args, run, channels, package) for run, channels in wanted for package in packages]
    if args.json:
        write_json(args.json, {**rows[-1]["machine"], "seconds": args.seconds, "runs": rows})


if __name__ == "__main__":
    main()
