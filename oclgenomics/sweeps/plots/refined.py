"""What figures and pages show of fine rows: stretches of them, and the refined places of peaks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import position_unit
from oclgenomics.sweeps.result import SCALES, Scan
from oclgenomics.sweeps.significance.combined import COMBINED, REACH
from oclgenomics.sweeps.significance.peaks import fine_row
from oclgenomics.sweeps.significance.thresholds import SweepThreshold, sign_of

MORE_DIGITS = 4  # of a position, at most
APART = 1.5  # fine rows are one stretch up to so many steps apart
DEFAULT_DIGITS = {"Mb": 2, "kb": 1, "bp": 0}


def step_of(scan: Scan, name: str = "refine") -> float | None:
    """Return the bp between fine rows ('refine'), or between those of the grid ('step'), if they are known.

    Of a scan that was read from a report the parameters are text.
    """
    try:
        step = float(str(scan.parameters.get(name)))
    except ValueError:
        return None
    return step if step > 0 else None


def has_fine_rows(name: str, scans: Sequence[Scan]) -> bool:
    """Whether any of the scans has fine rows with a value of a statistic."""
    return any(
        scan.fine is not None and name in scan.fine.values and bool((~np.isnan(scan.fine.values[name])).any())
        for scan in scans
    )


def fine_stretches(scan: Scan) -> Iterator[NDArray[np.intp]]:
    """Give the fine rows of each stretch in which they follow each other.

    Yields
    ------
    ndarray of int, shape (rows,)
    """
    if scan.fine is None or not len(scan.fine.positions):
        return
    gaps = np.diff(scan.fine.positions)
    step = step_of(scan) or (float(gaps.min()) if len(gaps) else 1.0)
    yield from np.split(np.arange(len(scan.fine.positions)), np.flatnonzero(gaps > APART * step) + 1)


def fine_line(
    name: str, scan: Scan, shown: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return positions and values of fine rows as they are drawn, with NaN where the line between them is broken.

    Parameters
    ----------
    name : str
    scan : Scan
    shown : ndarray of int, optional
        The fine rows that are drawn; all if not given.
    """
    x, y = [np.zeros(0)], [np.zeros(0)]
    if scan.fine is not None and name in scan.fine.values:
        values = scan.fine.values[name] * SCALES.get(name, 1.0)
        for stretch in fine_stretches(scan):
            rows = stretch if shown is None else np.intersect1d(stretch, shown)
            x += [scan.fine.positions[rows], np.array([np.nan])]
            y += [values[rows], np.array([np.nan])]
    return np.concatenate(x)[:-1], np.concatenate(y)[:-1]


def limit_of(thresholds: Sequence[SweepThreshold]) -> float | None:
    """Return the threshold of the highest rate, beyond which rows are peaks; None without any."""
    most = max(thresholds, key=lambda one: one.fpr, default=None)
    return None if most is None or not math.isfinite(most.value) else most.value


def refined_place(name: str, scan: Scan, row: int, limit: float | None) -> tuple[float, float] | None:
    """Return where a peak is by its fine rows: position and value as it is drawn; None if it has none.

    Parameters
    ----------
    name : str
    scan : Scan
    row : int
        The best row of the peak.
    limit : float, optional
        The peak is the region of merged windows beyond this threshold, as of `find_peaks`; otherwise it is the window.
    """
    if not has_fine_rows(name, [scan]):
        return None
    value, place = float(scan.values[name][row]), float(scan.positions[row])
    rows = np.array([row])
    if limit is not None and sign_of(name) * (value - limit) > 0:
        rows = _region(name, scan, row, limit)
        best = scan.middle(name, int(rows[np.argmax(sign_of(name) * scan.values[name][rows])]))
        place, value = float(scan.positions[best]), float(scan.values[name][best])
    start, end = math.floor(scan.start[rows[0]]), math.ceil(scan.end[rows[-1]]) - scan.by_bp
    at, found = fine_row(scan, name, start, end, (place, value))
    return None if at is None or found is None else (at, found * SCALES.get(name, 1.0))


def _region(name: str, scan: Scan, row: int, limit: float) -> NDArray[np.intp]:
    """The rows beyond a threshold whose windows are one region with that of a row; windows of a grid ascend."""
    with np.errstate(invalid="ignore"):
        chosen = np.flatnonzero(sign_of(name) * scan.values[name] > sign_of(name) * limit)
    merge = math.ceil(REACH) if name == COMBINED else 0  # as in the table of peaks
    breaks = 1 + np.flatnonzero(scan.start[chosen][1:] - scan.end[chosen][:-1] - 1 > merge)
    first, last = np.searchsorted(breaks, np.searchsorted(chosen, row), side="right") + np.array([-1, 0])
    return chosen[breaks[first] if first >= 0 else 0 : breaks[last] if last < len(breaks) else len(chosen)]


def position_text(scans: Sequence[Scan], position: float, step: float | None) -> str:
    """Write a position in the largest unit that suits all scans, with the digits that a multiple of a step has."""
    scale, unit = position_unit(np.array([scan.positions[-1] for scan in scans]))
    digits = DEFAULT_DIGITS[unit]
    if step is not None:
        exact = (d for d in range(MORE_DIGITS) if math.isclose(step * 10**d / scale, round(step * 10**d / scale) or 1))
        digits = next(exact, MORE_DIGITS)
    return f"{position / scale:,.{digits}f} {unit}"
