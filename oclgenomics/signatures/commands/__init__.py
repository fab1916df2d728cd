"""`oclgenomics signatures`: long patterns with wildcards in reads and genomes."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import add_system

COMMANDS = "scan filter combine build info"


def add_parser(subparsers: Any) -> None:
    """Add `signatures` and what it does to the command line."""
    add_system(subparsers, "signatures", COMMANDS)
