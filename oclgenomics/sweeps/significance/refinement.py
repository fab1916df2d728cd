"""Rows at closer positions around those rows of a grid that look like a sweep.

They say where a sweep is, and nothing of how sure it is: thresholds and p-values are of the rows of the grid, as the
more positions are looked at, the higher is the most extreme value of a neutral alignment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sweeps.arrays import Floats, Ints
from oclgenomics.sweeps.options import REFINE_QUANTILE, SweepOptions
from oclgenomics.sweeps.result import Scan
from oclgenomics.sweeps.significance.thresholds import Significance, compare, scores_of

COARSE, FINE = "coarse", "fine"  # rows of the grid, and those around some of them


def candidates(scan: Scan, options: SweepOptions, null: Significance | None) -> NDArray[np.bool_]:
    """Say which rows look like a sweep, bool (rows,).

    Parameters
    ----------
    scan : Scan
        With rows of a grid.
    options : SweepOptions
    null : Significance, optional
        Rows pass a threshold of these, that of the highest rate of a statistic. Without it, they are beyond a quantile
        of their alignment, or the most extreme one.

    Raises
    ------
    UsageError
        Thresholds of these replicates do not hold for the scan.
    """
    found = np.zeros(len(scan.positions), bool)
    if null is not None:
        compare(null, [scan], "this scan")
        scan = null.judged(scan)
    for name, values in scan.values.items():
        if null is not None:
            limits = [one for one in null.thresholds if one.statistic == name]
            if limits:
                limit = scores_of(name, np.array([max(limits, key=lambda one: one.fpr).value]))[0]
                found |= scores_of(name, values) > limit
        elif name in options.statistics:
            known = scores_of(name, values)[~np.isnan(values)]
            if len(known):
                quantile = REFINE_QUANTILE if options.refine_quantile is None else options.refine_quantile
                found |= scores_of(name, values) > np.quantile(known, quantile)
                found[scan.best(name)] = True
    return found


def fine_positions(rows: Floats, step: float, sites: Floats, options: SweepOptions) -> Floats:
    """Return the multiples of `refine` around rows, from the first to the last site, float64 (positions,).

    Parameters
    ----------
    rows : ndarray of float64, shape (rows,)
        Positions of some rows, which ascend.
    step : float
        Bp between all rows.
    sites : ndarray of float64, shape (sites,)
        Positions.
    options : SweepOptions
    """
    assert options.refine is not None
    if not len(rows):
        return np.zeros(0)
    reach = step / 2 + (step if options.refine_margin is None else options.refine_margin)
    first = np.ceil(np.maximum(rows - reach, sites[0]) / options.refine)
    last = np.floor(np.minimum(rows + reach, sites[-1]) / options.refine)
    return np.unique(np.concatenate([np.arange(*ends) for ends in zip(first, last + 1, strict=True)])) * options.refine


def in_order(scan: Scan) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the rows of a scan and of its closer positions along the alignment, and which of them are the latter.

    Returns
    -------
    order : ndarray of int64, shape (all rows,)
        Rows of the scan, and from their number on those of `scan.fine`.
    fine : ndarray of bool, shape (all rows,)
    """
    rows = len(scan.positions)
    both = scan.positions if scan.fine is None else np.concatenate([scan.positions, scan.fine.positions])
    order = np.argsort(both, kind="stable").astype(np.int64)
    return order, order >= rows


def columns_in_order(scan: Scan) -> tuple[NDArray[np.bool_], dict[str, NDArray[Any]]]:
    """Return which rows are fine, and the columns of all rows along the alignment; NaN where fine rows have none."""
    order, fine = in_order(scan)
    assert scan.fine is not None
    closer = scan.fine
    columns: dict[str, NDArray[Any]] = {}
    for name in ("positions", "start", "end", "window_sites"):
        columns[name] = np.concatenate([getattr(scan, name), getattr(closer, name)])[order]
    nothing = np.full(len(closer.positions), np.nan)
    for name, values in scan.values.items():
        columns[name] = np.concatenate([values, closer.values.get(name, nothing)])[order]
    return fine, columns
