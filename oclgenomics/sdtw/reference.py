"""What alignments of signals are by definition, in NumPy.

References: B. Guo and others, "Crescent: a GPU-based targeted nanopore sequence selector" (Algorithms 1 and 2);
T. Dunn and others, "SquiggleFilter" (MICRO 2021), whose published program defines the integers of `blocks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.options import AlignOptions

BLOCK = 500  # samples of a block
CLIP = 4  # standard deviations, or mean absolute deviations
BONUS = 10
SATURATED = (1 << 16) - 1
NO_SCORE = 1 << 30  # more than any alignment costs
REFERENCE_UNITS = 100  # levels are multiplied by this before they become integers

Row = NDArray[Any]  # int64, or float32


def normalised_samples(samples: NDArray[np.int16], options: AlignOptions) -> Row:
    """Return the levels of a prefix of a read.

    Parameters
    ----------
    samples : ndarray, int16, (samples,)
    options : AlignOptions

    Returns
    -------
    ndarray, int64 or float32, (rows,)
        Integers from 0 to 2**bits - 1 (with blocks, to 256), or standard scores from -4 to 4.
    """
    if options.norm == "prefix":
        rows = options.rows(len(samples))
        steps = samples[: rows * options.row_samples].reshape(rows, -1)
        return standard_scores(np.sort(steps[:, :3], axis=1)[:, 1 if options.row_samples > 1 else 0], options)
    blocks = [slice(0, end) for end in range(BLOCK, len(samples) + BLOCK, BLOCK)]
    parts = [published_scores(samples[max(0, b.stop - BLOCK) : b.stop], samples[b], options) for b in blocks]
    return np.concatenate(parts)


def normalised_levels(levels: NDArray[np.float64], strand: NDArray[np.uint8], options: AlignOptions) -> Row:
    """Return the levels of the columns of a reference, each strand normalised by itself.

    Parameters
    ----------
    levels : ndarray, float64, (columns,)
        In pA.
    strand : ndarray, uint8, (columns,)
    options : AlignOptions
    """
    result: Row = np.zeros(len(levels), np.float32 if options.is_float else np.int64)
    for which in np.unique(strand):
        own = levels[strand == which]
        if options.norm == "prefix":
            deviation = own.std()
            z = np.zeros_like(own) if deviation == 0 else (own - own.mean()) / deviation
            result[strand == which] = clipped(z.astype(np.float32), options)
        else:
            units = own * REFERENCE_UNITS
            result[strand == which] = published_scores(units, units, options)
    return result


def standard_scores(medians: NDArray[np.int16], options: AlignOptions) -> Row:
    """Standard scores by the mean and deviation of all, in single precision: one product, one sum."""
    numbers = medians.astype(np.int64)
    count, total, squares = len(numbers), int(numbers.sum()), int((numbers * numbers).sum())
    variance = (count * squares - total * total) / count**2
    if variance == 0:  # no signal of a molecule: as far from all k-mers as can be, and not like those of the mean
        return clipped(np.full(count, -CLIP, np.float32), options)
    slope = np.float32(1 / np.sqrt(variance))
    intercept = np.float32(-(total / count) * (1 / np.sqrt(variance)))
    return clipped(numbers.astype(np.float32) * slope + intercept, options)


def clipped(z: NDArray[np.float32], options: AlignOptions) -> Row:
    """Standard scores as they are compared."""
    if options.is_float:
        return z.clip(np.float32(-CLIP), np.float32(CLIP))
    per_unit = np.float32((1 << options.level_bits) / (2 * CLIP))
    level: Row = np.floor((z + np.float32(CLIP)) * per_unit).astype(np.int64)
    return level.clip(0, (1 << options.level_bits) - 1)


def published_scores(values: NDArray[Any], all_: NDArray[Any], options: AlignOptions) -> Row:
    """SquiggleFilter's scores: by the mean and the mean absolute deviation, both cut to integers."""
    mean = int(np.mean(all_.astype(np.float64)))
    deviation = max(1, int(np.mean(np.abs(all_.astype(np.float64) - mean))))
    z = np.clip((values.astype(np.float64) - mean) / deviation, -CLIP, CLIP)
    if options.is_float:
        return z.astype(np.float32)
    level: Row = np.floor((z + CLIP) * 32).astype(np.int64)
    return level


def costs(sample: Any, levels: Row, options: AlignOptions) -> Row:
    """Costs of a sample at each column."""
    difference: Row = levels - sample
    if options.cost == "absolute":
        return np.abs(difference)
    squared: Row = difference * difference
    return squared if options.is_float else squared >> options.shift


def last_row(samples: Row, levels: Row, options: AlignOptions) -> Row:
    """Return the cost of the best alignment of all samples that ends at each column of a track.

    Parameters
    ----------
    samples, levels : ndarray, int64 or float32
        Normalised; (rows,) and (columns,).
    options : AlignOptions

    Returns
    -------
    ndarray, int64 or float32, (columns,)
        At most 65,535 with uint16, which is saturated: it stays so, as no bonus is subtracted from it. With a bonus, at
        least 0 there.
    """
    *_, (score, _) = rows_of(samples, levels, options)
    return score


def start_of(samples: Row, levels: Row, column: int, options: AlignOptions) -> int:
    """Return the column at which the best alignment of all samples starts that ends at a column of a track.

    Where a sample costs the same whether it stays at the column of the one before or moves on, it stays.

    Parameters
    ----------
    samples, levels : ndarray, int64 or float32
        Normalised; (rows,) and (columns,).
    column : int
    options : AlignOptions
    """
    for _, moves in reversed(list(rows_of(samples, levels, options))):
        column -= int(moves[column])
    return column


def rows_of(samples: Row, levels: Row, options: AlignOptions) -> Iterator[tuple[Row, NDArray[np.bool_]]]:
    """Yield, for each sample, the costs of alignments that end at each column, and whether they came from the left."""
    best = float("inf") if options.is_float else NO_SCORE
    score = np.zeros(len(levels), levels.dtype)  # an alignment starts anywhere, and its first sample is free
    score[0] = costs(samples[0], levels, options)[0]  # but in the first column
    moves, dwell = np.zeros(len(levels), np.bool_), np.zeros(len(levels), np.int64)
    yield score, moves
    for sample in samples[1:]:
        stay, come = score, np.concatenate([[best], score[:-1]]).astype(score.dtype)
        if options.bonus != "none":
            less = come - BONUS * np.concatenate([[0], dwell[:-1]])
            come = less if options.arithmetic != "uint16" else np.where(come < SATURATED, np.maximum(less, 0), come)
        moves = come < stay
        dwell = dwell if options.bonus == "none" else dwells(moves, dwell, options)
        score = np.where(moves, come, stay) + costs(sample, levels, options)
        if options.arithmetic == "uint16":
            score = np.minimum(score, SATURATED)
        yield score, moves


def dwells(moves: NDArray[np.bool_], dwell: NDArray[np.int64], options: AlignOptions) -> NDArray[np.int64]:
    """How often the alignment stayed: counted along the samples, or as published along the columns of this row."""
    if options.bonus == "dwell":
        return np.where(moves, 0, np.minimum(dwell + 1, options.max_dwell))
    columns = np.arange(len(moves))
    last_move = np.maximum.accumulate(np.where(moves, columns, 0))  # column 0 counts as one, and has no counter
    return np.minimum(columns - last_move, options.max_dwell)


def align(
    samples: NDArray[np.int16], levels: Row, tracks: NDArray[np.int64], options: AlignOptions
) -> tuple[float, int]:
    """Align a prefix of a read with all tracks of a reference.

    Parameters
    ----------
    samples : ndarray, int16
        The prefix.
    levels : ndarray, int64 or float32, (columns,)
        Normalised.
    tracks : ndarray, int64, (tracks + 1,)
    options : AlignOptions

    Returns
    -------
    cost : float
        Of the best alignment.
    column : int
        The first one at which an alignment of this cost ends; -1 where the cost is saturated.
    """
    query = normalised_samples(samples, options)
    rows = [last_row(query, levels[a:b], options) for a, b in pairwise(tracks)]
    row = np.concatenate(rows)
    column = int(row.argmin())
    saturated = options.arithmetic == "uint16" and row[column] >= SATURATED
    return float(row[column]), -1 if saturated else column
