"""`oclgenomics sdtw classify`: which reads are of the target."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from oclgenomics.cli.options import add_device_options, open_engine, report_profile
from oclgenomics.cli.output import atomic_output, provenance, say, say_written
from oclgenomics.cli.sdtw.align_options import add_align_options, align_options, given_align_options
from oclgenomics.cli.sdtw.part_reports import add_part_options, settle_format, write_parts
from oclgenomics.cli.signal_options import add_signal_inputs, add_signal_options, trim_of
from oclgenomics.commandkit.files import reads, writes
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.sdtw.scores import Score
    from oclgenomics.sdtw.thresholds import Thresholds

__all__ = ["add_parser", "run"]


def add_parser(actions: Any) -> None:
    """Add `classify` to the actions of `sdtw`."""
    parser = actions.add_parser(
        "classify",
        help="decide which reads are of a target",
        description="Align prefixes of the signal of each read with references, the shortest one first. At each stage "
        "a read whose score is above the threshold is rejected, and the others go on; what is left after the last "
        "stage is accepted, and a read that ends before is undecided.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    add_signal_inputs(parser)
    _add_decision_options(parser)
    group = parser.add_argument_group("signals and alignments")
    add_signal_options(group)
    add_align_options(group)
    group = add_part_options(parser)
    writes(group.add_argument(
        "--summary", metavar="FILE", help="write a table with a line for each stage: reads that came to it, decisions"
    ))  # fmt: skip
    add_device_options(parser)


def _add_decision_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("decisions")
    reads(group.add_argument(
        "--reference", dest="targets", action="append", required=True, metavar="FILE",
        help="reference of the target, by `sdtw index`; of several, the best one counts",
    ))  # fmt: skip
    reads(group.add_argument(
        "--decoy", dest="decoys", action="append", default=[], metavar="FILE",
        help="reference of what is no target; may be given more than once",
    ))  # fmt: skip
    stages = group.add_mutually_exclusive_group(required=True)
    stages.add_argument(
        "--stages", metavar="N:T,...", help="PREFIX:REJECT or PREFIX:ACCEPT..REJECT for each stage, as 1000:T1,2000:T2"
    )
    reads(stages.add_argument(
        "--thresholds", metavar="FILE",
        help="stages by `sdtw evaluate` or `sdtw calibrate`, and the options of alignments that they are for",
    ))  # fmt: skip
    group.add_argument(
        "--score", choices=("cost", "difference"),
        help="what is judged: the target's cost, or that cost less the best decoy's (default: that of the thresholds; "
        "with --stages difference where there is a --decoy, else cost)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Classify reads and write what was decided.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.runtime import select_device
    from oclgenomics.sdtw.classify import classify_parts, open_targets, reference_names
    from oclgenomics.sdtw.decisions import WORDS
    from oclgenomics.sdtw.reports.summary import summary_text
    from oclgenomics.sdtw.totals import Totals

    settle_format(args)
    thresholds = _thresholds(args)
    select_device(args.device)  # a device that is not there is told before anything is read
    targets, decoys = open_targets(args.targets, args.decoys)
    options = align_options(args) if given_align_options(args) else thresholds.options
    thresholds.check(options, reference_names(targets, decoys))
    totals = Totals()
    with open_engine(args) as engine:
        write_parts(
            args,
            engine,
            totals,
            "classifying",
            lambda progress: classify_parts(
                args.signals, targets, thresholds, decoys=decoys, starts=args.starts, trim=trim_of(args),
                engine=engine, progress=progress,
            ),
        )  # fmt: skip
        report_profile(args, engine)
        if args.summary:
            with atomic_output(args.summary) as stream:
                stream.write(summary_text(totals, thresholds.prefixes, provenance(args, engine)))
    say(args, ", ".join(f"{totals.count(word):,} {word}" for word in WORDS))
    say_written(args)
    return 0


def _thresholds(args: argparse.Namespace) -> Thresholds:
    """The thresholds that are given, in a file or on the command line."""
    from oclgenomics.sdtw.stages import parse_stages
    from oclgenomics.sdtw.thresholds import Thresholds, read_thresholds

    if args.thresholds is None:
        score: Score = args.score or ("difference" if args.decoys else "cost")
        return Thresholds(parse_stages(args.stages), align_options(args), score)
    thresholds = read_thresholds(args.thresholds)
    if args.score not in (None, thresholds.score):
        raise UsageError(f"--score {args.score}: the thresholds are of the score {thresholds.score}; leave --score out")
    return thresholds
