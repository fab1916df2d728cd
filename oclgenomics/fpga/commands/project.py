"""`project`: a scan on FPGA designs by the model, and the same scan on this machine's device."""

from __future__ import annotations

import argparse
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hls_model.choices import ACCOUNTINGS
from hls_model.config import CHOICES, Config
from hls_model.errors import ModelError
from hls_model.presets import load, parse_settings
from oclgenomics import fpga, omega, runtime
from oclgenomics.app.commands import (
    add_device_options,
    count,
    open_engine,
    provenance,
    report_profile,
    say,
    started_progress,
)
from oclgenomics.app.files import reads
from oclgenomics.app.html_output import add_html_option, input_title, write_page
from oclgenomics.app.inputs import add_reading_options, read_options, say_unphased
from oclgenomics.errors import UsageError
from oclgenomics.fpga import plots
from oclgenomics.fpga.commands import common
from oclgenomics.fpga.commands.prices import add_price_options, check_prices, with_costs
from oclgenomics.fpga.commands.projection_text import busy_text, projection_record, projection_text
from oclgenomics.lazy_names import late
from oclgenomics.omega.commands.options import add_method_options, add_site_options, add_window_options, scan_options
from oclgenomics.omega.options import ScanOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions
    from oclgenomics.variation.read_options import ReadOptions
    from oclgenomics.variation.sources import AlignmentSource

bed = late("oclgenomics.variation.bed")
fpga_options = late("oclgenomics.fpga.options")
project = late("hls_model.project")
sources = late("oclgenomics.variation.sources")
workloads = late("hls_model.workload")

# What we infer for the paper's data sets; for the scan of SNPs that are spread evenly.
EVEN_DEFAULTS = {"grid": 1_000, "minwin": 1_000, "maxwin": 20_000, "length": 100_000, "snps": 13_000}
RANDOM_SEED = 1


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = common.add_command(
        subparsers, "project", run,
        "Project a scan onto one or several designs, and time the same scan on this machine. INPUT and its "
        "options are those of `oclgenomics omega scan`; without INPUT the SNPs are spread evenly or come from "
        "--positions, and --samples N draws genotypes for the measurement.",
    )  # fmt: skip
    common.add_input(parser, nargs="?")
    add_window_options(parser, required=False)
    group = parser.add_argument_group("input")
    add_reading_options(group)
    samples = group.add_argument(
        "--samples", metavar="FILE|N",
        help="with INPUT: file of the samples to use, one per line; without: number of random haplotypes",
    )  # fmt: skip
    reads(samples, lambda args, given: [given] if args.input else [])
    reads(group.add_argument(
        "--exclude", metavar="BED", help="leave out the sites within these regions (default: none)"
    ))  # fmt: skip
    group.add_argument("--snps", type=count, metavar="N", help="without INPUT: SNPs, spread evenly (default: 13000)")
    reads(group.add_argument("--positions", metavar="FILE", help="without INPUT: SNPs at these positions, one a line"))
    add_site_options(parser, "seed of the draws, and of random genotypes (for these 1 if not given)")
    add_method_options(parser)
    common.add_level_option(parser)
    common.add_design_options(parser)
    _add_compare_options(parser)
    add_price_options(parser)
    parser.add_argument(
        "--no-measure", action="store_true", help="project only (default: also time the scan on this machine)"
    )
    group = common.add_shared_options(parser, "", plot="where the time goes")
    add_html_option(group, "where the time goes")
    add_device_options(parser)


def _add_compare_options(parser: argparse.ArgumentParser) -> None:
    """Add --compare, --ld-engine and --accounting, which `_designs` reads, --all-pairs and --uncertainty."""
    compared = parser.add_argument(
        "--compare", action="append", default=[], metavar="NAME",
        help="another board or .toml file to project onto as well; may be repeated",
    )  # fmt: skip
    reads(compared, common.design_files)
    parser.add_argument(
        "--ld-engine", choices=CHOICES["ld"],
        help="LD by an engine on the card, or at the rate of the accelerator that the paper cites; for all designs "
        "(default: as each design has it, which is card for those with a name)",
    )  # fmt: skip
    parser.add_argument(
        "--all-pairs", action="store_true",
        help="count LD as the square of the SNPs, as OmegaPlus for GPUs computes it (default: the pairs that windows "
        "hold)",
    )  # fmt: skip
    parser.add_argument(
        "--accounting", choices=tuple(ACCOUNTINGS), default="design",
        help="count the phases as the design has them, or as the totals of the paper do: LD of all pairs at the "
        "published rate, columns that come aligned, one start of the kernels; the other total is shown as well "
        "(default: %(default)s)",
    )  # fmt: skip
    common.add_uncertainty_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    _check(args)
    options, configs = scan_options(args), _designs(args)
    reading = read_options(args, args.samples if args.input is not None else None)
    exclude = bed.read_bed(args.exclude) if args.exclude else None
    if _measures(args):
        runtime.select_device(args.device)  # a device that is not there is reported before any reading
    found, made = _projected(args, options, configs, reading, exclude)
    for workload, discarded in zip(found.workloads, found.discarded, strict=True):
        if not workload.omegas and (args.input is not None or args.samples):
            common.say_empty(args, workload.name, workload.snps, discarded)
    if found.measured is not None and found.measured.busy:
        say(args, f"warning: {busy_text(found.measured)}; run it again when the machine is idle")
    text, record = with_costs(args, found.projections, projection_text(found), projection_record(found, made))
    status = common.write(args, text, record, found.plot)
    if args.html:
        how: dict[str, Any] = {"title": _title(args), "uncertain": found.uncertain}
        write_page(args, plots.projection_page(found.projections, found.measured, **how).text(made))
    return status


def _title(args: argparse.Namespace) -> str:
    if args.input is not None:
        return input_title([args.input])
    return "SNPs that are spread evenly" if args.positions is None else Path(args.positions).name


def _check(args: argparse.Namespace) -> None:
    """Refuse options that contradict each other, and fill in those that were not given."""
    if args.border >= 0:
        raise UsageError(f"--border {args.border}: the pipeline tries every pair of borders; leave the option out")
    if args.input is None:
        _check_made(args)
    else:
        _check_read(args)


def _check_read(args: argparse.Namespace) -> None:
    for name in ("grid", "minwin", "maxwin"):
        if getattr(args, name) is None:
            raise UsageError(f"--{name} is missing; a scan of INPUT needs --grid, --minwin and --maxwin")
    for name in ("snps", "positions"):
        if getattr(args, name) is not None:
            raise UsageError(f"--{name} makes SNPs and INPUT has its own; give one of them")


def _check_made(args: argparse.Namespace) -> None:
    if args.positions is not None and (args.snps is not None or args.length is not None):
        raise UsageError("--positions says where the SNPs are; leave out --snps and --length")
    for name in ("input_format", "exclude"):
        if getattr(args, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is for an INPUT, and none is given")
    for name, value in EVEN_DEFAULTS.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    try:
        args.samples = count(args.samples) if args.samples else 0
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"--samples {args.samples}: without INPUT it is a number of haplotypes") from error
    if args.samples == 1:
        raise UsageError("--samples 1: give 2 haplotypes or more")
    args.seed = RANDOM_SEED if args.seed is None else args.seed


def _designs(args: argparse.Namespace) -> list[Config]:
    """Return the designs of the options, all of which fit their boards; no two have the same name.

    Raises
    ------
    ModelError
        An unknown design, one that does not fit, or two answers to where LD is computed.
    """
    _check_accounting(args)
    found = [common.design(args), *map(load, args.compare)]
    if args.ld_engine is not None:
        given = parse_settings(args.settings).get("ld", args.ld_engine)
        if given != args.ld_engine:
            raise ModelError(f"--ld-engine {args.ld_engine} and --set ld={given}: give one of them")
        found = [config.but(ld=args.ld_engine) for config in found]
    fitting: list[Config] = fpga_options.fitting_designs(found, args.accounting)
    check_prices(args, fitting)
    return fitting


def _check_accounting(args: argparse.Namespace) -> None:
    """Refuse what contradicts the paper's accounting."""
    if args.accounting != "paper":
        return
    given = parse_settings(args.settings)
    for name, value in project.PAPER.items():
        if given.get(name, value) != value:
            raise ModelError(f"--accounting paper and --set {name}={given[name]}: give one of them")
    if args.ld_engine not in (None, project.PAPER["ld"]):
        raise ModelError(f"--accounting paper and --ld-engine {args.ld_engine}: give one of them")


def _measures(args: argparse.Namespace) -> bool:
    """Whether a measurement is wanted and there are genotypes for it."""
    return not args.no_measure and (args.input is not None or args.samples > 0)


def _projected(
    args: argparse.Namespace,
    options: ScanOptions,
    configs: list[Config],
    reading: ReadOptions,
    exclude: BedRegions | None,
) -> tuple[fpga.ScanProjection, dict[str, Any]]:
    """The projection of the input, or of made SNPs; and what made it."""
    if args.input is not None:
        with closing(sources.open_alignments(args.input, reading, threads=args.threads)) as read:
            return _scanned(args, sources.first_read(read, args.input), options, configs, exclude)
    positions, name = _positions(args)
    if args.samples:
        made = fpga.random_alignment(positions, args.samples, args.seed, name)
        return _scanned(args, made, options, configs, exclude)
    workload = fpga.workload_at(positions, options, name=name)
    return fpga.project_workloads([workload], configs, **_how(args)), provenance(args, None)


def _how(args: argparse.Namespace) -> dict[str, Any]:
    """The options of `fpga.project_scan` and `fpga.project_workloads`."""
    return {name: getattr(args, name) for name in ("level", "all_pairs", "uncertainty", "accounting")}


def _scanned(
    args: argparse.Namespace,
    source: AlignmentSource,
    options: ScanOptions,
    configs: list[Config],
    exclude: BedRegions | None,
) -> tuple[fpga.ScanProjection, dict[str, Any]]:
    progress = started_progress(args, "timing alignments", "alignments", 1)

    def begin(alignment: Alignment) -> None:
        progress.clear()
        say_unphased(args, alignment)

    with nullcontext() if args.no_measure else open_engine(args) as engine:
        found = fpga.project_scan(
            source, options, configs, measure=not args.no_measure, exclude=exclude, on_alignment=begin, engine=engine,
            run=omega.Run(progress=progress.update), **_how(args),
        )  # fmt: skip
        progress.clear()
        if engine is not None:
            report_profile(args, engine)
        return found, provenance(args, engine)


def _positions(args: argparse.Namespace) -> tuple[NDArray[np.int64], str]:
    if args.positions is not None:
        return workloads.read_positions(args.positions), Path(args.positions).name
    return workloads.even_positions(args.snps, args.length), f"{args.snps:,} uniform SNPs"
