"""`oclgenomics simulate genomes`: a seeded tree of genomes with its taxonomy."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from oclgenomics import simulate
from oclgenomics.app.commands import add_message_options, add_options, count, say
from oclgenomics.app.files import works_in
from oclgenomics.notices import number_of
from oclgenomics.simulate import metagenomes
from oclgenomics.simulate.commands.population import add_kind, given, simulated

_COUNTS = {
    "genera": "genera (default: 12)",
    "species": "species of a genus with references (default: 3)",
    "references": "strains of each of them that are references (default: 1)",
    "strains": "strains of each of them that are not (default: 1)",
    "novel": "species of a genus without references (default: 1)",
    "aliens": "genomes unlike all others (default: 2)",
    "length": "bases of a genome (default: 1000000)",
}
_SHARES = {
    "indels": "insertions and deletions for each substitution (default: 0.05)",
    "transferred": "share of a genome that comes from other genera (default: 0.01)",
    "repeats": "share of mobile elements (default: 0.01)",
    "simple": "share of tandem repeats of short units (default: 0.005)",
}
_RANGES = {
    "gc": "least and most share of G and C (default: 0.35 0.65)",
    "genus_divergence": "least and most substitutions per base from a family's ancestor to a genus's (default: 0.15 "
    "0.25)",
    "species_divergence": "from a genus's ancestor to a species's (default: 0.03 0.1)",
    "strain_divergence": "from a species's ancestor to a strain's (default: 0.002 0.02)",
}


def add_genomes(kinds: Any) -> None:
    """Add `simulate genomes` to the kinds of data."""
    parser, group = add_kind(
        kinds, run, "genomes", "genomes of a tree with a taxonomy: references, other strains, novel species, aliens",
        "Write simulated genomes into the folders references, strains, novel and aliens, and taxonomy: nodes.dmp, "
        "names.dmp and the accessions of references. The same seed and options give the same bytes.", "genomes",
    )  # fmt: skip
    add_options(group, count, "N", _COUNTS)
    group = parser.add_argument_group("evolution")
    add_options(group, float, ("MIN", "MAX"), _RANGES)
    add_options(group, float, "X", _SHARES)
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
        drawn = simulated(args, "genomes", genomes, size=lambda _: 1)
        listed = metagenomes.files.write_genomes(folder, drawn)
        metagenomes.files.write_taxonomy(folder / "taxonomy", metagenomes.genomes.plan_taxa(scenario))
    roles = Counter(one.role for one in listed)
    shown = ", ".join(f"{number:,} {role}" for role, number in roles.items())
    say(args, f"{number_of(len(listed), 'genome')} ({shown}) of {sum(one.letters for one in listed):,} bp")
    say(args, f"wrote {args.output}")
    return 0
