"""Which sites a map of linkage disequilibrium shows: those around a grid position of a report, or of a given region."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.notices import number_of
from oclgenomics.omega.device.ld import LdBlock
from oclgenomics.omega.options import EPSILON
from oclgenomics.omega.plan.windows import grid_positions
from oclgenomics.omega.result import OmegaReport, Track
from oclgenomics.omega.significance.peaks import best_positions
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.selection import take_sites

MARGIN_SHARE = 0.25  # of the window's width, on either side of it, if nobody says more
ROUNDING = 0.0051  # bp; a tsv report has two decimals


@dataclass(frozen=True)
class GridPoint:
    """A grid position of a report that has a window.

    Attributes
    ----------
    source : str
        The report.
    track : Track
    index : int
        Of the position in the track.
    """

    source: str
    track: Track
    index: int

    @property
    def position(self) -> float:
        """In bp."""
        return float(self.track.positions[self.index])

    @property
    def omega(self) -> float:
        """Omega there."""
        return float(self.track.omega[self.index])

    @property
    def window(self) -> tuple[int, int]:
        """First and last site of the window, bp."""
        return int(self.track.left[self.index]), int(self.track.right[self.index])


@dataclass(frozen=True)
class LdRegion:
    """The sites shown, and the window among them.

    Attributes
    ----------
    alignment : Alignment
        The sites of the region only.
    start, end : int
        First and last bp shown.
    point : GridPoint, optional
        Of a window.
    parts : tuple of LdPart
        Left, right and across, by indices of the region's sites; empty without a window.
    """

    alignment: Alignment
    start: int
    end: int
    point: GridPoint | None = None
    parts: tuple[LdPart, ...] = field(default=())

    @property
    def positions(self) -> NDArray[np.int64]:
        """Of the sites, bp."""
        return self.alignment.positions


def choose_peak(report: OmegaReport, number: int) -> GridPoint:
    """Find the peak of that rank: the largest omegas whose windows do not overlap, 1 the highest.

    Raises
    ------
    ParameterError
        The report has fewer peaks.
    """
    if number < 1:
        raise ParameterError("peak", "the highest peak is 1", number)
    places = best_positions(report, number)
    if not places:
        raise InputError("holds no omega above 0, so no window can be shown", source=report.source)
    if number > len(places):
        most = len(places)
        few = f"{report.source} has {most} peaks whose windows do not overlap; choose one from 1 to {most}"
        raise ParameterError("peak", f"{few}, or a position with `at`", number)
    owner, index = places[-1]
    return GridPoint(report.source, report[owner], index)


def choose_position(report: OmegaReport, chromosome: str, position: float) -> GridPoint:
    """Find the grid position that is nearest to a position in bp.

    Raises
    ------
    InputError
        The report has no such chromosome, or no window there.
    """
    tracks = [track for track in report.tracks if track.name == chromosome and len(track.positions)]
    if not tracks:
        names = ", ".join(dict.fromkeys(track.name for track in report.tracks[:5])) or "none"
        raise InputError(f"holds no chromosome {chromosome} (but {names})", source=report.source)
    track = min(tracks, key=lambda track: float(np.abs(track.positions - position).min()))
    index = int(np.argmin(np.abs(track.positions - position)))
    if not track.omega[index] > 0:
        known = track.positions[track.omega > 0]
        nearest = "none of the chromosome has one"
        if len(known):
            nearest = f"the nearest with one is {known[np.argmin(np.abs(known - position))]:.0f}"
        raise InputError(
            f"the grid position {track.positions[index]:.0f} of {chromosome} has no window (omega NA or 0); {nearest}",
            source=report.source,
        )
    return GridPoint(report.source, track, index)


def window_region(
    alignment: Alignment, point: GridPoint, margin: int | None = None, *, compat: bool = False
) -> LdRegion:
    """Find the window of a grid position among the sites of its alignment.

    Parameters
    ----------
    alignment : Alignment
        All sites of the chromosome that the scan used, prepared as it did.
    point : GridPoint
    margin : int, optional
        Bp shown on either side of the window, as far as there are sites; a quarter of its width if not given.
    compat : bool
        The scan had compat precision, which places its grid in its own way.

    Raises
    ------
    InputError
        The report does not belong to these sites.
    """
    at = _grid_position(alignment, point, compat)
    left, right = point.window
    first = int(np.searchsorted(alignment.positions, left, "left"))
    last = int(np.searchsorted(alignment.positions, right, "right")) - 1
    split = int(np.searchsorted(alignment.positions, int(at), "right")) - 1
    for border, index in ((left, first), (right, last)):
        if not 0 <= index < alignment.sites or alignment.positions[index] != border:
            raise _foreign(point, f"no site is left at {border:,} bp, a border of its window")
    if not first <= split < last:
        raise _foreign(point, f"the window {left:,} to {right:,} bp has no site on one side of {at:,.0f} bp")
    reach = round(MARGIN_SHARE * (right - left)) if margin is None else margin
    start, end = max(left - reach, int(alignment.positions[0])), min(right + reach, int(alignment.positions[-1]))
    shown = _between(alignment, start, end)
    shift = int(np.searchsorted(alignment.positions, start, "left"))
    return LdRegion(shown, start, end, point, window_parts(first - shift, split - shift, last - shift))


def plain_region(alignment: Alignment, start: int, end: int) -> LdRegion:
    """Take the sites from `start` to `end`, bp, without any window.

    Raises
    ------
    InputError
        There are fewer than two.
    """
    shown = _between(alignment, start, end)
    if shown.sites < 2:
        raise InputError(
            f"{number_of(shown.sites, 'site')} left between {start:,} and {end:,} bp of {alignment.name}, and a pair "
            "needs 2; choose a larger region",
            source=alignment.source,
        )
    return LdRegion(shown, start, end)


def _between(alignment: Alignment, start: int, end: int) -> Alignment:
    return take_sites(alignment, (alignment.positions >= start) & (alignment.positions <= end))


def _grid_position(alignment: Alignment, point: GridPoint, compat: bool) -> float:
    """The grid position without the rounding of a tsv report, if the grid is that of the sites."""
    track = point.track
    if alignment.sites < 2 or len(track.positions) < 2:
        raise _foreign(point, f"{number_of(alignment.sites, 'site')} left")
    grid = grid_positions(alignment.positions, len(track.positions), compat=compat)
    if np.abs(grid - track.positions).max() > ROUNDING:
        ours, theirs = (f"{values[0]:,.0f} to {values[-1]:,.0f} bp" for values in (grid, track.positions))
        raise _foreign(point, f"its grid covers {theirs} of {track.name}, and the sites that are left cover {ours}")
    return float(grid[point.index])


def _foreign(point: GridPoint, why: str) -> InputError:
    return InputError(
        f"is no report of this input, or other sites were left out: {why}; give the input and the filters of its scan",
        source=point.source,
    )


@dataclass(frozen=True)
class LdPart:
    """A part of a region: the pairs of sites of a triangle or a rectangle of the map, and the sum of their values.

    Attributes
    ----------
    name : str
    rows, columns : tuple of int
        First and last site of the pairs' earlier and later sites; where both are the same, a pair counts once.
    total : float
        Sum over the blocks so far.
    undefined : int
        Pairs without a value, because a site does not vary among the haplotypes observed at both.
    """

    name: str
    rows: tuple[int, int]
    columns: tuple[int, int]
    total: float = 0.0
    undefined: int = 0

    def plus(self, block: LdBlock) -> LdPart:
        """Return the part with the values of some more rows."""
        row, stop_row = (max(site - block.row0, 0) for site in (self.rows[0], self.rows[1] + 1))
        column, stop_column = (max(site - block.row0, 0) for site in (self.columns[0], self.columns[1] + 1))
        values = block.values[row:stop_row, column:stop_column]
        more, missing = float(values.sum(dtype=np.float64)), 0
        if np.isnan(more):
            more, missing = float(np.nansum(values, dtype=np.float64)), int(np.isnan(values).sum())
        return replace(self, total=self.total + more, undefined=self.undefined + missing)

    @property
    def sites(self) -> int:
        """Sites that take part."""
        rows = self.rows[1] - self.rows[0] + 1
        return rows if self.rows == self.columns else rows + self.columns[1] - self.columns[0] + 1

    @property
    def pairs(self) -> int:
        """Pairs of sites."""
        rows = self.rows[1] - self.rows[0] + 1
        return rows * (rows - 1) // 2 if self.rows == self.columns else rows * (self.sites - rows)

    @property
    def defined(self) -> int:
        """Pairs of sites that have a value."""
        return self.pairs - self.undefined

    @property
    def mean(self) -> float:
        """Mean of the values; NaN where no pair has one."""
        return self.total / self.defined if self.defined else float("nan")


def window_parts(first: int, split: int, last: int) -> tuple[LdPart, LdPart, LdPart]:
    """Return the parts of a window: within [first, split], within [split + 1, last], and across."""
    left, right = (first, split), (split + 1, last)
    return LdPart("left", left, left), LdPart("right", right, right), LdPart("across", left, right)


def omega_of_parts(left: LdPart, right: LdPart, across: LdPart) -> float:
    """Return omega of a window whose parts hold sums of n r2; 0 without pairs on either side."""
    pairs = left.pairs + right.pairs
    return (left.total + right.total) / pairs / (across.mean + EPSILON) if pairs else 0.0
