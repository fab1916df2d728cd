"""`oclgenomics omega scan`: scans alignments into a report, or one for each of them, and a figure."""

from __future__ import annotations

import argparse
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import oclgenomics
from oclgenomics import omega
from oclgenomics.app import commands as app, files
from oclgenomics.app.html_output import add_html_option, elsewhere, input_title, write_page
from oclgenomics.app.inputs import add_input_options, read_options, say_haploid, say_unphased
from oclgenomics.app.multiqc import add_multiqc_options, sample_name, write_content
from oclgenomics.app.peaks import threshold_files
from oclgenomics.app.reports import Report
from oclgenomics.app.spread import add_spread_options, is_combined, work_of, write_shard
from oclgenomics.errors import UsageError
from oclgenomics.io.packed_file import name_unpacked
from oclgenomics.notices import number_of
from oclgenomics.omega import formats, plots, significance, sites
from oclgenomics.omega.commands import options as shared

if TYPE_CHECKING:
    from oclgenomics.variation import Alignment, BedRegions


FORMATS: tuple[formats.ReportFormat, ...] = ("tsv", "omegaplus", "json")
SHOWN_ALIGNMENTS = 20  # reported on standard error without -v
SUFFIXES = (".tsv", ".json", ".txt")
NOT_IN_NAMES = re.compile(r"[/\x00-\x1f\x7f-\x9f]")


def add_parser(actions: Any) -> None:
    """Add `scan` to the actions of `omega`."""
    parser = app.add_command(
        actions, run, "scan",
        help="scan alignments for selective sweeps",
        description="Compute the omega statistic at evenly spaced positions of every chromosome or replicate. The "
        "single-dash names of OmegaPlus (-grid, -minwin, -sampleList, ...) work, too.",
    )  # fmt: skip
    files.reads(parser.add_argument(
        "input", metavar="INPUT",
        help="ms, MaCS, FASTA or VCF, uncompressed or compressed (gzip, bzip2, xz, zstd), - for standard input; "
        "a tree sequence or a VCF Zarr",
    ))  # fmt: skip
    shared.add_window_options(parser)
    group = add_input_options(parser)
    add_samples_out(group)
    shared.add_region_options(group)
    shared.add_site_options(parser)
    shared.add_method_options(parser)
    add_report_options(parser)
    add_spread_options(parser)
    parser.add_argument(
        "--sum-bits", type=_sum_bits, action="append", default=argparse.SUPPRESS, metavar="N:BITS",
        help="with --shard: what `combine` asks for, if sums of an alignment outgrew their format in another piece",
    )  # fmt: skip
    app.add_device_options(parser)


def _sum_bits(text: str) -> tuple[int, int]:
    number, _, bits = text.partition(":")
    if not (number.isdecimal() and bits.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no N:BITS, such as 0:23")
    return int(number), int(bits)


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add all outputs but the names of samples: the report or one for each alignment, and the figure."""
    group = parser.add_argument_group("report")
    group.add_argument(
        "--all", action="store_true", help="window borders in the omegaplus format; the others always have them"
    )
    group.add_argument("--no-separator", action="store_true", help="no // lines in the omegaplus format")
    group.add_argument(
        "--reports", action="store_true", help="one file per chromosome or replicate: -o out.tsv gives out.NAME.tsv"
    )
    files.writes(
        group.add_argument("--plot", metavar="FILE", help="draw omega along the positions; .png, .svg or .pdf")
    )
    files.reads(group.add_argument(
        "--threshold", metavar="OMEGA|FILE",
        help="draw lines in the figure at this omega, or at those of `omega threshold --json -o FILE`",
    ), threshold_files)  # fmt: skip
    group = app.add_output_options(parser, report_files, formats=FORMATS, what="scans")
    add_html_option(group, "omega along the positions")
    add_multiqc_options(group, "omega along the positions")


def add_samples_out(group: Any) -> None:
    """Add the file of the names of samples."""
    files.writes(
        group.add_argument("--samples-out", metavar="FILE", help="write the names of the samples used, one per line")
    )


def run(args: argparse.Namespace) -> int:
    """Scan an input and write the report and the figure.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    combined = is_combined(args)
    if not combined:
        app.begin_engine(args, draws="plot_scans")
    options = shared.scan_options(args)
    reading = read_options(args, args.samples, getattr(args, "region", None))
    output = check_outputs(args)
    sum_bits = tuple(getattr(args, "sum_bits", ()))
    job = omega.ScanJob((args.input,), options, reading, args.exclude, args.samples is not None, sum_bits)
    if sum_bits and args.shard is None and not combined:
        raise UsageError("--sum-bits has a meaning only with --shard")
    if args.shard is not None:
        oclgenomics.select_device(args.device)
        return write_shard(args, job, "scanning")
    lines, null = _threshold_lines(args, options)
    exclude = sites.regions_of(args.exclude)
    if not combined:
        oclgenomics.select_device(args.device)  # a device that is not there is reported before hours of reading
    messages = ScanMessages(args, options)
    drawn: list[omega.Scan] = []

    def found(result: omega.Scan) -> None:
        messages.result(result)
        if null is not None:  # at once, not after hours of scanning
            significance.compare(null, [result], "this scan", f"--threshold {args.threshold}")
        if args.plot or args.html or args.multiqc:
            drawn.append(result)

    progress = messages.progress.update
    with ExitStack() as stack:
        if not combined:
            read = sites.open_alignments(args.input, reading, threads=args.threads, progress=progress)
            first = sites.first_read(stack.enter_context(closing(read)), args.input, partial(_look_at_first, args))
            job = replace(job, source=first, exclude=exclude)
        work = stack.enter_context(work_of(args))
        parts = stack.enter_context(closing(work.parts(job, omega.Run(progress=progress))))
        scans = _scans(parts, messages, found, partial(_look_at_first, args) if combined else None)
        made = work.provenance()
        _write_scans(args, output, scans, made)
        messages.totals()
        messages.excluded(exclude)
        work.report_profile()
    if null is not None:
        shared.say_compared(args, significance.compare(null, drawn, "this scan"))
    _show(args, drawn, lines, made, replicates=messages.replicates)
    app.say_written(args)
    return 0


def _show(
    args: argparse.Namespace,
    scans: Sequence[omega.Scan],
    lines: Sequence[tuple[float, str]],
    made: Mapping[str, Any],
    *,
    replicates: bool,
) -> None:
    """Write the figure, the page and the lines for MultiQC, as far as they are asked for."""
    layout: plots.Layout = "replicates" if replicates else "chromosomes"
    shown: dict[str, Any] = {"title": input_title([args.input]), "layout": layout, "thresholds": lines}
    if args.plot:
        plots.draw_figure(args.plot, plots, "plot_scans", scans, **shown)
    if args.html:
        more = "in a report of each alignment" if args.reports else elsewhere(args)
        write_page(args, plots.scans_page(scans, **shown, more=more).text(made))
    if args.multiqc:
        write_content(args, formats.scans_content(sample_name(args, [args.input]), scans))


def check_outputs(args: argparse.Namespace) -> app.OutputOptions[formats.ReportFormat]:
    """Settle the report's format, and refuse options that contradict each other.

    Raises
    ------
    UsageError
        They do.
    """
    output = app.OutputOptions.resolve(args, FORMATS)
    if args.no_separator and args.format != "omegaplus":
        raise UsageError("--no-separator has no effect without --format omegaplus")
    if args.reports and args.output == "-":
        raise UsageError("--reports writes several files; name them with -o")
    if args.plot:
        plots.plot_format(args.plot)
    if args.shard is not None and args.threshold is not None:
        raise UsageError(f"--threshold {args.threshold}: a piece has no figure; give this option to `combine`")
    return output


def _scans(
    parts: Iterator[Any], messages: ScanMessages, found: Callable[[omega.Scan], None],
    check: Callable[[omega.AlignmentRead], None] | None,
) -> Iterator[omega.Scan]:  # fmt: skip
    """The scans among the parts; messages say what comes, and the first alignment is checked."""
    for part in parts:
        if isinstance(part, omega.Scan):
            found(part)
            yield part
            continue
        if check is not None:
            check(part)
            check = None
        messages.alignment(part)


def _look_at_first(args: argparse.Namespace, alignment: Alignment | omega.AlignmentRead) -> None:
    """Refuse options that do not suit the input, and write the samples."""
    for option, name in (("--samples", args.samples), ("--samples-out", args.samples_out)):
        if name and not alignment.samples:
            raise UsageError(f"{option} {name}: this input does not name its samples; leave the option out")
    if args.samples_out:
        with app.text_output(args.samples_out) as stream:
            stream.writelines(f"{name}\n" for name in alignment.samples)


def _write_scans(
    args: argparse.Namespace,
    output: app.OutputOptions[formats.ReportFormat],
    scans: Iterator[omega.Scan],
    made: dict[str, Any],
) -> None:
    """Write each scan as soon as it is there: into one report, or into one of its own."""

    def report() -> Report[omega.Scan]:
        return formats.make_report(
            output.format, provenance=made, all_columns=args.all, separator=not args.no_separator
        )

    if not args.reports:
        with app.text_output(output.path, "wb") as stream:
            formats.write_report(scans, stream, report())
        return
    names = ReportNames(output.path, files.named_files(args.parser, args))
    for result in scans:
        try:
            name = names.name(result.name, result.replicate)
        except files.FileConflictError as error:
            raise UsageError(str(error)) from None
        with app.text_output(name, "wb") as stream:
            formats.write_report([result], stream, report())


def _threshold_lines(
    args: argparse.Namespace, options: omega.ScanOptions
) -> tuple[list[tuple[float, str]], omega.Significance | None]:
    """Omega and label of each line that the figure shows, and the neutral replicates that they come from."""
    if args.threshold is None:
        return [], None
    if not (args.plot or args.html):
        why = "it draws a line into the figure; give --plot FILE or --html FILE as well"
        raise UsageError(f"--threshold {args.threshold}: {why}")
    given = shared.given_threshold(args.threshold)
    if isinstance(given, float):
        return [(given, "threshold")], None
    parameters = omega.scan_parameters(options)
    significance.check_options(given.scan, parameters, "this scan", f"--threshold {args.threshold}")
    return [(threshold.omega, f"{100 * threshold.fpr:g} % of neutral") for threshold in given.thresholds], given


class ScanMessages:
    """Tells how a scan goes and what it finds; `omega.scan` calls `alignment` and `result`.

    Parameters
    ----------
    args : Namespace
    options : ScanOptions

    Attributes
    ----------
    progress : Progress
        Of reading until an alignment is there, then of its scan.
    replicates : bool
        Whether the alignments are simulated data: one region many times.
    """

    def __init__(self, args: argparse.Namespace, options: omega.ScanOptions) -> None:
        self._args, self._options = args, options
        self._say = partial(app.say, args)
        self.progress = app.started_progress(args, "reading")
        self._batch: list[str] = []  # names of the alignments at work
        self._read = self._scanned = self._positions = self._scores = self._without_omega = 0
        self._seconds = 0.0
        self._names: set[str] = set()
        self.replicates = False

    def alignment(self, alignment: omega.AlignmentRead) -> None:
        """Tell what is odd about an alignment before it is scanned."""
        self.progress.clear()
        self.replicates = alignment.binary
        self._batch.append(alignment.name)
        self._read += 1
        if self._read <= SHOWN_ALIGNMENTS or self._args.verbose:
            say_unphased(self._args, alignment)
            say_haploid(self._args, alignment)
        names = self._batch[:1] + self._batch[1:][-1:]
        self.progress.stage(f"scanning {' to '.join(names)}", "positions")

    def result(self, scan: omega.Scan) -> None:
        """Tell of a scan and count it."""
        self.progress.clear()
        self._batch = []
        self._scanned += 1
        self._positions += len(scan.positions)
        self._scores += scan.stats.scores
        self._without_omega += scan.best is None
        self._seconds += scan.stats.seconds
        self._names.add(scan.name)
        self._say_scan(scan, level=0 if self._scanned <= SHOWN_ALIGNMENTS else 1)
        self.progress.stage("reading", "MB", 1e6)

    def _say_scan(self, scan: omega.Scan, level: int) -> None:
        warning = "warning: " * (scan.best is None)
        self._say(f"{warning}{formats.summary_line(scan)}; {scan.stats.seconds:.2f} s", level)
        if scan.maxwin < self._options.maxwin:
            why = "compat precision allows 10,000 sites in a window"
            self._say(f"{scan.name}: --maxwin narrowed to {scan.maxwin:,} bp, as {why}", level)
        work = f"{scan.stats.pairs:,} pairs of sites, {scan.stats.scores:,} omegas"
        self._say(f"{scan.name}: {work}", max(level, 1))

    def totals(self) -> None:
        """Tell what all scans together came to."""
        if self._scanned > SHOWN_ALIGNMENTS and not self._args.verbose:
            self._say(f"... and {number_of(self._scanned - SHOWN_ALIGNMENTS, 'more alignment')} (-v shows them)")
        if self._without_omega:
            self._say(
                f"warning: {self._without_omega:,} of {self._scanned:,} alignments have no omega at all: fewer than 4 "
                "sites are left, or no window holds enough of them",
            )
        rate = self._scores / self._seconds / 1e6 if self._seconds else 0.0
        self._say(
            f"{number_of(self._scanned, 'alignment')}, {number_of(self._positions, 'position')}, "
            f"{number_of(self._scores, 'omega')} in {self._seconds:.2f} s ({rate:,.1f} million/s)",
        )

    def excluded(self, exclude: BedRegions | None) -> None:
        """Warn where --exclude names no chromosome of the input."""
        if exclude is None or self._names & set(exclude.names):
            return
        theirs = ", ".join(exclude.names[:3]) or "none"
        ours = ", ".join(sorted(self._names)[:3])
        missed = f"no chromosome of the input ({ours}) is named there ({theirs})"
        self._say(f"warning: --exclude {self._args.exclude}: {missed}")


# Names of the files of --reports: one for each chromosome or replicate, and never the same one twice


def report_files(args: argparse.Namespace, output: str) -> list[str | files.Family]:
    """The files of -o, as `oclgenomics.app.files.writes` asks for it."""
    if not args.reports or output == "-" or getattr(args, "shard", None) is not None:
        return [output]
    stem, suffix = _parts(output)
    return [files.Family(f"{stem}.", suffix)]


class ReportNames:
    """Gives out the names of reports.

    Parameters
    ----------
    output : str
        As -o names it; a chromosome's name is put before its suffix.
    named : iterable of NamedFile
        What else the command reads and writes.
    """

    def __init__(self, output: str, named: Iterable[files.NamedFile]) -> None:
        self._stem, self._suffix = _parts(output)
        self._inputs: list[files.NamedFile] = []
        self._taken: set[files.FileKey | None] = set()
        for file in named:
            if file.kind == "input":
                self._inputs.append(file)
            elif isinstance(file.name, str):
                self._taken |= _keys(file.name)
        self._latest: str | None = None

    def name(self, label: str, replicate: int) -> str:
        """Return a name that no other output has; the report before is written by now.

        Parameters
        ----------
        label : str
            Name of the chromosome or replicate.
        replicate : int
            Its running number, which is added where the name is taken.

        Raises
        ------
        FileConflictError
            It would be an input.
        """
        if self._latest is not None:
            self._taken.add(files.file_key(self._latest))  # what the file system knows it by, whatever its spelling
        for name in self._candidates(NOT_IN_NAMES.sub("_", label), replicate):
            if not _keys(name) & self._taken:
                files.check_output(files.NamedFile("--reports", name, "output"), self._inputs)
                self._taken |= _keys(name)
                self._latest = name
                return name
        raise AssertionError  # there is no end of candidates

    def _candidates(self, label: str, replicate: int) -> Iterator[str]:
        yield f"{self._stem}.{label}{self._suffix}"
        yield f"{self._stem}.{label}.{replicate}{self._suffix}"
        for number in itertools.count(2):
            yield f"{self._stem}.{label}.{replicate}.{number}{self._suffix}"


def _keys(name: str) -> set[files.FileKey | None]:
    """By path, too: an output that is there already is another file when it has been written."""
    return {files.file_key(name), ("path", os.path.realpath(name))}


def _parts(output: str) -> tuple[str, str]:
    bare = name_unpacked(output)
    stem, suffix = os.path.splitext(bare)
    stem, suffix = (stem, suffix) if suffix in SUFFIXES else (bare, "")
    return stem, suffix + output[len(bare) :]
