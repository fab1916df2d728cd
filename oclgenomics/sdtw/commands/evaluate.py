"""`oclgenomics sdtw evaluate`: how well alignments tell labelled reads apart, and at which thresholds."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import oclgenomics
from oclgenomics import sdtw
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import THRESHOLDS_TRIM, add_signal_options
from oclgenomics.errors import UsageError
from oclgenomics.sdtw import decisions
from oclgenomics.sdtw.commands import options as shared
from oclgenomics.sdtw.commands.reports import say_evaluation, write_evaluation
from oclgenomics.sdtw.options import DEFAULT_PREFIXES, PRESETS, variant_name

if TYPE_CHECKING:
    from oclgenomics.signals import TrimOptions


def add_parser(actions: Any) -> None:
    """Add `evaluate` to the actions of `sdtw`."""
    parser = app.add_command(
        actions, run, "evaluate",
        help="F, ROC and thresholds from reads of which it is known whether they are on target",
        description="Align on-target reads and other reads with a reference, and report how well their costs keep "
        "them apart after each number of samples: the highest F of all thresholds, F of reads by thresholds of others, "
        "ROC, and what stages of thresholds bring in a run.",
    )  # fmt: skip
    for name, metavar, text in (("target", "TARGET", "on-target reads"), ("others", "NONTARGET", "other reads")):
        reads(parser.add_argument(name, metavar=metavar, help=f"{text}: a file of signals, or a folder of them"))
    group = parser.add_argument_group("references")
    shared.add_reference_options(group, "references", "difference with --decoy, else cost")
    group = parser.add_argument_group("signals and alignments")
    add_signal_options(group, default=THRESHOLDS_TRIM)
    shared.add_align_options(group)
    group.add_argument(
        "--compare", choices=tuple(PRESETS), action="append", default=[],
        help="evaluate these options, too, and give the differences of F; may be given more than once",
    )  # fmt: skip
    group = shared.add_evaluation_options(parser)
    group.add_argument(
        "--stages", metavar="N:T,...",
        help="thresholds to judge: PREFIX:REJECT or PREFIX:ACCEPT..REJECT for each stage (default: they are chosen)",
    )  # fmt: skip
    reads(group.add_argument(
        "--thresholds", metavar="FILE", help="thresholds to judge, and the options of alignments that they are for"
    ))  # fmt: skip
    app.add_device_options(parser, threads=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Evaluate alignments of labelled reads.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    evaluation, output = shared.evaluation_options(args), shared.evaluation_output(args)
    options, given = _judged(args)
    prefixes, variants = _prefixes(args, options, given), _variants(args, options)
    oclgenomics.select_device(args.device)  # a device that is not there is reported before anything is read
    references = sdtw.open_references([*args.references, *args.decoys])
    shared.say_unknown_pore(args, references)
    evaluation = evaluation.of_pore(sdtw.sequencing_for(references))
    given = None if given is None else given.for_references(references)
    trim = _trim(args, references, given)
    args.trim = decisions.trim_text(trim)  # for reports to tell
    with app.open_engine(args) as engine:
        start, made = time.perf_counter(), app.provenance(args, engine)
        how: dict[str, Any] = {"prefixes": prefixes, "trim": trim, "engine": engine}
        scores = [_scores(args, name, one, references, how) for name, one in variants.items()]
        app.say(args, f"aligned in {time.perf_counter() - start:.1f} s", level=1)
        app.report_profile(args, engine)
    report = _report(args, scores, given, evaluation, made)
    write_evaluation(args, output, report, made, f"{Path(args.target).name} and {Path(args.others).name}")
    say_evaluation(args, report)
    app.say_written(args)
    return 0


def _report(
    args: argparse.Namespace,
    scores: list[sdtw.LabelledScores],
    given: sdtw.Thresholds | None,
    evaluation: sdtw.EvaluationOptions,
    made: dict[str, Any],
) -> sdtw.EvaluationReport:
    """Judge the thresholds that are given, or choose some by the same reads."""
    known = scores[0]
    if given is None:
        sketch = decisions.ChosenBy.of(known.read_names)
        chosen = decisions.choose(known, evaluation, {**made, decisions.CHOSEN_BY: sketch.record()})
        return decisions.judge(scores, chosen, evaluation, chosen=True)
    if args.thresholds is None:
        given = replace(given, references=known.references, made=made, basis=known.basis)
    report = decisions.judge(scores, given, evaluation, chosen=False)
    kept = None if args.thresholds is None else decisions.ChosenBy.from_made(given.made)
    return report if kept is None else replace(report, chosen_by=kept.shared(known.read_names))


def _judged(args: argparse.Namespace) -> tuple[sdtw.AlignOptions, sdtw.Thresholds | None]:
    """The options of alignments, and the thresholds of --stages or --thresholds, if there are any.

    Raises
    ------
    UsageError
        Options contradict each other or the thresholds.
    """
    options = shared.align_options(args)  # they contradict each other before they contradict the thresholds
    if args.thresholds is None:
        shared.settle_score(args)
        if args.stages is None:
            return options, None
    given = shared.thresholds_of(args)
    args.score = given.score
    return shared.settled_options(args, given), given


def _trim(
    args: argparse.Namespace, references: tuple[sdtw.Squiggle, ...], given: sdtw.Thresholds | None
) -> TrimOptions | None:
    """How reads are trimmed; that of thresholds that are given, which have to suit the references."""
    asked = shared.asked_trim(args)
    if given is None:
        usual: TrimOptions | None = decisions.trim_for(decisions.settled_trim(asked), references)
        return usual
    count = len(args.references)
    return decisions.checked_trim(given, references[:count], references[count:], asked)


def _prefixes(args: argparse.Namespace, options: sdtw.AlignOptions, given: sdtw.Thresholds | None) -> tuple[int, ...]:
    """All prefixes that are aligned: those asked for, and those of the stages."""
    of_stages = () if given is None else given.prefixes
    asked = args.prefixes if args.prefixes is not None else of_stages or DEFAULT_PREFIXES
    return tuple(sorted({*options.check_prefixes(asked), *of_stages}))


def _variants(args: argparse.Namespace, options: sdtw.AlignOptions) -> dict[str, sdtw.AlignOptions]:
    """The options of alignments by name; the chosen ones first.

    Raises
    ------
    UsageError
        Some are there twice.
    """
    variants = {variant_name(options): options}
    for name in args.compare:
        if name in variants:
            raise UsageError(f"--compare {name}: these options are evaluated already; leave it out")
        variants[name] = PRESETS[name]
    return variants


def _scores(
    args: argparse.Namespace,
    name: str,
    options: sdtw.AlignOptions,
    references: tuple[sdtw.Squiggle, ...],
    how: dict[str, Any],
) -> sdtw.LabelledScores:
    """Align both classes of reads; `how` is what else `align` takes."""
    found = []
    for path, word in ((args.target, "targets"), (args.others, "others")):
        progress = app.started_progress(args, f"{name}: {word}")
        found.append(sdtw.align(path, references, options, run=sdtw.Run(progress=progress.update), **how))
        progress.clear()
    return sdtw.labelled_scores(*found, name=name, score=args.score, targets=len(args.references))
