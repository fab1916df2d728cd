"""Which reads are of a target, as commands are told: references, stages, and the score that they judge."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from oclgenomics.app.files import reads
from oclgenomics.app.inputs import trim_of
from oclgenomics.errors import UsageError
from oclgenomics.sdtw.commands.align_options import align_options, given_align_options

if TYPE_CHECKING:
    from oclgenomics.sdtw.decisions.basis import Trim
    from oclgenomics.sdtw.decisions.scores import Score
    from oclgenomics.sdtw.decisions.thresholds import Thresholds
    from oclgenomics.sdtw.squiggles.squiggle import Squiggle
    from oclgenomics.signals import TrimOptions

__all__ = ["add_decision_options", "asked_trim", "references_of", "thresholds_of"]


def add_decision_options(group: argparse._ArgumentGroup) -> None:
    """Add --reference, --decoy, --stages, --thresholds and --score."""
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


def thresholds_of(args: argparse.Namespace) -> Thresholds:
    """Return the thresholds that are given, in a file or on the command line.

    Raises
    ------
    UsageError
        Stages that cannot be, or a score that is not that of the thresholds.
    InputError
        The file cannot be read.
    """
    from oclgenomics.sdtw.decisions.stages import parse_stages
    from oclgenomics.sdtw.decisions.thresholds import Thresholds
    from oclgenomics.sdtw.decisions.thresholds_file import read_thresholds

    if args.thresholds is None:
        score: Score = args.score or ("difference" if args.decoys else "cost")
        return Thresholds(parse_stages(args.stages), align_options(args), score)
    thresholds = read_thresholds(args.thresholds)
    if args.score not in (None, thresholds.score):
        raise UsageError(f"--score {args.score}: the thresholds are of the score {thresholds.score}; leave --score out")
    return thresholds


def references_of(
    args: argparse.Namespace, thresholds: Thresholds
) -> tuple[tuple[Squiggle, ...], tuple[Squiggle, ...], TrimOptions | None]:
    """Return targets and decoys, which suit the thresholds, and how reads are trimmed.

    Raises
    ------
    UsageError
        The thresholds are of other references, or of another trimming or other options of alignments than those given.
    InputError
        A file cannot be read.
    """
    from oclgenomics.sdtw.api import checked_trim, open_targets
    from oclgenomics.sdtw.decisions.basis import trim_text

    targets, decoys = open_targets(args.targets, args.decoys)
    options = align_options(args) if given_align_options(args) else thresholds.options
    thresholds.check_options(options)
    trim = checked_trim(thresholds, targets, decoys, asked_trim(args))
    args.trim = trim_text(trim)  # for reports to tell
    return targets, decoys, trim


def asked_trim(args: argparse.Namespace) -> Trim:
    """Return what --trim stands for; what the thresholds say where it was not given."""
    return "thresholds" if args.trim is None else trim_of(args)
