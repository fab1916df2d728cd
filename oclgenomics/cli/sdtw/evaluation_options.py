"""What `sdtw evaluate` and `sdtw calibrate` have in common: options, what they stand for, and what is written."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from oclgenomics.cli.options import count, shortened, whole
from oclgenomics.cli.output import OutputOptions, atomic_output, provenance, say
from oclgenomics.commandkit.files import reads, writes
from oclgenomics.errors import ParameterError, UsageError

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine
    from oclgenomics.sdtw.evaluation import LabelledScores, RunModel
    from oclgenomics.sdtw.reports.evaluation import EvaluationReport
    from oclgenomics.sdtw.thresholds import Thresholds

__all__ = [
    "DEFAULT_PREFIXES",
    "FORMATS",
    "add_evaluation_options",
    "add_reference_options",
    "add_report_options",
    "add_run_options",
    "check_evaluation_options",
    "chosen_thresholds",
    "make_report",
    "run_model",
    "say_report",
    "settle_score",
    "write_report",
]

FORMATS = ("tsv", "json")
WAYS = ("stages", "thresholds", "keep", "reject", "for_run")  # to come by thresholds
DEFAULT_PREFIXES = (1000, 2000, 3000, 4000, 5000)
RUN_OPTIONS: dict[str, tuple[Callable[[str], float], str, str]] = {
    "--target-share": (float, "P", "share of the target among strands of the library (default: 0.01)"),
    "--target-length": (float, "BASES", "mean length of strands of the target (default: 5000)"),
    "--other-length": (float, "BASES", "mean length of other strands (default: 5000)"),
    "--channels": (count, "N", "pores that are read at a time (default: 512)"),
    "--rate": (float, "HZ", "samples per second of a pore (default: 4000)"),
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
        "--prefixes", type=_prefixes, metavar="N,N,...",
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


def run_model(args: argparse.Namespace) -> RunModel:
    """Return the run that the options describe.

    Raises
    ------
    ParameterError
        A value out of range.
    """
    from oclgenomics.sdtw.evaluation import RunModel

    names = [option.lstrip("-").replace("-", "_") for option in RUN_OPTIONS]
    given: dict[str, Any] = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    return RunModel(**given)


def check_evaluation_options(args: argparse.Namespace) -> OutputOptions[str]:
    """Settle the format, and refuse what cannot be before a device starts.

    Raises
    ------
    UsageError
        Options contradict each other, or are out of range.
    """
    from oclgenomics.plot_style import plot_format
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


def make_report(args: argparse.Namespace, scores: Sequence[LabelledScores], thresholds: Thresholds) -> EvaluationReport:
    """Evaluate scores of several kinds of alignments as the options ask for; thresholds judge the first ones."""
    from oclgenomics.sdtw.evaluation import differences, evaluate, evaluate_stages, expected_enrichment
    from oclgenomics.sdtw.reports.evaluation import EvaluationReport

    staged, model = evaluate_stages(thresholds, scores[0]), run_model(args)
    balanced = args.weights == "classes"
    first, *others = (
        evaluate(one, balanced=balanced, rounds=args.bootstrap, splits=args.splits, seed=args.seed) for one in scores
    )
    found = [difference for other in others for difference in differences(first, other)]
    return EvaluationReport([first, *others], found, staged, model, expected_enrichment(staged, model))


def write_report(
    args: argparse.Namespace, output: OutputOptions[str], report: EvaluationReport, engine: Engine, title: str
) -> None:
    """Write the results, the thresholds and the figure.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    from oclgenomics.sdtw.reports.evaluation import as_json, as_tsv
    from oclgenomics.sdtw.thresholds import write_thresholds

    made = provenance(args, engine)
    if args.write_thresholds:
        write_thresholds(args.write_thresholds, report.staged.thresholds)
    if args.plot:
        _write_plot(args, report, title)
    output.write((as_json if output.format == "json" else as_tsv)(report, made))


def _write_plot(args: argparse.Namespace, report: EvaluationReport, title: str) -> None:
    from oclgenomics.plot_style import plot_format, save_plot
    from oclgenomics.sdtw.plots.evaluation import plot_evaluation

    figure = plot_evaluation(report.evaluations, report.staged.thresholds, title=title)
    with atomic_output(args.plot, "wb") as stream:
        save_plot(figure, stream, plot_format(args.plot))


def say_report(args: argparse.Namespace, report: EvaluationReport) -> None:
    """Tell the main numbers."""
    for evaluation in report.evaluations:
        for one in evaluation.prefixes:
            held_out = "" if one.held_out.value != one.held_out.value else f", {one.held_out.value:.3f} held out"
            text = f"{evaluation.labelled.name}, {one.prefix:,} samples: F {one.f.value:.3f}{held_out}"
            say(args, f"{text}, AUC {one.sweep.auc:.3f}")
    for difference in report.differences:
        low, high = (f"{value:+.3f}" for value in difference.f[1:])
        say(args, f"{difference.name} less {difference.baseline}, {difference.prefix:,} samples: "
            f"F {difference.f.value:+.3f} ({low} to {high})")  # fmt: skip
    staged, stages = report.staged, ",".join(map(str, report.staged.thresholds.stages))
    kept = [f"{100 * rate:.1f} %" for rate in (staged.true_positive_rate, staged.false_positive_rate)]
    expected = f"expected enrichment {report.enrichment.enrichment:.2f}"
    say(args, f"stages {stages}: keep {kept[0]} of the targets and {kept[1]} of the others; {expected}")


def _prefixes(text: str) -> tuple[int, ...]:
    try:
        return tuple(count(part.strip()) for part in text.split(","))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"{shortened(text)}: give numbers of samples with commas between them"
        ) from None


def chosen_thresholds(args: argparse.Namespace, labelled: LabelledScores, engine: Engine) -> Thresholds:
    """Choose thresholds as the options ask for, with what made them."""
    from oclgenomics.sdtw.evaluation import choose_for_run, choose_thresholds

    made = provenance(args, engine)
    if args.for_run:
        return choose_for_run(labelled, run_model(args), made=made)
    balanced = args.weights == "classes"
    return choose_thresholds(labelled, keep=args.keep, reject=args.reject, balanced=balanced, made=made)
