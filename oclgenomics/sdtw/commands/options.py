"""What commands of `sdtw` have in common: how signals are compared, what decides of reads, and how it is evaluated."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oclgenomics import sdtw
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads, writes
from oclgenomics.app.html_output import add_html_option
from oclgenomics.app.inputs import trim_of
from oclgenomics.app.multiqc import add_multiqc_options
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw import decisions, plots
from oclgenomics.sdtw.options import DEFAULT, FIELDS, PRESETS

if TYPE_CHECKING:
    from oclgenomics.sdtw.decisions.basis import Trim
    from oclgenomics.signals import TrimOptions


FORMATS = ("tsv", "json")  # of evaluations
WAYS = ("stages", "thresholds", "keep", "reject", "for_run")  # to come by thresholds
RUN_OPTIONS: dict[str, tuple[Callable[[str], float], str, str]] = {
    "--target-share": (float, "P", "share of the target among strands of the library (default: 0.01)"),
    "--target-length": (float, "BASES", "mean length of strands of the target (default: 5000)"),
    "--other-length": (float, "BASES", "mean length of other strands (default: 5000)"),
    "--channels": (app.count, "N", "pores that are read at a time (default: 512)"),
    "--rate": (float, "HZ", "samples per second of a pore (default: that of the reads, else of the references' pore)"),
    "--speed": (float, "BASES", "bases per second (default: that of the references' pore; 450 for R9.4.1)"),
    "--capture-seconds": (float, "S", "mean time that a pore is empty between strands (default: 1)"),
    "--latency": (float, "S", "from the last sample of a prefix until a rejected strand is out (default: 0.5)"),
    "--skipped": (app.count, "N", "samples at the start of reads that prefixes leave out (default: 0)"),
}


def add_align_options(group: argparse._ArgumentGroup) -> None:
    """Add --preset, --norm, --cost, --bonus, --arithmetic, --bits and --step; None where they are not given."""
    group.add_argument(
        "--preset", choices=tuple(PRESETS),
        help="options that go together: this program's, those of Crescent, or those of SquiggleFilter (for n samples "
        "its own program prints the score of n + 1); other options change some (default: default)",
    )  # fmt: skip
    for name, choices, text in (
        ("norm", ("prefix", "blocks"), "normalise a prefix by its own mean and deviation, or each 500 samples by those "
         "so far (default: prefix)"),
        ("cost", ("absolute", "squared"), "of a sample at a k-mer: the difference of their levels, or its square "
         "(default: squared)"),
        ("bonus", ("none", "dwell", "published"), "reward for samples that stay at a k-mer: none, counted along the "
         "samples, or along the k-mers as SquiggleFilter publishes it (default: none)"),
        ("arithmetic", ("uint16", "int32", "float32"), "integers that end at 65,535, exact integers, or floating-point "
         "numbers (default: uint16)"),
    ):  # fmt: skip
        group.add_argument(f"--{name}", choices=choices, help=text)
    group.add_argument(
        "--bits", type=app.whole, metavar="N",
        help="bits of a level, 5 to 8 (default: 6 for squares, 7 for differences; 8 with a bonus and for blocks)",
    )  # fmt: skip
    group.add_argument(
        "--step", type=app.whole, metavar="N",
        help="samples that make a row, of which the median of three is compared; 1, or 3 to 32 (default: a third of "
        "those of a base, 3 for R9.4.1, 4 for R10.4.1, 10 for RNA004; 1 for blocks)",
    )  # fmt: skip


def prefix_lengths(text: str) -> tuple[int, ...]:
    """Read lengths of prefixes, as in 1000,2000."""
    try:
        return tuple(app.count(part.strip()) for part in text.split(","))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{app.shortened(text)}: write numbers of samples as in 1000,2000") from None


def align_options(args: argparse.Namespace) -> sdtw.AlignOptions:
    """Return the options of alignments that were chosen.

    Raises
    ------
    ParameterError
        They contradict each other.
    """
    given: dict[str, Any] = {name: getattr(args, name) for name in FIELDS if getattr(args, name) is not None}
    return replace(PRESETS[args.preset or DEFAULT], **given)


def settled_options(args: argparse.Namespace, thresholds: sdtw.Thresholds) -> sdtw.AlignOptions:
    """Return the options that were chosen, or else those of the thresholds, which they may contradict.

    Raises
    ------
    UsageError
        They do.
    """
    given = any(getattr(args, name) is not None for name in ("preset", *FIELDS))
    options = align_options(args) if given else thresholds.options
    thresholds.check_options(options)
    return options


def add_reference_options(group: argparse._ArgumentGroup, dest: str, no_score: str) -> None:
    """Add --reference and --decoy, which may be given more than once, and --score, whose help says its default."""
    reads(group.add_argument(
        "--reference", dest=dest, action="append", required=True, metavar="FILE",
        help="reference of the target, by `sdtw index`; of several, the best one counts",
    ))  # fmt: skip
    reads(group.add_argument(
        "--decoy", dest="decoys", action="append", default=[], metavar="FILE",
        help="reference of what is no target; may be given more than once",
    ))  # fmt: skip
    group.add_argument(
        "--score", choices=("cost", "difference"),
        help=f"what is judged: the target's cost, or that cost less the best decoy's (default: {no_score})",
    )  # fmt: skip


def add_decision_options(group: argparse._ArgumentGroup) -> None:
    """Add --reference, --decoy, --score, --stages and --thresholds."""
    no_score = "that of the thresholds; with --stages difference where there is a --decoy, else cost"
    add_reference_options(group, "targets", no_score)
    stages = group.add_mutually_exclusive_group(required=True)
    stages.add_argument(
        "--stages", metavar="N:T,...", help="PREFIX:REJECT or PREFIX:ACCEPT..REJECT for each stage, as 1000:T1,2000:T2"
    )
    reads(stages.add_argument(
        "--thresholds", metavar="FILE",
        help="stages by `sdtw evaluate` or `sdtw calibrate`, and the options of alignments that they are for",
    ))  # fmt: skip


def thresholds_of(args: argparse.Namespace) -> sdtw.Thresholds:
    """Return the thresholds that are given, in a file or on the command line.

    Raises
    ------
    UsageError
        Stages that cannot be, or a score that is not that of the thresholds.
    InputError
        The file cannot be read.
    """
    if args.thresholds is None:
        stages = decisions.parse_stages(args.stages)
        return sdtw.Thresholds(stages, align_options(args), args.score or ("difference" if args.decoys else "cost"))
    thresholds = sdtw.read_thresholds(args.thresholds)
    if args.score not in (None, thresholds.score):
        raise UsageError(
            f"--score {args.score}: the thresholds were made with {thresholds.score}; leave the option out"
        )
    return thresholds


def references_of(
    args: argparse.Namespace, thresholds: sdtw.Thresholds
) -> tuple[tuple[sdtw.Squiggle, ...], tuple[sdtw.Squiggle, ...], TrimOptions | None]:
    """Return targets and decoys, which suit the thresholds, and how reads are trimmed.

    Raises
    ------
    UsageError
        The thresholds are of other references, or of another trimming or other options of alignments than those given.
    InputError
        A file cannot be read.
    """
    targets, decoys = sdtw.open_targets(args.targets, args.decoys)
    settled_options(args, thresholds)
    trim = decisions.checked_trim(thresholds, targets, decoys, asked_trim(args))
    args.trim = decisions.trim_text(trim)  # for reports to tell
    return targets, decoys, trim


def asked_trim(args: argparse.Namespace) -> Trim:
    """Return the trimming of --trim; what the thresholds say where it was not given."""
    return "thresholds" if args.trim is None else trim_of(args)


def add_evaluation_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add which prefixes are judged, how sure F is, how thresholds are chosen, for which run, and all outputs.

    Returns
    -------
    group
        That of the evaluation.
    """
    group = parser.add_argument_group("evaluation")
    group.add_argument(
        "--prefixes", type=prefix_lengths, metavar="N,N,...",
        help="samples of the reads that are judged, ascending (default: those of the stages, or 1000 to 5000)",
    )  # fmt: skip
    group.add_argument(
        "--weights", choices=("classes", "reads"), default="classes",
        help="both classes weigh the same, or each read does (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--bootstrap", type=app.count, default=1000, metavar="N",
        help="rounds of the bootstrap that gives intervals; 0 for none (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--splits", type=app.count, default=100, metavar="N",
        help="random halvings of the reads for held-out F; 0 for none (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--seed", type=app.whole, default=1, metavar="N", help="seed, 0 or more (default: %(default)s)")
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
    run = parser.add_argument_group("expected run")
    for option, (kind, metavar, text) in RUN_OPTIONS.items():
        run.add_argument(option, type=kind, metavar=metavar, help=text)
    output = app.add_output_options(parser, formats=FORMATS)
    add_html_option(output, "F by prefix, ROC curves and scores")
    add_multiqc_options(output, "ROC curves")
    writes(output.add_argument(
        "--plot", metavar="FILE", help="draw F by prefix, ROC curves and scores; .png, .svg or .pdf"
    ))  # fmt: skip
    writes(output.add_argument(
        "--write-thresholds", metavar="FILE", help="file for the thresholds, as `sdtw classify` takes it"
    ))  # fmt: skip
    return group


def evaluation_options(args: argparse.Namespace) -> sdtw.EvaluationOptions:
    """Return how thresholds are chosen and judged.

    Raises
    ------
    UsageError
        Options contradict each other, or are out of range.
    """
    ways = [f"--{name.replace('_', '-')}" for name in WAYS if getattr(args, name, None) not in (None, False)]
    if len(ways) > 1:
        raise UsageError(f"{ways[0]} and {ways[1]} contradict each other; give one of them")
    names = [option.lstrip("-").replace("-", "_") for option in RUN_OPTIONS]
    return sdtw.EvaluationOptions(
        keep=args.keep, reject=args.reject, for_run=args.for_run, balanced=args.weights == "classes",
        rounds=args.bootstrap, splits=args.splits, seed=args.seed,
        run={name: getattr(args, name) for name in names if getattr(args, name) is not None},
    )  # fmt: skip


def evaluation_output(args: argparse.Namespace) -> app.OutputOptions[str]:
    """Settle the formats of the report and of the figure.

    Raises
    ------
    UsageError
        There is no such format.
    """
    if args.plot:
        plots.plot_format(args.plot)
    return app.OutputOptions.resolve(args, FORMATS)


def say_unknown_pore(args: argparse.Namespace, references: Sequence[sdtw.Squiggle]) -> None:
    """Say that the expected run is one of R9.4.1, if neither references nor options say of which pore it is."""
    if args.speed is None and all(one.sequencing is None for one in references):
        app.say(args, "the references do not say for which pore they are, so the expected run is one of R9.4.1, with "
            "450 bases per second: give --speed, or make them with `sdtw index --pore`")  # fmt: skip


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
