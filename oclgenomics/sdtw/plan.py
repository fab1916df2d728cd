"""Decisions about an alignment: types of scores, the shape of the kernel, and how references and reads are cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.pieces import Shard
from oclgenomics.sdtw.options import BONUSES, AlignOptions
from oclgenomics.sdtw.reference import BONUS
from oclgenomics.signals import FilePart, Signals

Score = Literal["uint16", "int32", "float32"]
SCORES: tuple[Score, ...] = ("uint16", "int32", "float32")  # by their number in the kernel
BEGINS = 1 << 31  # of a strip: a track begins here
EXACT_IN_FLOAT = 1 << 24
CPU_STRIP = 8  # columns that fit into the registers with the rest
# Into the 255 registers of a GPU: of 96, 46 and 40 columns, some are spilled.
GPU_STRIP, GPU_BONUS_STRIP, GPU_SATURATED_STRIP = 92, 44, 32
PUBLISHED_REACH = 11  # columns a row: the counter runs along the row, up to 10
READS_TOGETHER = 64  # at whose multiples pieces are cut: each device aligns so many at once or a part of them
MAX_BLOCK_SAMPLES = 1 << 22  # of prefixes; more would let results wait, and make nothing faster


@dataclass(frozen=True)
class CellShape:
    """What the kernel is compiled for.

    Attributes
    ----------
    score : {'uint16', 'int32', 'float32'}
        Type of scores, levels and edges.
    fused, saturated : bool
        Float scores are whole numbers; int scores are kept in 16 bits in every cell.
    lanes : int
        Reads of a work-item.
    strip : int
        Columns whose scores a work-item holds in registers.
    rows_ahead : int
        Rows that are loaded together.
    """

    score: Score
    fused: bool
    saturated: bool
    lanes: int
    strip: int
    rows_ahead: int

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of scores as NumPy knows it."""
        return np.dtype(self.score)

    def defines(self, options: AlignOptions, *, state: bool) -> dict[str, int]:
        """Return the `-D` parameters of the kernel."""
        return {
            "SCORE": SCORES.index(self.score),
            "LANES": self.lanes,
            "STRIP": self.strip,
            "ROWS_AHEAD": self.rows_ahead,
            "FUSED": int(self.fused),
            "SATURATED": int(self.saturated),
            "STATE": int(state),
            **cost_defines(options),
        }


def cost_defines(options: AlignOptions) -> dict[str, int]:
    """Return the `-D` parameters that say what a sample costs at a column; the same for all that costs the same."""
    bonus = BONUSES.index(options.bonus)
    return {
        "SQUARED": int(options.cost == "squared"),
        "SHIFT": options.shift,
        "WIDE": int(options.norm == "blocks"),
        "BONUS": bonus,
        "BONUS_MOST": BONUS * options.max_dwell if bonus else 0,
    }


def cell_shape(options: AlignOptions, rows: int, *, vector_bytes: int) -> CellShape:
    """Choose types and sizes for alignments of prefixes up to so many rows.

    Parameters
    ----------
    options : AlignOptions
    rows : int
    vector_bytes : int
        Width of a CPU's registers, 32 or 64; 0 for GPUs.

    Notes
    -----
    CPUs take scores of 16 bits as they are, as many in a vector as it holds. GPUs calculate in single precision where
    scores are whole numbers that it holds exactly; that is faster there than integers. Without a bonus, scores that
    saturate may be cut at the end, as costs only grow; they are then exact as long as it matters.
    """
    bonus = options.bonus != "none"
    if vector_bytes:
        lanes = vector_bytes // np.dtype(options.arithmetic).itemsize
        return CellShape(options.arithmetic, False, False, lanes, CPU_STRIP, 1)
    if options.is_float:
        return CellShape("float32", False, False, 1, GPU_STRIP, 4)
    whole = options.arithmetic == "uint16" or largest_cost(options) * rows <= EXACT_IN_FLOAT
    if whole and not bonus and options.shift == 0:
        return CellShape("float32", True, False, 1, GPU_STRIP, 4)
    saturated = bonus and options.arithmetic == "uint16"
    strip = GPU_SATURATED_STRIP if saturated else GPU_BONUS_STRIP if bonus else GPU_STRIP
    return CellShape("int32", False, saturated, 1, strip, 4)


def largest_cost(options: AlignOptions) -> int:
    """The largest cost of a cell."""
    difference = 1 << options.level_bits
    return difference * difference >> options.shift if options.cost == "squared" else difference


def halo(options: AlignOptions, rows: int) -> int:
    """Columns to the left of a column that its score may depend on after so many rows."""
    return rows * (PUBLISHED_REACH if options.bonus == "published" else 1)


def segment_count(work_items: int, columns: int, reach: int, slots: int) -> int:
    """Choose into how many segments a reference is cut.

    Parameters
    ----------
    work_items : int
        Of one segment.
    columns : int
        Of the reference.
    reach : int
        Columns that each segment repeats of the one before.
    slots : int
        Work-items that the device works on at a time.
    """
    counts = np.arange(1, max(1, -(-4 * slots // work_items)) + 1)
    counts = counts[counts <= max(1, columns // 256)]
    rounds = -(-work_items * counts // slots)
    return int(counts[np.argmin(rounds * (columns / counts + np.where(counts > 1, reach, 0)))])


def cut_segments(strips: NDArray[np.uint32], bounds: NDArray[np.int64], count: int, reach: int) -> NDArray[np.uint32]:
    """Cut strips into segments.

    Parameters
    ----------
    strips : ndarray, uint32, (strips,)
        `BEGINS` where a track begins.
    bounds : ndarray, int64, (references + 1,)
        Strips of each reference; a segment is of one.
    count : int
        Segments that are wanted; each reference has one at least.
    reach : int
        Strips before its first one that a segment has to begin with, or at the beginning of the track.

    Returns
    -------
    ndarray, uint32, (segments, 3)
        First strip, first strip that is reported, end.
    """
    size = max(1, -(-len(strips) // count))
    reported = np.concatenate([np.arange(a, b, size) for a, b in pairwise(bounds)])
    end = np.append(reported[1:], len(strips))
    begins = np.flatnonzero(strips & BEGINS)
    track = begins[np.searchsorted(begins, reported, "right") - 1]
    return np.stack([np.maximum(track, reported - reach), reported, end], axis=1).astype(np.uint32)


@dataclass(frozen=True, eq=False)
class PrefixBlock:
    """Reads without what comes after the longest prefix.

    Attributes
    ----------
    signals : Signals
        Cut at that prefix.
    samples : ndarray, int64, (reads,)
        That each read had before.
    """

    signals: Signals
    samples: NDArray[np.int64]

    @classmethod
    def of(cls, signals: Signals, prefix: int) -> PrefixBlock:
        """Cut reads at a prefix of so many samples."""
        none = np.zeros(len(signals), np.int64)
        return cls(signals.cut(none, none + prefix), signals.lengths)

    @classmethod
    def joined(cls, parts: list[PrefixBlock]) -> PrefixBlock:
        """Join parts, at least one, in their order."""
        if len(parts) == 1:
            return parts[0]
        return cls(Signals.joined([part.signals for part in parts]), np.concatenate([part.samples for part in parts]))

    def __len__(self) -> int:
        return len(self.samples)


def cut_files(files: Sequence[FilePart], shard: Shard) -> list[FilePart]:
    """Return one of several pieces of files of signals: about as many of their bytes as any other.

    The pieces have each read once, in its order. Most files are whole; where a piece begins or ends, one may be cut: at
    a multiple of `READS_TOGETHER`, if it says how many reads it has.

    Parameters
    ----------
    files : sequence of FilePart
        Whole ones. An empty one is in each piece, so that all tell what is wrong with it.
    shard : Shard
    """
    low, high = shard.share(sum(map(len, files)))
    found, first = list[FilePart](), 0
    for file in files:
        begin, end = max(low - first, 0), min(high - first, file.size)
        if begin < end or not file.size:
            found.append(replace(file, begin=begin, end=end, together=READS_TOGETHER) if file.size else file)
        first += file.size
    return found


def block_reads(prefix: int) -> int:
    """Return how many reads to cut at a prefix of so many samples and take at a time."""
    return max(1, MAX_BLOCK_SAMPLES // prefix)


def prefix_blocks(blocks: Iterable[Signals], prefix: int, reads: int) -> Iterator[PrefixBlock]:
    """Cut reads at a prefix of so many samples and yield `reads` of them at a time, in their order; at last the rest.

    There is one block at least, if only of no reads.
    """
    held: list[PrefixBlock] = []
    count, begun = 0, False
    for block in blocks:
        first = 0
        while first < len(block):
            stop = min(first + reads - count, len(block))
            held.append(PrefixBlock.of(block.between(first, stop), prefix))
            count += stop - first
            first = stop
            if count == reads:
                yield PrefixBlock.joined(held)
                held, count, begun = [], 0, True
    if count or not begun:
        yield PrefixBlock.joined(held or [PrefixBlock.of(Signals.of([]), prefix)])
