"""A real scan on FPGA designs by the model, beside the same scan on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from hls_model.config import Config
from hls_model.presets import load, told_apart
from hls_model.project import Accounting, counted, project
from hls_model.resources import check_fits
from hls_model.timing.result import Level
from hls_model.workload import Workload
from oclgenomics.errors import ParameterError
from oclgenomics.fpga.measuring import Measured, Run, measured_of, repeated
from oclgenomics.fpga.result import ScanProjection
from oclgenomics.fpga.workloads import workload_of
from oclgenomics.omega.api import FilteredBatch, filtered_batches
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.sources import AlignmentSource
from oclgenomics.variation.read_options import ReadOptions

if TYPE_CHECKING:
    from oclgenomics.runtime import Device, Engine
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions

__all__ = ["project_scan", "project_workloads"]


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
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> ScanProjection:
    """Project a scan onto designs, and time the same scan on this machine.

    Parameters
    ----------
    source, options, reading, exclude, on_alignment, engine, device, max_memory, threads
        As for `oclgenomics.omega.api`; `options.border` has to be -1, as the pipeline tries every pair of borders.
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
    progress : callable, optional
        Called with (alignments done, None).

    Returns
    -------
    ScanProjection

    Raises
    ------
    ModelError
        An unknown design, or one that does not fit its board.
    InputError, UsageError, DeviceError
        As for `oclgenomics.omega.api`.

    Examples
    --------
    >>> from oclgenomics.fpga import project_scan
    >>> from oclgenomics.omega import ScanOptions
    >>> options = ScanOptions(grid=1_000, minwin=1_000, maxwin=100_000)
    >>> project_scan("chr20.vcf.gz", options, ["u200", "zcu102"]).to_frame()  # doctest: +SKIP
    """
    if options.border >= 0:
        raise ParameterError("border", "the pipeline tries every pair of borders; leave it at -1", options.border)
    configs = fitting_designs(designs, accounting)
    workloads: list[Workload] = []
    discarded: list[Mapping[str, int]] = []
    runs: list[list[Run]] = []
    with ExitStack() as stack:
        batches = filtered_batches(
            source, options, reading=reading, exclude=exclude, on_alignment=on_alignment, threads=threads
        )
        scanner = None if engine is None or not measure else OmegaScanner(engine)
        for batch in stack.enter_context(closing(batches)):
            workloads += [workload_of(alignment, options) for alignment in batch.alignments]
            discarded += [one.discarded for one in batch.prepared]
            if measure:
                scanner = scanner or OmegaScanner(_opened(stack, device, max_memory))
                runs.append(_timed(scanner, batch, options))
            del batch  # before the next one is read
            if progress is not None:
                progress(len(workloads), None)
    measured = None if scanner is None else measured_of(scanner.engine.device, runs)
    return project_workloads(
        workloads,
        configs,
        level=level,
        all_pairs=all_pairs,
        uncertainty=uncertainty,
        discarded=discarded,
        measured=measured,
        accounting=accounting,
    )


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


def fitting_designs(designs: Sequence[Config | str], accounting: Accounting = "design") -> list[Config]:
    """Return the designs, whose names differ, or the first error of one that does not fit its board."""
    if not designs:
        raise ParameterError("designs", "must not be empty")
    found = [load(design) if isinstance(design, str) else design for design in designs]
    for config in found:
        check_fits(counted(config, accounting))
    return told_apart(found)


def _timed(scanner: OmegaScanner, batch: FilteredBatch, options: ScanOptions) -> list[Run]:
    """Time the scans of a batch, several times."""
    return repeated(lambda: [scan.stats.seconds for scan in scanner.scan_batch(batch.alignments, options)])


def _opened(stack: ExitStack, device: Device | str | None, max_memory: int | None) -> Engine:
    from oclgenomics.runtime import Engine

    return stack.enter_context(Engine(device, max_memory=max_memory))
