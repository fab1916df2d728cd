"""What `query`, `run` and `merge` write: options, and the outputs they stand for."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from oclgenomics.app.commands import PACKED, add_message_options
from oclgenomics.app.files import writes
from oclgenomics.errors import ParameterError, UsageError

if TYPE_CHECKING:
    from oclgenomics.classify.formats.native_options import NativeOptions

__all__ = ["add_report_options", "add_text_options", "checked_format", "native_options", "text_files"]

SWITCHES = {
    "tophits": "the best candidates and their hits",
    "allhits": "all windows that were hit; slow",
    "locations": "where in their targets the candidates were hit",
    "taxids": "identifiers of taxa beside their names",
    "taxids-only": "identifiers instead of names",
    "omit-ranks": "no names of ranks",
    "separate-cols": "rank, name and identifier in columns of their own",
    "lineage": "the taxa at all ranks from the call's up to --highest",
    "queryids": "a number for each read or pair",
    "mapped-only": "no lines for unclassified reads",
    "no-map": "no lines for reads, only the summary",
    "no-summary": "no summary at the end",
    "ground-truth": "what each read is of, if its header tells: by taxid|N, or the accession of a target; slow",
    "precision": "how many calls are right, at the end; as --ground-truth",
}
FILES = {
    "kreport": "a report of clades as Kraken writes it, for Bracken, Pavian and others",
    "abundances": "MetaCache's list of taxa and their reads; see --abundance-per",
    "krona": "text for Krona's ktImportText",
    "cami": "the taxon of each read in CAMI's format of binning",
    "cami-profile": "shares of taxa in CAMI's format of profiling",
    "bracken": "species and their estimated reads as Bracken writes them",
    "hits-per-ref": "the reads that hit each target",
}

NOT_MERGED = ("allhits", "locations", "hits-per-ref", "ground-truth", "precision")


def add_report_options(parser: argparse.ArgumentParser, *, merged: bool = False) -> None:
    """Add the outputs; `merged`: without those that need windows or headers, which results to be merged do not tell."""
    group = parser.add_argument_group("output")
    writes(
        group.add_argument(
            "-o",
            "--output",
            default="-",
            metavar="FILE",
            help=f"file for the lines of reads, {PACKED} (default: standard output)",
        )
    )
    group.add_argument(
        "--format", metavar="NAME", help="of these lines: native (MetaCache's), kraken, tsv or json (default: native)"
    )
    group.add_argument("--json", action="store_true", help="short for --format json")
    for name, text in FILES.items():
        if name in NOT_MERGED and merged:
            continue
        writes(group.add_argument(f"--{name}", metavar="FILE", help=f"write {text}"))
    plot = group.add_argument("--plot", metavar="FILE", help="draw the taxa of each rank; .png, .svg or .pdf")
    writes(plot)
    group.add_argument(
        "--abundance-per", metavar="RANK",
        help="with --abundances: also estimate the reads of each taxon of this rank",
    )  # fmt: skip
    add_message_options(group)
    native = parser.add_argument_group("lines of --format native")
    for name, text in SWITCHES.items():
        if name in NOT_MERGED and merged:
            continue
        native.add_argument(f"--{name}", action="store_true", help=text)
    native.add_argument(
        "--separator", default="\\t|\\t", metavar="TEXT", help="between columns; \\t is a tab (default: %(default)s)"
    )
    native.add_argument(
        "--comment",
        default="# ",
        metavar="TEXT",
        help="before lines that are not about a read (default: '%(default)s')",
    )


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


def checked_format(args: argparse.Namespace) -> str:
    """Settle the format of the lines; `args.format` becomes it.

    Raises
    ------
    UsageError
        There is no such format, of lines or of the figure, or options contradict it or each other.
    """
    from oclgenomics.app.figures import plot_format
    from oclgenomics.classify.taxonomy.ranks import RANKS

    formats = ("native", "kraken", "tsv", "json")
    if args.json and args.format not in (None, "json"):
        raise UsageError(f"--json and --format {args.format} contradict each other; give one of them")
    asked: str = args.format or ("json" if args.json else "native")
    if asked not in formats:
        raise UsageError(f"--format {asked}: choose one of {', '.join(formats)}")
    given = [name for name in SWITCHES if getattr(args, name.replace("-", "_"), False)]
    if asked != "native" and given:
        raise UsageError(f"--{given[0]} is for --format native, not for {asked}")
    if args.abundance_per and not args.abundances:
        raise UsageError("--abundance-per needs --abundances FILE, where the estimate is written")
    if args.abundance_per and args.abundance_per not in RANKS:
        raise ParameterError("abundance_per", f"choose one of {', '.join(RANKS)}", args.abundance_per)
    if args.plot:
        plot_format(args.plot)
    args.format = asked
    return asked


def native_options(args: argparse.Namespace) -> NativeOptions:
    """Return how the lines of --format native look."""
    from oclgenomics.classify.formats.native_options import NativeOptions

    return NativeOptions(
        taxids=args.taxids,
        taxids_only=args.taxids_only,
        omit_ranks=args.omit_ranks,
        separate_cols=args.separate_cols,
        separator=args.separator.replace("\\t", "\t"),
        comment=args.comment,
        lineage=args.lineage,
        queryids=args.queryids or bool(getattr(args, "hits_per_ref", None)),
        mapped_only=args.mapped_only,
        no_map=args.no_map,
        tophits=args.tophits,
        allhits=getattr(args, "allhits", False),
        locations=getattr(args, "locations", False),
        summary=not args.no_summary,
        ground_truth=getattr(args, "ground_truth", False),
        precision=getattr(args, "precision", False),
    )
