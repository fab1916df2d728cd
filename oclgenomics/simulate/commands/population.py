"""What commands that simulate share: how options are declared, and the options of a population and its region."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from oclgenomics import __version__, simulate
from oclgenomics.app.commands import (
    PACKED,
    add_command,
    add_message_options,
    add_options,
    count,
    started_progress,
    whole,
)
from oclgenomics.app.files import writes
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.simulate import haplotypes
from oclgenomics.simulate.limits import MAX_POPULATION, check_range

if TYPE_CHECKING:
    from oclgenomics.io.packed_file import Sink
    from oclgenomics.simulate import Region


PartT = TypeVar("PartT")
OUTPUT = f"output ('-' is standard output; {PACKED})"
POPULATION_DEFAULTS = {
    "population_size": 10_000.0,
    "mutation_rate": 1e-8,
    "recombination_rate": 1e-8,
    "theta": None,
    "rho": None,
    "engine": "own",
}


def individuals(text: str) -> float:
    """Read a number of individuals, which may be a mean and no whole number; thousands as `count` takes them."""
    try:
        return float(text)
    except ValueError:
        return float(count(text))


def add_population_options(parser: argparse.ArgumentParser, title: str = "population (neutral and sweep)") -> None:
    """Add the population that the coalescent simulates; every option is None where it is not given."""
    group = parser.add_argument_group(title)
    rate = "per bp and generation (default: 1e-8)"
    scaled = {
        "theta": "4 N mu of the whole region, in place of --mutation-rate",
        "rho": "4 N r of the whole region, in place of --recombination-rate",
    }
    add_options(group, individuals, "N", {"population_size": "diploid individuals (default: 10k)"})
    add_options(group, float, "MU", {"mutation_rate": rate})
    add_options(group, float, "R", {"recombination_rate": rate})
    add_options(group, float, "X", scaled)
    group.add_argument(
        "--engine", choices=("own", "msprime"), help="simulator; msprime must be installed for its own (default: own)"
    )


def check_rates(args: argparse.Namespace) -> None:
    """Refuse options that say the same thing twice.

    Raises
    ------
    UsageError
    """
    for own, other in (("theta", "mutation_rate"), ("rho", "recombination_rate")):
        if getattr(args, own) is not None and getattr(args, other) is not None:
            raise UsageError(f"{flag(own)} and {flag(other)} say the same thing; give one of them")
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
    check_rates(args)
    for name in ("population_size", "engine"):
        if getattr(args, name) is None:
            setattr(args, name, POPULATION_DEFAULTS[name])
    return region_of(args)


def region_of(args: argparse.Namespace) -> Region:
    """Return the region, and set `theta` and `rho` where rates are given in place of them."""
    check_range("length", args.length, 1, haplotypes.MAX_BP)  # before it is taken as a float
    check_range("population_size", args.population_size, 1, MAX_POPULATION)
    scale = 4 * args.population_size * args.length
    rates: dict[str, str] = {}
    for scaled, name in (("theta", "mutation_rate"), ("rho", "recombination_rate")):
        if getattr(args, scaled) is None:
            rate = getattr(args, name)
            if rate is not None and not (math.isfinite(rate) and rate >= 0):
                raise UsageError(f"{flag(name)} {rate:g}: a rate is 0 or more")
            if rate is not None:
                rates[scaled] = f"{flag(name)} {rate:g} with the length and population size given:"
            setattr(args, scaled, scale * (POPULATION_DEFAULTS[name] if rate is None else rate))
    try:
        return simulate.Region(args.samples, args.length, args.population_size, args.theta, args.rho, args.sites)
    except ParameterError as error:
        if error.parameter not in rates:
            raise
        raise UsageError(f"{rates[error.parameter]} {error.parameter} {error.text}") from None


def flag(name: str) -> str:
    """The option of a name in `args`."""
    return "--" + name.replace("_", "-")


def add_kind(
    kinds: Any, run: Callable[[argparse.Namespace], int], name: str, help: str, description: str, title: str = "data"
) -> tuple[argparse.ArgumentParser, argparse._ArgumentGroup]:
    """Add a kind of data; return its parser, and its first group of options, in which --seed is."""
    parser = add_command(kinds, run, name, help, description)
    group = parser.add_argument_group(title)
    group.add_argument("--seed", type=whole, required=True, metavar="N", help="seed, 0 or more")
    return parser, group


def add_outputs(
    parser: argparse.ArgumentParser, output: tuple[str, str], others: Mapping[str, tuple[str, str]], title: str = OUTPUT
) -> argparse._ArgumentGroup:
    """Add the files to write, each with its metavar and what it is for, and options of messages; return their group."""
    group = parser.add_argument_group(title)
    writes(group.add_argument("-o", "--output", required=True, metavar=output[0], help=f"file for {output[1]}"))
    for name, (metavar, text) in others.items():
        writes(group.add_argument(flag(name), metavar=metavar, help=f"file for {text}"))
    add_message_options(group)
    return group


def simulated(
    args: argparse.Namespace,
    what: str,
    parts: Iterable[PartT],
    total: int | None = None,
    size: Callable[[Any], int] = len,
) -> Iterator[PartT]:
    """Yield what is simulated, under a line of progress; `size` says how many a part is of `total`."""
    progress = started_progress(args, "simulating", what, 1)
    done = 0
    for part in parts:
        yield part
        done += size(part)
        progress.update(done, total)
    progress.clear()


def write_truth_head(stream: Sink, provenance: str, columns: Sequence[str]) -> None:
    """Write the head of a table of what is true: a comment that says how it was made, and the names of the columns."""
    heading = "\t".join(columns)
    stream.write(f"# {provenance}\n{heading}\n".encode())


def typed(kind: str, values: Mapping[str, Any]) -> str:
    """Return a command as it would be typed, with the version, and without options that are None.

    No output path is among them, so that equal data are equal files.
    """
    words = [f"oclgenomics-{__version__} simulate {kind}"]
    for name, value in values.items():
        if value is not None:
            words.append(f"{flag(name)} {' '.join(map(str, value)) if isinstance(value, tuple) else value}")
    return " ".join(words)


def given(args: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the options of some names that were given, two values as a tuple."""
    values = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
