"""What `oclgenomics fpga project` does: sites and windows of the scan, their projection, and a measurement."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hls_model.cli import common as model_common
from hls_model.cli.project import designs
from hls_model.config import Config
from hls_model.positions import read_positions
from hls_model.project import Projection, project, totals
from hls_model.workload import Workload, even_positions
from oclgenomics.cli.fpga.report import Measured, projection_text
from oclgenomics.cli.omega.options import scan_options
from oclgenomics.cli.options import open_engine, report_profile
from oclgenomics.cli.output import provenance, say
from oclgenomics.cli.read_options import read_options, say_unphased
from oclgenomics.errors import UsageError
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.sources import first_read
from oclgenomics.omega.windows import find_windows
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import words_for

if TYPE_CHECKING:
    from oclgenomics.omega.device.scanner import OmegaScanner
    from oclgenomics.runtime import Engine

__all__ = ["project_scan", "random_alignment", "workload_of"]

MAX_BYTES = 8 << 30  # of genotypes drawn at random
MAX_TRIES, ENOUGH_SECONDS = 5, 5.0  # measurements of the same scans, of which the shortest counts


def project_scan(args: argparse.Namespace) -> int:
    """Run the command; see `oclgenomics.cli.fpga.project.run`."""
    options, configs = scan_options(args), designs(args)
    with ExitStack() as stack:
        if _measures(args):
            from oclgenomics.runtime import select_device

            select_device(args.device)  # a device that is not there is told before any reading
        alignments = _alignments(args, stack)
        engine = stack.enter_context(open_engine(args)) if _measures(args) else None
        workloads, seconds = _scans(args, options, alignments, engine)
        if engine is not None:
            report_profile(args, engine)
    measured = None if engine is None else Measured(str(engine.device), seconds)
    rows = {
        config.name: [project(workload, config, args.level, all_pairs=args.all_pairs) for workload in workloads]
        for config in configs
    }
    record = provenance(args, engine)
    text = projection_text(rows, measured)
    model_common.write(args, text, _record(record, rows, measured), lambda: _figure(args, workloads, configs))
    return 0


def workload_of(alignment: Alignment, options: ScanOptions) -> Workload:
    """Return the trip counts of the scan of an alignment, as `omega scan` would do it.

    Parameters
    ----------
    alignment : Alignment
        Filtered; see `oclgenomics.omega.scan.filter_alignment`.
    options : ScanOptions
        Its `border` is not modelled.
    """
    from oclgenomics.omega.device.scanner import MIN_SITES

    left = right = first = last = np.zeros(options.grid, np.int64)
    if alignment.sites >= MIN_SITES:
        windows = find_windows(alignment.positions, options)
        first, last = windows.first, windows.last
        left = np.where(windows.valid, windows.inner_left - first + 1, 0)
        right = np.where(windows.valid, last - windows.inner_right + 1, 0)
    return Workload(left, right, first, last, alignment.sites, alignment.haplotypes, alignment.name)


def random_alignment(positions: NDArray[np.int64], haplotypes: int, seed: int, name: str) -> Alignment:
    """Return independent sites of equally frequent states, all of them variable (2 haplotypes or more).

    Raises
    ------
    UsageError
        They would take more than 8 GiB.
    """
    words = words_for(haplotypes)
    if 4 * words * len(positions) > MAX_BYTES:
        raise UsageError(f"--samples {haplotypes}: at {len(positions):,} SNPs they take more than 8 GiB; give fewer")
    random = np.random.default_rng(seed)
    bits = random.integers(0, 1 << 32, (words, len(positions)), np.uint32)
    bits[0] = bits[0] & ~np.uint32(1) | np.uint32(2)  # both states
    if haplotypes % 32:
        bits[-1] &= np.uint32((1 << haplotypes % 32) - 1)
    letters = np.tile(np.frombuffer(b"01", np.uint8), (len(positions), 1))
    return Alignment(name, positions, bits, haplotypes, letters)


def _measures(args: argparse.Namespace) -> bool:
    """Whether a measurement is wanted and there are genotypes for it."""
    return not args.no_measure and (args.input is not None or args.samples > 0)


def _scans(
    args: argparse.Namespace, options: ScanOptions, alignments: Iterator[Alignment], engine: Engine | None
) -> tuple[list[Workload], list[float]]:
    """Trip counts of every scan, and its seconds where there is a device."""
    from oclgenomics.omega.batch import batches
    from oclgenomics.omega.device.scanner import OmegaScanner
    from oclgenomics.omega.scan import filter_alignment
    from oclgenomics.variation.bed import read_bed

    if args.input is None and not args.samples:
        return [workload_of(alignment, options) for alignment in alignments], []  # no genotypes to filter
    exclude = read_bed(args.exclude) if args.exclude else None
    scanner = None if engine is None else OmegaScanner(engine)
    workloads: list[Workload] = []
    seconds: list[float] = []
    for batch in batches(alignments):
        for alignment in batch:
            say_unphased(args, alignment)
        prepared = [filter_alignment(alignment, options, exclude) for alignment in batch]
        del batch
        used = [one.alignment for one in prepared]
        for one in prepared:
            workloads.append(workload_of(one.alignment, options))
            _say_empty(args, workloads[-1], one.discarded)
        if scanner is not None:
            seconds += _measure(scanner, used, options)
    return workloads, seconds


def _say_empty(args: argparse.Namespace, workload: Workload, discarded: dict[str, int]) -> None:
    """Warn of a scan in which there is nothing to compute."""
    if not workload.omegas:
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in discarded.items() if count) or "none"
        sites = f"{workload.snps:,} sites (left out: {left_out})"
        say(args, f"warning: {workload.name}: no window holds enough of its {sites}")


def _measure(scanner: OmegaScanner, used: list[Alignment], options: ScanOptions) -> list[float]:
    """Seconds of each scan: the best of some, after one in which kernels were compiled."""
    scanner.scan_batch(used, options)
    tries: list[list[float]] = []
    while len(tries) < MAX_TRIES and sum(map(sum, tries)) < ENOUGH_SECONDS:
        tries.append([scan.stats.seconds for scan in scanner.scan_batch(used, options)])
    return min(tries, key=sum)


def _alignments(args: argparse.Namespace, stack: ExitStack) -> Iterator[Alignment]:
    """Alignments of the input, or the one that is made; without samples it has positions alone."""
    from oclgenomics.variation import PREFETCH_BYTES, read_alignments

    if args.input is None:
        positions, name = _positions(args)
        if args.samples:
            return iter([random_alignment(positions, args.samples, args.seed, name)])
        none = np.zeros((0, len(positions)), np.uint32)
        return iter([Alignment(name, positions, none, 0, np.zeros((len(positions), 2), np.uint8))])
    reading = read_alignments(
        args.input, read_options(args, args.samples), threads=args.threads, prefetch=PREFETCH_BYTES
    )
    return first_read(stack.enter_context(closing(reading)), args.input)


def _positions(args: argparse.Namespace) -> tuple[NDArray[np.int64], str]:
    if args.positions is not None:
        return read_positions(args.positions), Path(args.positions).name
    return even_positions(args.snps, args.length), f"{args.snps:,} uniform SNPs"


def _record(made: dict[str, Any], rows: dict[str, list[Projection]], measured: Measured | None) -> dict[str, object]:
    record: dict[str, object] = {
        "provenance": made,
        "projections": [one.record() for projections in rows.values() for one in projections],
        "totals": {name: totals(projections) for name, projections in rows.items()},
        "measured": None,
    }
    if measured is not None:
        record["measured"] = {"device": measured.device, "seconds": measured.seconds, "total": sum(measured.seconds)}
    return record


def _figure(args: argparse.Namespace, workloads: list[Workload], configs: list[Config]) -> Any:
    from hls_model.plots.phases import plot_phases

    scan = workloads[0] if len(workloads) == 1 else Workload.joined(workloads, f"{len(workloads)} alignments")
    return plot_phases([project(scan, config, args.level) for config in configs])
