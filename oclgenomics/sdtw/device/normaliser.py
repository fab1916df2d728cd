"""Levels of prefixes of reads on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sdtw.options import MAX_PREFIX, AlignOptions
from oclgenomics.sdtw.reference import BLOCK, CLIP

__all__ = ["Normaliser"]

SOURCE = "sdtw/normalise.cl"
SCORES = {"uint16": "ushort", "int32": "int", "float32": "float"}
GPU_LANES = 256
CPU_TILE = 32, 100  # reads and rows, as in the kernel
GPU_TILE = 32, 32
MAX_WHOLE = 1 << 53  # float64 holds all integers up to here


class Normaliser:
    """Makes levels of prefixes of reads, as `reference.normalised_samples` defines them, bit for bit.

    Parameters
    ----------
    engine : Engine
    options : AlignOptions
    score : dtype
        Of the levels: uint16, int32 or float32; standard scores (`arithmetic=float32`) are float32.

    Raises
    ------
    ValueError
        Another type, or standard scores as integers.
    """

    def __init__(self, engine: Engine, options: AlignOptions, score: np.dtype[Any]) -> None:
        self._engine, self._options, self._score = engine, options, np.dtype(score)
        if self._score.name not in SCORES or (options.is_float and self._score.name != "float32"):
            raise ValueError(f"levels of {options.arithmetic} as {self._score} are not to be had")
        self._blocks = options.norm == "blocks"
        self._lanes = 1 if engine.tuning.cpu else engine.group_size(GPU_LANES)

    def levels(self, samples: NDArray[np.int16], first: NDArray[np.int64], rows: int, lanes: int) -> DeviceArray:
        """Return the levels of the samples `first[q]` to `first[q] + rows` of each read q.

        Parameters
        ----------
        samples : ndarray, int16
            Of all reads.
        first : ndarray, int64, (reads,)
        rows : int
            Length of the prefix, 1 to 65,536.
        lanes : int
            At least the number of reads.

        Returns
        -------
        DeviceArray, (rows, lanes)
            Level i of read q is at `[i, q]`; lanes without a read are 0.

        Raises
        ------
        ValueError
            Rows or lanes out of range, samples that are not int16, or a read that has not as many samples.
        """
        engine, reads = self._engine, len(first)
        if not 1 <= rows <= MAX_PREFIX or lanes < reads or samples.dtype != np.int16:
            raise ValueError(f"{rows} rows of {reads} reads of {samples.dtype} in {lanes} lanes do not suit")
        if reads and (first.min() < 0 or first.max() + rows > len(samples)):
            raise ValueError(f"not all reads have {rows} samples among {len(samples)}")
        levels = engine.empty((rows, lanes), self._score)
        if reads:
            prefixes = engine.upload(sliding_window_view(samples, rows)[first])
            self._write(prefixes, self._scales(prefixes), levels)
        elif lanes:
            engine.fill(levels, 0)
        return levels

    def _scales(self, prefixes: DeviceArray) -> DeviceArray:
        """Mean and deviation of each block of each read, int32; or slope and intercept of each read, float32."""
        engine, (reads, rows) = self._engine, prefixes.shape
        shape = (reads * self._lanes,), (self._lanes,)
        if self._blocks:
            scales = engine.empty((reads, -(-rows // BLOCK), 2), np.int32)
            engine.launch(self._kernel("measure_blocks"), *shape, samples=prefixes, rows=rows, scales=scales)
            return scales
        sums = engine.empty((reads, 2), np.int64)
        engine.launch(self._kernel("sum_prefixes"), *shape, samples=prefixes, rows=rows, sums=sums)
        return engine.upload(slopes_intercepts(engine.download(sums), rows))

    def _write(self, prefixes: DeviceArray, scales: DeviceArray, levels: DeviceArray) -> None:
        (reads, rows), lanes = prefixes.shape, levels.shape[1]
        bits, cpu = self._options.level_bits, self._engine.tuning.cpu
        tile_reads, tile_rows = CPU_TILE if cpu else GPU_TILE
        highest = 1 << bits if self._blocks and self._options.cost == "absolute" else (1 << bits) - 1
        self._engine.launch(
            self._kernel("write_levels"),
            (-(-lanes // tile_reads) * self._lanes, -(-rows // tile_rows)),
            (self._lanes, 1),
            samples=prefixes,
            reads=reads,
            rows=rows,
            scales=scales,
            per_unit=(1 << bits) // (2 * CLIP),
            most=highest,
            lanes=lanes,
            levels=levels,
        )

    def _kernel(self, name: str) -> Kernel:
        return self._engine.kernel(
            SOURCE,
            name,
            SCORE=SCORES[self._score.name],
            STANDARD=self._options.is_float,
            BLOCK=BLOCK if self._blocks else 0,
            CPU=self._engine.tuning.cpu,
            LANES=self._lanes,
        )


def slopes_intercepts(sums: NDArray[np.int64], rows: int) -> NDArray[np.float32]:
    """Return what turns samples into standard scores: slope and intercept, both 0 for a constant signal.

    Parameters
    ----------
    sums : ndarray, int64, (reads, 2)
        Of the samples of each read, and of their squares.
    rows : int
        Number of samples, at most 65,536.

    Returns
    -------
    ndarray, float32, (reads, 2)
    """
    total, squares = sums.T
    variance = quotients(rows * squares - total * total, rows**2)  # of numbers below 2^62 and up to 2^32
    slope = np.divide(1, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
    return np.stack([slope, -(total / rows) * slope], axis=1).astype(np.float32)


def quotients(numbers: NDArray[np.int64], divisor: int) -> NDArray[np.float64]:
    """Divide integers and round once, as Python does; NumPy rounds numbers above 2^53 before it divides, too."""
    result = numbers / divisor
    large = numbers > MAX_WHOLE
    result[large] = numbers[large].astype(object) / divisor
    return result
