"""Pure decisions: where windows and rows lie, and how much goes through the device at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sweeps.arrays import Floats, Ints
from oclgenomics.sweeps.options import SweepOptions
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import UsedSites

FLAG_BITS = 32


# Where windows lie


@dataclass(frozen=True)
class Portion:
    """The part of an alignment that is scanned: of its rows, and of the windows, sites and places of each statistic.

    Attributes
    ----------
    begin, end, of : int
        Parts [begin, end) of so many equal ones.
    """

    begin: int = 0
    end: int = 1
    of: int = 1

    def share(self, total: int) -> tuple[int, int]:
        """Return the begin and the end of its share of so many things that follow each other."""
        return self.begin * total // self.of, self.end * total // self.of


ALL = Portion()


@dataclass(frozen=True, eq=False)
class Spans:
    """Windows of bp, and the sites in them.

    Attributes
    ----------
    at : ndarray of float64, shape (windows,)
        Their positions.
    start, end : ndarray of float64, shape (windows,)
        First and last bp; the last one of a window of bp does not belong to it.
    first, stop : ndarray of int64, shape (windows,)
        Sites [first, stop).
    length : ndarray of float64, shape (windows,)
        Bp that count.
    known : ndarray of bool, shape (windows,)
        Enough of the bp count, and no excluded region parts the window.
    """

    at: Floats
    start: Floats
    end: Floats
    first: Ints
    stop: Ints
    length: Floats
    known: NDArray[np.bool_]

    def between(self, begin: int, end: int) -> Spans:
        """Return the windows [begin, end)."""
        return Spans(*(getattr(self, one.name)[begin:end] for one in fields(self)))


def site_windows(used: UsedSites, options: SweepOptions, mask: Mask) -> Spans:
    """Return the windows of `width` neighbouring sites, one for each site that begins one."""
    width, at = options.width, used.positions
    count = max(used.sites - width + 1, 0)
    start, end = at[:count], at[width - 1 : width - 1 + count]
    centre = (start + end) / 2
    if options.precision == "compat":
        centre = np.floor(centre + 0.5)  # positions are not negative
    first = np.arange(count, dtype=np.int64)
    length = mask.between(start - 1.0, end)
    return Spans(centre, start, end, first, first + width, length, sites_known(start, end, options, mask))


def sites_known(start: Floats, end: Floats, options: SweepOptions, mask: Mask) -> NDArray[np.bool_]:
    """Say which windows of sites, from their first to their last one, are not parted and accessible enough."""
    known = np.ones(len(start), bool) if options.on_exclude != "split" else ~mask.touched(start, end)
    if mask.accessible:
        known &= mask.enough(mask.between(start - 1.0, end), end - start + 1.0)
    return known


def bp_windows(used: UsedSites, at: Floats, size: float, options: SweepOptions, mask: Mask) -> Spans:
    """Return windows of `size` bp around positions, within the bp from the first to the last site."""
    low, high = (used.positions[0], used.positions[-1] + 1.0) if used.sites else (0.0, 0.0)
    start, end = np.clip(at - size / 2, low, high), np.clip(at + size / 2, low, high)
    first, stop = (np.searchsorted(used.positions, border, side="left") for border in (start, end))
    whole = end - start
    if options.on_exclude == "split" and len(mask.excluded):
        start, end, first, stop = _cut(used, at, start, end, mask)
    length = mask.between(start - 1.0, end - 1.0)
    known = mask.enough(length, whole)
    return Spans(at, start, end, first.astype(np.int64), stop.astype(np.int64), length, known)


def _cut(used: UsedSites, at: Floats, start: Floats, end: Floats, mask: Mask) -> tuple[Floats, Floats, Ints, Ints]:
    """Windows that end at the next excluded region on either side of their position; empty ones within a region."""
    starts, ends = mask.excluded.starts, mask.excluded.ends
    below = np.searchsorted(starts, at, side="left")  # regions that start below the position
    before = np.concatenate([[-np.inf], ends])[below]
    after = np.concatenate([starts, [np.inf]])[below]
    start, end = np.maximum(start, before + 1.0), np.minimum(end, after + 1.0)
    end = np.maximum(end, start)
    inside = before >= at
    end = np.where(inside, start, end)
    first, stop = (np.searchsorted(used.positions, border, side="left") for border in (start, end))
    return start, end, first.astype(np.int64), stop.astype(np.int64)


def grid_positions(used: UsedSites, options: SweepOptions) -> tuple[Floats, float]:
    """Return the positions of a grid, and the bp between them; none of alignments without sites."""
    if not used.sites:
        return np.zeros(0), 0.0
    first, last = float(used.positions[0]), float(used.positions[-1])
    if options.grid is not None:
        return np.linspace(first, last, options.grid), (last - first) / (options.grid - 1)
    assert options.step is not None
    start = np.ceil(first / options.step) * options.step
    if start > last:
        return np.array([(first + last) / 2]), float(options.step)
    return np.arange(start, last + 0.5, options.step), float(options.step)


def highest_in_bins(at: Floats, values: Floats, grid: Floats, step: float) -> Ints:
    """Return the index of the largest value at positions within half a step of each grid position; -1 where none is.

    Parameters
    ----------
    at, values : ndarray of float64, shape (windows,)
        Ascending positions, and the values there; NaN is no value.
    grid : ndarray of float64, shape (positions,)
        Ascending; spaced by `step`, or by multiples of it where positions are left out.
    """
    best = np.full(len(grid), -1, np.int64)
    known = np.flatnonzero(~np.isnan(values))
    bins = np.floor((at[known] - (grid[0] - step / 2)) / step).astype(np.int64) if step else np.zeros(len(known), int)
    places = np.rint((grid - grid[0]) / step).astype(np.int64) if step else np.arange(len(grid))
    row = np.searchsorted(places, bins)
    inside = places[np.minimum(row, len(grid) - 1)] == bins
    known, bins = known[inside], row[inside]
    order = np.lexsort((known, -values[known], bins))
    found, place = np.unique(bins[order], return_index=True)
    best[found] = known[order][place]
    return best


def on_rows(at: Floats, values: Floats, rows: Floats, step: float | None, *, low: bool) -> Floats:
    """Return a statistic of positions of its own at the positions of rows, float64 (rows,).

    Parameters
    ----------
    at, values : ndarray of float64, shape (positions,)
        Ascending positions, and the values there; NaN is no value.
    rows : ndarray of float64, shape (rows,)
    step : float or None
        Bp between rows on a grid: the value most like a sweep within half a step is taken, if there is one. All others
        lie on the line between the two values around them; NaN beyond the first and the last one, and next to NaN.
    low : bool
        A sweep lowers the values.
    """
    if not len(at):
        return np.full(len(rows), np.nan)
    between: Floats = np.interp(rows, at, values, np.nan, np.nan)
    if step is None or not len(rows):
        return between
    best = highest_in_bins(at, -values if low else values, rows, step)
    return np.where(best >= 0, values[best], between)


# How much at a time


def flag_words(width: int) -> int:
    """Words of a flag for each site of half a window: a power of 2, so that few kernels are compiled."""
    words = -(-(width // 2) // FLAG_BITS)
    return 1 << (words - 1).bit_length()


def blocks_of(sites: int, width: int, most: int) -> Iterator[tuple[int, int]]:
    """Give blocks [begin, end) of at most so many sites, which share the sites of the windows across their borders."""
    begin, end = 0, min(most, sites)
    yield begin, end
    while end < sites:
        begin = end - width + 1
        end = min(begin + most, sites)
        yield begin, end
