"""`oclgenomics sdtw calibrate`: thresholds from simulated reads, where there are no real ones yet."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import oclgenomics
from oclgenomics import sdtw, signals, simulate
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import MODEL_NAMES, add_model_options, add_signal_options, model_of, trim_of
from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.sdtw.commands import options as shared
from oclgenomics.sdtw.commands.reports import say_evaluation, write_evaluation
from oclgenomics.sdtw.options import DEFAULT_PREFIXES

RANDOM = "random"
RANDOM_BASES, RANDOM_GC = 1_000_000, 0.5


def add_parser(actions: Any) -> None:
    """Add `calibrate` to the actions of `sdtw`."""
    parser = app.add_command(
        actions, run, "calibrate",
        help="thresholds of a reference from simulated reads",
        description="Simulate reads of the target and of a background, align them with the reference, and choose "
        "thresholds. Real reads, given to `sdtw evaluate`, are better where there are any.",
    )  # fmt: skip
    group = parser.add_argument_group("references")
    shared.add_reference_options(group, "references", "difference with --decoy, else cost")
    _add_simulation_options(parser.add_argument_group("simulated reads"))
    group = parser.add_argument_group("alignments")
    add_signal_options(group, what="what will be left out at the beginning of the reads that thresholds are for")
    shared.add_align_options(group)
    shared.add_evaluation_options(parser)
    app.add_device_options(parser, threads=argparse.SUPPRESS)


def _add_simulation_options(group: argparse._ArgumentGroup) -> None:
    reads(group.add_argument(
        "--target", required=True, metavar="FASTA", help="sequences that the reference was made of"
    ))  # fmt: skip
    background = group.add_argument(
        "--background", default=RANDOM, metavar="FASTA",
        help="sequences of what is no target, or `random` for a million random bases (default: %(default)s)",
    )  # fmt: skip
    reads(background, lambda _args, name: () if name == RANDOM else (name,))
    add_model_options(group, simulated=True)
    group.add_argument(
        "--difficulty", choices=("easy", "normal", "hard"), default="hard",
        help="noise: less than that of real reads, about as much, or more, which makes up for what real reads have "
        "besides noise (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--reads", type=app.count, default=1000, metavar="N", help="of the target and of the background each "
        "(default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Choose thresholds by simulated reads.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    shared.settle_score(args)
    evaluation, output = shared.evaluation_options(args), shared.evaluation_output(args)
    options = shared.align_options(args)
    prefixes = options.check_prefixes(args.prefixes or DEFAULT_PREFIXES)
    if args.reads < 1:
        raise ParameterError("reads", "give 1 or more", args.reads)
    oclgenomics.select_device(args.device)  # a device that is not there is reported before anything is read
    references = sdtw.open_references([*args.references, *args.decoys])
    targets, decoys = references[: len(args.references)], references[len(args.references) :]
    shared.say_unknown_pore(args, references)
    target, others = _simulated(args, targets, prefixes[-1])
    with app.open_engine(args) as engine:
        start, made = time.perf_counter(), app.provenance(args, engine)
        report = sdtw.calibrate(
            target, others, targets, options, evaluation, decoys=decoys, prefixes=prefixes, score=args.score,
            trim=trim_of(args), made=made, engine=engine,
        )  # fmt: skip
        app.say(args, f"simulated, aligned and evaluated in {time.perf_counter() - start:.1f} s", level=1)
        app.report_profile(args, engine)
    write_evaluation(args, output, report, made, f"simulated reads of {Path(args.target).name}")
    say_evaluation(args, report)
    app.say_written(args)
    return 0


def _simulated(
    args: argparse.Namespace, targets: tuple[sdtw.Squiggle, ...], samples: int
) -> tuple[Iterator[signals.Signals], Iterator[signals.Signals]]:
    """Reads of the target and of the background, simulated when they are asked for, by other draws for each.

    Raises
    ------
    UsageError
        No reference was made of the target's sequences by this model: thresholds would say nothing of it.
    """
    if args.target == "-" or (os.path.exists(args.target) and not os.path.isfile(args.target)):
        raise InputError("is read twice, as a pipe cannot be; name a file", source=args.target)
    model = _model(args, targets[0])
    target = simulate.read_genome("target", args.target, args.reads)
    molecule = targets[0].molecule
    expected = sdtw.build_squiggle(args.target, model, molecule=molecule)
    if not any(expected.same_levels(one) for one in targets):
        names = ", ".join(f"{one.name} by the model {one.model}" for one in targets)
        raise UsageError(
            f"the reference ({names}) was not made of --target {args.target} with --model {args.model}; give what it "
            "was made of, or make it anew with `sdtw index`"
        )
    if args.background == RANDOM:
        background = simulate.random_genome("background", RANDOM_BASES, RANDOM_GC, args.reads, args.seed)
    else:
        background = simulate.read_genome("background", args.background, args.reads)
    # Junk would be labelled target, and thresholds that keep 99 % of the targets would keep everything.
    scenario = replace(
        simulate.signals.drawing.preset_for(args.difficulty, model, molecule), samples=(samples, samples), junk=0.0,
        current=None if args.current is None else tuple(args.current), deviation=args.deviation,
    )  # fmt: skip
    simulate.signals.drawing.currents_of(model, scenario)  # what it lacks is said before anything is opened

    def drawn(*genomes: simulate.Genome) -> Iterator[signals.Signals]:
        return (batch.signals for batch in simulate.simulate_signals(genomes, model, scenario, args.seed))

    return drawn(target), drawn(replace(target, reads=0), background)


def _model(args: argparse.Namespace, reference: sdtw.Squiggle) -> signals.KmerModel:
    """The model of --model, or that of the reference; it is for the pore and the rate of the reference.

    Raises
    ------
    UsageError
        The reference was made with a file.
    """
    if args.model is None:
        if reference.model not in MODEL_NAMES:
            raise UsageError(
                f"the reference {reference.name} was made with the model {reference.model}; give its file with --model"
            )
        args.model = reference.model
    return model_of(args, rate=reference.rate, pore=reference.pore)
