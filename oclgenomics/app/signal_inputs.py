"""What commands read of signals: the options, and what they stand for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from oclgenomics.app.commands import count, shortened
from oclgenomics.app.files import reads

if TYPE_CHECKING:
    from oclgenomics.signals.trimming import TrimOptions

__all__ = ["add_signal_inputs", "add_signal_options", "trim_of"]

LEFT_OUT = "what is left out at the beginning of reads"
THRESHOLDS_TRIM = "that of --thresholds, else stall"


def add_signal_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the files of signals, as `args.signals`, a list."""
    reads(parser.add_argument(
        "signals", nargs="+", metavar="SIGNALS",
        help="POD5, FAST5, SLOW5, BLOW5, .npz or .npy; a folder stands for all signals in it",
    ))  # fmt: skip


def add_signal_options(
    group: argparse._ArgumentGroup, *, max_samples: bool = False, default: str = "stall", what: str = LEFT_OUT
) -> None:
    """Add --trim, and --max-samples where a command has no other limit; `default` is told as that of --trim."""
    group.add_argument(
        "--trim", type=_trim, metavar="WHAT",
        help=f"{what}: stall (the stall and 1,000 samples of the adapter), a number of samples, or none (default: "
        f"{default})",
    )  # fmt: skip
    if max_samples:
        group.add_argument(
            "--max-samples", type=count, metavar="N",
            help="samples of each read that are kept, after trimming (default: all)",
        )  # fmt: skip


def trim_of(args: argparse.Namespace) -> TrimOptions | None:
    """Return what --trim stands for, as `read_signals` takes it; the adapter and its stall where it was not given."""
    from oclgenomics.signals.trimming import TrimOptions

    if args.trim == "none":
        return None
    return TrimOptions() if args.trim in (None, "stall") else TrimOptions(stall=False, extra=args.trim)


def _trim(text: str) -> str | int:
    if text in ("stall", "none"):
        return text
    try:
        return count(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{shortened(text)}: give stall, none or a number of samples") from None
