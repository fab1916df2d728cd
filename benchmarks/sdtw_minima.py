"""Throughput by the interval at which minima are found (Fig. 10 of the paper).

Our kernel finds the least cost of a prefix at its last row alone, whatever goes before. Minima at an interval are those
of prefixes that grow: scores stay in slots on the device, and each launch takes the samples of an interval. Crescent's
options; samples are normalised once, by blocks of 500, and stay as they are, so that intervals below a block can be had
at all. `none` is one launch without slots. The costs of the whole prefix are the same for all. `processor_s` is the
host's processor time, which on CPU devices does not depend much on other load.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sdtw_bench import Bench
from sdtw_data import PREFIX, Reads

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.device.normaliser import Normaliser
from oclgenomics.sdtw.device.strips import GROUP
from oclgenomics.sdtw.options import CRESCENT, MAX_PREFIX

__all__ = ["minima_rows"]

INTERVALS = (1, 10, 100, 500, 1000, 2000)
GPU_READS, CPU_READS = 1024, 64


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels that were made before, instead of a `Normaliser`.

    Attributes
    ----------
    engine : Engine
    all : ndarray, (groups, rows, group)
    """

    engine: Engine
    all: NDArray[Any]

    def levels(self, _samples: Any, _first: Any, length: int, lanes: int, *, group: int, skipped: int) -> DeviceArray:
        """Return those of some rows."""
        if (lanes // group, group) != self.all.shape[::2]:
            raise ValueError(f"these are not levels of {lanes} reads in groups of {group}")
        return self.engine.upload(np.ascontiguousarray(self.all[:, skipped:length]))


def growing(aligner: Aligner, reads: Reads, interval: int) -> NDArray[np.float64]:
    """Minima at each interval; returns the costs of the whole prefix."""
    slots, numbers = aligner.slots(len(reads)), np.arange(len(reads))
    for prefix in range(interval, PREFIX + 1, interval):
        found = aligner.extend(reads.samples, reads.first, prefix, slots, numbers)
    slots.kept.release()
    return found.cost


def with_levels(bench: Bench, reads: Reads) -> Aligner:
    """An aligner whose levels are made already."""
    aligner = Aligner(bench.engine, [bench.first], CRESCENT)
    inner = aligner._aligner(MAX_PREFIX)
    group = inner.shape.lanes if bench.cpu else len(reads)
    made = Normaliser(bench.engine, CRESCENT, inner.shape.dtype).levels(
        reads.samples, reads.first, PREFIX, len(reads), group=group
    )
    inner._normaliser = Levels(bench.engine, bench.engine.download(made))  # type: ignore[assignment]
    return aligner


def minima_rows(bench: Bench) -> list[dict[str, Any]]:
    """Time all intervals with lambda."""
    reads = bench.reads.some(CPU_READS if bench.cpu else GPU_READS)
    if len(reads) % GROUP:
        reads = bench.reads.some(max(GROUP, len(reads) // GROUP * GROUP))
    aligner = with_levels(bench, reads)
    whole = aligner.align(reads.samples, reads.first, PREFIX).cost
    times = bench.clock.time(lambda: aligner.align(reads.samples, reads.first, PREFIX))
    rows = [row("none", reads, times)]
    for interval in INTERVALS[::-1]:
        if interval == INTERVALS[-1]:
            growing(aligner, reads, interval)  # builds the kernel
        if not np.array_equal(growing(aligner, reads, max(interval, 100)), whole):
            raise SystemExit(f"minima every {interval} samples: other costs of the whole prefix")
        rows.append(row(interval, reads, bench.clock.time(partial(growing, aligner, reads, interval))))
        print(rows[-1]["interval"], f"{rows[-1]['best']:.3g} s", file=sys.stderr, flush=True)
    return rows[:1] + rows[:0:-1]


def row(interval: int | str, reads: Reads, times: dict[str, Any]) -> dict[str, Any]:
    """A row of the table."""
    shown = {
        "interval": interval,
        "reads": len(reads),
        **{name: times[name] for name in ("best", "median", "processor_s")},
    }
    return {**shown, "samples_per_s": len(reads) * PREFIX / times["best"]}
