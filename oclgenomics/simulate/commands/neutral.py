"""Options of commands that simulate neutral replicates for themselves, and the replicates that they mean."""

from __future__ import annotations

import argparse

from oclgenomics import simulate
from oclgenomics.app.commands import count
from oclgenomics.app.files import reads
from oclgenomics.errors import UsageError
from oclgenomics.io.cores import usable_cores
from oclgenomics.simulate.commands.population import add_population_options, flag, neutral_region

DEFAULT_REPLICATES = 1_000  # that are simulated
SIMULATION_OPTIONS = (
    "samples", "replicates", "sites", "population_size", "mutation_rate", "recombination_rate", "theta", "rho",
    "engine", "growth_rate", "jobs", "demes", "deme",
)  # fmt: skip


def add_simulation_options(parser: argparse.ArgumentParser) -> None:
    """Add what is simulated where no replicates are given as INPUT; --seed and --length are the command's own."""
    group = parser.add_argument_group("simulation (without INPUT; needs --seed, and --length and --samples or --scan)")
    group.add_argument("--samples", type=count, metavar="N", help="haplotypes, as many as in the data")
    group.add_argument(
        "--replicates", type=count, metavar="N", help=f"neutral alignments (default: {DEFAULT_REPLICATES})"
    )
    group.add_argument(
        "--sites", type=count, metavar="N", help="exact number of segregating sites (default: by the mutation rate)"
    )
    group.add_argument("--jobs", type=count, metavar="N", help="processes that simulate (default: one per CPU)")
    add_population_options(parser, "neutral population (without INPUT)")
    group.add_argument(
        "--growth-rate", type=float, metavar="G",
        help="exponential growth per generation, up to today's N; needs --engine msprime (default: 0)",
    )  # fmt: skip
    demes = group.add_argument(
        "--demes", metavar="FILE",
        help="history of the population as demes YAML; by msprime, with --mutation-rate or --sites and "
        "--recombination-rate (default: constant size)",
    )  # fmt: skip
    reads(demes)
    group.add_argument("--deme", metavar="NAME", help="deme of --demes that is sampled (default: the only one today)")


def check_simulation(args: argparse.Namespace) -> None:
    """Refuse options that contradict each other: replicates are read from INPUT or simulated, not both.

    Raises
    ------
    UsageError
        They do, or what a simulation needs is not given.
    """
    if args.input is not None:
        for name in SIMULATION_OPTIONS:
            if getattr(args, name) is not None:
                raise UsageError(
                    f"--{name.replace('_', '-')} has no effect: the replicates of {args.input} are read, not simulated"
                )
        return
    if hasattr(args, "region"):
        raise UsageError(f"--region {args.region} has no effect: the replicates are simulated, not read")
    for name in ("length", "samples", "seed"):
        if getattr(args, name) is None:
            raise UsageError(f"give neutral replicates as INPUT, or --{name} and the others to simulate them")
    if args.replicates is None:
        args.replicates = DEFAULT_REPLICATES
    if args.demes is None and args.deme is not None:
        raise UsageError("--deme has no effect without --demes FILE")
    for name in ("population_size", "theta", "rho", "growth_rate"):
        if args.demes is not None and getattr(args, name) is not None:
            raise UsageError(f"{flag(name)} has no effect with --demes, which says how large the population was")
    if args.demes is not None and args.engine is None:
        args.engine = "msprime"
    if args.growth_rate and args.engine != "msprime":
        raise UsageError("--growth-rate needs --engine msprime; the built-in simulator keeps the population constant")


def neutral_replicates(args: argparse.Namespace) -> simulate.NeutralReplicates | tuple[str]:
    """Return the neutral replicates to simulate, or the file to read."""
    if args.input is not None:
        return (args.input,)
    return simulate.NeutralReplicates(
        neutral_region(args), args.seed, args.replicates, engine=args.engine, growth_rate=args.growth_rate or 0.0,
        demography=None if args.demes is None else simulate.read_demography(args.demes, args.deme),
        jobs=usable_cores() if args.jobs is None else args.jobs,
    )  # fmt: skip
