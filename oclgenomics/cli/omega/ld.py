"""`oclgenomics omega ld`: linkage disequilibrium around a peak of a scan, and the window that gave its omega."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics.cli import options as common
from oclgenomics.cli.omega.options import (
    add_reading_options,
    add_site_options,
    count,
    read_options,
    say_unphased,
    scan_options,
)
from oclgenomics.cli.progress import Progress
from oclgenomics.commandkit.files import reads, writes
from oclgenomics.errors import InputError, UsageError

if TYPE_CHECKING:
    from oclgenomics.omega.ld.parts import LdPart
    from oclgenomics.omega.ld.picture import BinnedLd
    from oclgenomics.omega.ld.region import GridPoint, LdRegion
    from oclgenomics.omega.options import ScanOptions
    from oclgenomics.omega.reports.reading import OmegaReport
    from oclgenomics.runtime import Engine
    from oclgenomics.variation.alignment import Alignment

__all__ = ["add_parser", "run"]

FORMATS = ("tsv", "json")
# What a report records and this command needs again; where it records none, one may be given.
RECORDED = (
    "length", "input_format", "phase", "samples", "exclude", "maf", "no_singletons", "binary", "impute", "seed",
)  # fmt: skip
KINDS: dict[str, tuple[type, ...]] = {
    "length": (int,), "seed": (int,), "maf": (int, float), "no_singletons": (bool,), "binary": (bool,),
    "impute": (list,),
}  # fmt: skip
FREE_IF_NONE = ("length", "input_format", "seed")
FILES = ("samples", "exclude")  # they may have moved since
WORDS = {"None": None, "True": True, "False": False}
OMEGA_TOLERANCE = 1e-3


class _AsScanned:
    """The default of an option: what the report says."""

    def __str__(self) -> str:
        return "as the report says"


def add_parser(actions: Any) -> None:
    """Add `ld` to the actions of `omega`."""
    parser = actions.add_parser(
        "ld",
        help="map of linkage disequilibrium around a peak, with the window that gave its omega",
        description="Compute r2 between all sites around a peak of a scan, draw it with the window outlined, and give "
        "its means within the window's halves and across. Options of the scan are taken from its report.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    reads(parser.add_argument("input", metavar="INPUT", help="what was scanned; - for standard input"))
    group = parser.add_argument_group("what to show (--scan or --region)")
    reads(group.add_argument("--scan", metavar="REPORT", help="tsv or json report of `omega scan`"))
    group.add_argument(
        "--peak", type=count, metavar="N", help="its N-th highest peak, of windows that do not overlap (default: 1)"
    )
    group.add_argument("--at", metavar="CHR:POS", help="its grid position nearest to POS instead")
    group.add_argument(
        "--margin", type=count, metavar="BP", help="shown on both sides of the window (default: a quarter of its width)"
    )
    group.add_argument("--region", metavar="CHR:FROM-TO", help="this region, without any window")
    group = parser.add_argument_group("results")
    writes(group.add_argument("--plot", metavar="FILE", help="draw the map; .png, .svg or .pdf"))
    writes(group.add_argument("--values", metavar="FILE", help="write r2 of all pairs; .tsv or .npz"))
    group.add_argument("--format", metavar="tsv|json", help="format of the means (default: tsv)")
    group = parser.add_argument_group("input (default: as the report says)")
    add_reading_options(group)
    reads(group.add_argument("--samples", metavar="FILE", help="VCF samples to use, one a line (default: all)"))
    regions = group.add_argument(
        "--exclude", metavar="BED", help="leave out the sites within these regions (default: none)"
    )
    reads(regions)
    add_site_options(parser)
    parser.set_defaults(phase=_AsScanned(), maf=_AsScanned(), no_singletons=None, binary=None, impute=None)
    common.add_output_options(parser)
    common.add_device_options(parser)


def run(args: argparse.Namespace) -> int:
    """Draw and write linkage disequilibrium of a region.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.omega.reports.reading import read_report
    from oclgenomics.runtime import select_device

    _check(args)
    report = read_report(args.scan) if args.scan else None
    point = None if report is None else _point(args, report)
    options = _options(args, report)
    common.check_files(args)  # now with the files that the report names
    select_device(args.device)  # a device that is not there is told before the reading
    region, label = _region(args, report, point, options)
    with common.open_engine(args) as engine:
        parts, picture = _compute(args, region, engine)
        _say_parts(args, region, parts)
        _check_omega(args, region, options, engine)
        common.report_profile(args, engine)
    if args.plot:
        _write_plot(args, region, parts, picture, label)
    for path in common.saved_outputs():
        common.say(args, f"wrote {path}")
    return 0


# Options


def _check(args: argparse.Namespace) -> None:
    from oclgenomics.omega.reports.ld import values_format
    from oclgenomics.plot_style import plot_format

    if (args.scan is None) == (args.region is None):
        raise UsageError("what to show is for you to say: give --scan REPORT or --region CHR:FROM-TO")
    alone = [f"--{name}" for name in ("peak", "at", "margin") if getattr(args, name) is not None]
    if args.region is not None and alone:
        raise UsageError(f"{alone[0]} has no effect with --region; it needs --scan REPORT")
    if args.peak is not None and args.at is not None:
        raise UsageError("--peak and --at contradict each other; give one of them")
    if args.json and args.format not in (None, "json"):
        raise UsageError(f"--json and --format {args.format} contradict each other; give one of them")
    args.format = args.format or ("json" if args.json else "tsv")
    if args.format not in FORMATS:
        raise UsageError(f"--format {args.format}: choose one of {', '.join(FORMATS)}")
    if args.plot:
        plot_format(args.plot)
    if args.values:
        values_format(args.values)


def _point(args: argparse.Namespace, report: OmegaReport) -> GridPoint:
    from oclgenomics.omega.ld.region import choose_peak, choose_position

    if args.at is None:
        return choose_peak(report, 1 if args.peak is None else args.peak)
    chromosome, _, place = args.at.rpartition(":")
    if not chromosome:
        raise UsageError(f"--at {args.at}: write CHR:POS, such as {report.tracks[0].name if report.tracks else '1'}:1M")
    return choose_position(report, chromosome, _place("--at", args.at, place))


def _place(option: str, given: str, text: str) -> int:
    """A position within an option's value; commas between thousands may stand."""
    try:
        return count(text.replace(",", ""))
    except argparse.ArgumentTypeError:
        raise UsageError(f"{option} {given}: {text!r} is no position; write 1234567, 1,234,567 or 1.2M") from None


def _options(args: argparse.Namespace, report: OmegaReport | None) -> ScanOptions:
    """The scan's options, those of the report where it records them; what is used is left in `args`."""

    given = {name: None if isinstance(getattr(args, name), _AsScanned) else getattr(args, name) for name in RECORDED}
    recorded = {} if report is None else report.parameters
    for name in RECORDED:
        value = given[name]
        if name in recorded:
            value = _agreed(name, given[name], _value(name, recorded[name], args.scan), args.scan)
        setattr(args, name, value)
    args.phase, args.maf, args.impute = args.phase or "auto", args.maf or 0.0, args.impute or []
    args.no_singletons, args.binary = bool(args.no_singletons), bool(args.binary)
    scan = {"minsnps": 5, "border": -1, "kernel": "auto"}  # they do not matter for linkage disequilibrium
    scan |= {"ld": recorded.get("ld", "RSQUARE"), "precision": recorded.get("precision", "accurate")}
    return scan_options(argparse.Namespace(**vars(args), **scan, grid=2, minwin=0, maxwin=1))


def _agreed(name: str, given: Any, known: Any, report: str) -> Any:
    """The value of an option that a report records; the same, if it is given again."""
    if given is None or (known is None and name in FREE_IF_NONE):
        return known if given is None else given
    if name in FILES and known is not None:
        return given
    same = {word.upper() for word in given} == {word.upper() for word in known} if name == "impute" else given == known
    if not same:
        option = "--" + name.replace("_", "-")
        shown = option if isinstance(given, bool) else f"{option} {' '.join(given) if name == 'impute' else given}"
        theirs = f"with {option} {known}" if known else f"without {option}"
        raise UsageError(f"{shown}: the scan of {report} was made {theirs}; leave the option out")
    return given


def _value(name: str, recorded: Any, report: str) -> Any:
    """A recorded parameter as the command line gives it; a tsv report holds words.

    Raises
    ------
    InputError
        The report has something else there.
    """
    value, kinds = recorded, KINDS.get(name, (str,))
    if isinstance(value, str) and name == "impute":
        value = value.split()
    elif isinstance(value, str) and value in WORDS:
        value = WORDS[value]
    elif isinstance(value, str) and kinds != (str,):
        value = _number(value)
    listed = value if isinstance(value, list) else []
    if value is not None and (type(value) not in kinds or not all(isinstance(word, str) for word in listed)):
        raise InputError(f"{str(recorded)[:40]!r} is no {name} of a scan", source=report)
    return value


def _number(text: str) -> float | str:
    """A number, whole if it is written so; the text itself if it is none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# The sites


def _region(
    args: argparse.Namespace, report: OmegaReport | None, point: GridPoint | None, options: ScanOptions
) -> tuple[LdRegion, str]:
    """The sites to show, prepared as the scan did, and what to call their chromosome."""
    from oclgenomics.omega.ld.region import plain_region, window_region

    chromosome, start, end = ("", 0, 0) if args.region is None else _given_region(args.region)
    name = chromosome if point is None else point.track.name
    several = report is not None and sum(track.name == name for track in report.tracks) > 1
    alignment = _alignment(args, name, point.track.replicate if several and point is not None else None)
    simulated = alignment.alphabet == "binary"
    prepared = _prepared(args, alignment, options)
    label = f"replicate {name}" if simulated else name if re.match(r"\D", name) else f"chromosome {name}"
    if point is None:
        return plain_region(prepared, start, end), label
    return window_region(prepared, point, args.margin, compat=options.precision == "compat"), label


def _given_region(text: str) -> tuple[str, int, int]:
    chromosome, _, span = text.rpartition(":")
    first, dash, last = span.partition("-")
    if not (chromosome and dash):
        raise UsageError(f"--region {text}: write CHR:FROM-TO, such as 20:1M-1.2M")
    start, end = (_place("--region", text, place) for place in (first, last))
    if start > end:
        raise UsageError(f"--region {text}: its end comes before its start; exchange them")
    return chromosome, start, end


def _alignment(args: argparse.Namespace, name: str, replicate: int | None) -> Alignment:
    """Read up to the chromosome asked for."""
    names: list[str] = []
    progress = Progress(enabled=not args.quiet)
    progress.stage("reading", "MB", 1e6)
    for alignment in _read(args, progress):
        progress.clear()
        if alignment.name == name and replicate in (None, alignment.replicate):
            say_unphased(args, alignment)
            return alignment
        names.append(alignment.name)
    shown = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    raise InputError(f"holds no chromosome or replicate {name} (but {shown or 'nothing'})", source=args.input)


def _read(args: argparse.Namespace, progress: Progress) -> Iterator[Alignment]:
    from oclgenomics.variation import read_alignments

    return read_alignments(
        args.input, read_options(args, args.samples), threads=args.threads, progress=progress.update
    )


def _prepared(args: argparse.Namespace, alignment: Alignment, options: ScanOptions) -> Alignment:
    from oclgenomics.omega.sites import exclude_regions, prepare
    from oclgenomics.variation.bed import read_bed

    if args.exclude:
        alignment = exclude_regions(alignment, read_bed(args.exclude)).alignment
    return prepare(
        alignment, maf=options.maf, no_singletons=options.no_singletons, impute=options.impute,
        binary=options.binary, seed=options.seed, compat=options.precision == "compat",
    ).alignment  # fmt: skip


# Results


def _compute(args: argparse.Namespace, region: LdRegion, engine: Engine) -> tuple[list[LdPart], BinnedLd]:
    """Everything made of the values, which are seen once, block by block."""
    from oclgenomics.omega.ld.pairs import ld_blocks
    from oclgenomics.omega.ld.parts import LdPart
    from oclgenomics.omega.ld.picture import BinnedLd
    from oclgenomics.omega.plots.ld import MAX_PIXELS
    from oclgenomics.omega.reports.ld import parts_json, parts_tsv

    every = (0, region.alignment.sites - 1)
    parts = [*region.parts, LdPart("region", every, every)]
    picture = BinnedLd(region.alignment.sites, MAX_PIXELS)
    progress = Progress(enabled=not args.quiet)
    progress.stage("linkage disequilibrium", "sites")
    provenance = common.provenance(args, engine)
    with ExitStack() as stack:
        writers = _writers(args, region, provenance, stack)
        for block in ld_blocks(region.alignment, engine):
            for taker in (*parts, picture, *writers):
                taker.add(block)
            progress.update(block.row0 + len(block.values), region.alignment.sites)
        progress.clear()
        for writer in writers:
            writer.finish()
    with common.atomic_output(args.output) as stream:
        stream.write((parts_json if args.format == "json" else parts_tsv)(region, parts, provenance))
    return parts, picture


def _writers(args: argparse.Namespace, region: LdRegion, provenance: dict[str, Any], stack: ExitStack) -> list[Any]:
    """Who writes the values of all pairs, if they are to be written."""
    from oclgenomics.omega.reports.ld import MatrixFile, PairTable, values_format

    if not args.values:
        return []
    if values_format(args.values) == "tsv":
        return [PairTable(stack.enter_context(common.atomic_output(args.values)), region, provenance)]
    return [MatrixFile(stack.enter_context(common.atomic_output(args.values, "wb")), region)]


def _say_parts(args: argparse.Namespace, region: LdRegion, parts: list[LdPart]) -> None:
    means = ", ".join(f"{part.name} {part.mean:.3g}" for part in parts if part.pairs)
    where = f"{region.alignment.name}: {region.start:,}-{region.end:,}, {region.alignment.sites:,} sites"
    if region.point is not None:
        left, right = region.point.window
        where += f"; omega {region.point.omega:,.6g} at {region.point.position:,.0f} bp, window {left:,}-{right:,}"
    common.say(args, f"{where}; mean r2: {means}")


def _check_omega(args: argparse.Namespace, region: LdRegion, options: ScanOptions, engine: Engine) -> None:
    """Omega of the window as it is shown, against the report: it tells other samples from those of the scan."""
    from oclgenomics.omega.ld.pairs import ld_blocks
    from oclgenomics.omega.ld.parts import omega_of_parts, window_parts

    if region.point is None or options.precision == "compat":
        return
    if options.ld != "RSQUARE":
        common.say(args, f"warning: the scan's omega is that of --ld {options.ld}; r2 is shown")
        return
    left, right, _ = region.parts
    borders = region.positions[[left.rows[0], right.rows[1]]]
    if (region.positions[:, None] == borders).sum() > len(borders):
        return  # of several sites at a border, a report does not say which one it is
    parts = window_parts(left.rows[0], left.rows[1], right.rows[1])
    for block in ld_blocks(region.alignment, engine, measure="nr2"):
        for part in parts:
            part.add(block)
    omega = omega_of_parts(*parts)
    if abs(omega - region.point.omega) > OMEGA_TOLERANCE * region.point.omega:
        common.say(
            args, f"warning: omega of this window is {omega:,.6g} here and {region.point.omega:,.6g} in {args.scan}; "
            "was that a scan of the same samples?",
        )  # fmt: skip


def _write_plot(args: argparse.Namespace, region: LdRegion, parts: list[LdPart], picture: BinnedLd, label: str) -> None:
    from oclgenomics.omega.plots.ld import plot_ld
    from oclgenomics.plot_style import plot_format, save_plot

    title = "standard input" if args.input == "-" else Path(args.input).name
    shown = parts[:-1] if region.parts else parts
    figure = plot_ld(region, picture, shown, title=title, label=label)
    with common.atomic_output(args.plot, "wb") as stream:
        save_plot(figure, stream, plot_format(args.plot))
