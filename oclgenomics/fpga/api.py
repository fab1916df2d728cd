"""Real scans on FPGA designs by the model: how long they take, next to this machine, and what they compute."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from hls_model.choices import Accounting, Level, Matrix
from hls_model.config import Config
from hls_model.presets import load
from hls_model.project import project
from hls_model.resources import check_fits
from hls_model.workload import Workload
from oclgenomics.app.run import EngineLike, Run, lent_engine, verb
from oclgenomics.errors import ParameterError
from oclgenomics.fpga.comparison import AlignmentRun, alignment_run
from oclgenomics.fpga.hardware import Hardware, check_span, windows_of
from oclgenomics.fpga.measuring import Measured, TimedRun, measured_of, repeated
from oclgenomics.fpga.options import check_border, check_modelled, fitting_designs, workload_of
from oclgenomics.fpga.result import ScanProjection, ScanRun
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.raw_file import Progress
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.sites.sources import FilteredBatch, filtered_batches
from oclgenomics.variation.read_options import ReadOptions
from oclgenomics.variation.sources import AlignmentSource

if TYPE_CHECKING:
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions


MAX_THREADS = 4


@verb
def project_scan(
    source: AlignmentSource,
    options: ScanOptions,
    designs: Sequence[Config | str] = ("u200",),
    *,
    level: Level = "L1",
    all_pairs: bool = False,
    uncertainty: bool = True,
    measure: bool = True,
    accounting: Accounting = "design",
    reading: ReadOptions = ReadOptions(),
    exclude: BedRegions | str | os.PathLike[str] | None = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
) -> ScanProjection:
    """Project a scan onto designs, and time the same scan on this machine.

    Parameters
    ----------
    source, options, reading, exclude, on_alignment, engine
        As for `oclgenomics.omega.scan`; `options.border` has to be -1, as the pipeline tries every pair of borders.
    designs : sequence of Config or str
        Designs, or the names of presets and .toml files.
    level : str
        Timing by events ('L1') or cycle by cycle ('L2').
    all_pairs : bool
        LD of the square of the sites, as OmegaPlus for GPUs computes it, instead of the pairs that windows hold.
    uncertainty : bool
        Also give ranges over what no published number fixes (`hls_model.uncertainty`).
    measure : bool
        False projects alone; no device is opened then.
    accounting : {'design', 'paper'}
        Count the phases as the designs have them, or as the totals of the paper do (`hls_model.project`); the
        totals of both are there in either case.
    run : Run, optional
        Its `progress` is called with (alignments done, None).

    Returns
    -------
    ScanProjection

    Raises
    ------
    ModelError
        An unknown design, or one that does not fit its board.
    InputError, UsageError, DeviceError
        As for `oclgenomics.omega.scan`.

    Examples
    --------
    >>> from oclgenomics.fpga import project_scan
    >>> from oclgenomics.omega import ScanOptions
    >>> options = ScanOptions(grid=1_000, minwin=1_000, maxwin=100_000)
    >>> project_scan("chr20.vcf.gz", options, ["u200", "zcu102"]).to_frame()  # doctest: +SKIP
    """
    check_border(options)
    configs, run = fitting_designs(designs, accounting), run or Run()
    reads = {"reading": reading, "exclude": exclude, "on_alignment": on_alignment}
    with _opened(source, options, run, engine, **reads) as (batches, scanner):
        counted = _counted(batches, options, scanner if measure else None, run.progress)
    return project_workloads(
        counted.workloads, configs, level=level, all_pairs=all_pairs, uncertainty=uncertainty,
        discarded=counted.discarded, measured=counted.measured, accounting=accounting,
    )  # fmt: skip


LateScanner: TypeAlias = Callable[[], OmegaScanner]
"""Opens the device when it is first called, so that errors of the input come first."""


@contextmanager
def _opened(
    source: AlignmentSource, options: ScanOptions, run: Run, engine: EngineLike, **reads: Any
) -> Iterator[tuple[Iterator[FilteredBatch], LateScanner]]:
    """Lend the batches of alignments of a scan, and their scanner; `reads` are options of `filtered_batches`."""
    with ExitStack() as stack:
        batches = stack.enter_context(closing(filtered_batches(source, options, threads=run.threads, **reads)))
        yield batches, functools.cache(lambda: OmegaScanner(stack.enter_context(lent_engine(engine))))


class _Counted(NamedTuple):
    """What a projection needs of alignments, and how long their scans take on this machine."""

    workloads: list[Workload]
    discarded: list[Mapping[str, int]]
    measured: Measured | None


def _counted(
    batches: Iterator[FilteredBatch], options: ScanOptions, scanner: LateScanner | None, progress: Progress | None
) -> _Counted:
    """Count the trips of loops; with a scanner, time the same scans."""
    workloads: list[Workload] = []
    discarded: list[Mapping[str, int]] = []
    runs: list[list[TimedRun]] = []
    for batch in batches:
        workloads += [workload_of(alignment, options) for alignment in batch.alignments]
        discarded += [one.discarded for one in batch.prepared]
        if scanner is not None:
            runs.append(_timed(scanner(), batch, options))
        del batch  # before the next one is read
        if progress is not None:
            progress(len(workloads), None)
    measured = measured_of(scanner().engine.device, runs) if scanner is not None and runs else None
    return _Counted(workloads, discarded, measured)


def project_workloads(
    workloads: Sequence[Workload],
    designs: Sequence[Config | str] = ("u200",),
    *,
    level: Level = "L1",
    all_pairs: bool = False,
    uncertainty: bool = True,
    discarded: Sequence[Mapping[str, int]] | None = None,
    measured: Measured | None = None,
    accounting: Accounting = "design",
) -> ScanProjection:
    """Project scans whose trip counts are known already; parameters and errors as for `project_scan`.

    Parameters
    ----------
    workloads : sequence of Workload
        At least one; see `oclgenomics.fpga.workload_at`.
    discarded : sequence of mapping of str to int, optional
        What was left out of each scan.
    measured : Measured, optional
        The same scans on this machine.

    Raises
    ------
    ParameterError
        There is no workload.
    """
    if not workloads:
        raise ParameterError("workloads", "must not be empty")
    rows = {
        config.name: tuple(
            project(workload, config, level, all_pairs=all_pairs, uncertainty=uncertainty, accounting=accounting)
            for workload in workloads
        )
        for config in fitting_designs(designs, accounting)
    }
    left_out = tuple({} for _ in workloads) if discarded is None else tuple(discarded)
    return ScanProjection(rows, left_out, measured, level)


def _timed(scanner: OmegaScanner, batch: FilteredBatch, options: ScanOptions) -> list[TimedRun]:
    """Time the scans of a batch, several times."""
    return repeated(lambda: [scan.stats.seconds for scan in scanner.scan_batch(batch.alignments, options)])


@verb
def run_scan(
    source: AlignmentSource,
    options: ScanOptions,
    design: Config | str = "u200",
    *,
    matrix: Matrix = "float32",
    reading: ReadOptions = ReadOptions(),
    exclude: BedRegions | str | os.PathLike[str] | None = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
) -> ScanRun:
    """Compute every omega of a scan as a design does, and compare the maxima with those of the scan.

    The arithmetic is that of `hls_model.functional`: float32, the order of Fig. 8 of the paper, subnormals flushed to
    zero, a maximum for each lane, and their merge. The operands are of the matrix M of Eq. 3: the value v of a pair of
    sites is n r^2 in float32, as `omega scan` sums it (docs/how/omega.md).

    Parameters
    ----------
    source, options, reading, exclude, on_alignment, engine
        As for `oclgenomics.omega.scan`. `options` have to have every pair of borders (`border=-1`), r^2
        (`ld="RSQUARE"`) and `precision="accurate"`.
    design : Config or str
        A design, or the name of a preset or .toml file. Lanes, lane map and remainder decide who finds a maximum; the
        maximum itself is the same for all, because the merge keeps the order of the sequential loop.
    matrix : {'float32', 'exact'}
        M by the recurrence of OmegaPlus, the host's software in the paper, each operation rounded to float32:
        M[i, j] = ((v[i, j] + M[i, j - 1]) + M[i + 1, j]) - M[i + 1, j - 1]; errors are those of M and of the lanes.
        Or M summed in float64 and rounded once to float32: errors are those of the lanes alone.
    run : Run, optional
        Its `threads` read the input, and compute; one per core, at most 4, if not given. Its `progress` is called with
        (grid positions of an alignment done, in all).

    Returns
    -------
    ScanRun

    Raises
    ------
    ModelError
        An unknown design, or one that does not fit its board.
    UsageError
        Options that the pipeline does not do, or a window of more than 20,000 sites.
    InputError, DeviceError
        As for `oclgenomics.omega.scan`.

    Notes
    -----
    M is held for a stretch of sites at a time, at least as long as a window, in float32 and in float64: 12 bytes times
    the square of its sites, or 0.45 GB at most for windows of up to 6,144 sites, and 4.8 GB for 20,000.

    Examples
    --------
    >>> from oclgenomics.fpga import run_scan
    >>> from oclgenomics.omega import ScanOptions
    >>> options = ScanOptions(grid=500, minwin=1_000, maxwin=100_000)
    >>> found = run_scan("chr20.vcf.gz", options, "u200")  # doctest: +SKIP
    >>> found.summary()["largest_error"], found.summary()["other_windows"]  # doctest: +SKIP
    """
    check_modelled(options, matrix)
    config = load(design) if isinstance(design, str) else design
    check_fits(config)
    run = run or Run()
    reads = {"reading": reading, "exclude": exclude, "on_alignment": on_alignment}
    done: list[AlignmentRun] = []
    with (
        ThreadPoolExecutor(run.threads or min(usable_cores(), MAX_THREADS)) as pool,
        _opened(source, options, run, engine, **reads) as (batches, scanner),
    ):
        for batch in batches:
            _check_spans(batch, options)
            hardware = Hardware(options, config, matrix == "exact", scanner().engine, pool, run.progress)
            done += _computed(batch, scanner(), hardware, options)
            del batch  # before the next one is read
    return ScanRun(tuple(done), config, matrix)


def _check_spans(batch: FilteredBatch, options: ScanOptions) -> None:
    """Refuse windows that are too large; see `check_span`."""
    for alignment in batch.alignments:
        if (windows := windows_of(alignment, options)) is not None:
            check_span(windows, alignment.name)


def _computed(
    batch: FilteredBatch, scanner: OmegaScanner, hardware: Hardware, options: ScanOptions
) -> Iterator[AlignmentRun]:
    """Yield what the hardware finds in the alignments of a batch, next to what the scan does."""
    scans = scanner.scan_batch(batch.alignments, options)
    for prepared, scan in zip(batch.prepared, scans, strict=True):
        found = hardware.run(prepared.alignment, len(scan.positions))
        yield alignment_run(prepared.alignment, scan, found, prepared.discarded)
