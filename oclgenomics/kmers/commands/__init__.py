"""`oclgenomics kmers`: counted k-mers, and all that can be done with them."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import add_system

COMMANDS = "count combine dump histogram info query qv filter merge matrix"


def add_parser(subparsers: Any) -> None:
    """Add `kmers` and what it does to the command line."""
    add_system(subparsers, "kmers", COMMANDS)
