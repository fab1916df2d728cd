"""What `query` and `run` share: reads, how they are classified, and the options that say so."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from oclgenomics import classify
from oclgenomics.app.commands import add_device_options, add_options, count
from oclgenomics.app.inputs import add_reads_and_mates, with_reference
from oclgenomics.classify.commands.report_files import add_report_options, add_text_options
from oclgenomics.classify.options import PRESETS, Input, QueryOptions, parse_share
from oclgenomics.errors import UsageError

OptionsT = TypeVar("OptionsT")
BY_CHANCE = "by the read and the database, 2 or more, so that chance seldom gives as many; MetaCache's is 5"

KRAKEN = {  # options of Kraken 2
    "--report": "use --kreport FILE",
    "--minimum-hit-groups": "use --hitmin N",
    "--use-names": "not needed; --format native writes names",
    "--gzip-compressed|--bzip2-compressed": "not needed; compressed inputs are recognised",
    "--report-minimizer-data": "use --minimizer-data",
    "--report-zero-counts|--use-mpa-style": "no such report; --kreport FILE writes Kraken's",
    "--minimum-base-quality": "not done here; trim or mask reads before",
    "--quick": "not done here",
}


def add_read_options(parser: argparse.ArgumentParser) -> argparse.Action:
    """Add the files of reads, and how they are read; return the argument for the files."""
    files, group = add_reads_and_mates(
        parser,
        "FASTA or FASTQ files, uncompressed or compressed (gzip, bzip2, xz, zstd), or BAM, CRAM or SAM, in any mix",
        "two files of mates: the n-th read of the one and of the other are a pair; may be given more than once",
    )
    group.add_argument(
        "--pairfiles", action="store_true",
        help="READS are files of mates, two and two; more than two are sorted by their names first",
    )  # fmt: skip
    lengths = {
        "min_readlen": "shorter reads are not classified; of pairs, both mates together count (default: no limit)",
        "max_readlen": "longer reads are not classified (default: no limit)",
    }
    add_options(group, count, "BP", lengths, QueryOptions)
    group.add_argument(
        "--query-limit", dest="limit", type=count, metavar="N", help="reads or pairs of each input (default: all)"
    )
    return files


def add_mapping_option(parser: argparse.ArgumentParser, *, default: str) -> None:
    """Add --memory-mapping; `default` says when a database stays in its file without it."""
    parser.add_argument(
        "--memory-mapping", action="store_true", default=None,
        help="leave the database in its file and read what the reads need: the first answers come at once, many reads "
        f"take longer (default: {default} a database that does not fit into memory)",
    )  # fmt: skip


def add_query_options(parser: argparse.ArgumentParser, *, sketches: bool) -> None:
    """Add how reads are classified, where, and what is written; `sketches` is that of `add_candidate_options`."""
    add_calling_options(parser, hitmin=BY_CHANCE)
    add_candidate_options(parser, sketches=sketches)
    add_report_options(parser)
    add_text_options(parser)
    add_device_options(parser)


def add_calling_options(parser: argparse.ArgumentParser, *, hitmin: str, lowest: str = "") -> None:
    """Add how candidates become calls.

    Parameters
    ----------
    parser : ArgumentParser
    hitmin : str
        What is taken if --hitmin is not given.
    lowest : str
        The rank that is taken if --lowest is not given; "" for that of `QueryOptions`.
    """
    group = parser.add_argument_group("classification")
    shares = {
        "hitdiff": "candidates count whose hits are above this share of what the best one has above --hitmin; a value "
        "above 1 is percent (default: %(default)g)"
    }
    add_options(group, count, "N", {"hitmin": f"hits that a read needs (default: {hitmin})"})
    add_options(group, _share, "SHARE", shares, QueryOptions)
    add_options(group, count, "N", {"maxcand": "candidates of a read (default: %(default)s)"}, QueryOptions)
    shown = lowest or "species; with --hitmin sequence, as MetaCache has it"
    said = f"reads are not classified below it (default: {shown})"
    group.add_argument("--lowest", default=lowest, metavar="RANK", help=said)
    add_options(group, str, "RANK", {"highest": "reads are not classified above it (default: domain)"}, QueryOptions)


def add_candidate_options(parser: argparse.ArgumentParser, *, sketches: bool) -> None:
    """Add how candidates are found; `sketches`: windows of reads may differ from the database's."""
    group = parser.add_argument_group("candidates")
    span = "bases that a pair spans at most (default: 600; with --hitmin those of both mates, as MetaCache has it)"
    add_options(group, count, "BP", {"insertsize": span}, QueryOptions)
    group.add_argument(
        "--repeats", action="store_true",
        help="count a feature as often as the read and the target have it, as MetaCache does (default: once)",
    )  # fmt: skip
    covered = "leave out the targets that are covered least: this share of all coverage; a value above 1 is percent"
    add_options(group, _share, "SHARE", {"cov_percentile": f"{covered} (default: 0)"}, QueryOptions)
    rates = " or ".join(f"{name} ({100 * rate:g} %% of errors)" for name, rate in PRESETS.items())
    group.add_argument("--preset", choices=[*PRESETS], help=f"long reads: {rates}")
    errors = "share of wrong bases in long reads, for the lead of their best candidate (default: that of short reads)"
    group.add_argument("--error-rate", type=_rate, metavar="SHARE", help=errors)
    sure = "share of a read's features that its best candidate has to have, as Kraken 2's (default: %(default)g)"
    add_options(group, _share, "SHARE", {"confidence": sure}, QueryOptions)
    add_support_options(parser)
    if sketches:
        stride = "bases from a window of a read to the next one (default: winlen - kmerlen + 1 of the database)"
        add_options(group, count, "BP", {"winstride": stride}, QueryOptions)
        size = "features of a read's window at most (default: the database's)"
        add_options(group, count, "N", {"sketchlen": size}, QueryOptions)


def add_support_options(parser: argparse.ArgumentParser) -> None:
    """Add how much of a taxon its reads have to cover."""
    group = parser.add_argument_group(
        "evidence of taxa", "Reads of taxa with less are called the next taxon above that has enough, or nothing."
    )
    distinct = {"min_distinct": "distinct features that the reads of a taxon hit (default: %(default)s)"}
    add_options(group, count, "N", distinct, QueryOptions)
    shares = {
        "min_coverage": "share of the features of a taxon that its reads hit (default: %(default)g)",
        "min_evenness": "the same, of those that as many hits reach if they are from all over the genomes of the taxon "
        "(default: %(default)g)",
    }
    add_options(group, _share, "SHARE", shares, QueryOptions)


def query_options(args: argparse.Namespace, *, sketches: bool = True) -> QueryOptions:
    """Return how reads are classified; `sketches` as above.

    Raises
    ------
    UsageError
        A value is out of range.
    """
    left_out = ["error_rate"] if sketches else ["error_rate", "winstride", "sketchlen"]
    preset, given = getattr(args, "preset", None), getattr(args, "error_rate", None)
    rate = (PRESETS[preset] if preset else 0.0) if given is None else given
    return replace(chosen(QueryOptions, args, left_out=left_out), error_rate=rate)


def chosen(kind: Callable[..., OptionsT], args: argparse.Namespace, left_out: Sequence[str] = ()) -> OptionsT:
    """Return options of a kind, a dataclass, with the values of all its fields that the command has."""
    names = [field.name for field in fields(cast(Any, kind)) if field.name not in left_out]
    return kind(**{name: getattr(args, name) for name in names if hasattr(args, name)})


def query_inputs(args: argparse.Namespace) -> list[Input]:
    """List the inputs.

    Raises
    ------
    UsageError
        There are none, they contradict each other, or standard input is to be read twice.
    """
    if args.pairfiles and args.interleaved:
        raise UsageError("--pairfiles and --interleaved contradict each other; give one of them")
    singles, mates = with_reference(args, args.reads), with_reference(args, args.paired)
    if args.pairfiles:
        files = singles
        singles, mates = [], mates + (files if len(files) <= 2 else sorted(files))
    if len(mates) % 2:
        raise UsageError(f"--pairfiles: an odd number of files, {len(mates)}; each needs a file of its mates")
    return classify.checked_inputs(
        singles, list(zip(mates[::2], mates[1::2], strict=True)), interleaved=args.interleaved
    )


def _rate(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no share; write 0.05 for 5 % of wrong bases") from None


def _share(text: str) -> float:
    try:
        return parse_share(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} {error}") from None
