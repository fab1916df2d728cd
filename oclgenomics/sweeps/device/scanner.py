"""Scans alignments on one device: patterns of mu and the families are computed there, all else is sums over sites."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.sweeps.device.clr import Clr
from oclgenomics.sweeps.device.ehh import Ehh
from oclgenomics.sweeps.device.patterns import PatternCounter, PatternCounts
from oclgenomics.sweeps.families import Background, Family, Native
from oclgenomics.sweeps.haplotypes import HaplotypeFamily
from oclgenomics.sweeps.options import SweepOptions, sweep_parameters
from oclgenomics.sweeps.plan import (
    Floats,
    Mask,
    Spans,
    UsedSites,
    bp_windows,
    grid_positions,
    highest_in_bins,
    on_rows,
    site_windows,
)
from oclgenomics.sweeps.refinement import fine_positions
from oclgenomics.sweeps.result import VALUES, Scan
from oclgenomics.sweeps.statistics import diversity_values, mu_values, population_values
from oclgenomics.variation.bed import BedRegions

FAMILIES: tuple[type[Family], ...] = (HaplotypeFamily, Ehh, Clr)


@dataclass(frozen=True, eq=False)
class BegunScan:
    """A scan of one alignment that still lacks the statistics of the families.

    Attributes
    ----------
    scan : Scan
    step : float or None
        Bp between its rows, if they are a grid.
    measured : tuple
        What each family in use knows of the alignment.
    sites : GridSites, optional
        What rows at further positions are made of, if some are asked for.
    """

    scan: Scan
    step: float | None
    measured: tuple[Any, ...]
    sites: GridSites | None = None


@dataclass(frozen=True, eq=False)
class GridSites:
    """What the rows of a grid are made of.

    Attributes
    ----------
    used : UsedSites
    mask : Mask
    windows : Spans
        The windows of sites.
    mu : mapping of str to ndarray
        mu and its factors in these; empty if they were not asked for.
    size : float
        Bp of the windows of the other statistics.
    """

    used: UsedSites
    mask: Mask
    windows: Spans
    mu: Mapping[str, Floats]
    size: float


class SweepScanner:
    """Scans alignments on one device.

    Parameters
    ----------
    engine : Engine
        Its kernels are built at the first scan that needs them.
    options : SweepOptions
    block_sites : int, optional
        Sites of a block instead of those that fit in memory. Results never depend on it.
    """

    def __init__(self, engine: Engine, options: SweepOptions, *, block_sites: int | None = None) -> None:
        self._options = options
        self._patterns = PatternCounter(engine, block_sites=block_sites)
        chosen = [kind for kind in FAMILIES if set(kind.statistics) & set(options.statistics)]
        self._families = [kind(engine, block_sites=block_sites) for kind in chosen]

    def waits(self, backgrounds: Mapping[str, Background]) -> bool:
        """Say whether scans are finished only after all alignments are begun, since a background is not given."""
        return any(one.needs_background(self._options) and one.name not in backgrounds for one in self._families)

    def begin(
        self, used: Sequence[UsedSites], exclude: BedRegions | None, seconds: float = 0.0,
        accessible: BedRegions | None = None,
    ) -> list[BegunScan]:  # fmt: skip
        """Compute what needs the sites of some alignments; results do not depend on which are begun together.

        Parameters
        ----------
        used : sequence of UsedSites
        exclude : BedRegions, optional
            The regions that their sites were chosen by.
        seconds : float
            Time that was spent on choosing them.
        accessible : BedRegions, optional
            What is accessible, by which their sites were chosen, too.

        Raises
        ------
        DeviceError
            Not enough device memory, or a device lost on the way.
        """
        start, options = time.perf_counter(), self._options
        counts: Sequence[PatternCounts | None] = [None] * len(used)
        if "mu" in options.statistics:
            counts = self._pattern_counts(used)
        masks = [Mask.of(exclude, one.name, options, accessible) for one in used]
        columns = [family.measure(used, options, masks) for family in self._families]
        measured = list(zip(*columns, strict=True)) if columns else [()] * len(used)
        made = sweep_parameters(options)
        begun = [_begun(*each, options, made) for each in zip(used, counts, masks, measured, strict=True)]
        share = (seconds + time.perf_counter() - start) / max(len(begun), 1)
        return [replace(one, scan=replace(one.scan, seconds=share)) for one in begun]

    def _pattern_counts(self, used: Sequence[UsedSites]) -> list[PatternCounts]:
        """Count patterns in windows: on the device, unless missing states match anything."""
        width = self._options.width
        found = iter(self._patterns.count([one.planes for one in used if one.matches is None], width))
        matches = (None if one.matches is None else one.matches.counts(width) for one in used)
        return [
            next(found) if one is None else PatternCounts(one[0].astype(np.uint32), one[1].astype(np.uint32))
            for one in matches
        ]

    def finish(
        self, begun: Sequence[BegunScan], backgrounds: Mapping[str, Background],
        candidates: Callable[[Scan], NDArray[np.bool_]] | None = None,
    ) -> Iterator[Scan]:  # fmt: skip
        """Give scans with the statistics of all families.

        Parameters
        ----------
        begun : sequence of BegunScan
            Those of the whole input, if the scanner `waits`.
        backgrounds : mapping
            By the names of families, instead of those of the input.
        candidates : callable, optional
            Says which rows look like a sweep, around which there are further ones.

        Yields
        ------
        Scan
        """
        start, known = time.perf_counter(), {}
        for number, family in enumerate(self._families):
            if family.needs_background(self._options):
                given = backgrounds.get(family.name)
                every = [one.measured[number] for one in begun] if given is None else []
                known[family.name] = family.background(every, self._options) if given is None else given
        for one in begun:
            scan, values, remarks, details = one.scan, dict(one.scan.values), list(one.scan.remarks), dict[str, Any]()
            natives: list[Native] = []
            for family, measured in zip(self._families, one.measured, strict=True):
                found = family.native(measured, self._options, known.get(family.name))
                values |= found.on_rows(scan.positions, one.step)
                remarks += found.remarks
                details |= found.details
                natives.append(found)
            scan = replace(scan, values=_ordered(values), backgrounds=known, remarks=tuple(remarks), details=details)
            if candidates is not None and one.sites is not None and one.step is not None:
                rows = scan.positions[candidates(scan)]
                at = fine_positions(rows, one.step, one.sites.used.positions, self._options)
                scan = replace(scan, fine=self._fine(scan, one.sites, at, natives, known))
            yield replace(scan, seconds=scan.seconds + time.perf_counter() - start)
            start = time.perf_counter()

    def _fine(
        self, scan: Scan, sites: GridSites, at: Floats, natives: Sequence[Native], backgrounds: Mapping[str, Background]
    ) -> Scan:
        """Rows at further positions of an alignment."""
        options, used, mask, step = self._options, sites.used, sites.mask, float(self._options.refine or 0)
        rows, values = _grid_rows(sites, at, step, options)
        values |= diversity_values(used, rows, tuple(options.statistics))
        values |= population_values(used, rows, tuple(options.statistics))
        for family, native in zip(self._families, natives, strict=True):
            found = family.nearer(native, used, at, options, mask, backgrounds.get(family.name)) if len(at) else native
            values |= found.on_rows(at, step)
        return replace(
            scan, positions=at, start=rows.start, end=rows.end, window_sites=rows.stop - rows.first,
            values=_ordered(values), remarks=(), details={}, seconds=0.0,
        )  # fmt: skip


def _ordered(values: Mapping[str, Floats]) -> dict[str, Floats]:
    return {name: values[name] for name in VALUES if name in values}


def _begun(
    used: UsedSites, counts: PatternCounts | None, mask: Mask, measured: tuple[Any, ...], options: SweepOptions,
    parameters: Mapping[str, Any],
) -> BegunScan:  # fmt: skip
    """The statistics along one alignment, of which the patterns in windows are known."""
    windows = site_windows(used, options, mask)
    mu = {}
    if counts is not None:
        mu = mu_values(used, windows, counts.lone.astype(np.int64), counts.pairs.astype(np.int64), options, mask)
    rows, values, step = _rows(used, windows, mu, options, mask)
    values |= diversity_values(used, rows, tuple(options.statistics))
    values |= population_values(used, rows, tuple(options.statistics))
    scan = Scan(
        name=used.name, replicate=used.replicate, positions=rows.at, start=rows.start, end=rows.end,
        window_sites=rows.stop - rows.first, values=values,
        sites=used.sites, haplotypes=used.planes.haplotypes, discarded=used.discarded, facts=used.facts,
        parameters=parameters, gridded=options.grid is not None or options.step is not None, relative=used.relative,
        remarks=used.remarks,
    )  # fmt: skip
    sites = None
    if options.refine is not None and step is not None:
        sites = GridSites(_light(used, options), mask, windows, mu, float(options.window or step))
    return BegunScan(scan, step, measured, sites)


def _light(used: UsedSites, options: SweepOptions) -> UsedSites:
    """The same sites without their states, unless statistics of windows of bp need these."""
    if {"fst", "dxy"} & set(options.statistics):
        return used
    return replace(used, planes=replace(used.planes, bits=used.planes.bits[:, :0].copy(), valid=None))


def _rows(
    used: UsedSites, windows: Spans, mu: dict[str, Floats], options: SweepOptions, mask: Mask
) -> tuple[Spans, dict[str, Floats], float | None]:
    """The windows of the rows of a scan, mu there, and the bp between the positions of a grid."""
    if options.grid is None and options.step is None:
        if options.window is None:
            return windows, mu, None
        return bp_windows(used, windows.at, options.window, options, mask), mu, None
    if options.precision == "compat":
        return (*_raisd_rows(used, windows, mu, options, mask), None)
    at, step = grid_positions(used, options)
    sites = GridSites(used, mask, windows, mu, float(options.window or step))
    return (*_grid_rows(sites, at, step, options), step)


def _grid_rows(sites: GridSites, at: Floats, step: float, options: SweepOptions) -> tuple[Spans, dict[str, Floats]]:
    """The windows of rows at positions of a grid, and mu there."""
    rows = bp_windows(sites.used, at, sites.size, options, sites.mask)
    if not sites.mu or not len(at):
        return rows, {name: np.full(len(at), np.nan) for name in sites.mu}
    best = highest_in_bins(sites.windows.at, sites.mu["mu"], at, step)
    found = {}
    for name, column in sites.mu.items():
        between = on_rows(sites.windows.at, column, at, None, low=False)
        found[name] = np.where(best >= 0, column[best] if len(column) else np.nan, between)
    return rows, found


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
