"""`oclgenomics sdtw index`: the expected signal of a reference in a file."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import sdtw
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads, writes
from oclgenomics.app.inputs import add_model_options, model_of
from oclgenomics.notices import number_of


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
    add_model_options(group, required=True)
    group.add_argument(
        "--molecule", choices=("dna", "rna"),
        help="dna: both strands; rna: direct RNA, the sequence read from its 3' end (default: what the model is for)",
    )  # fmt: skip
    group.add_argument(
        "--rate", type=float, metavar="HZ",
        help="samples per second that the model is for; reads of another rate are refused (default: that of the model, "
        "or any)",
    )  # fmt: skip
    group.add_argument("--name", metavar="NAME", help="name of the reference (default: that of its file)")
    group = parser.add_argument_group("output")
    output = group.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")
    writes(output, in_file=True)
    app.add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Build a squiggle.

    Raises
    ------
    InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    model = model_of(args, rate=args.rate)
    squiggle = sdtw.build_squiggle(args.reference, model, molecule=args.molecule, name=args.name)
    sdtw.write_squiggle(args.output, squiggle)
    bases = int(squiggle.lengths.sum())
    sequences = len(squiggle.records)
    kind = "direct RNA, from its 3' end" if squiggle.molecule == "rna" else "both strands"
    app.say(args, f"{number_of(sequences, 'sequence')} of {number_of(bases, 'base')}, "
        f"{number_of(len(squiggle), 'k-mer')} in {number_of(len(squiggle.track_record), 'track')} ({kind}); "
        f"wrote {args.output}")  # fmt: skip
    return 0
