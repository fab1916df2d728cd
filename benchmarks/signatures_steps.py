"""The optimisations of the paper, one after the other, and this package's methods, on the same letters."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from signatures_data import DataSet, simulate_set, subset
from signatures_scans import StageClock

from oclgenomics.runtime import Engine
from oclgenomics.signatures import ScanOptions, read_panel
from oclgenomics.signatures.device.brute import BruteMatcher
from oclgenomics.signatures.device.methods import Methods
from oclgenomics.signatures.device.pairs import FoundPairs
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import Encoder
from oclgenomics.simulate.scenarios import Scenario

__all__ = ["STEPS", "measure_method", "step_rows"]

MAX_SECONDS = 30  # that a step may take for all samples
Maker = Callable[[Engine, DevicePatterns], Any]
STEPS: dict[str, Maker] = {  # the paper's program, its optimisations one after the other, and what this package does
    "brute": lambda engine, patterns: BruteMatcher(engine, patterns, prefix_sums=False, flat=False),
    "+ prefix sums": lambda engine, patterns: BruteMatcher(engine, patterns, prefix_sums=True, flat=False),
    "+ flattening": lambda engine, patterns: BruteMatcher(engine, patterns, prefix_sums=True, flat=True),
    "planes": lambda engine, patterns: Methods(engine, patterns, "planes"),
    "index": lambda engine, patterns: Methods(engine, patterns, "index"),
}
OURS = ("planes", "index")


def step_rows(
    engine: Engine, scenarios: dict[str, Scenario], folder: Path, *, most: float, repeat: int
) -> list[dict[str, Any]]:
    """Time all of `STEPS`: first on some samples, then those on all samples that are done soon enough.

    Parameters
    ----------
    engine : Engine
        With profiles.
    scenarios : dict
        Sets by name.
    folder : Path
        For the sets, which are removed.
    most : float
        Alignments of the first samples.
    repeat : int
        Runs of our own methods, of which the best counts.
    """
    rows = []
    for name, scenario in scenarios.items():
        whole = simulate_set(scenario, folder / "steps")
        records = max(1, int(whole.records * most / whole.alignments))
        steps, parts = list(STEPS), [whole]
        if records < whole.records:
            parts.insert(0, subset(whole, folder / "first", records))
        for data in parts:
            runs = best_runs(engine, data, steps, repeat)
            rows += [step_row(name, data, whole, step, run) for step, run in runs.items()]
            share = whole.alignments / data.alignments
            steps = [step for step in steps if step in OURS or runs[step]["wall_s"] * share < MAX_SECONDS]
        for data in parts:
            data.samples.unlink()
            data.signatures.unlink()
    return rows


def best_runs(engine: Engine, data: DataSet, steps: list[str], repeat: int) -> dict[str, dict[str, Any]]:
    """One run of each step, and of our own the best of several."""
    runs = measure_method(engine, data, steps)
    for _ in range(repeat):
        again = measure_method(engine, data, [step for step in OURS if step in steps])
        runs |= {step: run for step, run in again.items() if run["wall_s"] < runs[step]["wall_s"]}
    return runs


def step_row(name: str, data: DataSet, whole: DataSet, step: str, run: dict[str, Any]) -> dict[str, Any]:
    """A row of the table."""
    row = {"set": name, "samples": data.records, "of": whole.records, "letters": data.letters}
    row |= {"alignments": data.alignments, "step": step, "kernel s": run["kernel_s"], "wall s": run["wall_s"]}
    return {**row, "G align/s": run["kernel_alignments_per_second"] / 1e9, "pairs": run["pairs"]}


def measure_method(engine: Engine, data: DataSet, steps: list[str]) -> dict[str, dict[str, Any]]:
    """Time some of `STEPS` on the same blocks, once each, and check that they find the same.

    Returns
    -------
    dict
        For each step: `kernel_s`, `wall_s`, `pairs`, `kernel_alignments_per_second`, and `read_s`, the wall seconds
        until all letters were read and encoded.
    """
    panel = read_panel(data.signatures)
    patterns = DevicePatterns.upload(engine, panel.patterns("+"), ScanOptions())
    overlap = int(patterns.patterns.lengths.max()) - 1
    matchers = {name: STEPS[name](engine, patterns) for name in steps}
    clock, encoder = StageClock(), Encoder(engine)
    runs = {name: {"wall_s": 0.0, "kernel_s": 0.0, "pairs": 0} for name in steps}
    for block in clock.blocks(engine, [str(data.samples)], overlap=overlap):
        with clock.stage("reading"):
            samples = encoder.encode(block)
        _check_equal({name: _run(engine, matcher, samples, runs[name]) for name, matcher in matchers.items()})
    read = clock.seconds["reading"]
    return {
        name: {**run, "read_s": read, "kernel_alignments_per_second": data.alignments / run["kernel_s"]}
        for name, run in runs.items()
    }


def _run(engine: Engine, matcher: Any, samples: Any, run: dict[str, Any]) -> FoundPairs:
    """Find the pairs of a block, and count what it took."""
    engine.finish()
    engine.profile.clear()
    start = time.perf_counter()
    found: FoundPairs = matcher.pairs(samples)
    engine.finish()
    run["wall_s"] += time.perf_counter() - start
    run["kernel_s"] += sum(span.milliseconds for span in engine.profile.spans if span.lane == "compute") / 1e3
    run["pairs"] += len(found)
    return found


def _check_equal(found: dict[str, FoundPairs]) -> None:
    (first, truth), *others = found.items()
    for name, pairs in others:
        for column in ("piece", "pattern", "hits", "first", "best"):
            if not np.array_equal(getattr(truth, column), getattr(pairs, column)):
                raise SystemExit(f"{first} and {name} differ in {column}")
