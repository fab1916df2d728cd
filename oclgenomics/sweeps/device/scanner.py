"""Scans alignments on one device: patterns are counted there, and all else is sums over sites."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from oclgenomics.runtime import Engine
from oclgenomics.sweeps.device.patterns import PatternCounter, PatternCounts
from oclgenomics.sweeps.options import SweepOptions, sweep_parameters
from oclgenomics.sweeps.plan import (
    Floats,
    Mask,
    Spans,
    UsedSites,
    bp_windows,
    grid_positions,
    highest_in_bins,
    site_windows,
)
from oclgenomics.sweeps.result import VALUES, Scan
from oclgenomics.sweeps.statistics import diversity_values, mu_values
from oclgenomics.variation.bed import BedRegions


class SweepScanner:
    """Scans alignments on one device.

    Parameters
    ----------
    engine : Engine
        Its kernels are built at the first scan that needs them.
    block_sites : int, optional
        Sites of a block instead of those that fit in memory. Results never depend on it.
    """

    def __init__(self, engine: Engine, *, block_sites: int | None = None) -> None:
        self._patterns = PatternCounter(engine, block_sites=block_sites)

    def scan(
        self, used: Sequence[UsedSites], options: SweepOptions, exclude: BedRegions | None, seconds: float = 0.0
    ) -> list[Scan]:
        """Compute the statistics along some alignments; results do not depend on which are scanned together.

        Parameters
        ----------
        used : sequence of UsedSites
        options : SweepOptions
        exclude : BedRegions, optional
            The regions that their sites were chosen by.
        seconds : float
            Time that was spent on choosing them.

        Raises
        ------
        DeviceError
            Not enough device memory, or a device lost on the way.
        """
        start = time.perf_counter()
        counts: Sequence[PatternCounts | None] = [None] * len(used)
        if "mu" in options.statistics:
            counts = self._patterns.count([one.planes for one in used], options.width)
        made = sweep_parameters(options)
        scans = [scan_of(one, count, options, exclude, made) for one, count in zip(used, counts, strict=True)]
        share = (seconds + time.perf_counter() - start) / max(len(scans), 1)
        return [replace(scan, seconds=share) for scan in scans]


def scan_of(
    used: UsedSites, counts: PatternCounts | None, options: SweepOptions, exclude: BedRegions | None,
    parameters: Mapping[str, Any],
) -> Scan:  # fmt: skip
    """Return the statistics along one alignment, of which the patterns in windows are known."""
    mask = Mask.of(exclude, used.name, options)
    windows = site_windows(used, options, mask)
    mu = {}
    if counts is not None:
        mu = mu_values(used, windows, counts.lone.astype(np.int64), counts.pairs.astype(np.int64), options, mask)
    rows, values = _rows(used, windows, mu, options, mask)
    values |= diversity_values(used, rows, tuple(options.statistics))
    return Scan(
        name=used.name, replicate=used.replicate, positions=rows.at, start=rows.start, end=rows.end,
        window_sites=rows.stop - rows.first, values={name: values[name] for name in VALUES if name in values},
        sites=used.sites, haplotypes=used.planes.haplotypes, discarded=used.discarded, facts=used.facts,
        parameters=parameters, gridded=options.grid is not None or options.step is not None, relative=used.relative,
    )  # fmt: skip


def _rows(
    used: UsedSites, windows: Spans, mu: dict[str, Floats], options: SweepOptions, mask: Mask
) -> tuple[Spans, dict[str, Floats]]:
    """The windows of the rows of a scan, and mu there."""
    if options.grid is None and options.step is None:
        if options.window is None:
            return windows, mu
        return bp_windows(used, windows.at, options.window, options, mask), mu
    if options.precision == "compat":
        return _raisd_rows(used, windows, mu, options, mask)
    at, step = grid_positions(used, options)
    rows = bp_windows(used, at, float(options.window or step), options, mask)
    if not mu or not len(at):
        return rows, {name: np.full(len(at), np.nan) for name in mu}
    best = highest_in_bins(windows.at, mu["mu"], at, step)
    found = {}
    for name, column in mu.items():
        between = _between(windows.at, column, at)
        found[name] = np.where(best >= 0, column[best] if len(column) else np.nan, between)
    return rows, found


def _between(at: Floats, values: Floats, positions: Floats) -> Floats:
    """Values at positions between windows, linear; NaN beyond them, and next to a window without a value."""
    if not len(at):
        return np.full(len(positions), np.nan)
    return np.interp(positions, at, values, np.nan, np.nan)


def _raisd_rows(
    used: UsedSites, windows: Spans, mu: dict[str, Floats], options: SweepOptions, mask: Mask
) -> tuple[Spans, dict[str, Floats]]:
    """The positions of RAiSD's grid but the first, and its interpolated values; none with fewer than two windows."""
    assert options.grid is not None
    x = windows.at
    if len(x) < 2 or x[0] == x[-1]:
        return bp_windows(used, np.zeros(0), 1.0, options, mask), {name: np.zeros(0) for name in mu}
    step = (x[-1] - x[0]) / (options.grid - 1.0)
    at = x[0] + np.arange(1, options.grid) * step
    at[-1] = x[-1]
    i = np.minimum(np.searchsorted(x, at, side="right") - 1, len(x) - 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (at - x[i]) / (x[i + 1] - x[i])
    rows = bp_windows(used, at, float(options.window or step), options, mask)
    return rows, {name: y[i] + share * (y[i + 1] - y[i]) for name, y in mu.items()}
