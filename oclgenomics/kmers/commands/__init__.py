"""`oclgenomics kmers`: counted k-mers, and all that can be done with them."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import add_system
from oclgenomics.kmers.commands import count as kmers_count
from oclgenomics.kmers.commands import dump as kmers_dump
from oclgenomics.kmers.commands import filter as kmers_filter
from oclgenomics.kmers.commands import histogram as kmers_histogram
from oclgenomics.kmers.commands import info as kmers_info
from oclgenomics.kmers.commands import matrix as kmers_matrix
from oclgenomics.kmers.commands import merge as kmers_merge
from oclgenomics.kmers.commands import query as kmers_query

__all__ = ["COMMANDS", "add_parser"]

COMMANDS = (
    kmers_count,
    kmers_dump,
    kmers_histogram,
    kmers_info,
    kmers_query,
    kmers_filter,
    kmers_merge,
    kmers_matrix,
)


def add_parser(subparsers: Any) -> None:
    """Add `kmers` and what it does to the command line."""
    what = "k-mers of any length: their counts, spectra, dumps and set algebra"
    add_system(subparsers, "kmers", what, COMMANDS)
