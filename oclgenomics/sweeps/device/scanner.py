"""Scans alignments on one device: patterns of mu and the families are computed there, all else is sums over sites."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.sweeps.arrays import Floats
from oclgenomics.sweeps.device.clr import Clr
from oclgenomics.sweeps.device.ehh import Ehh
from oclgenomics.sweeps.device.patterns import PatternCounter, PatternCounts
from oclgenomics.sweeps.options import SweepOptions, sweep_parameters
from oclgenomics.sweeps.plan import (
    ALL,
    Portion,
    Spans,
    bp_windows,
    grid_positions,
    highest_in_bins,
    on_rows,
    site_windows,
)
from oclgenomics.sweeps.result import VALUES, Scan
from oclgenomics.sweeps.significance.refinement import fine_positions
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import SitePlanes, UsedSites
from oclgenomics.sweeps.statistics.families import Background, Family, Native
from oclgenomics.sweeps.statistics.haplotypes import HaplotypeFamily
from oclgenomics.sweeps.statistics.windows import diversity_values, mu_values, population_values
from oclgenomics.variation.bed import BedRegions

FAMILIES: tuple[type[Family], ...] = (HaplotypeFamily, Ehh, Clr)


@dataclass(frozen=True, eq=False)
class BegunScan:
    """A scan of one alignment, or of a portion of it, that still lacks mu and the statistics of the families.

    Attributes
    ----------
    scan : Scan
    step : float or None
        Bp between its rows, if they are a grid.
    middles : ndarray of float64, shape (windows,)
        Of the windows of sites.
    mu : mapping of str to ndarray of float64, shape (windows,)
        mu and its factors in these windows, if they were asked for.
    measured : tuple
        What each family in use knows of the alignment.
    sites : GridSites, optional
        What rows at further positions are made of, if some are asked for.
    """

    scan: Scan
    step: float | None
    middles: Floats
    mu: Mapping[str, Floats]
    measured: tuple[Any, ...]
    sites: GridSites | None = None


@dataclass(frozen=True, eq=False)
class GridSites:
    """What the rows of a grid are made of.

    Attributes
    ----------
    used : UsedSites
    mask : Mask
    size : float
        Bp of the windows of the other statistics.
    """

    used: UsedSites
    mask: Mask
    size: float


class SweepScanner:
    """Scans alignments on one device.

    Parameters
    ----------
    engine : Engine, optional
        Its kernels are built at the first scan that needs them. None: scans were begun and settled elsewhere.
    options : SweepOptions
    block_sites : int, optional
        Sites of a block instead of those that fit in memory. Results never depend on it.
    """

    def __init__(self, engine: Engine | None, options: SweepOptions, *, block_sites: int | None = None) -> None:
        self._options = options
        self._patterns = None if engine is None else PatternCounter(engine, block_sites=block_sites)
        chosen = [kind for kind in FAMILIES if set(kind.statistics) & set(options.statistics)]
        self._families = [kind(engine, block_sites=block_sites) for kind in chosen]

    def waits(self, backgrounds: Mapping[str, Background]) -> bool:
        """Say whether scans are finished only after all alignments are begun, since a background is not given."""
        return any(one.needs_background(self._options) and one.name not in backgrounds for one in self._families)

    def settles_late(self, backgrounds: Mapping[str, Background]) -> bool:
        """Say whether `settle` needs a background that is known only after all alignments were seen."""
        late = [one for one in self._families if one.late]
        return any(one.needs_background(self._options) and one.name not in backgrounds for one in late)

    def begin(
        self,
        used: Sequence[UsedSites],
        exclude: BedRegions | None,
        seconds: float = 0.0,
        portions: Sequence[Portion] | None = None,
        accessible: BedRegions | None = None,
    ) -> list[BegunScan]:
        """Compute what needs the sites of some alignments; results do not depend on which are begun together.

        Parameters
        ----------
        used : sequence of UsedSites
        exclude : BedRegions, optional
            The regions that their sites were chosen by.
        seconds : float
            Time that was spent on choosing them.
        portions : sequence of Portion, optional
            What is scanned of each; all of it if not given.
        accessible : BedRegions, optional
            What is accessible, by which their sites were chosen, too.

        Raises
        ------
        DeviceError
            Not enough device memory, or a device lost on the way.
        """
        start, options = time.perf_counter(), self._options
        portions = [ALL] * len(used) if portions is None else portions
        counts: Sequence[PatternCounts | None] = [None] * len(used)
        if "mu" in options.statistics:
            counts = self._pattern_counts(used, portions)
        masks = [Mask.of(exclude, one.name, options, accessible) for one in used]
        columns = [family.measure(used, options, masks, portions) for family in self._families]
        measured = list(zip(*columns, strict=True)) if columns else [()] * len(used)
        made = sweep_parameters(options)
        begun = [_begun(*each, options, made) for each in zip(used, portions, counts, masks, measured, strict=True)]
        share = (seconds + time.perf_counter() - start) / max(len(begun), 1)
        spectrum = next((family.given for family in self._families if isinstance(family, Clr)), "")
        return [
            replace(one, scan=replace(one.scan, seconds=share, facts=replace(one.scan.facts, spectrum=spectrum)))
            for one in begun
        ]

    def _pattern_counts(self, used: Sequence[UsedSites], portions: Sequence[Portion]) -> list[PatternCounts]:
        """Count patterns in windows of portions: on the device, unless missing states match anything."""
        assert self._patterns is not None
        width, pairs = self._options.width, list(zip(used, portions, strict=True))
        planes = [_with_windows(one, portion, width) for one, portion in pairs if one.matches is None]
        found, counts = iter(self._patterns.count(planes, width)), list[PatternCounts]()
        for one, portion in pairs:
            if one.matches is None:
                counts.append(next(found))
                continue
            begin, end = portion.share(max(one.sites - width + 1, 0))
            counts.append(PatternCounts(*(each[begin:end].astype(np.uint32) for each in one.matches.counts(width)[:2])))
        return counts

    def see(self, used: UsedSites) -> None:
        """Take what backgrounds of late families need of an alignment, of which this scanner may begin no portion."""
        for family in self._families:
            if family.late and family.needs_background(self._options):
                family.see(used, self._options)

    def late_backgrounds(self, backgrounds: Mapping[str, Background]) -> dict[str, Background]:
        """Return the backgrounds of late families: those given, or of all alignments that were seen."""
        late = [one for one in self._families if one.late and one.needs_background(self._options)]
        return {one.name: backgrounds.get(one.name) or one.background([], self._options) for one in late}

    def settle(self, begun: BegunScan, backgrounds: Mapping[str, Background]) -> BegunScan:
        """Compute what still needs the device, so that any process can finish a scan.

        Parameters
        ----------
        begun : BegunScan
        backgrounds : mapping
            Those of late families.
        """
        measured = [
            family.native(one, self._options, backgrounds.get(family.name)) if family.late else one
            for family, one in zip(self._families, begun.measured, strict=True)
        ]
        return replace(begun, measured=tuple(measured))

    def joined(self, begun: Sequence[BegunScan]) -> BegunScan:
        """Put portions of an alignment together, in their order."""
        if len(begun) == 1:
            return begun[0]
        columns = zip(self._families, zip(*(one.measured for one in begun), strict=True), strict=True)
        return replace(
            begun[0], scan=Scan.joined([one.scan for one in begun]),
            middles=np.concatenate([one.middles for one in begun]),
            mu={name: np.concatenate([one.mu[name] for one in begun]) for name in begun[0].mu},
            measured=tuple(family.joined(several) for family, several in columns),
        )  # fmt: skip

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
            scan, remarks, details = one.scan, list(one.scan.remarks), dict[str, Any]()
            values = dict(scan.values) | _mu_on_rows(one, self._options)
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
                scan = replace(scan, fine=self._fine(replace(one, scan=scan), one.sites, at, natives, known))
            yield replace(scan, seconds=scan.seconds + time.perf_counter() - start)
            start = time.perf_counter()

    def _fine(
        self,
        begun: BegunScan,
        sites: GridSites,
        at: Floats,
        natives: Sequence[Native],
        backgrounds: Mapping[str, Background],
    ) -> Scan:
        """Rows at further positions of an alignment."""
        options, used, mask, step = self._options, sites.used, sites.mask, float(self._options.refine or 0)
        rows = bp_windows(used, at, sites.size, options, mask)
        values = _mu_at(begun, at, step) | diversity_values(used, rows, tuple(options.statistics))
        values |= population_values(used, rows, tuple(options.statistics))
        for family, native in zip(self._families, natives, strict=True):
            found = family.nearer(native, used, at, options, mask, backgrounds.get(family.name)) if len(at) else native
            values |= found.on_rows(at, step)
        return replace(
            begun.scan, positions=at, start=rows.start, end=rows.end, window_sites=rows.stop - rows.first,
            values=_ordered(values), remarks=(), details={}, seconds=0.0,
        )  # fmt: skip


def _ordered(values: Mapping[str, Floats]) -> dict[str, Floats]:
    return {name: values[name] for name in VALUES if name in values}


def _with_windows(used: UsedSites, portion: Portion, width: int) -> SitePlanes:
    """The sites of the windows of a portion."""
    begin, end = portion.share(max(used.sites - width + 1, 0))
    return used.planes.between(begin, end + width - 1 if end > begin else begin)


def _begun(
    used: UsedSites, portion: Portion, counts: PatternCounts | None, mask: Mask, measured: tuple[Any, ...],
    options: SweepOptions, parameters: Mapping[str, Any],
) -> BegunScan:  # fmt: skip
    """The statistics along a portion of one alignment, of which the patterns in windows are known."""
    windows = site_windows(used, options, mask)
    rows, step = _rows(used, windows, options, mask)
    rows = rows.between(*portion.share(len(rows.at)))
    windows = windows.between(*portion.share(len(windows.at)))
    mu: dict[str, Floats] = {}
    if counts is not None:
        mu = mu_values(used, windows, counts.lone.astype(np.int64), counts.pairs.astype(np.int64), options, mask)
    values = diversity_values(used, rows, tuple(options.statistics))
    values |= population_values(used, rows, tuple(options.statistics))
    scan = Scan(
        name=used.name, replicate=used.replicate, positions=rows.at, start=rows.start, end=rows.end,
        window_sites=rows.stop - rows.first, values=values,
        sites=used.sites, haplotypes=used.facts.haplotypes, discarded=used.discarded, facts=used.facts,
        parameters=parameters, gridded=options.grid is not None or options.step is not None, relative=used.relative,
        remarks=used.remarks, binary=used.binary,
    )  # fmt: skip
    sites = None
    if options.refine is not None and step is not None:
        sites = GridSites(_light(used, options), mask, float(options.window or step))
    return BegunScan(scan, step, windows.at if mu and scan.gridded else np.zeros(0), mu, measured, sites)


def _light(used: UsedSites, options: SweepOptions) -> UsedSites:
    """The same sites without their states, unless statistics of windows of bp need these."""
    if {"fst", "dxy"} & set(options.statistics):
        return used
    planes = replace(used.planes, bits=used.planes.bits[:, :0].copy(), valid=None)
    return replace(used, planes=planes, repeated=None)


def _rows(used: UsedSites, windows: Spans, options: SweepOptions, mask: Mask) -> tuple[Spans, float | None]:
    """The windows of the rows of a scan, and the bp between the positions of a grid."""
    if options.grid is None and options.step is None:
        if options.window is None:
            return windows, None
        return bp_windows(used, windows.at, options.window, options, mask), None
    if options.precision == "compat":
        return _raisd_rows(used, windows, options, mask), None
    at, step = grid_positions(used, options)
    return bp_windows(used, at, float(options.window or step), options, mask), step


def _raisd_rows(used: UsedSites, windows: Spans, options: SweepOptions, mask: Mask) -> Spans:
    """The positions of RAiSD's grid but the first; none with fewer than two windows."""
    assert options.grid is not None
    x = windows.at
    if len(x) < 2 or x[0] == x[-1]:
        return bp_windows(used, np.zeros(0), 1.0, options, mask)
    step = (x[-1] - x[0]) / (options.grid - 1.0)
    at = x[0] + np.arange(1, options.grid) * step
    at[-1] = x[-1]
    return bp_windows(used, at, float(options.window or step), options, mask)


def _mu_on_rows(begun: BegunScan, options: SweepOptions) -> dict[str, Floats]:
    """mu and its factors at the rows of a scan: those of windows of sites, or at the positions of a grid."""
    x, at = begun.middles, begun.scan.positions
    if not begun.scan.gridded:
        return dict(begun.mu)
    if not begun.mu or not len(at):
        return {name: np.full(len(at), np.nan) for name in begun.mu}
    if options.precision == "compat":  # interpolated as RAiSD does
        i = np.minimum(np.searchsorted(x, at, side="right") - 1, len(x) - 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (at - x[i]) / (x[i + 1] - x[i])
        return {name: y[i] + share * (y[i + 1] - y[i]) for name, y in begun.mu.items()}
    assert begun.step is not None
    return _mu_at(begun, at, begun.step)


def _mu_at(begun: BegunScan, at: Floats, step: float) -> dict[str, Floats]:
    """mu and its factors at positions of a grid."""
    if not begun.mu or not len(at):
        return {name: np.full(len(at), np.nan) for name in begun.mu}
    x = begun.middles
    best = highest_in_bins(x, begun.mu["mu"], at, step)
    found = {}
    for name, column in begun.mu.items():
        between = on_rows(x, column, at, None, low=False)
        found[name] = np.where(best >= 0, column[best] if len(column) else np.nan, between)
    return found
