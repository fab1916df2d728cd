"""`oclgenomics simulate reads`: seeded reads of simulated genomes, single or in pairs."""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from oclgenomics import simulate
from oclgenomics.app.commands import add_options, count, say, say_written, text_output
from oclgenomics.app.files import reads
from oclgenomics.errors import UsageError
from oclgenomics.notices import number_of
from oclgenomics.simulate import metagenomes
from oclgenomics.simulate.commands.population import add_kind, add_outputs, given, simulated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oclgenomics.io.packed_file import Sink
    from oclgenomics.simulate import ReadScenario
    from oclgenomics.simulate.metagenomes.files import ListedGenome


_SHARES = {"reference": 0.0, "strain": 0.7, "novel": 0.2, "alien": 0.1}
_OF_SCENARIO = ("reads", "length", "paired", "insert", "errors")


def add_reads(kinds: Any) -> None:
    """Add `simulate reads` to the kinds of data."""
    parser, group = add_kind(
        kinds, run, "reads", "reads (FASTQ) of simulated genomes, with a table of what they are of",
        "Write reads of the genomes in a folder of `oclgenomics simulate genomes`. The table has a line for each read "
        "or pair: its name, the taxids of its species and genus (0 for aliens), and its class. The same seed, options "
        "and genomes give the same bytes.",
    )  # fmt: skip
    genomes = group.add_argument("--genomes", required=True, metavar="DIR", help="folder of the genomes")
    reads(genomes, _files_read)
    for role, share in _SHARES.items():
        group.add_argument(
            f"--{role}", type=float, default=share, metavar="X",
            help=f"share of reads of class {role} (default: %(default)s)",
        )  # fmt: skip
    group = parser.add_argument_group("reads")
    counts = {
        "reads": "reads, or pairs (default: 10000)",
        "length": "bases of a read or a mate (default: 150)",
        "insert": "mean bases of a pair's fragment (default: 400)",
    }
    add_options(group, count, "N", counts)
    add_options(group, float, "P", {"errors": "share of wrong bases (default: 0.01)"})
    group.add_argument("--paired", action="store_true", default=None, help="pairs; the mates follow each other")
    others = {
        "mates": ("FASTQ", "the second mates of pairs (default: -o)"),
        "truth": ("TSV", "the table (default: none)"),
    }
    add_outputs(parser, ("FASTQ", "the reads"), others)


def run(args: argparse.Namespace) -> int:
    """Write the reads that the options ask for.

    Raises
    ------
    UsageError
        For options out of range.
    InputError
        If the genomes cannot be read.
    OutputError
        If an output cannot be written.
    """
    scenario = simulate.ReadScenario(**given(args, _OF_SCENARIO))
    for option in ("mates", "insert"):
        if not scenario.paired and getattr(args, option) is not None:
            raise UsageError(f"--{option}: has no effect without --paired")
    genomes = metagenomes.files.read_table(args.genomes)
    with ExitStack() as stack:
        names = [name for name in (args.output, args.mates) if name is not None]
        outputs = [stack.enter_context(text_output(name, "wb")) for name in names]
        truth = None if args.truth is None else stack.enter_context(text_output(args.truth, "wb"))
        _write(args, scenario, genomes, outputs, truth)
    say(
        args,
        f"{number_of(scenario.reads, 'pair' if scenario.paired else 'read')} of {number_of(len(genomes), 'genome')}",
    )
    say_written(args)
    return 0


def _write(
    args: argparse.Namespace,
    scenario: ReadScenario,
    genomes: Sequence[ListedGenome],
    outputs: Sequence[Sink],
    truth: Sink | None,
) -> None:
    used = [one for one in genomes if getattr(args, one.role)]
    texts = [metagenomes.files.read_text(one) for one in used]
    mates = [[0], [1]] if len(outputs) == 2 else [[0, 1] if scenario.paired else [0]]
    batches = simulate.simulate_reads(texts, _shares(args, used), scenario, args.seed)
    for batch in simulated(args, "reads", batches, scenario.reads):
        for stream, which in zip(outputs, mates, strict=True):
            stream.write(metagenomes.reads.fastq(batch, used, which))
        if truth is not None:
            metagenomes.reads.write_truth(truth, batch, used)


def _shares(args: argparse.Namespace, genomes: Sequence[ListedGenome]) -> list[float]:
    """The share of each genome: those of a class have equal ones."""
    for role in _SHARES:
        share = getattr(args, role)
        if not 0 <= share <= 1:
            raise UsageError(f"--{role}: give a share, 0 to 1, not {share:g}")
        if share and role not in {one.role for one in genomes}:
            raise UsageError(f"--{role}: there is no such genome in {args.genomes}; give 0")
    of_role = [one.role for one in genomes]
    return [getattr(args, role) / of_role.count(role) for role in of_role]


def _files_read(_args: argparse.Namespace, name: str) -> list[str]:
    return [os.path.join(name, inner) for inner in (metagenomes.files.TABLE, *metagenomes.files.FOLDERS.values())]
