"""`oclgenomics sdtw evaluate`: how well alignments tell labelled reads apart, and at which thresholds."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import (
    add_device_options,
    add_output_options,
    open_engine,
    provenance,
    report_profile,
    say,
    say_written,
)
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import THRESHOLDS_TRIM, add_signal_options
from oclgenomics.app.progress import Progress
from oclgenomics.errors import UsageError
from oclgenomics.sdtw.commands.align_options import (
    PRESETS,
    add_align_options,
    align_options,
    given_align_options,
    preset_options,
    variant_name,
)
from oclgenomics.sdtw.commands.decision_options import asked_trim
from oclgenomics.sdtw.commands.evaluation_options import (
    DEFAULT_PREFIXES,
    add_evaluation_options,
    add_reference_options,
    add_report_options,
    add_run_options,
    check_evaluation_options,
    settle_score,
)
from oclgenomics.sdtw.commands.evaluation_reports import chosen_thresholds, make_report, say_report, write_report

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine
    from oclgenomics.sdtw.decisions.thresholds import Thresholds
    from oclgenomics.sdtw.evaluation import LabelledScores
    from oclgenomics.sdtw.options import AlignOptions
    from oclgenomics.sdtw.squiggles.squiggle import Squiggle
    from oclgenomics.signals import TrimOptions

__all__ = ["add_parser", "run"]


def add_parser(actions: Any) -> None:
    """Add `evaluate` to the actions of `sdtw`."""
    parser = actions.add_parser(
        "evaluate",
        help="F, ROC and thresholds from reads of which it is known whether they are of the target",
        description="Align reads of the target and other reads with a reference, and tell how well their costs keep "
        "them apart after each number of samples: the highest F of all thresholds, F of reads by thresholds of others, "
        "ROC, and what stages of thresholds bring in a run.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    for name, text in (("target", "reads of the target"), ("others", "other reads")):
        metavar = {"target": "TARGET", "others": "NONTARGET"}[name]
        reads(parser.add_argument(name, metavar=metavar, help=f"{text}: a file of signals, or a folder of them"))
    add_reference_options(parser.add_argument_group("references"))
    group = parser.add_argument_group("signals and alignments")
    add_signal_options(group, default=THRESHOLDS_TRIM)
    add_align_options(group)
    group.add_argument(
        "--compare", choices=PRESETS, action="append", default=[],
        help="evaluate these options, too, and give the differences of F; may be given more than once",
    )  # fmt: skip
    group = parser.add_argument_group("evaluation")
    add_evaluation_options(group)
    group.add_argument(
        "--stages", metavar="N:T,...",
        help="thresholds to judge: PREFIX:REJECT or PREFIX:ACCEPT..REJECT for each stage (default: they are chosen)",
    )  # fmt: skip
    reads(group.add_argument(
        "--thresholds", metavar="FILE", help="thresholds to judge, and the options of alignments that they are for"
    ))  # fmt: skip
    add_run_options(parser)
    add_report_options(parser, write_thresholds="file for the thresholds, as `sdtw classify` takes it")
    add_output_options(parser)
    add_device_options(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate alignments of labelled reads.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.runtime import select_device
    from oclgenomics.sdtw.api import checked_trim
    from oclgenomics.sdtw.decisions.basis import settled_trim, trim_text
    from oclgenomics.sdtw.decisions.chosen_by import CHOSEN_BY, ChosenBy
    from oclgenomics.sdtw.sources import open_references
    from oclgenomics.signals import TrimOptions

    output = check_evaluation_options(args)
    options, given = _judged(args)
    prefixes, variants = _prefixes(args, given), _variants(args, options)
    select_device(args.device)  # a device that is not there is told before anything is read
    references = open_references([*args.references, *args.decoys])
    if given is None:
        trim = settled_trim(asked_trim(args), None, TrimOptions())
    else:
        given.check_options(options)
        count = len(args.references)
        trim = checked_trim(given, references[:count], references[count:], asked_trim(args))
    args.trim = trim_text(trim)  # for reports to tell
    with open_engine(args) as engine:
        start = time.perf_counter()
        scores = [_scores(args, name, one, references, prefixes, trim, engine) for name, one in variants.items()]
        say(args, f"aligned in {time.perf_counter() - start:.1f} s", level=1)
        if given is None:
            given = chosen_thresholds(args, scores[0], engine)
            sketch = ChosenBy.of(scores[0].read_names)
            given = replace(given, made={**given.made, CHOSEN_BY: sketch.record()})
        elif args.stages is not None:
            known = scores[0]
            given = replace(given, references=known.references, made=provenance(args, engine), basis=known.basis)
        report = make_report(args, scores, given)
        if args.thresholds is not None and (kept := ChosenBy.from_made(given.made)) is not None:
            report = replace(report, chosen_by=kept.shared(scores[0].read_names))
        report_profile(args, engine)
        write_report(args, output, report, engine, f"{Path(args.target).name} and {Path(args.others).name}")
    say_report(args, report)
    say_written(args)
    return 0


def _judged(args: argparse.Namespace) -> tuple[AlignOptions, Thresholds | None]:
    """The options of alignments, and the thresholds of --stages or --thresholds, if there are any.

    Raises
    ------
    UsageError
        Options contradict each other or the thresholds.
    """
    from oclgenomics.sdtw.decisions.stages import parse_stages
    from oclgenomics.sdtw.decisions.thresholds import Thresholds
    from oclgenomics.sdtw.decisions.thresholds_file import read_thresholds

    options = align_options(args)
    if args.thresholds is not None:
        kept = read_thresholds(args.thresholds)
        if args.score not in (None, kept.score):
            raise UsageError(f"--score {args.score}: the thresholds were made with {kept.score}; leave the option out")
        args.score = kept.score
        return (options if given_align_options(args) else kept.options), kept
    settle_score(args)
    return options, None if args.stages is None else Thresholds(parse_stages(args.stages), options, args.score)


def _prefixes(args: argparse.Namespace, given: Thresholds | None) -> tuple[int, ...]:
    """All prefixes that are aligned: those asked for, and those of the stages."""
    from oclgenomics.sdtw.options import check_prefixes

    of_stages = () if given is None else given.prefixes
    asked = args.prefixes if args.prefixes is not None else of_stages or DEFAULT_PREFIXES
    return tuple(sorted({*check_prefixes(asked), *of_stages}))


def _variants(args: argparse.Namespace, options: AlignOptions) -> dict[str, AlignOptions]:
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
        variants[name] = preset_options(name)
    return variants


def _scores(
    args: argparse.Namespace, name: str, options: AlignOptions, references: tuple[Squiggle, ...],
    prefixes: tuple[int, ...], trim: TrimOptions | None, engine: Engine,
) -> LabelledScores:  # fmt: skip
    """Align both classes of reads."""
    from oclgenomics.sdtw.api import align
    from oclgenomics.sdtw.evaluation import labelled_scores

    progress = Progress(enabled=not args.quiet)
    found = []
    for path, word in ((args.target, "targets"), (args.others, "others")):
        progress.stage(f"{name}: {word}", "MB", 1e6)
        found.append(align(
            path, references, options, prefixes=prefixes, trim=trim, engine=engine, progress=progress.update
        ))  # fmt: skip
        progress.clear()
    return labelled_scores(*found, name=name, score=args.score, targets=len(args.references))
