"""`oclgenomics classify`: reads to taxa, by the sketches of reference genomes."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import add_system

COMMANDS = "build fetch add query combine run merge serve info verify evaluate plot"


def add_parser(subparsers: Any) -> None:
    """Add `classify` and what it does to the command line."""
    add_system(subparsers, "classify", COMMANDS)
