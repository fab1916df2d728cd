"""`oclgenomics omega ld`: linkage disequilibrium around a peak of a scan, and the window that gave its omega."""

from __future__ import annotations

import argparse
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import oclgenomics
from oclgenomics import omega
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads, writes
from oclgenomics.app.html_output import add_html_option, input_title, write_page
from oclgenomics.app.inputs import add_reading_options, position, read_options, say_unphased
from oclgenomics.errors import UsageError
from oclgenomics.omega import formats, ld, plots
from oclgenomics.omega.commands.options import add_region_options, add_site_options

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine
    from oclgenomics.variation import Alignment


FORMATS = ("tsv", "json")


AS_SCANNED = app.FromReport("as the report says")


def add_parser(actions: Any) -> None:
    """Add `ld` to the actions of `omega`."""
    parser = app.add_command(
        actions, run, "ld",
        help="map of linkage disequilibrium around a peak, with the window that gave its omega",
        description="Compute r2 between all sites around a peak of a scan. Draw it with the window outlined, and give "
        "its means within the window's halves and across. The report supplies the options of the scan.",
    )  # fmt: skip
    reads(parser.add_argument("input", metavar="INPUT", help="the input of the scan; - for standard input"))
    group = parser.add_argument_group("what to show (--scan or --region)")
    reads(group.add_argument("--scan", metavar="REPORT", help="tsv or json report of `omega scan`"))
    group.add_argument(
        "--peak",
        type=app.count,
        metavar="N",
        help="its N-th highest peak whose window overlaps no higher one (default: 1)",
    )
    group.add_argument("--at", metavar="CHR:POS", help="its grid position nearest to POS instead")
    group.add_argument(
        "--margin",
        type=app.count,
        metavar="BP",
        help="bp shown on both sides of the window (default: a quarter of its width)",
    )
    group.add_argument("--region", metavar="CHR:FROM-TO", help="a region, without a window")
    group = parser.add_argument_group("results")
    writes(group.add_argument("--plot", metavar="FILE", help="draw the map; .png, .svg or .pdf"))
    add_html_option(group, "the map")
    writes(group.add_argument("--values", metavar="FILE", help="write r2 of all pairs; .tsv or .npz"))
    group = parser.add_argument_group("input (default: as the report says)")
    add_reading_options(group)
    reads(group.add_argument("--samples", metavar="FILE", help="samples to use, one per line (default: all)"))
    add_region_options(group)
    add_site_options(parser)
    parser.set_defaults(phase=AS_SCANNED, maf=AS_SCANNED, no_singletons=None, binary=None, impute=None)
    app.add_output_options(parser, formats=FORMATS, what="means")
    app.add_device_options(parser)


def run(args: argparse.Namespace) -> int:
    """Draw and write linkage disequilibrium of a region.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    at = None if args.at is None else _position(args.at)
    shown = None if args.region is None else _region(args.region)
    options = omega.LdOptions(scan=args.scan, peak=args.peak, at=at, margin=args.margin, region=shown)
    output = app.OutputOptions.resolve(args, FORMATS)
    if args.plot:
        plots.plot_format(args.plot)
    if args.values:
        formats.values_format(args.values)
    report = None if options.scan is None else omega.read_report(args.scan)
    request = ld.request_map(options, report, _given(args))
    vars(args).update(request.values)
    read_options(args, args.samples)  # refuses what is out of range
    app.check_files(args)  # now with the files that the report names
    oclgenomics.select_device(args.device)  # a device that is not there is reported before the reading
    region = _read(args, request)
    with app.open_engine(args) as engine:
        made = app.provenance(args, engine)
        found = _compute(args, output, region, request, engine, made)
        app.report_profile(args, engine)
    _say_map(args, request, found)
    if args.plot or args.html:
        _write_figures(args, found, made)
    app.say_written(args)
    return 0


# Options


def _position(text: str) -> tuple[str, float]:
    chromosome, _, place = text.rpartition(":")
    if not chromosome:
        raise UsageError(f"--at {text}: write CHR:POS, such as 20:1M")
    return chromosome, _place("--at", text, place)


def _region(text: str) -> tuple[str, int, int]:
    chromosome, _, span = text.rpartition(":")
    first, dash, last = span.partition("-")
    if not (chromosome and dash):
        raise UsageError(f"--region {text}: write CHR:FROM-TO, such as 20:1M-1.2M")
    return chromosome, _place("--region", text, first), _place("--region", text, last)


def _place(option: str, given: str, text: str) -> int:
    """A position within an option's value; commas between thousands may stand."""
    try:
        return position(text)
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"{option} {given}: {error}") from None


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """The options that a report may record, as they are given; None where they are not."""
    values = {name: getattr(args, name) for name in ld.RECORDED}
    return {name: None if value is AS_SCANNED else value for name, value in values.items()}


# The way to the map


def _read(args: argparse.Namespace, request: ld.MapRequest) -> ld.LdRegion:
    progress = app.started_progress(args, "reading")

    def on_alignment(alignment: Alignment) -> None:
        progress.clear()
        say_unphased(args, alignment)

    return ld.read_region(
        args.input, request, threads=args.threads, on_alignment=on_alignment, progress=progress.update
    )


def _compute(
    args: argparse.Namespace,
    output: app.OutputOptions[str],
    region: ld.LdRegion,
    request: ld.MapRequest,
    engine: Engine,
    made: dict[str, Any],
) -> omega.LdMap:
    """Compute the map, and write the means, and all values as they come."""
    progress = app.started_progress(args, "linkage disequilibrium", "sites", 1)
    with ExitStack() as stack:
        writer = _values_writer(args, region, made, stack)
        on_block = None if writer is None else writer.add
        found = ld.map_region(region, request, engine, on_block=on_block, progress=progress.update)
        progress.clear()
        if writer is not None:
            writer.finish()
    text = formats.parts_json if output.format == "json" else formats.parts_tsv
    output.write(text(region, found.parts, made))
    return found


def _values_writer(
    args: argparse.Namespace, region: ld.LdRegion, made: dict[str, Any], stack: ExitStack
) -> formats.PairTable | formats.MatrixFile | None:
    """Who writes the values of all pairs, if they are to be written."""
    if not args.values:
        return None
    if formats.values_format(args.values) == "tsv":
        return formats.PairTable(stack.enter_context(app.text_output(args.values)), region, made)
    return formats.MatrixFile(stack.enter_context(app.binary_output(args.values)), region)


# Results


def _say_map(args: argparse.Namespace, request: ld.MapRequest, found: omega.LdMap) -> None:
    region, point = found.region, found.region.point
    means = ", ".join(f"{part.name} {part.mean:.3g}" for part in found.parts if part.defined)
    where = f"{region.alignment.name}: {region.start:,}-{region.end:,}, {region.alignment.sites:,} sites"
    if point is not None:
        left, right = point.window
        where += f"; omega {point.omega:,.6g} at {point.position:,.0f} bp, window {left:,}-{right:,}"
    app.say(args, f"{where}; mean r2: {means}")
    if undefined := found.parts[-1].undefined:
        why = "a site does not vary among the haplotypes observed at both"
        app.say(args, f"{undefined:,} of {found.parts[-1].pairs:,} pairs have no r2 (NA, left out of means): {why}")
    if point is not None and request.scan.ld != "RSQUARE" and request.scan.precision != "compat":
        app.say(args, f"warning: the scan's omega is that of --ld {request.scan.ld}; r2 is shown")
    if point is not None and not found.agrees:
        app.say(
            args, f"warning: omega of this window is {found.omega:,.6g} here and {point.omega:,.6g} in {args.scan}; "
            "was that a scan of the same samples?",
        )  # fmt: skip


def _write_figures(args: argparse.Namespace, found: omega.LdMap, made: dict[str, Any]) -> None:
    alignment, parts = found.region.alignment, found.parts
    name = alignment.name
    label = f"chromosome {name}" if not re.match(r"\D", name) else name
    if not alignment.samples and name == str(alignment.replicate):  # as ms and its kin are named
        label = f"replicate {name}"
    title = input_title([args.input])
    if args.plot:
        shown = parts[:-1] if found.region.parts else parts
        plots.write_figure(args.plot, plots.plot_ld(found.region, found.picture, shown, title=title, label=label))
    if args.html:
        write_page(args, plots.ld_page(found, title=title, label=label).text(made))
