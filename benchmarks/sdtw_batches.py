"""Latency of one batch of reads against lambda: what a live selection waits for, each time that reads grow.

`anew` are the default options, which align the whole prefix at each stage, in rows of 3 samples. `grown` are blocks of
500 samples, squares and 16 bits, in rows of each sample: the stage of 2,000 samples goes on where that of 1,000 ended.
The best of some runs, and the median.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from sdtw_bench import Bench
from sdtw_data import Reads
from sdtw_timing import Clock

from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.options import AlignOptions

__all__ = ["batch_rows"]

COUNTS = (1, 8, 32, 64, 128, 256, 512)
STAGES = (1000, 2000)
REPEAT, MOST_SECONDS = 20, 0.7


def batch_rows(bench: Bench) -> list[dict[str, Any]]:
    """Milliseconds of a batch of so many reads."""
    anew = Aligner(bench.engine, [bench.first])
    grown = Aligner(bench.engine, [bench.first], AlignOptions(norm="blocks", cost="squared"))
    rows = []
    for count in COUNTS:
        reads, row = bench.reads.some(count), {"reads": count}
        rows.append(row | anew_times(anew, reads) | grown_times(grown, reads))
    return rows


def anew_times(aligner: Aligner, reads: Reads) -> dict[str, float]:
    """Milliseconds of each stage by itself."""
    found: dict[str, float] = {}
    clock = Clock(REPEAT, MOST_SECONDS)
    for stage in STAGES:
        aligner.align(reads.samples, reads.first, stage)
        times = clock.time(partial(aligner.align, reads.samples, reads.first, stage))
        found |= {f"anew {stage} ms": 1e3 * times["best"], f"median {stage}": 1e3 * times["median"]}
    return found


def grown_times(aligner: Aligner, reads: Reads) -> dict[str, float]:
    """Milliseconds of each stage after the one before."""
    slots, numbers = aligner.slots(len(reads)), np.arange(len(reads))
    seconds: dict[int, list[float]] = {stage: [] for stage in STAGES}
    begun = time.perf_counter()
    for turn in range(REPEAT + 1):
        slots.rows[:] = 0
        for stage in STAGES:
            start = time.perf_counter()
            aligner.extend(reads.samples, reads.first, stage, slots, numbers)
            if turn:
                seconds[stage].append(time.perf_counter() - start)
        if turn and time.perf_counter() - begun > MOST_SECONDS:
            break
    slots.kept.release()
    return {f"grown {stage} ms": 1e3 * min(taken) for stage, taken in seconds.items()}
