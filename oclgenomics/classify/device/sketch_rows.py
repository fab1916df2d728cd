"""Sketches moved on the device, so that those of a read or of a pair of mates are neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.runtime import Engine

__all__ = ["SketchRows", "joined_rows", "paired_rows"]


class SketchRows:
    """Sketches of neighbouring windows: rows of an array.

    Attributes
    ----------
    sketches : Sketches
    begin, end : int
    """

    def __init__(self, sketches: Sketches, begin: int, end: int) -> None:
        self.sketches, self.begin, self.end = sketches, begin, end

    def __len__(self) -> int:
        return self.end - self.begin


def joined_rows(engine: Engine, parts: list[SketchRows]) -> Sketches:
    """Copy rows to an array of their own, one part behind the other; there is at least one."""
    size = parts[0].sketches.size
    target = _empty(engine, sum(map(len, parts)), size)
    to = 0
    for part in parts:
        _launch(engine, "copy_rows", size, part, target, to=to)
        to += len(part)
    return target


def paired_rows(engine: Engine, mates: list[tuple[SketchRows, NDArray[np.int64]]]) -> Sketches:
    """Bring the rows of mates together: those of the first pair's first mate, of its second one, of the next pair ...

    Parameters
    ----------
    engine : Engine
    mates : list of (SketchRows, ndarray int64 (reads,))
        Of the first mates and of the second ones: their rows, and how many each read has.
    """
    counts = np.stack([counts for _, counts in mates], axis=1)
    ends = np.cumsum(counts).reshape(counts.shape)
    size = mates[0][0].sketches.size
    target = _empty(engine, sum(len(rows) for rows, _ in mates), size)
    for (rows, count), end in zip(mates, ends.T, strict=True):
        shifts = end - np.cumsum(count)  # how far each read's rows move
        places = (np.repeat(shifts, count) + np.arange(len(rows))).astype(np.uint32)
        if len(places):
            _launch(engine, "place_rows", size, rows, target, places=engine.upload(places))
    return target


def _empty(engine: Engine, rows: int, size: int) -> Sketches:
    return Sketches(engine.empty((max(rows, 1), size), np.uint32), rows)


def _launch(engine: Engine, name: str, size: int, rows: SketchRows, target: Sketches, **arguments: Any) -> None:
    cpu = engine.tuning.cpu
    kernel = engine.kernel("classify/sketch_rows.cl", name, SKETCH=size, CPU=cpu)
    arrays: dict[str, Any] = {"source": rows.sketches.features, "target": target.features}
    items = len(rows) if cpu else len(rows) * size
    engine.launch_items(kernel, items, begin=rows.begin, rows=len(rows), **arrays, **arguments)
