"""`oclgenomics sdtw index`: the expected signal of a reference in a file."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from typing import Any

from oclgenomics import sdtw, signals
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads, writes
from oclgenomics.errors import ParameterError
from oclgenomics.sdtw.commands.options import add_model_options


def add_parser(actions: Any) -> None:
    """Add `index` to the actions of `sdtw`."""
    parser = app.add_command(
        actions, run, "index",
        help="keep the expected signal of a reference in a file",
        description="Write the signal that is expected of the sequences of a reference, by a k-mer model, to a file. "
        "K-mers with an ambiguous base are left out.",
    )  # fmt: skip
    reference = parser.add_argument(
        "reference",
        metavar="REFERENCE",
        help="FASTA or FASTQ, uncompressed or compressed (gzip, bzip2, xz, zstd); - for standard input",
    )
    reads(reference)
    group = parser.add_argument_group("signal")
    add_model_options(group)
    group.add_argument(
        "--molecule", choices=("dna", "rna"), default="dna",
        help="dna: both strands; rna: direct RNA, the sequence read from its 3' end (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--pore", metavar="PORE",
        help="pore that the model is for, as R9.4.1, R10.4.1 or RNA004; reads of another one are refused (default: the "
        "one that the model names)",
    )  # fmt: skip
    group.add_argument(
        "--rate", type=float, metavar="HZ",
        help="samples per second that the model is for; reads of another rate are refused (default: that of the model, "
        "or any)",
    )  # fmt: skip
    group.add_argument("--name", metavar="NAME", help="name of the reference (default: that of its file)")
    group = parser.add_argument_group("output")
    writes(group.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write"))
    app.add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Build a squiggle.

    Raises
    ------
    InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    model = _meant_for(args, signals.read_model(args.model, reverse_kmers=args.reverse_kmers))
    squiggle = sdtw.build_squiggle(args.reference, model, molecule=args.molecule, name=args.name)
    sdtw.write_squiggle(args.output, squiggle)
    bases = int(squiggle.lengths.sum())
    sequences = len(squiggle.records)
    app.say(args, f"{sequences:,} sequence{'s' if sequences > 1 else ''} of {bases:,} bases, {len(squiggle):,} k-mers "
        f"in {len(squiggle.track_record):,} tracks; wrote {args.output}")  # fmt: skip
    return 0


def _meant_for(args: argparse.Namespace, model: signals.KmerModel) -> signals.KmerModel:
    """The model with the pore and the rate that were given.

    Raises
    ------
    ParameterError
        There is no such pore or rate, or the package's own model is for another pore.
    """
    pore = signals.pore_named(args.pore or "")
    if args.pore is not None and not pore:
        raise ParameterError("pore", f"is none of {', '.join(signals.PORES)}", args.pore)
    if pore and args.model in signals.MODELS and pore != model.pore:
        raise ParameterError("pore", f"contradicts the model {args.model}, which is for {model.pore}", args.pore)
    if args.rate is not None and not 0 < args.rate < math.inf:
        raise ParameterError("rate", "give samples per second, above 0", args.rate)
    return replace(model, pore=pore or model.pore, rate=args.rate or model.rate)
