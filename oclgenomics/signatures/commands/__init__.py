"""`oclgenomics signatures`: long patterns with wildcards in reads and genomes."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import add_system
from oclgenomics.signatures.commands import (
    build as signatures_build,
    combine as signatures_combine,
    filter as signatures_filter,
    info as signatures_info,
    scan as signatures_scan,
)

COMMANDS = (signatures_scan, signatures_filter, signatures_combine, signatures_build, signatures_info)


def add_parser(subparsers: Any) -> None:
    """Add `signatures` and what it does to the command line."""
    add_system(subparsers, "signatures", COMMANDS)
