"""`oclgenomics signatures info`: what a panel holds."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import signatures
from oclgenomics.app.commands import add_info, write_facts
from oclgenomics.app.reports import MISSING


def add_parser(actions: Any) -> None:
    """Add `info` to the actions of `signatures`."""
    file = "a panel of `signatures build`, or FASTA or FASTQ; - for standard input"
    add_info(actions, run, "a panel", "signatures, lengths, bases, tables", "PANEL", file)


def run(args: argparse.Namespace) -> int:
    """Describe a panel.

    Raises
    ------
    InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    facts = signatures.read_panel(args.panel).facts()
    tables = [" ".join(f"{name}={value}" for name, value in table.items()) for table in facts["tables"]]
    shown = {
        **facts,
        "median_length": f"{facts['median_length']:.12g}",
        "n_share": f"{facts['n_share']:.6g}",
        "ambiguous_share": f"{facts['ambiguous_share']:.6g}",
        "tables": "; ".join(tables) or MISSING,
        "program": facts["program"] or MISSING,
    }
    write_facts(args, facts, shown)
    return 0
