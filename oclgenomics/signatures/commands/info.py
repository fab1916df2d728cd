"""`oclgenomics signatures info`: what a panel holds."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import add_output_options, write_facts
from oclgenomics.app.files import reads

if TYPE_CHECKING:
    from oclgenomics.signatures.panel import Panel

__all__ = ["add_parser", "run"]


def add_parser(actions: Any) -> None:
    """Add `info` to the actions of `signatures`."""
    parser = actions.add_parser(
        "info",
        help="what a panel holds: signatures, lengths, letters, tables",
        description="Write what a panel holds, one fact on each line.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    panel = parser.add_argument(
        "panel", metavar="PANEL", help="a panel of `signatures build`, or FASTA or FASTQ; - for standard input"
    )
    reads(panel)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Describe a panel.

    Raises
    ------
    InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.signatures.source import read_panel

    facts = _facts(read_panel(args.panel))
    write_facts(args, facts, _shown(facts))
    return 0


def _facts(panel: Panel) -> dict[str, Any]:
    import numpy as np

    from oclgenomics.signatures.letters import ANY, is_concrete
    from oclgenomics.signatures.panel_file import BuiltPanel

    letters, lengths = len(panel.sets), panel.lengths
    built = panel if isinstance(panel, BuiltPanel) else None
    return {
        "signatures": len(panel),
        "letters": letters,
        "shortest": int(lengths.min()),
        "median_length": float(np.median(lengths)),
        "longest": int(lengths.max()),
        "n_share": int(np.count_nonzero(panel.sets == ANY)) / letters,
        "ambiguous_share": int(np.count_nonzero(~is_concrete(panel.sets))) / letters,
        "tables": [] if built is None else [key._asdict() for key in built.tables.numbers],
        "program": None if built is None else built.program,
    }


def _shown(facts: dict[str, Any]) -> dict[str, Any]:
    shown = {name: "-" if value is None else value for name, value in facts.items()}
    shown["n_share"], shown["ambiguous_share"] = (f"{facts[name]:.6g}" for name in ("n_share", "ambiguous_share"))
    shown["median_length"] = f"{facts['median_length']:.12g}"
    tables = [" ".join(f"{name}={value}" for name, value in table.items()) for table in facts["tables"]]
    shown["tables"] = "; ".join(tables) or "-"
    return shown
