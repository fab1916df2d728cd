"""A scan as the hardware computes it: the matrix M (Eq. 3 of the paper) of stretches of sites, and grid positions.

M[i, j] sums the values of all pairs of the sites i to j. It depends on the sites alone, not on a grid position, so that
one stretch serves all positions whose windows lie within it. Two ways to make it are here:

recurrence
    As the host of the paper's system (OmegaPlus) does, every operation rounded to float32, in its order:
    M[i, j] = ((v[i, j] + M[i, j - 1]) + M[i + 1, j]) - M[i + 1, j - 1].
exact
    By additions only, in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.functional import Sums, run
from oclgenomics.errors import UsageError
from oclgenomics.omega.device.ld import ld_blocks
from oclgenomics.omega.device.scanner import MIN_SITES
from oclgenomics.omega.options import EPSILON, ScanOptions
from oclgenomics.omega.plan.windows import Windows, find_windows
from oclgenomics.runtime import Engine
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.selection import take_sites

LARGEST_SPAN = 20_000  # sites of a window: M in float64 and float32 then takes 4.5 GiB
SHORT, LONG = 1_024, 6_144  # sites of a stretch, unless a window is longer: work is shared, and memory is bounded


@dataclass(frozen=True)
class Stretch:
    """Sites that the windows of some grid positions lie within.

    Attributes
    ----------
    first, last : int
        Sites, both included.
    grid : ndarray, int64
        Indices of the grid positions, in ascending order.
    """

    first: int
    last: int
    grid: NDArray[np.int64]


def windows_of(alignment: Alignment, options: ScanOptions) -> Windows | None:
    """Return the windows of an alignment; None where there are too few sites to scan."""
    return find_windows(alignment.positions, options) if alignment.sites >= MIN_SITES else None


def check_span(windows: Windows, name: str) -> None:
    """Refuse windows whose M does not fit in memory.

    Raises
    ------
    UsageError
        A window has more than 20,000 sites.
    """
    if windows.span > LARGEST_SPAN:
        raise UsageError(
            f"{name}: a window has {windows.span:,} sites and M is built of {LARGEST_SPAN:,} at most; "
            "narrow `maxwin` or leave out rare alleles (`maf`)"
        )


def stretches(windows: Windows) -> Iterator[Stretch]:
    """Cut the valid grid positions into runs whose windows lie within a stretch; none where no window is valid."""
    chosen = np.flatnonzero(windows.valid)
    size = max(windows.span, SHORT, min(2 * windows.span, LONG))
    start = 0
    while start < len(chosen):
        first = int(windows.first[chosen[start]])
        inside = windows.last[chosen[start:]] < first + size
        end = start + (len(inside) if inside.all() else int(np.argmin(inside)))
        taken = chosen[start:end]
        yield Stretch(first, int(windows.last[taken].max()), taken)
        start = end


def pair_values(alignment: Alignment, stretch: Stretch, engine: Engine) -> NDArray[np.float32]:
    """Compute n r^2 of the pairs of a stretch: the values that a scan in accurate precision sums, in float32.

    Returns
    -------
    ndarray, float32 (sites, sites)
        Entry (s, t) is the pair of the sites s < t of the stretch; 0 elsewhere.
    """
    keep = np.zeros(alignment.sites, np.bool_)
    keep[stretch.first : stretch.last + 1] = True
    sites = stretch.last - stretch.first + 1
    values = np.zeros((sites, sites), np.float32)
    for block in ld_blocks(take_sites(alignment, keep), engine, measure="nr2"):
        values[block.row0 : block.row0 + len(block.values), block.row0 :] = block.values
    return values


def recurrence_sums(values: NDArray[np.float32], reach: int | None = None) -> NDArray[np.float32]:
    """Turn the values of pairs into M in place, by the recurrence in float32.

    Parameters
    ----------
    values : ndarray, float32 (sites, sites)
        Contiguous; entry (s, t) with s < t is the value of a pair, all others are 0.
    reach : int, optional
        Sites of the widest window; sums of more keep the value of their pair. All if not given.

    Returns
    -------
    ndarray, float32 (sites, sites)
        `values`: entry (i, j) with i < j is the sum over the sites i to j; 0 on the diagonal and below it.
    """
    sites, flat = len(values), values.reshape(-1)
    nearer, next_nearer = np.zeros(sites, np.float32), np.zeros(sites + 1, np.float32)
    for away in range(1, min(sites, reach or sites)):  # sums of one length need those of the two before alone
        sums = flat[away : (sites - away) * sites : sites + 1]
        grown = ((sums + nearer[:-1]) + nearer[1:]) - next_nearer[1:-1]
        sums[...] = grown
        nearer, next_nearer = grown, nearer
    return values


def exact_sums(values: NDArray[np.float32], reach: int | None = None) -> NDArray[np.float64]:
    """Return M by additions in float64, each sum within a share of sites / 2**52 of the true one.

    Parameters
    ----------
    values : ndarray, float32 (sites, sites)
        As for `recurrence_sums`; left as they are.
    reach : int, optional
        Sites of the widest window; sums of more are 0. All if not given.

    Returns
    -------
    ndarray, float64 (sites, sites)
    """
    sites = len(values)
    sums = np.zeros((sites, sites))
    for row in range(sites - 2, -1, -1):
        within = slice(row + 1, min(sites, row + (reach or sites)))
        part = sums[row, within]
        part[...] = values[row, within]
        np.cumsum(part, out=part)
        part += sums[row + 1, within]
    return sums


@dataclass(frozen=True)
class Place:
    """Search window of a grid position, as indices of M: see `oclgenomics.omega.plan.windows.Windows`."""

    centre: int
    first: int
    inner_left: int
    inner_right: int
    last: int

    @classmethod
    def of(cls, windows: Windows, index: int, start: int) -> Place:
        """The window of a grid position, counted from the site `start`."""
        names = ("centre", "first", "inner_left", "inner_right", "last")
        return cls(*(int(getattr(windows, name)[index]) - start for name in names))


@dataclass(frozen=True)
class PositionRun:
    """What the hardware finds at a grid position.

    Attributes
    ----------
    omega : float
        The greatest, a float32 value; 0 where none is above 0.
    left, right : int
        Borders of its window, as indices of M; -1 where there is none.
    window_omega : float
        Omega of that window in float64, from sums in float64.
    software : bool
        Found in the remainder, which software computes, and not by a lane.
    hardware_omegas, software_omegas : int
    """

    omega: float
    left: int
    right: int
    window_omega: float
    software: bool
    hardware_omegas: int
    software_omegas: int

    def moved(self, sites: int) -> PositionRun:
        """The same with its borders so many sites further."""
        return self if self.left < 0 else replace(self, left=self.left + sites, right=self.right + sites)


def sums_of(M: NDArray[np.float32], place: Place) -> Sums:
    """Return the operands of a grid position, views of M: a column for each left border, the inner one first."""
    c, lefts = place.centre, slice(place.first, place.inner_left + 1)
    rights = slice(place.inner_right, place.last + 1)
    return Sums(
        LS=M[lefts, c][::-1],
        RS=M[c + 1, rights],
        TS=M[lefts, rights][::-1],
        first_left=c - place.inner_left + 1,
        first_right=place.inner_right - c,
    )


def omega_of(sums: NDArray[np.float64], centre: int, left: int, right: int) -> float:
    """Omega of the window from `left` to `right` in float64, from M in float64."""
    within = float(sums[left, centre] + sums[centre + 1, right])
    k, m = centre - left + 1, right - centre
    pairs = k * (k - 1) // 2 + m * (m - 1) // 2
    across = max(float(sums[left, right]) - within, 0.0)
    return within / pairs / (across / (k * m) + EPSILON) if pairs else 0.0


def run_position(M: NDArray[np.float32], sums: NDArray[np.float64], place: Place, config: Config) -> PositionRun:
    """Compute a grid position as the design does.

    Parameters
    ----------
    M : ndarray, float32 (sites, sites)
        The matrix of the hardware.
    sums : ndarray, float64 (sites, sites)
        The matrix in float64.
    place : Place
    config : Config

    Raises
    ------
    ModelError
        More sites on a side than the hardware's counters take.
    """
    result = run(sums_of(M, place), config)
    best = result.best
    counts = (result.hardware_omegas, result.software_omegas)
    if not (best.found and best.omega > 0):
        return PositionRun(0.0, -1, -1, 0.0, False, *counts)
    left, right = place.inner_left - best.column, place.inner_right + best.right
    software = best == result.software
    return PositionRun(float(best.omega), left, right, omega_of(sums, place.centre, left, right), software, *counts)


@dataclass(frozen=True)
class Hardware:
    """A design at work on the alignments of a scan.

    Attributes
    ----------
    options : ScanOptions
    config : Config
        The design.
    exact : bool
        M is summed in float64 and rounded once; else it comes from the recurrence in float32.
    engine : Engine
        Where the values of pairs are computed.
    pool : ThreadPoolExecutor
        Computes the grid positions.
    progress : callable, optional
        Called with (grid positions of an alignment done, in all).
    """

    options: ScanOptions
    config: Config
    exact: bool
    engine: Engine
    pool: ThreadPoolExecutor
    progress: Callable[[int, int | None], None] | None = None

    def run(self, alignment: Alignment, grid: int) -> dict[int, PositionRun]:
        """Return what it finds at the grid positions that have a window; borders are sites of the alignment."""
        found: dict[int, PositionRun] = {}
        windows = windows_of(alignment, self.options)
        if windows is None:
            return found
        for stretch in stretches(windows):
            found.update(self._run_stretch(alignment, windows, stretch))
            if self.progress is not None:
                self.progress(int(stretch.grid[-1]) + 1, grid)
        return found

    def _run_stretch(
        self, alignment: Alignment, windows: Windows, stretch: Stretch
    ) -> Iterator[tuple[int, PositionRun]]:
        values = pair_values(alignment, stretch, self.engine)
        sums = exact_sums(values, windows.span)
        M = values if self.exact else recurrence_sums(values, windows.span)
        if self.exact:
            M[...] = sums  # rounds each once
        indices = stretch.grid.tolist()
        places = [Place.of(windows, index, stretch.first) for index in indices]
        runs = self.pool.map(lambda place: run_position(M, sums, place, self.config), places)
        return zip(indices, [one.moved(stretch.first) for one in runs], strict=True)
