"""Options of commands that turn the rows of a scan into regions, and thresholds as they are given."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import TypeVar

from oclgenomics.app.commands import count
from oclgenomics.app.files import reads
from oclgenomics.errors import UsageError

FileT = TypeVar("FileT")


def add_peak_options(
    parser: argparse.ArgumentParser, *, which: str, value: str, threshold: str, top: str, quantile: str
) -> None:
    """Add the options that say which rows count, and how they are merged.

    Parameters
    ----------
    parser : ArgumentParser
    which : str
        What is chosen: "which rows".
    value : str
        What a threshold is a number of, in capitals.
    threshold, top, quantile : str
        Helps of these options.
    """
    group = parser.add_argument_group(f"{which} (give one)")
    reads(group.add_argument("--threshold", metavar=f"{value}|FILE", help=threshold), threshold_files)
    group.add_argument("--top", type=count, metavar="N", help=top)
    group.add_argument("--quantile", type=float, metavar="Q", help=quantile)
    group = parser.add_argument_group("regions")
    group.add_argument(
        "--fpr", type=float, metavar="F",
        help="false-positive rate, with a threshold file that has enough replicates for it (default: the file's first)",
    )  # fmt: skip
    group.add_argument(
        "--merge", type=count, default=0, metavar="BP",
        help="merge windows at most BP apart; 0: those that overlap or touch (default: %(default)s)",
    )  # fmt: skip


def check_peak_options(args: argparse.Namespace, unsaid: str) -> None:
    """Refuse rows that are chosen in no way or in several.

    Parameters
    ----------
    args : Namespace
    unsaid : str
        What nothing says: "which rows count".

    Raises
    ------
    UsageError
    """
    given = [f"--{name}" for name in ("threshold", "top", "quantile") if getattr(args, name) is not None]
    if not given:
        raise UsageError(f"nothing says {unsaid}; give one of --threshold, --top and --quantile")
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} contradict each other; give one of them")
    if args.fpr is not None and args.threshold is None:
        raise UsageError("--fpr has no effect without --threshold FILE")
    if args.fpr is not None and not threshold_files(args, args.threshold):
        raise UsageError(f"--fpr has no effect with --threshold {args.threshold}; it needs a file")


def threshold_files(args: argparse.Namespace, text: str) -> list[str]:
    """The files that an option's threshold names, as `oclgenomics.app.files.reads` asks for them."""
    try:
        float(text)
    except ValueError:
        return [text]
    return []


def given_threshold(text: str, read: Callable[[str], FileT], *, least: float = -math.inf, value: str) -> float | FileT:
    """Read a threshold as options give it: a number, or a file of thresholds.

    Parameters
    ----------
    text : str
    read : callable
        Reads the file.
    least : float, optional
        A number is not smaller.
    value : str
        What a number has to be, for the message.

    Raises
    ------
    UsageError
        A number that is not finite or too small.
    InputError
        A file that cannot be read or is something else.
    """
    try:
        number = float(text)
    except ValueError:
        return read(text)
    if not (math.isfinite(number) and number >= least):
        raise UsageError(f"--threshold {text}: {value}")
    return number
