"""A map of linkage disequilibrium around a peak of a scan, or of a region: from an input to its parts' means.

`ld_around_peak` is the whole way. Whoever wants more of the values than means and a picture takes its three steps:
`request_map` settles what is read, `read_region` reads it, and `map_region` gives each block of values away.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.omega.api import filter_alignment
from oclgenomics.omega.formats.reading import OmegaReport, read_report
from oclgenomics.omega.ld.options import LdOptions
from oclgenomics.omega.ld.pairs import LdBlock, ld_blocks
from oclgenomics.omega.ld.parts import LdPart, omega_of_parts, window_parts
from oclgenomics.omega.ld.picture import MAX_PIXELS, BinnedLd
from oclgenomics.omega.ld.recorded import as_scanned
from oclgenomics.omega.ld.region import (
    GridPoint,
    LdRegion,
    choose_peak,
    choose_position,
    plain_region,
    window_region,
)
from oclgenomics.omega.ld.result import LdMap
from oclgenomics.omega.options import MISSING_NAMES, MissingState, ScanOptions
from oclgenomics.omega.sources import AlignmentSource, open_alignments
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import BedRegions, read_bed
from oclgenomics.variation.read_options import ReadOptions
from oclgenomics.variation.readers.read import read_alignments

if TYPE_CHECKING:
    from oclgenomics.runtime import Device, Engine

__all__ = ["MapRequest", "ld_around_peak", "map_region", "read_region", "request_map"]

Progress = Callable[[int, int], None]
ReadProgress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class MapRequest:
    """What to read and to show.

    Attributes
    ----------
    options : LdOptions
    report : OmegaReport or None
    point : GridPoint or None
        Of the window, if there is one.
    scan : ScanOptions
        Filters of the sites, and measure and precision of the scan.
    values : dict of str to object
        Of `as_scanned`: how the input is read and filtered.
    """

    options: LdOptions
    report: OmegaReport | None
    point: GridPoint | None
    scan: ScanOptions
    values: Mapping[str, Any]

    @property
    def chromosome(self) -> str:
        """Name of the chromosome or replicate."""
        if self.point is not None:
            return self.point.track.name
        assert self.options.region is not None
        return self.options.region[0]

    @property
    def replicate(self) -> int | None:
        """Place in the input, where the report has several alignments of the name."""
        if self.report is None or self.point is None:
            return None
        several = sum(track.name == self.chromosome for track in self.report.tracks) > 1
        return self.point.track.replicate if several else None

    @property
    def reading(self) -> ReadOptions:
        """What is read of a file."""
        found = self.values
        return ReadOptions(
            length=found["length"], format=found["input_format"], samples=found["samples"], phase=found["phase"]
        )


def ld_around_peak(
    source: AlignmentSource,
    options: LdOptions,
    *,
    reading: ReadOptions | None = None,
    exclude: BedRegions | str | os.PathLike[str] | None = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> LdMap:
    """Compute r2 between all sites around a peak of a scan, or of a region.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        What was scanned.
    options : LdOptions
    reading : ReadOptions, optional
        What is read of a file; as the scan's report says if not given, and nothing else where it says something.
    exclude : BedRegions or path, optional
        Regions whose sites are left out; those of the report if not given.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    threads : int, optional
        Host threads that unpack and read the input; one per core, at most 4, if not given.
    progress : callable, optional
        Called with (sites done, sites in all).

    Returns
    -------
    LdMap

    Raises
    ------
    UsageError
        Parameters that contradict each other or the report, or a region of too many sites.
    InputError
        Anything wrong with the input or the report, or they do not belong together.
    DeviceError
        No such device, or not enough device memory.

    Examples
    --------
    >>> from oclgenomics.omega import LdOptions, ld_around_peak
    >>> found = ld_around_peak("chr20.vcf.gz", LdOptions(scan="scan.tsv"))  # doctest: +SKIP
    >>> found.to_frame()  # doctest: +SKIP
    """
    from oclgenomics.runtime import Engine

    given: dict[str, Any] = {}
    if reading is not None:
        given = {
            "length": reading.length, "input_format": reading.format, "samples": reading.samples, "phase": reading.phase
        }  # fmt: skip
    request = request_map(options, given | {"exclude": exclude})
    region = read_region(source, request, threads=threads)
    with ExitStack() as stack:
        if engine is None:
            engine = stack.enter_context(Engine(device, max_memory=max_memory))
        return map_region(region, request, engine, progress=progress)


def request_map(options: LdOptions, given: Mapping[str, Any]) -> MapRequest:
    """Find the peak and settle how the input is read; `given` as for `as_scanned`, the filters being in `options`."""
    report = options.scan if isinstance(options.scan, OmegaReport) else None
    if report is None and options.scan is not None:
        report = read_report(os.fspath(options.scan))  # type: ignore[arg-type]
    point = None
    if report is not None:
        point = choose_position(report, *options.at) if options.at else choose_peak(report, options.peak or 1)
    filters = {name: getattr(options, name) for name in ("maf", "no_singletons", "binary", "seed")}
    impute = None if options.impute is None else sorted(options.impute)
    values = as_scanned(report, {**filters, "impute": impute, **given})
    return MapRequest(options, report, point, _scan_options(report, values), values)


def _scan_options(report: OmegaReport | None, values: Mapping[str, Any]) -> ScanOptions:
    """Filters of the sites; grid and windows do not matter."""
    recorded = {} if report is None else report.parameters
    return ScanOptions(
        grid=2,
        minwin=0,
        maxwin=1,
        ld=recorded.get("ld", "RSQUARE"),
        precision=recorded.get("precision", "accurate"),
        maf=values["maf"],
        no_singletons=values["no_singletons"],
        binary=values["binary"],
        impute=_missing_states(values["impute"]),
        seed=values["seed"],
    )


def _missing_states(words: Iterable[str]) -> frozenset[MissingState]:
    unknown = [word for word in words if word.upper() not in MISSING_NAMES]
    if unknown:
        raise ParameterError("impute", "choose N, GAP or both", unknown[0])
    return frozenset(MISSING_NAMES[word.upper()] for word in words)


def read_region(
    source: AlignmentSource,
    request: MapRequest,
    *,
    threads: int | None = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    progress: ReadProgress | None = None,
) -> LdRegion:
    """Read an input up to the chromosome asked for, and return the sites to show, filtered as the scan did.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
    request : MapRequest
    threads : int, optional
    on_alignment : callable, optional
        Called with the alignment as it was read.
    progress : callable, optional
        Called with (bytes read, bytes in all if known).

    Raises
    ------
    InputError
        There is no such chromosome, or the report is not of this input.
    """
    alignment = _chosen(source, request, threads, progress)
    if on_alignment is not None:
        on_alignment(alignment)
    exclude = request.values["exclude"]
    regions = read_bed(exclude) if isinstance(exclude, (str, os.PathLike)) else exclude
    filtered = filter_alignment(alignment, request.scan, regions).alignment
    if request.point is None:
        assert request.options.region is not None
        return plain_region(filtered, *request.options.region[1:])
    compat = request.scan.precision == "compat"
    return window_region(filtered, request.point, request.options.margin, compat=compat)


def _chosen(
    source: AlignmentSource, request: MapRequest, threads: int | None, progress: ReadProgress | None
) -> Alignment:
    """The alignment of the chromosome asked for."""
    names: list[str] = []
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        alignments = read_alignments(source, request.reading, threads=threads, progress=progress)
    else:
        name, alignments = "the input", open_alignments(source, request.reading, threads=threads)
    with closing(alignments):
        for alignment in alignments:
            if alignment.name == request.chromosome and request.replicate in (None, alignment.replicate):
                return alignment
            names.append(alignment.name)
    shown = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    raise InputError(f"holds no chromosome or replicate {request.chromosome} (but {shown or 'nothing'})", source=name)


def map_region(
    region: LdRegion,
    request: MapRequest,
    engine: Engine,
    *,
    on_block: Callable[[LdBlock], None] | None = None,
    progress: Progress | None = None,
) -> LdMap:
    """Compute r2 between all sites of a region.

    Parameters
    ----------
    region : LdRegion
        From `read_region`.
    request : MapRequest
    engine : Engine
    on_block : callable, optional
        Called with each block of values, which are seen once.
    progress : callable, optional
        Called with (sites done, sites in all).
    """
    sites = region.alignment.sites
    parts = [*region.parts, LdPart("region", (0, sites - 1), (0, sites - 1))]
    picture = BinnedLd(sites, MAX_PIXELS)
    for block in ld_blocks(region.alignment, engine):
        parts = [part.plus(block) for part in parts]
        picture.add(block)
        if on_block is not None:
            on_block(block)
        if progress is not None:
            progress(block.row0 + len(block.values), sites)
    return LdMap(region, tuple(parts), picture, _omega(region, request.scan, engine))


def _omega(region: LdRegion, scan: ScanOptions, engine: Engine) -> float | None:
    """Omega of the window as it is shown, which tells other samples from those of the scan; see `LdMap.omega`."""
    if region.point is None or scan.precision == "compat" or scan.ld != "RSQUARE":
        return None
    left, right, _ = region.parts
    borders = region.positions[[left.rows[0], right.rows[1]]]
    if (region.positions[:, None] == borders).sum() > len(borders):
        return None  # of several sites at a border, a report does not say which one it is
    parts = window_parts(left.rows[0], left.rows[1], right.rows[1])
    for block in ld_blocks(region.alignment, engine, measure="nr2"):
        first, second, across = (part.plus(block) for part in parts)
        parts = (first, second, across)
    return omega_of_parts(*parts)
