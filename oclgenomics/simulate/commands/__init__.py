"""`oclgenomics simulate`: seeded data for demonstrations, tests and benchmarks; one kind of data a module."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import OneLineParser
from oclgenomics.simulate.commands.genomes import add_genomes
from oclgenomics.simulate.commands.omega import add_omega
from oclgenomics.simulate.commands.reads import add_reads
from oclgenomics.simulate.commands.signals import add_signals
from oclgenomics.simulate.commands.signatures import add_signatures


def add_parser(subparsers: Any) -> None:
    """Add `simulate` and its kinds of data to the command line."""
    parser = subparsers.add_parser("simulate")
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True, parser_class=OneLineParser)
    for add in (add_omega, add_signatures, add_signals, add_genomes, add_reads):
        add(kinds)
