"""`oclgenomics sdtw`: which nanopore reads are on target, by their raw signal."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import add_system

COMMANDS = "fetch-model index info align classify combine evaluate calibrate stream"


def add_parser(subparsers: Any) -> None:
    """Add `sdtw` and what it does to the command line."""
    add_system(subparsers, "sdtw", COMMANDS)
