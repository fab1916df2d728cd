"""The options that `sdtw evaluate` and `sdtw calibrate` have in common, and what they stand for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import OutputOptions, count, whole
from oclgenomics.app.files import reads, writes
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw.commands.align_options import prefix_lengths

if TYPE_CHECKING:
    from oclgenomics.sdtw.evaluation import RunModel

__all__ = [
    "DEFAULT_PREFIXES",
    "FORMATS",
    "add_evaluation_options",
    "add_reference_options",
    "add_report_options",
    "add_run_options",
    "check_evaluation_options",
    "run_model",
    "settle_score",
]

FORMATS = ("tsv", "json")
WAYS = ("stages", "thresholds", "keep", "reject", "for_run")  # to come by thresholds
DEFAULT_PREFIXES = (1000, 2000, 3000, 4000, 5000)
RUN_OPTIONS: dict[str, tuple[Callable[[str], float], str, str]] = {
    "--target-share": (float, "P", "share of the target among strands of the library (default: 0.01)"),
    "--target-length": (float, "BASES", "mean length of strands of the target (default: 5000)"),
    "--other-length": (float, "BASES", "mean length of other strands (default: 5000)"),
    "--channels": (count, "N", "pores that are read at a time (default: 512)"),
    "--rate": (float, "HZ", "samples per second of a pore (default: that of the reads, else 4000)"),
    "--speed": (float, "BASES", "bases per second (default: 450)"),
    "--capture-seconds": (float, "S", "mean time that a pore is empty between strands (default: 1)"),
    "--latency": (float, "S", "from the last sample of a prefix until a rejected strand is out (default: 0.5)"),
    "--skipped": (count, "N", "samples at the start of reads that prefixes leave out (default: 0)"),
}


def add_reference_options(group: argparse._ArgumentGroup) -> None:
    """Add --reference and --decoy, which may be given more than once, and --score."""
    reads(group.add_argument(
        "--reference", dest="references", action="append", required=True, metavar="FILE",
        help="reference of the target, by `sdtw index`; of several, the best one counts",
    ))  # fmt: skip
    reads(group.add_argument(
        "--decoy", dest="decoys", action="append", default=[], metavar="FILE",
        help="reference of what is no target; may be given more than once",
    ))  # fmt: skip
    group.add_argument(
        "--score", choices=("cost", "difference"),
        help="what is judged: the target's cost, or that cost less the best decoy's "
        "(default: difference with --decoy, else cost)",
    )  # fmt: skip


def add_evaluation_options(group: argparse._ArgumentGroup) -> None:
    """Add --prefixes, and how sure F is."""
    group.add_argument(
        "--prefixes", type=prefix_lengths, metavar="N,N,...",
        help="samples of the reads that are judged, ascending (default: those of the stages, or 1000 to 5000)",
    )  # fmt: skip
    group.add_argument(
        "--weights", choices=("classes", "reads"), default="classes",
        help="both classes weigh the same, or each read does (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--bootstrap", type=count, default=1000, metavar="N",
        help="rounds of the bootstrap that gives intervals; 0 for none (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--splits", type=count, default=100, metavar="N",
        help="random halvings of the reads for held-out F; 0 for none (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--seed", type=whole, default=1, metavar="N", help="seed, 0 or more (default: %(default)s)")
    group.add_argument(
        "--keep", type=float, metavar="SHARE",
        help="choose the lowest thresholds with which each stage keeps this share of the targets (default: those "
        "of the highest F)",
    )  # fmt: skip
    group.add_argument(
        "--for-run",
        action="store_true",
        help="choose all thresholds together, for the highest enrichment in the expected run",
    )
    group.add_argument(
        "--reject", type=float, metavar="SHARE",
        help="choose the highest thresholds with which each stage rejects this share of the others",
    )  # fmt: skip


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add what is known of the run that the stages are for."""
    group = parser.add_argument_group("expected run")
    for option, (kind, metavar, text) in RUN_OPTIONS.items():
        group.add_argument(option, type=kind, metavar=metavar, help=text)


def add_report_options(parser: argparse.ArgumentParser, *, write_thresholds: str) -> None:
    """Add --format, --plot and --write-thresholds."""
    group = parser.add_argument_group("reports")
    group.add_argument("--format", metavar="tsv|json", help="format of the results (default: tsv)")
    writes(group.add_argument(
        "--plot", metavar="FILE", help="draw F by prefix, ROC curves and scores; .png, .svg or .pdf"
    ))  # fmt: skip
    writes(group.add_argument("--write-thresholds", metavar="FILE", help=write_thresholds))


def run_model(args: argparse.Namespace, rate: float | None = None) -> RunModel:
    """Return the run that the options describe, of reads of so many samples per second, if that is known.

    Raises
    ------
    ParameterError
        A value out of range, or another rate than that of the reads.
    """
    from oclgenomics.sdtw.evaluation import RunModel
    from oclgenomics.sdtw.read_kind import check_rate

    names = [option.lstrip("-").replace("-", "_") for option in RUN_OPTIONS]
    given: dict[str, Any] = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if rate is not None:
        check_rate(given.setdefault("rate", rate), rate)
    return RunModel(**given)


def check_evaluation_options(args: argparse.Namespace) -> OutputOptions[str]:
    """Settle the format, and refuse what cannot be before a device starts.

    Raises
    ------
    UsageError
        Options contradict each other, or are out of range.
    """
    from oclgenomics.app.figures import plot_format
    from oclgenomics.sdtw.evaluation.choice import check_shares

    ways = [f"--{name.replace('_', '-')}" for name in WAYS if getattr(args, name, None) not in (None, False)]
    if len(ways) > 1:
        raise UsageError(f"{ways[0]} and {ways[1]} contradict each other; give one of them")
    check_shares(args.keep, args.reject)
    if args.plot:
        plot_format(args.plot)
    run_model(args)
    return OutputOptions.resolve(args, FORMATS)


def settle_score(args: argparse.Namespace) -> None:
    """Take the score that goes with the references, if none was chosen.

    Raises
    ------
    ParameterError
        A difference without decoys.
    """
    args.score = args.score or ("difference" if args.decoys else "cost")
    if args.score == "difference" and not args.decoys:
        raise ParameterError("score", "needs a --decoy to compare the target with", args.score)
