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

SOURCE = "sdtw/normalise.cl"
SCORES = {"uint16": "ushort", "int32": "int", "float32": "float"}
GPU_LANES = 256
CPU_TILE_ROWS = 100  # as in the kernel
GPU_TILE = 32, 32  # reads and rows
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

    def levels(
        self,
        samples: NDArray[np.int16],
        first: NDArray[np.int64],
        length: int,
        lanes: int,
        *,
        group: int,
        skipped: int = 0,
        room: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return the levels of the samples `first[q]` to `first[q] + length` of each read q.

        Parameters
        ----------
        samples : ndarray, int16
            Of all reads.
        first : ndarray, int64, (reads,)
        length : int
            Samples of a prefix, at most 65,536.
        lanes : int
            At least the number of reads; a multiple of `group`.
        group : int
            Lanes whose levels lie side by side; on CPU devices at most 64.
        skipped : int
            Rows at the beginning that are not wanted; whole blocks.
        room : DeviceArray, optional
            Where they go, as many as are returned.

        Returns
        -------
        DeviceArray, (lanes / group, rows - skipped, group)
            Row `skipped + i` of read q is at `[q // group, i, q % group]`; lanes without a read are 0.

        Raises
        ------
        ValueError
            Sizes out of range, samples that are not int16, or a read that has not as many samples.
        """
        engine, reads, rows = self._engine, len(first), self._options.rows(length)
        if length > MAX_PREFIX or lanes < reads or lanes % group or samples.dtype != np.int16:
            raise ValueError(f"{length} samples of {reads} reads of {samples.dtype} in {lanes} lanes do not suit")
        if not 0 <= skipped < rows or (self._blocks and skipped % BLOCK):
            raise ValueError(f"{skipped} of {rows} rows cannot be left out")
        if reads and (first.min() < 0 or first.max() + length > len(samples)):
            raise ValueError(f"not all reads have {length} samples among {len(samples)}")
        shape = (lanes // group, rows - skipped, group)
        levels = engine.empty(shape, self._score) if room is None else DeviceArray(room.memory, shape, self._score)
        if reads:
            prefixes = engine.upload(sliding_window_view(samples, length)[first])
            self._write(prefixes, self._scales(prefixes, rows, group), levels, rows, skipped)
        elif lanes:
            engine.fill(levels, 0)
        return levels

    def _scales(self, prefixes: DeviceArray, rows: int, group: int) -> DeviceArray:
        """Mean and deviation of each block of each read, int32; or slope and intercept of each read, float32.

        The kernels do not use the group, which only makes them part of the program that writes levels.
        """
        engine, (reads, length) = self._engine, prefixes.shape
        shape = (reads * self._lanes,), (self._lanes,)
        if self._blocks:
            scales = engine.empty((reads, -(-rows // BLOCK), 2), np.int32)
            engine.launch(self._kernel("measure_blocks", group), *shape, samples=prefixes, rows=rows, scales=scales)
            return scales
        sums = engine.empty((reads, 2), np.int64)
        engine.launch(
            self._kernel("sum_prefixes", group), *shape, samples=prefixes, length=length, rows=rows, sums=sums
        )
        return engine.upload(slopes_intercepts(engine.download(sums), rows))

    def _write(self, prefixes: DeviceArray, scales: DeviceArray, levels: DeviceArray, rows: int, skipped: int) -> None:
        (reads, length), (groups, _, group) = prefixes.shape, levels.shape
        bits, lanes = self._options.level_bits, groups * group
        tile_reads, tile_rows = (group, CPU_TILE_ROWS) if self._engine.tuning.cpu else GPU_TILE
        highest = 1 << bits if self._blocks else (1 << bits) - 1
        self._engine.launch(
            self._kernel("write_levels", group),
            (-(-lanes // tile_reads) * self._lanes, -(-(rows - skipped) // tile_rows)),
            (self._lanes, 1),
            samples=prefixes,
            reads=reads,
            length=length,
            rows=rows,
            skipped=skipped,
            scales=scales,
            per_unit=(1 << bits) // (2 * CLIP),
            most=highest,
            lanes=lanes,
            group=group,
            levels=levels,
        )

    def _kernel(self, name: str, group: int) -> Kernel:
        cpu = self._engine.tuning.cpu
        return self._engine.kernel(
            SOURCE,
            name,
            SCORE=SCORES[self._score.name],
            STANDARD=self._options.is_float,
            BLOCK=BLOCK if self._blocks else 0,
            STEP=self._options.row_samples,
            GROUP=group if cpu else 1,
            CPU=cpu,
            LANES=self._lanes,
        )


def slopes_intercepts(sums: NDArray[np.int64], rows: int) -> NDArray[np.float32]:
    """Return what turns rows into standard scores: slope and intercept; a constant signal has the lowest score.

    Parameters
    ----------
    sums : ndarray, int64, (reads, 2)
        Of the rows of each read, and of their squares.
    rows : int
        At most 65,536.

    Returns
    -------
    ndarray, float32, (reads, 2)
    """
    total, squares = sums.T
    variance = quotients(rows * squares - total * total, rows**2)  # of numbers below 2^62 and up to 2^32
    slope = np.divide(1, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
    intercept = np.where(variance > 0, -(total / rows) * slope, -CLIP)
    return np.stack([slope, intercept], axis=1).astype(np.float32)


def quotients(numbers: NDArray[np.int64], divisor: int) -> NDArray[np.float64]:
    """Divide integers and round once, as Python does; NumPy rounds numbers above 2^53 before it divides, too."""
    result = numbers / divisor
    large = numbers > MAX_WHOLE
    result[large] = numbers[large].astype(object) / divisor
    return result
