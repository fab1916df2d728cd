"""`oclgenomics simulate omega`: seeded alignments for demonstrations, tests and benchmarks."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from oclgenomics import __version__
from oclgenomics.cli.output import atomic_output, say
from oclgenomics.commandkit.files import writes
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    from oclgenomics.simulate.population import Haplotypes, HardSweep, Region
    from oclgenomics.variation.writers import Sink

__all__ = ["add_parser", "add_population_options", "neutral_region", "run"]

_COALESCENT = ("neutral", "sweep")
# options that only some models have: their models and, where it is a plain number, their default
_MODEL_OPTIONS: dict[str, tuple[tuple[str, ...], Any]] = {
    "population_size": (_COALESCENT, 10_000.0),
    "mutation_rate": (_COALESCENT, 1e-8),
    "recombination_rate": (_COALESCENT, 1e-8),
    "theta": (_COALESCENT, None),
    "rho": (_COALESCENT, None),
    "engine": (_COALESCENT, "own"),
    "sweep_position": (("sweep",), None),
    "selection": (("sweep",), 0.05),
    "fixation_age": (("sweep",), 0.0),
    "trajectory": (("sweep",), "stochastic"),
}
_INDEPENDENT_SITES = 5_000
_VCF_OPTIONS = {"ploidy": 2, "unphased": 0.0, "multiallelic": 0.0}


def add_parser(subparsers: Any) -> None:
    """Add `simulate` and its kinds of data to the command line."""
    parser = subparsers.add_parser("simulate", help="write seeded data for demonstrations, tests and benchmarks")
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    omega = kinds.add_parser(
        "omega",
        help="haplotype alignments (ms or VCF), neutral or with a selective sweep",
        description="Write simulated haplotype alignments: neutral or swept by the coalescent with recombination, or "
        "of independent sites. The same seed and options give the same bytes.",
        allow_abbrev=False,
    )
    omega.set_defaults(run=run)
    _add_data_options(omega)
    add_population_options(omega)
    _add_sweep_options(omega)
    _add_output_options(omega)


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("data")
    group.add_argument("--seed", type=int, required=True, metavar="N", help="seed, 0 or more")
    group.add_argument(
        "--model", choices=("neutral", "sweep", "independent"), default="neutral",
        help="neutral coalescent, hard selective sweep, or sites without linkage (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--samples", type=int, default=50, metavar="N", help="haplotypes (default: %(default)s)")
    group.add_argument("--replicates", type=int, default=10, metavar="N", help="alignments (default: %(default)s)")
    group.add_argument(
        "--length", type=int, default=1_000_000, metavar="BP", help="length of the region in bp (default: %(default)s)"
    )
    group.add_argument(
        "--sites", type=int, metavar="N",
        help=f"exact number of segregating sites (default: by the mutation rate; independent: {_INDEPENDENT_SITES})",
    )  # fmt: skip


def add_population_options(parser: argparse.ArgumentParser, title: str = "population (neutral and sweep)") -> None:
    """Add the population that the coalescent simulates; every option is None where it is not given."""
    group = parser.add_argument_group(title)
    group.add_argument("--population-size", type=float, metavar="N", help="diploid individuals (default: 10000)")
    group.add_argument("--mutation-rate", type=float, metavar="MU", help="per bp and generation (default: 1e-8)")
    group.add_argument("--recombination-rate", type=float, metavar="R", help="per bp and generation (default: 1e-8)")
    group.add_argument(
        "--theta", type=float, metavar="X", help="4 N mu of the whole region, in place of --mutation-rate"
    )
    group.add_argument(
        "--rho", type=float, metavar="X", help="4 N r of the whole region, in place of --recombination-rate"
    )
    group.add_argument(
        "--engine", choices=("own", "msprime"), help="simulator; msprime must be installed for its own (default: own)"
    )


def _add_sweep_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("sweep")
    group.add_argument(
        "--sweep-position", type=float, metavar="BP", help="selected site (default: middle of the region)"
    )
    group.add_argument(
        "--selection", type=float, metavar="S",
        help="advantage of each copy of the allele: fitness 1, 1 + S, 1 + 2 S (default: 0.05)",
    )  # fmt: skip
    group.add_argument(
        "--fixation-age", type=float, metavar="GENERATIONS", help="generations since the allele was fixed (default: 0)"
    )
    group.add_argument(
        "--trajectory", choices=("stochastic", "deterministic"),
        help="path of the allele: Wright-Fisher given fixation, or logistic (default: stochastic)",
    )  # fmt: skip


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    output = group.add_argument(
        "-o", "--output", required=True, metavar="PATH",
        help="file to write; '-' is standard output; compressed (blocked gzip) when it ends in .gz",
    )  # fmt: skip
    writes(output)
    group.add_argument(
        "--format", choices=("ms", "vcf"), help="file format (default: vcf if PATH ends in .vcf or .vcf.gz, else ms)"
    )
    group.add_argument(
        "--missing", type=float, default=0.0, metavar="P",
        help="probability of a call to be missing: N in ms, ./. in VCF (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--ploidy", type=int, choices=(1, 2), help="haplotypes per VCF sample (default: 2)")
    group.add_argument(
        "--unphased", type=float, metavar="P", help="probability of a VCF call to lose its phase (default: 0)"
    )
    group.add_argument(
        "--multiallelic", type=float, metavar="P",
        help="probability of a VCF site with two or more derived copies to get a third allele (default: 0)",
    )  # fmt: skip
    group.add_argument("-q", "--quiet", action="store_true", help="no messages but errors on standard error")
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
    from oclgenomics.variation.writers import Bgzf

    _resolve(args)
    draw = _simulator(args)
    write = _write_vcf if args.format == "vcf" else _write_ms
    with atomic_output(args.output, "wb") as stream:
        if args.output.endswith(".gz"):
            compressed = Bgzf(stream)
            sites = write(compressed, args, draw)
            compressed.finish()
        else:
            sites = write(stream, args, draw)
    say(args, f"{args.replicates} alignments of {args.samples} haplotypes, {sites} sites in all")
    return 0


def _resolve(args: argparse.Namespace) -> None:
    """Fill in the defaults, and refuse options that have no effect."""
    if args.format is None:
        args.format = "vcf" if args.output.endswith((".vcf", ".vcf.gz")) else "ms"
    _check_rates(args)
    for name, (models, default) in _MODEL_OPTIONS.items():
        if getattr(args, name) is None:
            setattr(args, name, default)
        elif args.model not in models:
            raise UsageError(
                f"{_flag(name)} has no effect with --model {args.model}; it belongs to {' and '.join(models)}"
            )
    for name, default in _VCF_OPTIONS.items():
        if getattr(args, name) is None:
            setattr(args, name, default)
        elif args.format != "vcf":
            raise UsageError(f"{_flag(name)} has no effect on ms output; add --format vcf")
    for name in ("missing", "unphased", "multiallelic"):
        if not 0 <= getattr(args, name) <= 1:
            raise UsageError(f"{_flag(name)} is {getattr(args, name):g}; it is a probability, from 0 to 1")
    if args.format == "vcf" and args.samples % args.ploidy:
        raise UsageError(f"{args.samples} haplotypes do not make diploid samples; give an even --samples or --ploidy 1")
    if args.unphased and args.ploidy == 1:
        raise UsageError("--unphased has no effect on haploid samples; leave out --ploidy 1")


def _check_rates(args: argparse.Namespace) -> None:
    for own, other in (("theta", "mutation_rate"), ("rho", "recombination_rate")):
        if getattr(args, own) is not None and getattr(args, other) is not None:
            raise UsageError(f"{_flag(own)} and {_flag(other)} say the same thing; give one of them")
    if args.sites is not None and not (args.theta is None and args.mutation_rate is None):
        raise UsageError(
            "--sites fixes the number of sites, so mutation has no effect; leave out --theta, --mutation-rate"
        )


def neutral_region(args: argparse.Namespace) -> Region:
    """Return the region and population of the options, the defaults filled in.

    Raises
    ------
    UsageError
        Options out of range or that say the same thing twice.
    """
    _check_rates(args)
    for name in ("population_size", "engine"):
        if getattr(args, name) is None:
            setattr(args, name, _MODEL_OPTIONS[name][1])
    return _region(args)


def _region(args: argparse.Namespace) -> Region:
    from oclgenomics.simulate.population import Region

    scale = 4 * args.population_size * args.length
    for scaled, name in (("theta", "mutation_rate"), ("rho", "recombination_rate")):
        if getattr(args, scaled) is None:
            rate = getattr(args, name)
            setattr(args, scaled, scale * (_MODEL_OPTIONS[name][1] if rate is None else rate))
    return Region(args.samples, args.length, args.population_size, args.theta, args.rho, args.sites)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _simulator(args: argparse.Namespace) -> Callable[[int], tuple[Haplotypes, np.random.Generator]]:
    """A function of the replicate (from 0) that gives its haplotypes, and a generator for what is done to them."""
    from oclgenomics.simulate import population as simulate

    seeds = simulate.replicate_seeds(args.seed, args.replicates)
    if args.model == "independent":
        sites = args.sites = _INDEPENDENT_SITES if args.sites is None else args.sites

        def draw(history: np.random.Generator) -> Haplotypes:
            return simulate.simulate_independent(sites, args.samples, history)

    else:
        region, sweep = _scenario(args)

        def draw(history: np.random.Generator) -> Haplotypes:
            if args.engine == "msprime":
                return simulate.simulate_with_msprime(region, int(history.integers(1, 2**32)), sweep)
            return simulate.simulate(region, history, sweep)

    def replicate(index: int) -> tuple[Haplotypes, np.random.Generator]:
        history, data = simulate.generators(seeds[index])
        return draw(history), data

    return replicate


def _scenario(args: argparse.Namespace) -> tuple[Region, HardSweep | None]:
    from oclgenomics.simulate.population import HardSweep

    region = _region(args)
    if args.model == "neutral":
        return region, None
    if args.sweep_position is None:
        args.sweep_position = args.length / 2
    return region, HardSweep(args.sweep_position, args.selection, args.fixation_age, args.trajectory)


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
            words.append(f"{_flag(name)} {value:.12g}" if isinstance(value, float) else f"{_flag(name)} {value}")
    return " ".join(words)


def _write_ms(stream: Sink, args: argparse.Namespace, draw: Callable[[int], Any]) -> int:
    """Write all replicates; returns the number of sites."""
    from oclgenomics.simulate.population import add_missing
    from oclgenomics.simulate.replicates import position_digits
    from oclgenomics.variation.writers import MISSING, write_ms_head, write_ms_replicate

    digits = position_digits(args.length)
    program = f"oclgenomics-{__version__}"
    write_ms_head(stream, program, args.samples, args.replicates, _provenance(args), args.seed)
    total = 0
    for index in range(args.replicates):
        haplotypes, rng = draw(index)
        rows = (add_missing(block, args.missing, rng, missing=MISSING) for block in haplotypes.rows)
        write_ms_replicate(stream, haplotypes.positions, rows, digits)
        total += len(haplotypes.positions)
    return total


def _write_vcf(stream: Sink, args: argparse.Namespace, draw: Callable[[int], Any]) -> int:
    """Write each replicate as a chromosome of its own; returns the number of sites."""
    from oclgenomics.variation.writers import distinct_ticks, site_blocks, write_vcf_head, write_vcf_sites

    contigs = [(str(index + 1), args.length) for index in range(args.replicates)]
    samples = [f"sample{index + 1}" for index in range(args.samples // args.ploidy)]
    write_vcf_head(stream, f"oclgenomics-{__version__} {_provenance(args)}", contigs, samples)
    total = 0
    for index, (contig, _) in enumerate(contigs):
        haplotypes, rng = draw(index)
        sites = len(haplotypes.positions)
        if sites > args.length:
            raise UsageError(f"{sites} sites do not fit in {args.length} bp of a VCF; raise --length")
        positions = distinct_ticks(haplotypes.positions, args.length) + 1
        done = 0
        for block in site_blocks(haplotypes.rows, sites):
            states, letters, unphased = _calls(block, args, rng)
            write_vcf_sites(stream, contig, positions[done : done + len(block)], letters, states, unphased)
            done += len(block)
        total += sites
    return total


def _calls(block: np.ndarray, args: argparse.Namespace, rng: np.random.Generator) -> tuple[Any, list[str], Any]:
    """States, letters and lost phase of some sites, as `write_vcf_sites` takes them."""
    import numpy as np

    from oclgenomics.simulate.population import add_missing, add_third_alleles, lose_phase
    from oclgenomics.variation.writers import MISSING

    bases = np.frombuffer(b"ACGT", np.uint8)
    letters = rng.permuted(np.tile(bases, (len(block), 1)), axis=1)
    states = add_third_alleles(block, args.multiallelic, rng)
    unphased = None
    if args.ploidy == 2:
        states, unphased = lose_phase(states, args.unphased, rng)
    states = add_missing(states, args.missing, rng, missing=MISSING, ploidy=args.ploidy)
    return states, [row.tobytes().decode() for row in letters], unphased
