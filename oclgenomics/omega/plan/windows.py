"""Where omega is evaluated and which borders are tried there: grid positions and their search windows, for all
positions at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.options import ScanOptions

COMPAT_MAX_SPAN = 10_000  # OmegaPlus holds no window of more SNPs and narrows maxwin until none is left
TILE = 64  # sites; blocks and columns begin at multiples of it
INDICES = ("centre", "first", "inner_left", "inner_right", "last")


@dataclass(frozen=True)
class Windows:
    """Search windows of all grid positions, as SNP indices.

    Attributes
    ----------
    at : ndarray, float64 (grid,)
        Grid positions in bp.
    centre, first, inner_left, inner_right, last : ndarray, int64 (grid,)
        The left part of a window is [i, centre] with first <= i <= inner_left, the right part [centre + 1, j] with
        inner_right <= j <= last.
    valid : ndarray, bool (grid,)
        False where a side holds too few SNPs; the indices mean nothing there.
    maxwin : int
        The maximum window in bp, narrowed where compat precision asks for it.
    """

    at: NDArray[np.float64]
    centre: NDArray[np.int64]
    first: NDArray[np.int64]
    inner_left: NDArray[np.int64]
    inner_right: NDArray[np.int64]
    last: NDArray[np.int64]
    valid: NDArray[np.bool_]
    maxwin: int

    @property
    def span(self) -> int:
        """SNPs in the widest valid window (0 if there is none)."""
        return int((self.last - self.first + 1)[self.valid].max(initial=0))

    @property
    def pairs(self) -> int:
        """Pairs of sites no further apart than the widest window, from the first site of any window to the last."""
        if not self.valid.any():
            return 0
        sites = int(self.last[self.valid].max() - self.first[self.valid].min()) + 1
        away = self.span - 1  # a site has so many partners before it, the first ones fewer
        return away * sites - away * (away + 1) // 2

    def between(self, begin: int, end: int) -> Windows:
        """Return the windows of the grid positions [begin, end)."""
        return replace(self, **{name: getattr(self, name)[begin:end] for name in ("at", "valid", *INDICES)})

    def counted_from(self, site: int) -> Windows:
        """Return the windows with indices that count from another site."""
        return replace(self, **{name: getattr(self, name) - site for name in INDICES})

    def scores(self, border: int) -> NDArray[np.int64]:
        """Pairs of borders tried at each position, int64 (grid,); 0 where the window is not valid."""
        lefts, rights = self.inner_left - self.first + 1, self.last - self.inner_right + 1
        if border < 0:
            return np.where(self.valid, lefts * rights, 0)
        counts = np.zeros(len(self.at), np.int64)
        for p in np.flatnonzero(self.valid):
            k = self.centre[p] - np.arange(self.first[p], self.inner_left[p] + 1) + 1
            low = np.maximum(self.inner_right[p], self.centre[p] + k - border)
            high = np.minimum(self.last[p], self.centre[p] + k + border)
            counts[p] = np.maximum(high - low + 1, 0).sum()
        return counts


def grid_positions(positions: NDArray[np.int64], grid: int, *, compat: bool) -> NDArray[np.float64]:
    """Grid positions in bp from the first to the last site.

    Compat precision repeats OmegaPlus' float32 running sum, which drifts on long chromosomes; else the positions are
    equidistant.
    """
    first, last = int(positions[0]), int(positions[-1])
    if not compat:
        return first + (last - first) * np.arange(grid, dtype=np.float64) / (grid - 1)
    step = np.float32(last - first) / np.float32(grid - 1)
    steps = np.full(grid, step, np.float32)
    steps[0] = first
    return np.cumsum(steps, dtype=np.float32).astype(np.float64)


def find_windows(positions: NDArray[np.int64], options: ScanOptions) -> Windows:
    """Search windows of all grid positions of one alignment (positions in bp, int64 (sites,), non-decreasing)."""
    compat = options.precision == "compat"
    at = grid_positions(positions, options.grid, compat=compat)
    windows = _windows_at(positions, at, options, options.maxwin, compat)
    while compat and windows.span > COMPAT_MAX_SPAN:
        windows = _windows_at(positions, at, options, int(0.99 * windows.maxwin), compat)
    return windows


def _windows_at(
    positions: NDArray[np.int64], at: NDArray[np.float64], options: ScanOptions, maxwin: int, compat: bool
) -> Windows:
    def reach(size: int) -> NDArray[np.int64]:
        # OmegaPlus adds in float32 and truncates
        moved = at.astype(np.float32) + np.float32(size) if compat else at + size
        return np.trunc(moved).astype(np.int64)

    def up_to(limit: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(positions, limit, side="right") - 1

    centre = up_to(np.trunc(at).astype(np.int64))
    first = np.searchsorted(positions, reach(-maxwin), side="left")
    last = up_to(reach(maxwin))
    inner_left = np.searchsorted(positions, reach(-options.minwin), side="left")
    inner_left = np.minimum(inner_left, centre - options.minsnps + 1)
    inner_right = np.maximum(up_to(reach(options.minwin)), centre + options.minsnps)
    valid = (inner_left >= first) & (inner_right <= last) & (centre + 1 < last) & (centre > first)
    return Windows(at, centre, first, inner_left, inner_right, last, valid, maxwin)


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is not below `value`."""
    return -(-value // multiple) * multiple
