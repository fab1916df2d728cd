"""`oclgenomics simulate signals`: seeded signals of nanopore reads of a target and of a background."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oclgenomics import signals, simulate
from oclgenomics.app.commands import add_options, count, say, say_written, text_output
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import add_model_options, model_of
from oclgenomics.errors import UsageError
from oclgenomics.notices import number_of
from oclgenomics.simulate.commands.population import add_kind, add_outputs, given, simulated, typed, write_truth_head
from oclgenomics.simulate.limits import check_range

if TYPE_CHECKING:
    from oclgenomics.io.packed_file import Sink
    from oclgenomics.signals import KmerModel, Signals
    from oclgenomics.simulate import Genome, SignalScenario


PRESETS = ("easy", "normal", "hard")
RANDOM = "random"
# the options that decide the noise, each the field of a scenario
_OF_SCENARIO = (
    "samples", "strand", "molecule", "dwell", "dwell_sd", "slowness_cv", "amplitude", "jitter", "junk", "stall",
    "adapter", "deviation", "current", "rate",
)  # fmt: skip


def add_signals(kinds: Any) -> None:
    """Add `simulate signals` to the kinds of data."""
    parser, group = add_kind(
        kinds, run, "signals", "raw signals of nanopore reads (.npz) of a target and a background",
        "Write simulated signals of nanopore reads. The names of reads tell their class and where they are from. The "
        "same seed, options and sequences give the same bytes.",
    )  # fmt: skip
    _add_data_options(group)
    _add_read_options(parser)
    _add_noise_options(parser)
    others = {
        "truth": ("TSV", "a table of the reads (default: none)"),
        "target_fasta": ("FASTA", "the sequences of the target (default: none)"),
        "background_fasta": ("FASTA", "the sequences of the background (default: none)"),
    }
    add_outputs(parser, ("NPZ", "the signals"), others, "output")


def _add_data_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--preset", choices=PRESETS, default="normal",
        help="noise: less than that of real reads, about as much, or more (default: %(default)s)",
    )  # fmt: skip
    add_model_options(group, default="r9.4.1", simulated=True)
    for option, text in (("--target", "random"), ("--background", "no background")):
        source = group.add_argument(
            option, metavar="FASTA", default=RANDOM if option == "--target" else None,
            help=f"sequences of the class, or `random` (default: {text})",
        )  # fmt: skip
        reads(source, _sequence_files)
    group.add_argument("--reads", type=count, default=100, metavar="N", help="of the target (default: %(default)s)")
    add_options(group, count, "N", {"background_reads": "reads of the background (default: as many as --reads)"})
    group.add_argument(
        "--length", type=count, default=50_000, metavar="N", help="bases of a random genome (default: %(default)s)"
    )
    group.add_argument(
        "--gc", type=float, default=0.5, metavar="P", help="G and C of a random genome (default: %(default)s)"
    )


def _add_read_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reads")
    group.add_argument(
        "--samples", type=count, nargs="+", metavar="N",
        help="samples of a read behind its stall and adapter, or the least and the most (default: 5000)",
    )  # fmt: skip
    group.add_argument(
        "--strand", choices=("+", "both"), help="reads of the sequences as they are, or of both strands (default: both)"
    )
    group.add_argument(
        "--molecule",
        choices=("dna", "rna"),
        help="RNA has one strand and is read from its 3' end (default: what the model is for)",
    )
    stall = {"stall": "samples of high current at the beginning of a read (default: 0 0)"}
    add_options(group, count, ("MIN", "MAX"), stall)
    add_options(group, count, "N", {"adapter": "k-mers of an adapter behind it (default: 0)"})
    add_options(group, float, "HZ", {"rate": "samples per second (default: those of the model or its pore)"})


def _add_noise_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("noise (defaults: those of the preset for the model's pore)")
    factors = {
        "dwell": "mean samples of a k-mer",
        "dwell_sd": "their standard deviation",
        "slowness_cv": "variation of the slowness of reads, whose mean is 1",
        "amplitude": "factor of the model's standard deviations",
        "jitter": "standard deviation in pA of what a k-mer of a read is shifted by",
        "junk": "probability of a read to be of random k-mers",
    }
    add_options(group, float, "X", factors)


def run(args: argparse.Namespace) -> int:
    """Write the signals that the options ask for.

    Raises
    ------
    UsageError
        For options out of range.
    InputError
        If the sequences or the model cannot be read.
    OutputError
        If an output cannot be written.
    """
    chosen = _chosen(args)
    model = model_of(args, rate=args.rate)
    scenario = _scenario(args, model, chosen)
    genomes = _genomes(args)
    with ExitStack() as stack:
        truth, *fasta = (
            None if name is None else stack.enter_context(text_output(name, "wb"))
            for name in (args.truth, args.target_fasta, args.background_fasta)
        )
        drawn = _simulated(args, genomes, model, scenario, truth)
        for stream, genome in zip(fasta, genomes, strict=False):  # there may be no background
            if stream is not None:
                simulate.signals.reads.write_genome(stream, genome)
        signals.write_signals(args.output, drawn)
    shown = " and ".join(f"{number_of(genome.reads, 'read')} of the {genome.label}" for genome in genomes)
    say(args, f"{shown}, {number_of(len(drawn.samples), 'sample')} in all")
    say_written(args)
    return 0


def _chosen(args: argparse.Namespace) -> dict[str, Any]:
    """The options of the scenario that are given."""
    chosen = given(args, _OF_SCENARIO)
    if "samples" in chosen:
        if len(chosen["samples"]) > 2:
            raise UsageError("--samples: give one number, or the least and the most")
        chosen["samples"] = (chosen["samples"][0], chosen["samples"][-1])
    if "rate" in chosen:
        check_range("rate", chosen["rate"], 1, simulate.signals.drawing.MAX_RATE)  # before times depend on it
    return chosen


def _scenario(args: argparse.Namespace, model: KmerModel, chosen: dict[str, Any]) -> SignalScenario:
    """The preset for the pore of the model, with the options that are given."""
    molecule = signals.molecule_of(model, args.molecule)
    if signals.sequencing_of(model.pore, molecule) is None:
        say(args, f"the model {model.name} does not say for which pore it is: dwells are those of R9.4.1; name its "
            "pore with --pore")  # fmt: skip
    return replace(simulate.signals.drawing.preset_for(args.preset, model, molecule), **chosen)


def _genomes(args: argparse.Namespace) -> list[Genome]:
    """The classes, the target first."""
    sources = [("target", args.target, args.reads)]
    if args.background is not None:
        number = args.reads if args.background_reads is None else args.background_reads
        sources.append(("background", args.background, number))
    for option in ("background_reads", "background_fasta"):
        if args.background is None and getattr(args, option) is not None:
            raise UsageError(f"--{option.replace('_', '-')}: there is no --background")
    return [
        simulate.random_genome(label, args.length, args.gc, number, args.seed)
        if source == RANDOM
        else simulate.read_genome(label, source, number)
        for label, source, number in sources
    ]


def _simulated(
    args: argparse.Namespace, genomes: list[Genome], model: KmerModel, scenario: SignalScenario, truth: Sink | None
) -> Signals:
    """Simulate all reads, and write the table of them."""
    if truth is not None:
        write_truth_head(truth, _provenance(args, scenario), simulate.signals.reads.TRUTH_COLUMNS)
    drawn: list[Signals] = []
    batches = simulate.simulate_signals(genomes, model, scenario, args.seed)
    for batch in simulated(args, "reads", batches, sum(genome.reads for genome in genomes)):
        if truth is not None:
            simulate.signals.reads.write_truth_rows(truth, batch)
        drawn.append(batch.signals)
    return signals.Signals.joined(drawn)


def _provenance(args: argparse.Namespace, scenario: SignalScenario) -> str:
    """The options that decide the data."""
    names = ("seed", "model", "target", "background", "reads", "background_reads", "length", "gc")
    values = {name: getattr(args, name) for name in names}
    return typed("signals", values | {name: getattr(scenario, name) for name in _OF_SCENARIO})


def _sequence_files(_args: argparse.Namespace, name: str) -> Iterable[str]:
    return () if name == RANDOM else (name,)
