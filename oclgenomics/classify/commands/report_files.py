"""What `query`, `run` and `merge` write: options, and the outputs, written part by part or at the end."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import PACKED, OutputOptions, add_output_options, count, text_output
from oclgenomics.app.files import Names, writes
from oclgenomics.app.filtering import check_mates
from oclgenomics.app.html_output import add_html_option, write_page
from oclgenomics.app.multiqc import add_multiqc_options, write_content
from oclgenomics.classify import formats, plots
from oclgenomics.classify.options import RANKS
from oclgenomics.errors import UsageError, check_choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from oclgenomics.app.reports import ByteSink, Report
    from oclgenomics.classify.formats.native import NativeOptions
    from oclgenomics.classify.formats.reports import LineForm
    from oclgenomics.classify.options import QueryOptions, SketchOptions
    from oclgenomics.classify.result import ClassifiedReads
    from oclgenomics.classify.taxonomy.lineages import Lineages
    from oclgenomics.runtime import Engine


SWITCHES = {
    "tophits": "the best candidates and their hits",
    "allhits": "all windows that were hit; slow",
    "locations": "where in their targets the candidates were hit",
    "taxids": "identifiers of taxa behind their names",
    "taxids-only": "identifiers instead of names",
    "omit-ranks": "no names of ranks",
    "separate-cols": "rank, name and identifier in columns of their own",
    "lineage": "the taxa at all ranks from the call's up to --highest",
    "queryids": "a number for each read or pair",
    "mapped-only": "no lines for unclassified reads",
    "no-map": "no lines for reads, only the summary",
    "no-summary": "no summary at the end",
    "ground-truth": "the true origin of each read, if its header has it: taxid|N, or the accession of a target; slow",
    "precision": "how many calls are right, at the end; as --ground-truth",
}
FILES = {
    "kreport": "a report of clades as Kraken writes it, for Bracken, Pavian and others",
    "abundances": "MetaCache's list of taxa and their reads; see --abundance-per",
    "krona": "text for Krona's ktImportText",
    "cami": "the taxon of each read in CAMI's format of binning",
    "cami-profile": "shares of taxa in CAMI's format of profiling",
    "bracken": "species and their estimated reads as Bracken writes them",
    "shares": "estimated shares of species, with intervals",
    "evidence": "how many distinct features of each taxon the reads hit, and how many they should",
    "hits-per-ref": "the reads that hit each target",
}
NEED_FEATURES = ("evidence", "minimizer_data")

LINES = ("native", "kraken", "tsv", "json")
NOT_MERGED = ("allhits", "locations", "hits-per-ref", "shares", "evidence", "ground-truth", "precision")


def add_report_options(parser: argparse.ArgumentParser, names: Names | None = None, *, merged: bool = False) -> None:
    """Add the outputs.

    Parameters
    ----------
    parser : ArgumentParser
    names : callable, optional
        Gives the files that -o names; see `app.files.writes`.
    merged : bool
        Without those that need windows or headers, which results to be merged do not tell.
    """
    group = add_output_options(parser, names, formats=LINES, what="lines of reads", note="native is MetaCache's")
    left_out = NOT_MERGED if merged else ()
    for name, text in FILES.items():
        if name not in left_out:
            writes(group.add_argument(f"--{name}", metavar="FILE", help=f"write {text}"))
    writes(group.add_argument("--plot", metavar="FILE", help="draw the taxa of each rank; .png, .svg or .pdf"))
    add_html_option(group, "the taxa of each rank")
    add_multiqc_options(group, "the species, or targets where there are none,")
    group.add_argument(
        "--abundance-per", metavar="RANK",
        help="with --abundances: also estimate the reads of each taxon of this rank",
    )  # fmt: skip
    if not merged:
        group.add_argument(
            "--minimizer-data", action="store_true",
            help="with --kreport: two columns more, the features of the reads of each clade and the distinct ones, "
            "where Kraken 2 has minimizers",
        )  # fmt: skip
        group.add_argument(
            "--per-genome", action="store_true",
            help="with --shares: shares of genomes rather than of reads, by the lengths of genomes",
        )  # fmt: skip
        group.add_argument(
            "--bootstrap", type=count, default=100, metavar="N",
            help="with --shares: rounds of the bootstrap for intervals; 0 for none (default: %(default)s)",
        )  # fmt: skip
    native = parser.add_argument_group("lines of --format native")
    for name, text in SWITCHES.items():
        if name not in left_out:
            native.add_argument(f"--{name}", action="store_true", help=text)
    native.add_argument(
        "--separator", default="\\t|\\t", metavar="TEXT", help="between columns; \\t is a tab (default: %(default)s)"
    )
    native.add_argument(
        "--comment", default="# ", metavar="TEXT",
        help="before lines that are not about a read (default: '%(default)s')",
    )  # fmt: skip


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add the outputs of reads themselves."""
    group = parser.add_argument_group("output of reads")
    for name, which in (("classified-out", "classified"), ("unclassified-out", "unclassified")):
        action = group.add_argument(
            f"--{name}", metavar="FILE",
            help=f"write {which} reads as they stand in the input; # in the name becomes _1 and _2 for the mates of "
            f"pairs, which else follow each other; {PACKED}",
        )  # fmt: skip
        writes(action, lambda _, given: [file for file, _ in text_files(given)])


def text_files(given: str) -> Iterable[tuple[str, str]]:
    """Return the files that --classified-out names, each with the mates that it gets."""
    if "#" not in given:
        return [(given, "both")]
    return [(given.replace("#", "_1"), "first"), (given.replace("#", "_2"), "second")]


def check_texts(args: argparse.Namespace) -> None:
    """Refuse files of mates where there are none.

    Raises
    ------
    UsageError
    """
    check_mates(args, (("--classified-out", args.classified_out), ("--unclassified-out", args.unclassified_out)))


def check_format(args: argparse.Namespace) -> None:
    """Settle the format of the lines; `args.format` becomes it.

    Raises
    ------
    UsageError
        There is no such format, of lines or of the figure, or options contradict it or each other.
    """
    asked = OutputOptions.resolve(args, LINES).format
    given = [name for name in SWITCHES if getattr(args, name.replace("-", "_"), False)]
    if asked != "native" and given:
        raise UsageError(f"--{given[0]} is for --format native, not for {asked}")
    if args.abundance_per and not args.abundances:
        raise UsageError("--abundance-per needs --abundances FILE, where the estimate is written")
    if getattr(args, "per_genome", False) and not args.shares:
        raise UsageError("--per-genome needs --shares FILE, where the shares are written")
    if getattr(args, "minimizer_data", False) and not (args.kreport or getattr(args, "shard", None)):
        raise UsageError("--minimizer-data needs --kreport FILE, where the two columns are written")
    if args.abundance_per:
        check_choice("abundance_per", args.abundance_per, RANKS)
    if args.plot:
        plots.plot_format(args.plot)


def native_options(args: argparse.Namespace) -> NativeOptions:
    """Return how the lines of --format native look."""
    given = {name.replace("-", "_"): getattr(args, name.replace("-", "_"), False) for name in SWITCHES}
    given["summary"] = not given.pop("no_summary")
    given["queryids"] |= bool(getattr(args, "hits_per_ref", None))
    return formats.NativeOptions(**given, separator=args.separator.replace("\\t", "\t"), comment=args.comment)


def line_form(args: argparse.Namespace, options: QueryOptions, *, alone: bool) -> LineForm:
    """Return the lines of the main output; `alone`: unless other outputs need more of the reads."""
    more = needs_features(args) or args.cami or args.hits_per_ref or _shown_shares(args, options)
    return formats.LineForm(args.format, native_options(args), alone and not more)


def needs_features(args: argparse.Namespace) -> bool:
    """Whether outputs are about the features that reads share with their best candidates."""
    return any(getattr(args, name, None) for name in NEED_FEATURES)


def _shown_shares(args: argparse.Namespace, options: QueryOptions) -> bool:
    """Whether abundances are estimated from candidates."""
    return options.tells_shares and bool(args.bracken or args.abundance_per or getattr(args, "shares", None))


def check_shares(args: argparse.Namespace, options: QueryOptions) -> None:
    """Refuse shares of candidates that do not tell them.

    Raises
    ------
    UsageError
        They are asked for.
    """
    if args.shares and not options.tells_shares:
        what = "by the usual minimum hits, and with a taxonomy: leave out --hitmin, --lowest and --maxcand 1"
        raise UsageError(f"--shares: is estimated from two species a read, {what}")


class ReportFiles:
    """All outputs of a command.

    Parameters
    ----------
    args : Namespace
    lineages : Lineages
    options : QueryOptions
    sketch : SketchOptions
        Those of the database.
    engine : Engine or callable, optional
        Joins lines; see `formats.make_report`.
    candidates : bool
        Whether the candidates of reads are those of a query, from which abundances may be estimated.
    made : mapping, optional
        The provenance of a page.
    known_features : callable, optional
        Counts the features that the database has of each taxon.

    Attributes
    ----------
    tally : Tally
    """

    def __init__(
        self,
        args: argparse.Namespace,
        lineages: Lineages,
        options: QueryOptions,
        sketch: SketchOptions,
        engine: Engine | Callable[[], Engine | None] | None = None,
        *,
        candidates: bool = True,
        made: Mapping[str, Any] = MappingProxyType({}),
        known_features: Callable[[], NDArray[np.int64]] | None = None,
    ) -> None:
        self._made = made
        self._args, self._lineages, self._options, self._sketch = args, lineages, options, sketch
        self._engine, self._native = engine, native_options(args)
        shares = candidates and _shown_shares(args, options)
        counted: dict[str, Any] = {"features": needs_features(args), "known": known_features}
        self.tally = formats.Tally(lineages, sketch if shares else None, **counted)
        listed = getattr(args, "hits_per_ref", None)
        self._hits = formats.TargetHits(lineages, options.highest, sketch, self._native) if listed else None

    @property
    def on_part(self) -> list[Callable[[ClassifiedReads], None]]:
        """What sees each part."""
        return [self.tally.add, *([] if self._hits is None else [self._hits.add])]

    def open(self, stack: ExitStack) -> list[tuple[ByteSink, Report[ClassifiedReads]]]:
        """Open the outputs that are written part by part, and return them with what is written."""
        return [(stack.enter_context(text_output(path, "wb")), report) for path, report in self._reports()]

    def _reports(self) -> Iterator[tuple[str, Report[ClassifiedReads]]]:
        args, sample = self._args, _sample(self._args)
        known: tuple[Any, ...] = (self._lineages, self._options, self._sketch)
        how: dict[str, Any] = {"sample": sample, "engine": self._engine}
        yield args.output, formats.make_report(args.format, *known, native=self._native, tally=self.tally, **how)
        if args.cami:
            yield args.cami, formats.make_report("cami", *known, **how)
        for name, classified in (("classified_out", True), ("unclassified_out", False)):
            given = getattr(args, name, None)
            for path, mates in text_files(given) if given else ():
                yield path, formats.ReadTexts(classified=classified, mates=mates)  # type: ignore[arg-type]

    def write_summaries(self) -> None:
        """Write the outputs that tell of all reads."""
        for path, text in self._summaries():
            with text_output(path, "wb") as stream:
                stream.write(text.encode("utf-8", "replace"))
        if self._args.multiqc:
            write_content(self._args, formats.taxa_content(_sample(self._args), self.tally))
        if self._args.plot:
            counts = self.tally.calls_alone()  # which another process can have
            plots.draw_figure(self._args.plot, plots, "plot_sample", counts, title=_sample(self._args))
        if self._args.html:
            more = f"in {os.path.basename(self._args.kreport)}" if self._args.kreport else "in the file of --kreport"
            page = plots.sample_page(self.tally, title=_sample(self._args), more=more)
            write_page(self._args, page.text(self._made))

    def _summaries(self) -> Iterator[tuple[str, str]]:
        args = self._args
        for name in filter(formats.SUMMARIES.__contains__, FILES):
            if path := getattr(args, name.replace("-", "_"), None):
                how = {"per": args.abundance_per, "native": self._native, "sample": _sample(args)}
                if name == "shares":
                    how |= {"per_genome": args.per_genome, "bootstrap": args.bootstrap}
                yield path, formats.make_summary(name, self.tally, **how)
        if self._hits is not None:
            yield args.hits_per_ref, self._hits.text()


def _sample(args: argparse.Namespace) -> str:
    """The name of the sample: as given, or that of its first file."""
    if args.sample_name:
        return str(args.sample_name)
    first: str = next(name for kind in ("results", "reads", "paired") for name in getattr(args, kind, ()))
    return "sample" if first == "-" else os.path.basename(first).partition(".")[0]
