"""Times of alignments, and what of the device's bound they reach.

The bound of a GPU is the rate at which it issues the instructions that a cell cannot do without: 3 for squares in
single precision (subtract, multiply and add, minimum), on 128 lanes of a compute unit and with its clock. On CPUs the
vector instructions that a cell cannot do without are counted by cycle and core; cores are counted by the processor time
of the process, so that other load does not matter much.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sdtw_data import PREFIX, Reads

from oclgenomics.runtime import Device, Engine
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.options import AlignOptions

__all__ = ["Clock", "measure"]

ISSUED = {"nvidia": 128}  # lanes for which a compute unit issues an instruction in a cycle
# Instructions of a cell, as the kernel's arithmetic needs them.
GPU_INSTRUCTIONS = {
    "default": 3,  # subtract, multiply and add, minimum
    "step 1": 3,
    "bits 8": 5,  # integers: subtract, multiply, shift, add, minimum
    "absolute": 3,  # subtract, add the absolute value, minimum
    "dwell bonus": 12,  # of the bonus: subtract, maximum, add, minimum, compare, choose; cost 3, add, two minima
    "Crescent": 3,
    "SquiggleFilter": 9,  # of the bonus: subtract, add, minimum, compare, choose; cost 2, add, minimum
    "float32": 4,  # subtract, multiply, add, minimum
}
CPU_INSTRUCTIONS = {
    "default": 4,  # subtract, multiply, minimum, add and saturate
    "step 1": 4,
    "bits 8": 5,  # and shift
    "absolute": 5,  # the difference is two subtractions that saturate, and an or
    "dwell bonus": 10,  # of the bonus: subtract, add, minimum, compare, choose; cost 3, add, minimum
    "Crescent": 4,  # subtract, absolute value, minimum, add
    "SquiggleFilter": 9,  # of the bonus: subtract, add, minimum, compare, choose; cost 2, add, minimum
    "float32": 4,
}


class Clock:
    """Times a call, and its kernels.

    Parameters
    ----------
    repeat : int
        Times at least, unless they take too long.
    most : float
        Seconds after which there are no more.
    """

    def __init__(self, repeat: int, most: float) -> None:
        self.repeat, self.most = repeat, most

    def time(self, call: Callable[[], Any]) -> dict[str, Any]:
        """Return `seconds` of each run, `best`, `median`, the least `processor_s`, and the `cores` of the best run."""
        seconds: list[float] = []
        processor: list[float] = []
        begun = time.perf_counter()
        while not seconds or (len(seconds) < self.repeat and time.perf_counter() - begun < self.most):
            start, used = time.perf_counter(), time.process_time()
            call()
            processor.append(time.process_time() - used)
            seconds.append(time.perf_counter() - start)
        fastest = seconds.index(min(seconds))
        times = {"seconds": seconds, "best": seconds[fastest], "median": statistics.median(seconds)}
        return {**times, "processor_s": min(processor), "cores": processor[fastest] / seconds[fastest]}

    def kernels(self, engine: Engine, call: Callable[[], Any]) -> dict[str, float]:
        """Return milliseconds of each kernel and transfer in the median run of some more.

        Not of the best: runtimes of CPUs tell times that are far too short now and then.
        """
        runs: list[dict[str, float]] = []
        begun = time.perf_counter()
        engine.profile.enabled = True
        while not runs or (len(runs) < self.repeat and time.perf_counter() - begun < self.most / 2):
            engine.profile.clear()
            call()
            engine.finish()
            runs.append({name: row["total_ms"] for name, row in engine.profile.totals().items()})
        engine.profile.enabled = False
        engine.profile.clear()
        return sorted(runs, key=lambda run: sum(run.values()))[len(runs) // 2]


def measure(
    engine: Engine, aligner: Aligner, reads: Reads, clock: Clock, *, variant: str, ghz: float | None
) -> dict[str, Any]:
    """Time `Aligner.align` of reads.

    Parameters
    ----------
    variant : str
        Of `VARIANTS`: which the options are.
    ghz : float, optional
        Clock of a CPU.

    Returns
    -------
    dict
        Times; samples and useful cells by second of the best run, and cells by second of the kernel; the bound.
    """

    def call() -> None:
        aligner.align(reads.samples, reads.first, PREFIX)

    aligner.align(reads.samples, reads.first[: min(len(reads), 64)], PREFIX)  # builds the kernels
    if not engine.tuning.cpu:
        call()
    times = clock.time(call)
    kernels = clock.kernels(engine, call)
    columns = sum(len(reference) for reference in aligner.references)
    cells = len(reads) * aligner.options.rows(PREFIX) * columns
    row: dict[str, Any] = {"variant": variant, "reference": aligner.references[0].name, "columns": columns}
    row |= {"reads": len(reads), "cells": cells, **times, "kernels_ms": kernels}
    row |= {"samples_per_s": len(reads) * PREFIX / times["best"], "cells_per_s": cells / times["best"]}
    row["kernel_cells_per_s"] = cells / (kernels["align_strips"] * 1e-3)
    return row | bounds(engine, row, aligner.options, ghz)


def bounds(engine: Engine, row: dict[str, Any], options: AlignOptions, ghz: float | None) -> dict[str, Any]:
    """What the rates are compared with the bound."""
    if not engine.tuning.cpu:
        peak = issue_rate(engine.device)
        instructions = GPU_INSTRUCTIONS[row["variant"]]
        return {"of_bound": None if peak is None else row["kernel_cells_per_s"] * instructions / peak}
    per_core = row["cells"] / row["processor_s"]
    lanes = engine.tuning.vector_bytes // np.dtype(options.arithmetic).itemsize
    found: dict[str, Any] = {
        "cells_per_core_s": per_core,
        "cells_per_cycle": None,
        "vector_instructions_per_cycle": None,
    }
    if ghz is not None:
        found["cells_per_cycle"] = per_core / (ghz * 1e9)
        found["vector_instructions_per_cycle"] = found["cells_per_cycle"] * CPU_INSTRUCTIONS[row["variant"]] / lanes
    return found


def issue_rate(device: Device) -> float | None:
    """Instructions of work-items that a GPU issues in a second; None where it is not known."""
    lanes = ISSUED.get(device.family)
    return None if lanes is None or not device.clock else device.compute_units * lanes * device.clock * 1e6
