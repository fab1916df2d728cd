"""What `sdtw evaluate` and `sdtw calibrate` make of scores, write and tell."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from oclgenomics.cli.output import OutputOptions, binary_output, provenance, say
from oclgenomics.cli.sdtw.evaluation_options import run_model

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine
    from oclgenomics.sdtw.decisions.thresholds import Thresholds
    from oclgenomics.sdtw.evaluation import LabelledScores
    from oclgenomics.sdtw.reports.evaluation import EvaluationReport

__all__ = ["chosen_thresholds", "make_report", "say_report", "write_report"]


def chosen_thresholds(args: argparse.Namespace, labelled: LabelledScores, engine: Engine) -> Thresholds:
    """Choose thresholds as the options ask for, with what made them."""
    from oclgenomics.sdtw.evaluation import choose_for_run, choose_thresholds

    made = provenance(args, engine)
    if args.for_run:
        return choose_for_run(labelled, run_model(args), made=made)
    balanced = args.weights == "classes"
    return choose_thresholds(labelled, keep=args.keep, reject=args.reject, balanced=balanced, made=made)


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
    from oclgenomics.sdtw.decisions.thresholds_file import write_thresholds
    from oclgenomics.sdtw.reports.evaluation import as_json, as_tsv

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
    with binary_output(args.plot) as stream:
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
