"""`oclgenomics sweeps scan`: statistics of selective sweeps along alignments, as a report and a figure."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import oclgenomics
from oclgenomics import sweeps
from oclgenomics.app import commands as app, files
from oclgenomics.app.html_output import add_html_option, elsewhere, input_title, write_page
from oclgenomics.app.inputs import add_input_options, read_options, say_haploid, say_unphased
from oclgenomics.app.multiqc import add_multiqc_options, sample_name, write_content
from oclgenomics.app.spread import add_spread_options, has_pieces, is_combined, work_of, write_shard
from oclgenomics.errors import InputError, UsageError
from oclgenomics.lazy_names import late
from oclgenomics.notices import number_of
from oclgenomics.sweeps import formats, plots
from oclgenomics.sweeps.options import (
    CONFIDENCES,
    DEFAULT_STATISTICS,
    EHH_EDGES,
    EHH_STATISTICS,
    IN_INFO,
    LEAST_WIDTH,
    MISSING,
    MOST_WIDTH,
    ON_EXCLUDE,
    OWN_OPTIONS,
    STATISTICS,
    sweep_parameters,
)

if TYPE_CHECKING:
    from oclgenomics.io.raw_file import Progress
    from oclgenomics.variation import Alignment
    from oclgenomics.variation.alignment import AlignmentRead
    from oclgenomics.variation.genes import Genes

own = late("oclgenomics.sweeps.significance.thresholds")
sources = late("oclgenomics.variation.sources")
gene_files = late("oclgenomics.variation.genes")

FORMATS: tuple[formats.ReportFormat, ...] = ("tsv", "raisd", "selscan", "json")
SHOWN_ALIGNMENTS = 20  # reported on standard error without -v
RAISD_OPTIONS = {
    "-I": "name the input without an option", "-n": "use --format raisd -o RAiSD_Report.NAME", "-L": "use --length",
    "-S": "use --samples", "-m": "use --maf", "-M": "use --missing", "-R": "use --all", "-t": "use --no-separator",
    "-G": "use --grid", "-X": "use --exclude BED --on-exclude zero", "-c": "use --edge", "-f": "files are replaced",
    "-y": "the ploidy is read from the calls", "-a": "use --impute-seed",
}  # fmt: skip


def add_parser(actions: Any) -> None:
    """Add `scan` to the actions of `sweeps`."""
    parser = app.add_command(
        actions, run, "scan",
        help="scan alignments by mu, diversity, the frequency spectrum and haplotypes",
        description="Compute statistics of selective sweeps along every chromosome or replicate, all of them from one "
        "reading of the data. A row belongs to each window of neighbouring sites, or to each position of a grid.",
        foreign=RAISD_OPTIONS,
    )  # fmt: skip
    files.reads(parser.add_argument(
        "input", metavar="INPUT",
        help="ms, MaCS, FASTA, VCF or BCF, uncompressed or compressed (gzip, bzip2, xz, zstd), - for standard input; "
        "a tree sequence or a VCF Zarr",
    ))  # fmt: skip
    add_statistic_options(parser)
    group = add_input_options(parser)
    files.reads(group.add_argument(
        "--background", metavar="FILE",
        help="take what lassi, saltilassi and clr compare with, and what nsl, ihs, xp_nsl and xp_ehh are normalised "
        "by, from the neutral replicates of such a file, if this input is short",
    ))  # fmt: skip
    add_site_options(parser)
    add_report_options(parser)
    add_spread_options(parser)
    app.add_device_options(parser)


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add all outputs: the report, the figure and the page."""
    group = app.add_output_options(parser, formats=FORMATS, what="statistics")
    group.add_argument(
        "--all", action="store_true",
        help="windows and factors of mu in the raisd format; normalised scores in "
        "the selscan format",
    )  # fmt: skip
    group.add_argument("--no-separator", action="store_true", help="no // lines in the raisd format")
    files.writes(group.add_argument(
        "--plot", metavar="FILE",
        help="draw the statistics along the chromosomes, with fine rows and the refined places of peaks; .png, .svg "
        "or .pdf",
    ))  # fmt: skip
    files.reads(group.add_argument(
        "--threshold", metavar="FILE",
        help="draw lines in the figure and on the page at the thresholds that `sweeps threshold --json -o FILE` wrote; "
        "if statistics were combined there, the report has the combined score and its p-value",
    ))  # fmt: skip
    files.reads(group.add_argument(
        "--genes", metavar="FILE",
        help="name the genes at the peaks in the figure, instead of positions; GFF3, GTF or BED",
    ))  # fmt: skip
    add_html_option(group, "the statistics along the chromosomes")
    add_multiqc_options(group, "the first statistic along the chromosomes")


def add_statistic_options(parser: argparse.ArgumentParser, *, grid: bool = True) -> None:
    """Add which statistics are computed, and where; without `grid` not at so many positions."""
    group = parser.add_argument_group("statistics and windows")
    group.add_argument(
        "--stat", "--statistics", dest="statistics", default=",".join(DEFAULT_STATISTICS), metavar="NAME,...",
        help=f"some of {', '.join(STATISTICS)} (default: {','.join(DEFAULT_STATISTICS)})",
    )  # fmt: skip
    group.add_argument(
        "-w", "--width", type=app.count, default=50, metavar="N",
        help=f"sites of a window of mu, even, {LEAST_WIDTH} to {MOST_WIDTH} (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--edge", type=app.count, default=1, metavar="N",
        help="derived or ancestral haplotypes at most, for a site to count in mu_SFS (default: %(default)s)",
    )  # fmt: skip
    _add_window_options(group, grid=grid)
    group.add_argument(
        "--precision", default="accurate", metavar="accurate|compat",
        help="compat: RAiSD's float32 arithmetic and rules, for the same reports (default: %(default)s)",
    )  # fmt: skip
    if grid:
        add_refinement_options(parser)
    else:
        parser.set_defaults(refine=None, refine_quantile=None, refine_margin=None)
    add_ehh_options(parser)
    add_clr_options(parser, maps=grid)
    add_population_options(parser)


def _add_window_options(group: argparse._ArgumentGroup, *, grid: bool) -> None:
    """Add the positions of a grid, and the windows of all statistics but mu."""
    other = ""
    if grid:
        other = "--grid or "
        group.add_argument(
            "--grid", type=app.count, metavar="N",
            help="evenly spaced positions per alignment, with the largest mu around each (default: a row for each "
            "window of sites)",
        )  # fmt: skip
    group.add_argument(
        "--step", type=app.count, metavar="BP",
        help="bp between positions, with the largest mu around each (default: a row for each window of sites)",
    )  # fmt: skip
    group.add_argument(
        "--window", type=app.count, metavar="BP",
        help="size of the windows of pi, theta, tajima_d, fay_wu_h, fst and dxy (default: the window of sites; with "
        f"{other}--step the bp between positions)",
    )  # fmt: skip
    group.add_argument(
        "--haplotype-window", type=app.count, default=100, metavar="N",
        help="sites of a window of h1, h12, h123, h2_h1, lassi and saltilassi (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--haplotype-step", type=app.count, default=10, metavar="N",
        help="sites from one such window to the next (default: %(default)s)",
    )  # fmt: skip


def add_refinement_options(parser: argparse.ArgumentParser) -> None:
    """Add where a grid has further positions."""
    group = parser.add_argument_group("closer positions around rows of --step or --grid that look like a sweep")
    group.add_argument(
        "--refine", type=app.count, metavar="BP",
        help="add fine rows every BP around rows beyond a quantile, or with --threshold beyond the thresholds of its "
        "file; the column `grid` says coarse or fine",
    )  # fmt: skip
    group.add_argument(
        "--refine-quantile",
        type=float,
        metavar="Q",
        help="rows beyond this quantile of their chromosome, by any statistic, look like a sweep (default: 0.99)",
    )
    group.add_argument(
        "--refine-margin",
        type=app.count,
        metavar="BP",
        help="bp on either side of such rows that get fine ones (default: the bp between rows)",
    )


def add_ehh_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of nSL, iHS, XP-nSL and XP-EHH."""
    group = parser.add_argument_group("extended haplotype homozygosity (nsl, ihs, xp_nsl, xp_ehh)")
    group.add_argument(
        "--ehh-maf", type=float, default=0.05, metavar="F",
        help="nsl and ihs leave out sites of a smaller minor allele frequency (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--ehh-max-gap", type=app.count, default=200_000, metavar="BP",
        help="no score where haplotypes would have to be followed across a larger gap between sites (default: "
        "%(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--ehh-edge", default="drop", metavar="|".join(EHH_EDGES),
        help="of sites from which the end of the data is reached: drop or keep the score (default: %(default)s)",
    )  # fmt: skip


def add_clr_options(parser: argparse.ArgumentParser, *, maps: bool) -> None:
    """Add the options of CLR, and with `maps` a recombination map."""
    group = parser.add_argument_group("composite likelihood ratio (clr)")
    group.add_argument(
        "--clr-step", type=app.count, metavar="BP",
        help="bp between the positions where it is computed (default: those of the rows of a grid, else 5,000)",
    )  # fmt: skip
    group.add_argument(
        "--clr-folded", action="store_true", help="do not use which state is derived: minor alleles alone count"
    )
    files.reads(group.add_argument(
        "--clr-spectrum", metavar="FILE",
        help="background spectrum as SweepFinder2 writes it (default: of all sites of the input)",
    ))  # fmt: skip
    if not maps:
        parser.set_defaults(recombination_map=None)
        return
    files.reads(group.add_argument(
        "--recombination-map", metavar="FILE",
        help="take distances from this map (HapMap, PLINK or SweepFinder2; default: bp)",
    ))  # fmt: skip


def add_population_options(parser: argparse.ArgumentParser) -> None:
    """Add which samples are compared."""
    group = parser.add_argument_group("two populations (fst, dxy, xp_nsl, xp_ehh)")
    files.reads(group.add_argument(
        "--populations", metavar="FILE",
        help="a sample and its population in each line; samples without a line are in neither (of an input without "
        "names of samples: their numbers, from 1)",
    ))  # fmt: skip
    group.add_argument(
        "--between",
        metavar="A,B",
        help="two of the populations of that file; xp_nsl and xp_ehh are high at sweeps of A (default: it has two)",
    )


def add_site_options(parser: argparse.ArgumentParser, *, regions: bool = True) -> None:
    """Add the filters of sites, and with `regions` what is excluded."""
    group = parser.add_argument_group("sites")
    group.add_argument(
        "--maf", type=float, default=0.0, metavar="F",
        help="leave out sites of a smaller minor allele frequency; this takes the signal of mu_SFS (default: "
        "%(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--missing", metavar="|".join(MISSING),
        help="mask: missing states are part of a site's pattern; drop: leave out sites that have some; only with "
        "compat: impute (draw them, -M 1 of RAiSD) and match (they match any state, -M 3) (default: mask; compat: "
        "drop)",
    )  # fmt: skip
    group.add_argument(
        "--impute-seed", type=app.whole, default=1, metavar="N",
        help="seed of the draws of --missing impute, -a of RAiSD (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--max-missing", type=float, default=0.1, metavar="F",
        help="leave out sites of which a larger share of states is missing; not with compat (default: %(default)s)",
    )  # fmt: skip
    files.reads(group.add_argument(
        "--accessible", metavar="BED",
        help="bp that are accessible: sites outside are left out, and pi, theta, dxy and mu_VAR count these bp alone; "
        "nothing is accessible of a chromosome without a line (default: all bp)",
    ))  # fmt: skip
    group.add_argument(
        "--min-accessible", type=float, default=0.5, metavar="F",
        help="share of the bp of a window that have to be accessible for it to have values (default: %(default)s)",
    )  # fmt: skip
    if not regions:
        parser.set_defaults(on_exclude="split", ancestral=None, ancestral_confidence="high")
        return
    _add_ancestral_options(group)
    _add_excluded_options(group)


def _add_ancestral_options(group: argparse._ArgumentGroup) -> None:
    """Add which state of a site is the derived one."""
    ancestral = group.add_argument(
        "--ancestral", metavar="FASTA|AA",
        help="ancestral bases: a FASTA file, or AA for INFO/AA of the VCF or BCF. The other allele is the derived one; "
        "fay_wu_h, nsl, ihs and clr leave out sites without a known one (default: the first state, REF, is ancestral)",
    )  # fmt: skip
    files.reads(ancestral, lambda _args, name: () if name == IN_INFO else (name,))
    group.add_argument(
        "--ancestral-confidence", default="high", metavar="|".join(CONFIDENCES),
        help="high: upper-case ancestral bases alone; any: lower-case ones, too (default: %(default)s)",
    )  # fmt: skip


def _add_excluded_options(group: argparse._ArgumentGroup) -> None:
    """Add what is excluded."""
    files.reads(group.add_argument("--exclude", metavar="BED", help="regions to exclude (default: none)"))
    group.add_argument(
        "--on-exclude", default="split", metavar="|".join(ON_EXCLUDE),
        help="split: no window reaches across an excluded region; drop: its sites and bp are left out; zero: mu is 0 "
        "where a window reaches into one (default: %(default)s)",
    )  # fmt: skip


def sweep_options(args: argparse.Namespace) -> sweeps.SweepOptions:
    """Return the parameters of the scan.

    Raises
    ------
    UsageError
        A value out of range.
    """
    names = (
        "width", "edge", "grid", "step", "window", "precision", "maf", "missing", "max_missing", "on_exclude",
        "refine", "refine_quantile", "refine_margin",
    )  # fmt: skip
    more = ("impute_seed", "accessible", "min_accessible", "ancestral", "ancestral_confidence", *OWN_OPTIONS)
    return sweeps.SweepOptions(
        statistics=tuple(args.statistics.split(",")), populations=args.populations,
        between=None if args.between is None else tuple(args.between.split(",")),
        **{name: getattr(args, name) for name in (*names, *more)},
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Scan an input and write the report, the figure and the page.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    combined = is_combined(args)
    if not combined:
        app.begin_engine(args, draws="plot_scans")
    options = sweep_options(args)
    reading = read_options(args, args.samples, getattr(args, "region", None))
    output = _check_outputs(args, options)
    job = sweeps.ScanJob((args.input,), options, reading, args.exclude, args.background, args.samples is not None)
    if not has_pieces(args):
        _check_there(args)
    if args.shard is not None:
        oclgenomics.select_device(args.device)
        return write_shard(args, job, "scanning")
    given = _read_given(args, options)
    if not combined:
        oclgenomics.select_device(args.device)  # a device that is not there is reported before hours of reading
    messages, drawn = ScanMessages(args), list[sweeps.Scan]()
    progress = messages.progress.update
    with ExitStack() as stack:
        if not combined:
            job = _opened(args, job, given, progress, stack)
        work = stack.enter_context(work_of(args))
        parts = stack.enter_context(closing(work.parts(job, sweeps.Run(progress=progress if combined else None))))
        made = work.provenance()
        report = formats.make_report(
            output.format, provenance=made, all_columns=args.all, separator=not args.no_separator,
            statistic=next((name for name in EHH_STATISTICS if name in options.statistics), ""),
        )  # fmt: skip
        kept = drawn if args.plot or args.html or args.multiqc else None
        with app.text_output(output.path, "wb") as stream:
            formats.write_report(_seen(_scans(parts, messages), messages, kept, given.null), stream, report)
        messages.totals(options)
        work.report_profile()
    if given.null is not None:
        app.say(args, f"compared with the replicates: {own.compare(given.null, drawn, 'this scan')}")
    _draw(args, drawn, given, made)
    app.say_written(args)
    return 0


@dataclass(frozen=True)
class _Given:
    """Files that judge a scan: neutral replicates, those of its background, and an annotation."""

    null: sweeps.Significance | None
    background: sweeps.Significance | None
    genes: Genes | None


def _check_there(args: argparse.Namespace) -> None:
    """Refuse names of files that are not there, some of which are read when the first alignment was."""
    ancestral = None if args.ancestral == IN_INFO else args.ancestral
    for path in (args.accessible, ancestral, args.clr_spectrum, args.recombination_map, args.populations):
        if path not in (None, "-") and not os.path.exists(path):
            raise InputError("no such file", source=path)


def _read_given(args: argparse.Namespace, options: sweeps.SweepOptions) -> _Given:
    """Read the files that judge the scan, and refuse now what would be refused after it."""
    null = None if args.threshold is None else sweeps.read_thresholds(args.threshold)
    _check_threshold(args, null)
    if null is not None:
        own.check_options(null, sweep_parameters(options), options.statistics, "this scan")
    genes = None if args.genes is None else gene_files.read_genes(args.genes)
    background = None if args.background is None else sweeps.read_thresholds(args.background)
    if background is not None:
        own.check_background(background, options)
    return _Given(null, background, genes)


def _opened(
    args: argparse.Namespace, job: sweeps.ScanJob, given: _Given, progress: Progress, stack: ExitStack
) -> sweeps.ScanJob:
    """Open the input, look at its first alignment, and return the job of what is open."""
    exact = sweeps.reading_for(job.reading, job.options)
    read = sources.open_alignments(args.input, exact, threads=args.threads, progress=progress)
    first = sources.first_read(stack.enter_context(closing(read)), args.input, lambda one: _look_at_first(args, one))
    exclude, refining = sources.regions_of(args.exclude), None if args.refine is None else given.null
    return replace(job, source=first, exclude=exclude, backgrounds=given.background, thresholds=refining)


def _draw(args: argparse.Namespace, drawn: list[sweeps.Scan], given: _Given, made: dict[str, Any]) -> None:
    """Write the figure, the page and what MultiQC reads, of which the options ask for some."""
    title, null = input_title([args.input]), given.null
    if args.plot:
        lines, of = ((), "") if null is None else (null.thresholds, null.described)
        shown: dict[str, Any] = {"title": title, "thresholds": lines, "null": of, "genes": given.genes}
        plots.draw_figure(args.plot, plots, "plot_scans", drawn, **shown)
    if args.html:
        write_page(args, plots.scans_page(drawn, title=title, null=null, more=elsewhere(args)).text(made))
    if args.multiqc:
        write_content(args, formats.scans_content(sample_name(args, [args.input]), drawn))


def _check_outputs(args: argparse.Namespace, options: sweeps.SweepOptions) -> app.OutputOptions[formats.ReportFormat]:
    """Settle the report's format, and refuse options that contradict each other.

    Raises
    ------
    UsageError
        They do.
    """
    output = app.OutputOptions.resolve(args, FORMATS)
    if args.all and args.format not in ("raisd", "selscan"):
        raise UsageError("--all has no effect without --format raisd or selscan")
    if args.no_separator and args.format != "raisd":
        raise UsageError("--no-separator has no effect without --format raisd")
    if args.format == "selscan" and len(set(EHH_STATISTICS) & set(options.statistics)) != 1:
        raise UsageError(
            f"--format selscan holds either nsl or ihs; give one of them with --stat, not {args.statistics}"
        )
    if args.format in ("raisd", "selscan") and args.refine is not None:
        raise UsageError(f"--format {args.format} has no place for fine rows; leave out --refine")
    if args.format == "raisd" and "mu" not in options.statistics:
        raise UsageError(f"--format raisd holds mu alone, which --stat {args.statistics} leaves out; add it")
    if args.shard is not None and args.threshold is not None:
        raise UsageError(f"--threshold {args.threshold}: a piece has no figure; give this option to `combine`")
    if args.plot:
        plots.plot_format(args.plot)
    elif args.genes is not None:
        raise UsageError(f"--genes {args.genes}: it names genes in the figure; give --plot FILE as well")
    return output


def _check_threshold(args: argparse.Namespace, null: sweeps.Significance | None) -> None:
    """Refuse thresholds that the scan has no use for.

    Raises
    ------
    UsageError
        It has none.
    """
    if null is None:
        return
    if null.combination is not None and args.format == "raisd":
        raise UsageError(f"--threshold {args.threshold}: the raisd format has no place for the combined score")
    if args.refine_quantile is not None:
        raise UsageError("--refine-quantile and --threshold contradict each other: either says which rows are refined")
    if null.combination is None and args.refine is None and not (args.plot or args.html):
        why = (
            "it draws lines into the figure, or says which rows are refined; give --plot FILE, --html FILE or --refine"
        )
        raise UsageError(f"--threshold {args.threshold}: {why}")


def _look_at_first(args: argparse.Namespace, alignment: Alignment) -> None:
    """Refuse options that do not suit the input."""
    if args.samples and not alignment.samples:
        raise UsageError(f"--samples {args.samples}: this input does not name its samples; leave the option out")


def _scans(parts: Iterator[Any], messages: ScanMessages) -> Iterator[sweeps.Scan]:
    """The scans among the parts; what was read of alignments is reported."""
    for part in parts:
        if isinstance(part, sweeps.Scan):
            yield part
        else:
            messages.alignment(part)


def _seen(
    scans: Iterator[sweeps.Scan], messages: ScanMessages, drawn: list[sweeps.Scan] | None,
    null: sweeps.Significance | None,
) -> Iterator[sweeps.Scan]:  # fmt: skip
    """The same scans with a combined score, if there is one, each reported, and kept for the figure and the page."""
    for each in scans:
        scan = each
        if null is not None and null.combination is not None:
            own.compare(null, [scan], "this scan")
            scan = null.judged(scan)
        messages.result(scan)
        if drawn is not None:
            drawn.append(scan)
        yield scan


class ScanMessages:
    """Reports how a scan goes and what it finds.

    Parameters
    ----------
    args : Namespace
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self.progress = app.started_progress(args, "reading")
        self._read = self._scanned = self._rows = self._empty = 0
        self._seconds = 0.0

    def alignment(self, alignment: AlignmentRead) -> None:
        """Report what is odd about an alignment before it is scanned."""
        self.progress.clear()
        self._read += 1
        if self._read <= SHOWN_ALIGNMENTS or self._args.verbose:
            say_unphased(self._args, alignment, "patterns are those of genotypes")
            effect = "count as one haplotype, and in patterns as homozygous genotypes"
            say_haploid(self._args, alignment, effect)

    def result(self, scan: sweeps.Scan) -> None:
        """Report a scan and count it."""
        self.progress.clear()
        self._scanned += 1
        self._rows += len(scan.positions)
        empty = all(scan.best(name) is None for name in scan.values)
        self._empty += empty
        self._seconds += scan.seconds
        level = 0 if self._scanned <= SHOWN_ALIGNMENTS else 1
        app.say(self._args, f"{'warning: ' * empty}{formats.summary_line(scan)}; {scan.seconds:.2f} s", level)
        for remark in scan.remarks:
            app.say(self._args, f"{scan.name}: {remark}", level)

    def totals(self, options: sweeps.SweepOptions) -> None:
        """Report what all scans together came to."""
        if self._scanned > SHOWN_ALIGNMENTS and not self._args.verbose:
            app.say(
                self._args, f"... and {number_of(self._scanned - SHOWN_ALIGNMENTS, 'more alignment')} (-v shows them)"
            )
        if self._empty:
            app.say(
                self._args,
                f"warning: {self._empty:,} of {self._scanned:,} alignments have no value at all: too few sites left",
            )
        if options.maf > 0 and "mu" in options.statistics:
            app.say(self._args, "warning: --maf takes away the rare alleles that mu_SFS counts; mu is hardly raised")
        app.say(
            self._args,
            f"{number_of(self._scanned, 'alignment')}, {number_of(self._rows, 'row')} in {self._seconds:.2f} s",
        )
