"""`oclgenomics sdtw calibrate`: thresholds from simulated reads, where there are no real ones yet."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import (
    add_device_options,
    add_output_options,
    count,
    open_engine,
    report_profile,
    say,
    say_written,
)
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import add_signal_options, trim_of
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw.commands.align_options import add_align_options, align_options, variant_name
from oclgenomics.sdtw.commands.evaluation_options import (
    DEFAULT_PREFIXES,
    add_evaluation_options,
    add_reference_options,
    add_report_options,
    add_run_options,
    check_evaluation_options,
    settle_score,
)
from oclgenomics.sdtw.commands.evaluation_reports import chosen_thresholds, make_report, say_report, write_report

if TYPE_CHECKING:
    from oclgenomics.sdtw.squiggles.squiggle import Squiggle
    from oclgenomics.signals import KmerModel, Signals
    from oclgenomics.simulate.genomes import Genome
    from oclgenomics.simulate.signals import SignalScenario

__all__ = ["add_parser", "run"]

RANDOM = "random"
RANDOM_LETTERS, RANDOM_GC = 1_000_000, 0.5
MODEL_NAMES = ("r9.4.1",)


def add_parser(actions: Any) -> None:
    """Add `calibrate` to the actions of `sdtw`."""
    parser = actions.add_parser(
        "calibrate",
        help="thresholds of a reference from simulated reads",
        description="Simulate reads of the target and of a background, align them with the reference, and choose "
        "thresholds. Real reads, given to `sdtw evaluate`, are better where there are any.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    add_reference_options(parser.add_argument_group("references"))
    _add_simulation_options(parser.add_argument_group("simulated reads"))
    group = parser.add_argument_group("alignments")
    add_signal_options(group, what="what will be left out at the beginning of the reads that thresholds are for")
    add_align_options(group)
    add_evaluation_options(parser.add_argument_group("evaluation"))
    add_run_options(parser)
    add_report_options(parser, write_thresholds="file for the thresholds, as `sdtw classify` takes it")
    add_output_options(parser)
    add_device_options(parser)


def _add_simulation_options(group: argparse._ArgumentGroup) -> None:
    reads(group.add_argument(
        "--target", required=True, metavar="FASTA", help="sequences that the reference was made of"
    ))  # fmt: skip
    background = group.add_argument(
        "--background", default=RANDOM, metavar="FASTA",
        help="sequences of what is no target, or `random` for a million random letters (default: %(default)s)",
    )  # fmt: skip
    reads(background, lambda _args, name: () if name == RANDOM else (name,))
    model = group.add_argument(
        "--model", default=MODEL_NAMES[0], metavar="MODEL",
        help="model of k-mers that the reference was made with (default: %(default)s)",
    )  # fmt: skip
    reads(model, lambda _args, name: () if name in MODEL_NAMES else (name,))
    group.add_argument("--reverse-kmers", action="store_true", help="the model has its k-mers from 3' to 5'")
    group.add_argument(
        "--difficulty", choices=("easy", "normal", "hard"), default="hard",
        help="noise: less than that of real reads, about as much, or more, which makes up for what real reads have "
        "besides noise (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--reads", type=count, default=1000, metavar="N", help="of the target and of the background each "
        "(default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Choose thresholds by simulated reads.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.runtime import select_device
    from oclgenomics.sdtw.api import align
    from oclgenomics.sdtw.evaluation import labelled_scores
    from oclgenomics.sdtw.options import check_prefixes
    from oclgenomics.sdtw.sources import open_references

    settle_score(args)
    output = check_evaluation_options(args)
    options, prefixes = align_options(args), check_prefixes(args.prefixes or DEFAULT_PREFIXES)
    if args.reads < 1:
        raise ParameterError("reads", "give 1 or more", args.reads)
    select_device(args.device)  # a device that is not there is told before anything is read
    references = open_references([*args.references, *args.decoys])
    simulated = _Simulated(args, references[: len(args.references)], prefixes[-1])
    with open_engine(args) as engine:
        start = time.perf_counter()
        found = [
            align(signals, references, options, prefixes=prefixes, engine=engine)
            for signals in (simulated.target(), simulated.background())
        ]
        say(args, f"simulated and aligned in {time.perf_counter() - start:.1f} s", level=1)
        found = [replace(one, trim=trim_of(args)) for one in found]  # what the reads will be that are to be judged
        scores = labelled_scores(*found, name=variant_name(options), score=args.score, targets=len(args.references))
        report = make_report(args, [scores], chosen_thresholds(args, scores, engine))
        report_profile(args, engine)
        write_report(args, output, report, engine, f"simulated reads of {Path(args.target).name}")
    say_report(args, report)
    say_written(args)
    return 0


class _Simulated:
    """Reads of both classes, simulated when they are asked for."""

    def __init__(self, args: argparse.Namespace, targets: tuple[Squiggle, ...], samples: int) -> None:
        from oclgenomics.signals.model_files import read_model
        from oclgenomics.simulate.genomes import random_genome, read_genome
        from oclgenomics.simulate.signals import PRESETS

        self._model: KmerModel = read_model(args.model, reverse_kmers=args.reverse_kmers)
        self._seed: int = args.seed
        self._target: Genome = read_genome("target", args.target, args.reads)
        molecule = targets[0].molecule
        _check_target(args, targets, self._model)
        # Junk would be labelled target, and thresholds that keep 99 % of the targets would keep everything.
        self._scenario: SignalScenario = replace(
            PRESETS[args.difficulty], samples=(samples, samples), molecule=molecule, junk=0.0
        )
        if args.background == RANDOM:
            self._background = random_genome("background", RANDOM_LETTERS, RANDOM_GC, args.reads, args.seed)
        else:
            self._background = read_genome("background", args.background, args.reads)

    def target(self) -> Iterator[Signals]:
        """Reads of the target."""
        return self._signals(self._target)

    def background(self) -> Iterator[Signals]:
        """Reads of the background, whose draws are others than those of the target's."""
        return self._signals(replace(self._target, reads=0), self._background)

    def _signals(self, *genomes: Genome) -> Iterator[Signals]:
        from oclgenomics.simulate.signals import simulate_signals

        for batch in simulate_signals(genomes, self._model, self._scenario, self._seed):
            yield batch.signals


def _check_target(args: argparse.Namespace, targets: tuple[Squiggle, ...], model: KmerModel) -> None:
    """Refuse sequences and models that no reference was made of: thresholds would say nothing of it.

    Raises
    ------
    UsageError
    """
    import numpy as np

    from oclgenomics.sdtw.squiggles.build import build_squiggle

    expected = build_squiggle(args.target, model, molecule=targets[0].molecule)
    if not any(np.array_equal(expected.levels, target.levels) for target in targets):
        names = ", ".join(f"{target.name} by the model {target.model}" for target in targets)
        raise UsageError(
            f"the reference ({names}) was not made of --target {args.target} with --model {args.model}; give what it "
            "was made of, or make it anew with `sdtw index`"
        )
