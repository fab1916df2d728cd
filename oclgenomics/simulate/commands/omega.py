"""`oclgenomics simulate omega`: seeded alignments for demonstrations, tests and benchmarks."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from oclgenomics import __version__, simulate
from oclgenomics.app.commands import PACKED, add_options, add_versions_option, count, say, text_output
from oclgenomics.app.files import writes
from oclgenomics.errors import UsageError
from oclgenomics.io.packed_file import name_unpacked
from oclgenomics.notices import number_of
from oclgenomics.simulate import haplotypes
from oclgenomics.simulate.commands.population import (
    POPULATION_DEFAULTS,
    add_kind,
    add_population_options,
    check_rates,
    flag,
    region_of,
)

if TYPE_CHECKING:
    import numpy as np

    from oclgenomics.io.packed_file import Sink
    from oclgenomics.simulate import Haplotypes, HardSweep, Region

    Replicate = tuple[Haplotypes, np.random.Generator]


# options that only some models have: their models and, where it is a plain number, their default
_MODEL_OPTIONS: dict[str, tuple[tuple[str, ...], Any]] = {
    **{name: (("neutral", "sweep"), default) for name, default in POPULATION_DEFAULTS.items()},
    "sweep_position": (("sweep",), None),
    "selection": (("sweep",), 0.05),
    "fixation_age": (("sweep",), 0.0),
    "trajectory": (("sweep",), "stochastic"),
}
_INDEPENDENT_SITES = 5_000
_VCF_OPTIONS = {"ploidy": 2, "unphased": 0.0, "multiallelic": 0.0}


def add_omega(kinds: Any) -> None:
    """Add `simulate omega` to the kinds of data."""
    parser, group = add_kind(
        kinds, run, "omega", "haplotype alignments (ms or VCF), neutral or with a selective sweep",
        "Write simulated haplotype alignments: neutral or swept by the coalescent with recombination, or of "
        "independent sites. The same seed and options give the same bytes.",
    )  # fmt: skip
    _add_data_options(group)
    add_population_options(parser)
    _add_sweep_options(parser)
    _add_output_options(parser)


def _add_data_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--model", choices=("neutral", "sweep", "independent"), default="neutral",
        help="neutral coalescent, hard selective sweep, or sites without linkage (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--samples", type=count, default=50, metavar="N", help="haplotypes (default: %(default)s)")
    group.add_argument("--replicates", type=count, default=10, metavar="N", help="alignments (default: %(default)s)")
    said = "length of the region in bp (default: %(default)s)"
    group.add_argument("--length", type=count, default=1_000_000, metavar="BP", help=said)
    group.add_argument(
        "--sites", type=count, metavar="N",
        help=f"exact number of segregating sites (default: by the mutation rate; independent: {_INDEPENDENT_SITES})",
    )  # fmt: skip


def _add_sweep_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("sweep")
    add_options(group, float, "BP", {"sweep_position": "selected site (default: middle of the region)"})
    selection = {"selection": "advantage of each copy of the allele: fitness 1, 1 + S, 1 + 2 S (default: 0.05)"}
    add_options(group, float, "S", selection)
    add_options(group, float, "GENERATIONS", {"fixation_age": "generations since the allele was fixed (default: 0)"})
    group.add_argument(
        "--trajectory", choices=("stochastic", "deterministic"),
        help="path of the allele: Wright-Fisher given fixation, or logistic (default: stochastic)",
    )  # fmt: skip


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    said = f"file to write; '-' is standard output; {PACKED}"
    writes(group.add_argument("-o", "--output", required=True, metavar="PATH", help=said))
    group.add_argument(
        "--format", choices=("ms", "vcf"),
        help="file format (default: vcf if PATH ends in .vcf, or in .vcf.gz and its like, else ms)",
    )  # fmt: skip
    group.add_argument(
        "--missing", type=float, default=0.0, metavar="P",
        help="probability that a call is missing: N in ms, ./. in VCF (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--ploidy", type=int, choices=(1, 2), help="haplotypes per VCF sample (default: 2)")
    flaws = {
        "unphased": "probability that a VCF call loses its phase (default: 0)",
        "multiallelic": "probability that a VCF site with two or more derived copies gets a third allele (default: 0)",
    }
    add_options(group, float, "P", flaws)
    add_versions_option(group)
    group.add_argument("-q", "--quiet", action="store_true", help="only errors on standard error")
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")


def run(args: argparse.Namespace) -> int:
    """Write the alignments that the options ask for.

    Raises
    ------
    UsageError
        For options out of range or that do not go together.
    MissingDependencyError
        For `--engine msprime` without msprime.
    OutputError
        If the output cannot be written.
    """
    _resolve(args)
    replicates = _replicates(args)
    with text_output(args.output, "wb") as stream:
        sites = _write(stream, args, replicates)
    alignments, haplotypes = number_of(args.replicates, "alignment"), number_of(args.samples, "haplotype")
    say(args, f"{alignments} of {haplotypes}, {number_of(sites, 'site')} in all")
    return 0


def _resolve(args: argparse.Namespace) -> None:
    """Fill in the defaults, and refuse options that have no effect."""
    if args.format is None:
        args.format = "vcf" if name_unpacked(args.output).endswith(".vcf") else "ms"
    check_rates(args)
    for name, (models, default) in _MODEL_OPTIONS.items():
        if getattr(args, name) is None:
            setattr(args, name, default)
        elif args.model not in models:
            raise UsageError(
                f"{flag(name)} has no effect with --model {args.model}; it belongs to {' and '.join(models)}"
            )
    for name, default in _VCF_OPTIONS.items():
        if getattr(args, name) is None:
            setattr(args, name, default)
        elif args.format != "vcf":
            raise UsageError(f"{flag(name)} has no effect on ms output; add --format vcf")


def _replicates(args: argparse.Namespace) -> Iterator[Replicate]:
    """Haplotypes of one replicate after the other, each with a generator for what is done to them."""
    seeds, draw = simulate.replicate_seeds(args.seed, args.replicates), _simulator(args)
    return ((draw(history), data) for history, data in map(simulate.generators, seeds))


def _simulator(args: argparse.Namespace) -> Callable[[np.random.Generator], Haplotypes]:
    """What draws the haplotypes of a replicate."""
    if args.model == "independent":
        sites = args.sites = _INDEPENDENT_SITES if args.sites is None else args.sites
        return lambda history: simulate.simulate_independent(sites, args.samples, history)
    region, sweep = _scenario(args)
    if args.engine == "msprime":
        return lambda history: simulate.simulate_with_msprime(region, int(history.integers(1, 2**32)), sweep)
    return lambda history: simulate.simulate(region, history, sweep)


def _scenario(args: argparse.Namespace) -> tuple[Region, HardSweep | None]:
    region = region_of(args)
    if args.model == "neutral":
        return region, None
    if args.sweep_position is None:
        args.sweep_position = args.length / 2
    return region, simulate.HardSweep(args.sweep_position, args.selection, args.fixation_age, args.trajectory)


def _provenance(args: argparse.Namespace) -> str:
    """The options that decide the data, as they would be typed; no output path, so that equal data are equal files."""
    names = ["model", "samples", "replicates", "length", "sites"]
    without = {"mutation_rate", "recombination_rate"} | ({"theta"} if args.sites is not None else set())
    names += [name for name in _MODEL_OPTIONS if name not in without]
    names += ["missing", *(_VCF_OPTIONS if args.format == "vcf" else ()), "seed"]
    words = ["simulate omega"]
    for name in names:
        value = getattr(args, name)
        if value is not None and args.model in _MODEL_OPTIONS.get(name, ((args.model,),))[0]:
            words.append(f"{flag(name)} {value:.12g}" if isinstance(value, float) else f"{flag(name)} {value}")
    return " ".join(words)


def _write(stream: Sink, args: argparse.Namespace, replicates: Iterator[Replicate]) -> int:
    """Write all replicates; return the number of sites."""
    flaws = haplotypes.files.Flaws(missing=args.missing, unphased=args.unphased, multiallelic=args.multiallelic)
    program, words = f"oclgenomics-{__version__}", _provenance(args)
    if args.format == "vcf":
        return haplotypes.files.write_vcf(
            stream, replicates, source=f"{program} {words}", samples=args.samples, count=args.replicates,
            length=args.length, ploidy=args.ploidy, flaws=flaws,
        )  # fmt: skip
    haplotypes.write_ms_head(stream, program, args.samples, args.replicates, words, args.seed)
    return haplotypes.files.write_ms(stream, replicates, args.length, flaws)
