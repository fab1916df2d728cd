"""What comparisons with other programs share: the reads that all get, and rows of results."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sdtw_data import Reads

from oclgenomics.signals import TrimOptions, read_signals

__all__ = ["peer_row", "read_prefixes", "timed"]


def read_prefixes(path: str, prefix: int, count: int | None) -> tuple[list[str], Reads]:
    """Names and samples of the reads of a file that have so many behind stall and adapter, or of the first of them."""
    blocks = [
        (block, number)
        for block in read_signals(path, trim=TrimOptions(), max_samples=prefix)
        for number in np.flatnonzero(block.lengths >= prefix)
    ][:count]
    if not blocks:
        raise SystemExit(f"{path} has no read of {prefix:,} samples")
    samples = np.concatenate([block.samples[block.starts[n] : block.starts[n] + prefix] for block, n in blocks])
    return [block.names[n] for block, n in blocks], Reads(samples, np.arange(len(blocks), dtype=np.int64) * prefix)


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a call returns, its seconds, and its processor time."""
    start, used = time.perf_counter(), time.process_time()
    found = call()
    return found, time.perf_counter() - start, time.process_time() - used


def peer_row(program: str, reads: int, samples: float, columns: int, runs: list[tuple[float, float]]) -> dict[str, Any]:
    """A row of the table from seconds and processor time of runs."""
    seconds, processor = zip(*runs, strict=True)
    shown: dict[str, Any] = {"program": program, "reads": reads, "samples": round(samples), "columns": columns}
    shown |= {"best s": min(seconds), "median s": float(np.median(seconds)), "samples/s": samples / min(seconds)}
    return shown | {"samples/s a core": samples / min(processor)}
