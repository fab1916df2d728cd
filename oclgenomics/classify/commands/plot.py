"""`oclgenomics classify plot`: figures of samples by their reports."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from typing import Any

from oclgenomics.app.commands import add_command, add_message_options, say_written
from oclgenomics.app.files import reads, writes
from oclgenomics.classify import formats, plots


def add_parser(actions: Any) -> None:
    """Add `plot` to the actions of `classify`."""
    parser = add_command(
        actions, run, "plot", "draw samples by their reports, alone or side by side",
        "Draw the taxa of samples by their reports, of --kreport or of Kraken 2: of one sample all ranks, of several "
        "ones the taxa of a rank side by side.",
    )  # fmt: skip
    said = "report of --kreport, or of `kraken2 --report`; uncompressed or compressed (gzip, bzip2, xz, zstd)"
    reads(parser.add_argument("reports", nargs="+", metavar="KREPORT", help=said))
    parser.add_argument(
        "--rank", metavar="RANK",
        help="draw stacks of the taxa of this rank, also for one sample (default for several: genus)",
    )  # fmt: skip
    parser.add_argument("--title", default="", metavar="TEXT", help="what was classified")
    group = parser.add_argument_group("output")
    plot = group.add_argument(
        "-o", "--output", dest="plot", required=True, metavar="FILE", help="the figure; .png, .svg or .pdf"
    )
    writes(plot)
    add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Draw samples.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    plots.plot_format(args.plot)
    samples = list(zip(_names(args.reports), map(formats.read_kreport, args.reports), strict=True))
    if len(samples) == 1 and args.rank is None:
        figure = plots.plot_sample(samples[0][1], title=args.title or samples[0][0])
    else:
        figure = plots.plot_samples(samples, args.rank or "genus", title=args.title)
    plots.write_figure(args.plot, figure)
    say_written(args)
    return 0


def _names(paths: list[str]) -> list[str]:
    """Samples are called by their files up to the first point, or, where these are not distinct, in full."""
    short = [os.path.basename(path).partition(".")[0] or path for path in paths]
    return paths if max(Counter(short).values()) > 1 else short
