"""`oclgenomics sweeps`: selective sweeps by several statistics at a time."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import add_system

COMMANDS = "scan threshold combine peaks"


def add_parser(subparsers: Any) -> None:
    """Add `sweeps` and what it does to the command line."""
    add_system(subparsers, "sweeps", COMMANDS)
