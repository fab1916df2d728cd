"""`oclgenomics simulate signatures`: seeded signatures, and samples with qualities that hold copies of some."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oclgenomics import simulate
from oclgenomics.app.commands import add_options, count, say, say_written, text_output
from oclgenomics.app.files import writes
from oclgenomics.notices import number_of
from oclgenomics.simulate import signatures
from oclgenomics.simulate.commands.population import add_kind, add_outputs, given, simulated, typed, write_truth_head

if TYPE_CHECKING:
    from oclgenomics.io.packed_file import Sink
    from oclgenomics.simulate import Scenario
    from oclgenomics.simulate.signatures.samples import SampleBatch


PRESETS = ("paper-large", "paper-medium", "paper-small")
# the options that decide the data, each the field of a scenario
_OF_SIGNATURES = ("signatures", "signature_length", "signature_n")
_OF_SAMPLES = (
    "clean", "infected", "copies", "sample_length", "quality", "sample_n", "planted_n", "strand", "mismatches",
)  # fmt: skip
_NUMBERS = {"clean": "samples without copies (default: 90)", "infected": "samples with copies (default: 10)"}
_RANGES = {
    "sample_length": "bases of a sample, or more where its copies need it (default: 10000 20000)",
    "quality": "mean quality of a sample, and bounds of its bases' (default: 10 30)",
}


def add_signatures(kinds: Any) -> None:
    """Add `simulate signatures` to the kinds of data."""
    parser, group = add_kind(
        kinds, run, "signatures", "signatures (FASTA), and samples (FASTQ) of which some hold copies of them",
        "Write simulated signatures, and samples with qualities. Infected samples hold copies of signatures, in which "
        "a nucleotide stands where the signature has N. The same seed and options give the same bytes.",
    )  # fmt: skip
    group.add_argument(
        "--preset", choices=PRESETS,
        help="numbers of the paper: 1000 signatures of 3000 to 10,000 bases, 1000 clean samples and 10 with 100 to "
        "200 copies, of 100k to 200k, 50k to 100k or 10k to 20k bases; other options change some (default: none)",
    )  # fmt: skip
    group = parser.add_argument_group("signatures")
    add_options(group, count, "N", {"signatures": "number of signatures (default: 100)"})
    add_options(group, count, ("MIN", "MAX"), {"signature_length": "bases of a signature (default: 300 1000)"})
    add_options(group, float, "P", {"signature_n": "probability of a base to be N (default: 0.1)"})
    group = parser.add_argument_group("samples")
    add_options(group, count, "N", _NUMBERS)
    add_options(group, count, ("MIN", "MAX"), _RANGES)
    add_options(group, float, "P", {"sample_n": "probability of a base outside copies to be N (default: 0.1)"})
    _add_copy_options(parser.add_argument_group("copies of signatures"))
    group = add_outputs(parser, ("FASTQ", "the samples"), {"truth": ("TSV", "a table of the copies (default: none)")})
    writes(group.add_argument("--panel", required=True, metavar="FASTA", help="file for the signatures"))


def _add_copy_options(group: argparse._ArgumentGroup) -> None:
    add_options(group, count, ("MIN", "MAX"), {"copies": "copies in an infected sample (default: 1 3)"})
    add_options(group, float, "P", {"planted_n": "probability of a base of a copy to be N (default: --sample-n)"})
    group.add_argument(
        "--strand", choices=("+", "-", "both"),
        help="copies as the signature is, its reverse complement, or either (default: +)",
    )  # fmt: skip
    add_options(group, count, "M", {"mismatches": "replace up to M bases of a copy by others (default: 0)"})


def run(args: argparse.Namespace) -> int:
    """Write the signatures and samples that the options ask for.

    Raises
    ------
    UsageError
        For options out of range.
    OutputError
        If an output cannot be written.
    """
    scenario = _scenario(args)
    panel = simulate.simulate_signatures(scenario, args.seed)
    with ExitStack() as stack:
        fasta, samples = (stack.enter_context(text_output(name, "wb")) for name in (args.panel, args.output))
        truth = None if args.truth is None else stack.enter_context(text_output(args.truth, "wb"))
        signatures.samples.write_signatures(fasta, panel)
        batches = simulate.simulate_samples(scenario, panel, args.seed)
        letters, copies = _write(args, scenario, batches, samples, truth)
    say(args, f"{number_of(scenario.signatures, 'signature')} of {len(panel.letters):,} bp in all")
    held = number_of(copies, "copy", "copies")
    say(args, f"{number_of(scenario.samples, 'sample')} of {letters:,} bp in all, {held} of signatures in them")
    say_written(args)
    return 0


def _scenario(args: argparse.Namespace) -> Scenario:
    """The preset or the defaults, with the options that are given."""
    preset = simulate.Scenario() if args.preset is None else signatures.scenario.PRESETS[args.preset]
    return replace(preset, **given(args, (*_OF_SIGNATURES, *_OF_SAMPLES)))


def _write(
    args: argparse.Namespace, scenario: Scenario, batches: Iterator[SampleBatch], samples: Sink, truth: Sink | None
) -> tuple[int, int]:
    """Write all samples and the table of copies; return the numbers of bases and copies."""
    if truth is not None:
        chosen = {name: getattr(scenario, name) for name in (*_OF_SIGNATURES, *_OF_SAMPLES)}
        provenance = typed("signatures", {"seed": args.seed} | chosen)
        write_truth_head(truth, provenance, signatures.samples.TRUTH_COLUMNS)
    bases, copies = 0, 0
    for batch in simulated(args, "samples", batches, scenario.samples):
        signatures.samples.write_samples(samples, batch)
        if truth is not None:
            signatures.samples.write_truth_rows(truth, batch)
        bases, copies = bases + len(batch.letters), copies + len(batch.copies)
    return bases, copies
