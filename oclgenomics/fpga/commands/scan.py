"""What `oclgenomics fpga project` does: the scan, projected and measured, as a table, JSON and a figure."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hls_model.cli import common as model_common
from hls_model.cli.prices import with_costs
from hls_model.cli.project import designs
from hls_model.config import Config
from hls_model.files import read_positions
from hls_model.workload import even_positions
from oclgenomics.app.commands import open_engine, provenance, report_profile, say
from oclgenomics.app.inputs import read_options, say_unphased
from oclgenomics.fpga import ScanProjection, project_scan, project_workloads, random_alignment, workload_at
from oclgenomics.fpga.commands.report import busy_text, projection_record, projection_text
from oclgenomics.omega.commands.options import scan_options
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.sources import AlignmentSource, first_read, open_alignments
from oclgenomics.runtime import select_device
from oclgenomics.variation.bed import BedRegions, read_bed
from oclgenomics.variation.read_options import ReadOptions

__all__ = ["project_input"]


def project_input(args: argparse.Namespace) -> int:
    """Run the command; see `oclgenomics.fpga.commands.project.run`."""
    options, configs = scan_options(args), designs(args)
    reading = read_options(args, args.samples if args.input is not None else None)
    exclude = read_bed(args.exclude) if args.exclude else None
    if _measures(args):
        select_device(args.device)  # a device that is not there is told before any reading
    found, made = _projected(args, options, configs, reading, exclude)
    for workload, discarded in zip(found.workloads, found.discarded, strict=True):
        if not workload.omegas and (args.input is not None or args.samples):
            left_out = ", ".join(f"{count:,} {reason}" for reason, count in discarded.items() if count) or "none"
            sites = f"{workload.snps:,} sites (left out: {left_out})"
            say(args, f"warning: {workload.name}: no window holds enough of its {sites}")
    if found.measured is not None and found.measured.busy:
        say(args, f"warning: {busy_text(found.measured)}; run it again when the machine is idle")
    text, record = with_costs(args, found.projections, projection_text(found), projection_record(found, made))
    model_common.write(args, text, record, found.plot)
    return 0


def _measures(args: argparse.Namespace) -> bool:
    """Whether a measurement is wanted and there are genotypes for it."""
    return not args.no_measure and (args.input is not None or args.samples > 0)


def _projected(
    args: argparse.Namespace,
    options: ScanOptions,
    configs: list[Config],
    reading: ReadOptions,
    exclude: BedRegions | None,
) -> tuple[ScanProjection, dict[str, Any]]:
    """The projection of the input, or of made SNPs; and what made it."""
    if args.input is not None:
        with closing(open_alignments(args.input, reading, threads=args.threads)) as read:
            return _scanned(args, first_read(read, args.input), options, configs, exclude)
    positions, name = _positions(args)
    if args.samples:
        made = random_alignment(positions, args.samples, args.seed, name)
        return _scanned(args, made, options, configs, exclude)
    workload = workload_at(positions, options, name=name)
    found = project_workloads(
        [workload], configs, level=args.level, all_pairs=args.all_pairs, uncertainty=args.uncertainty,
        accounting=args.accounting,
    )  # fmt: skip
    return found, provenance(args, None)


def _scanned(
    args: argparse.Namespace,
    source: AlignmentSource,
    options: ScanOptions,
    configs: list[Config],
    exclude: BedRegions | None,
) -> tuple[ScanProjection, dict[str, Any]]:
    def projected(**device: Any) -> ScanProjection:
        return project_scan(
            source, options, configs, level=args.level, all_pairs=args.all_pairs, uncertainty=args.uncertainty,
            accounting=args.accounting, exclude=exclude,
            on_alignment=lambda alignment: say_unphased(args, alignment), **device,
        )  # fmt: skip

    if args.no_measure:
        return projected(measure=False), provenance(args, None)
    with open_engine(args) as engine:
        found = projected(engine=engine)
        report_profile(args, engine)
        return found, provenance(args, engine)


def _positions(args: argparse.Namespace) -> tuple[NDArray[np.int64], str]:
    if args.positions is not None:
        return read_positions(args.positions), Path(args.positions).name
    return even_positions(args.snps, args.length), f"{args.snps:,} uniform SNPs"
