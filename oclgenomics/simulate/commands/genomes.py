"""`oclgenomics simulate genomes`: a seeded tree of genomes with its taxonomy."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from oclgenomics import simulate
from oclgenomics.app.commands import add_message_options, count, say, started_progress, whole
from oclgenomics.app.files import works_in
from oclgenomics.simulate import metagenomes
from oclgenomics.simulate.commands.population import given

if TYPE_CHECKING:
    from oclgenomics.simulate.metagenomes.genomes import SimulatedGenome


_COUNTS = {
    "genera": "genera",
    "species": "species of a genus with references",
    "references": "strains of each of them that are references",
    "strains": "strains of each of them that are not",
    "novel": "species of a genus without references",
    "aliens": "genomes unlike all others",
    "length": "bases of a genome",
}
_SHARES = {
    "indels": "insertions and deletions for each substitution",
    "transferred": "share of a genome that comes from other genera",
    "repeats": "share of mobile elements",
    "simple": "share of tandem repeats of short units",
}
_RANGES = {
    "gc": "least and most share of G and C",
    "genus_divergence": "least and most substitutions per base from a family's ancestor to a genus's",
    "species_divergence": "from a genus's ancestor to a species's",
    "strain_divergence": "from a species's ancestor to a strain's",
}


def add_genomes(kinds: Any) -> None:
    """Add `simulate genomes` to the kinds of data."""
    parser = kinds.add_parser(
        "genomes",
        help="genomes of a tree with a taxonomy: references, other strains, novel species, aliens",
        description="Write simulated genomes into the folders references, strains, novel and aliens, and taxonomy: "
        "nodes.dmp, names.dmp and the accessions of references. The same seed and options give the same bytes.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    group = parser.add_argument_group("genomes")
    group.add_argument("--seed", type=whole, required=True, metavar="N", help="seed, 0 or more")
    defaults = {"genera": 12, "species": 3, "references": 1, "strains": 1, "novel": 1, "aliens": 2}
    for name, text in _COUNTS.items():
        default = f"{defaults.get(name, 1_000_000)}"
        group.add_argument(f"--{name}", type=count, metavar="N", help=f"{text} (default: {default})")
    group = parser.add_argument_group("evolution")
    shown = {"gc": "0.35 0.65", "genus_divergence": "0.15 0.25", "species_divergence": "0.03 0.1",
             "strain_divergence": "0.002 0.02"}  # fmt: skip
    for name, text in _RANGES.items():
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, type=float, nargs=2, metavar=("MIN", "MAX"), help=f"{text} (default: {shown[name]})")
    shares = {"indels": 0.05, "transferred": 0.01, "repeats": 0.01, "simple": 0.005}
    for name, text in _SHARES.items():
        group.add_argument(f"--{name}", type=float, metavar="X", help=f"{text} (default: {shares[name]})")
    group = parser.add_argument_group("output")
    works_in(group.add_argument("-o", "--output", required=True, metavar="DIR", help="folder to make, or an empty one"))
    add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Write the genomes that the options ask for.

    Raises
    ------
    UsageError
        For options out of range.
    OutputError
        If a file cannot be written, or the folder is there already and not empty.
    """
    scenario = simulate.MetagenomeScenario(**given(args, (*_COUNTS, *_RANGES, *_SHARES)))
    genomes = simulate.simulate_genomes(scenario, args.seed)
    with metagenomes.files.whole_folder(args.output) as folder:
        listed = metagenomes.files.write_genomes(folder, _with_progress(args, genomes))
        metagenomes.files.write_taxonomy(folder / "taxonomy", metagenomes.genomes.plan_taxa(scenario))
    roles = Counter(one.role for one in listed)
    shown = ", ".join(f"{number:,} {role}" for role, number in roles.items())
    say(args, f"{len(listed):,} genomes ({shown}) of {sum(one.letters for one in listed):,} bp")
    say(args, f"wrote {args.output}")
    return 0


def _with_progress(args: argparse.Namespace, genomes: Iterable[SimulatedGenome]) -> Iterator[SimulatedGenome]:
    progress = started_progress(args, "simulating", "genomes", 1)
    for number, genome in enumerate(genomes, 1):
        yield genome
        progress.update(number, None)
    progress.clear()
