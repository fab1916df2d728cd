"""`oclgenomics sdtw info`: what the file of a reference holds."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import add_output_options, write_facts
from oclgenomics.app.files import reads

if TYPE_CHECKING:
    from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["add_parser", "run"]


def add_parser(actions: Any) -> None:
    """Add `info` to the actions of `sdtw`."""
    parser = actions.add_parser(
        "info",
        help="what the file of a reference holds: sequences, k-mers, model, levels",
        description="Write what the file of a reference holds, one fact on each line.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    reads(parser.add_argument("reference", metavar="REFERENCE", help="a file of `sdtw index`"))
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Describe a squiggle.

    Raises
    ------
    InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.sdtw.squiggles.file import read_squiggle

    facts = _facts(read_squiggle(args.reference))
    write_facts(args, facts, _shown(facts))
    return 0


def _facts(squiggle: Squiggle) -> dict[str, Any]:
    from oclgenomics.sdtw.squiggles.squiggle import STRANDS

    strands = [(STRANDS[which], squiggle.levels[squiggle.column_strand == which]) for which in (0, 1)]
    return {
        "name": squiggle.name,
        "sequences": len(squiggle.records),
        "letters": int(squiggle.lengths.sum()),
        "molecule": squiggle.molecule,
        "model": squiggle.model,
        "model_checksum": squiggle.model_checksum,
        "pore": squiggle.pore or None,
        "rate": squiggle.rate,
        "checksum": squiggle.checksum,
        "k": squiggle.k,
        "columns": len(squiggle),
        "tracks": len(squiggle.track_record),
        "strands": [
            {"strand": name, "columns": len(levels), "mean": float(levels.mean()), "deviation": float(levels.std())}
            for name, levels in strands
            if len(levels)
        ],
    }


def _shown(facts: dict[str, Any]) -> dict[str, Any]:
    strands = [
        f"{own['strand']} columns={own['columns']} mean={own['mean']:.6g} deviation={own['deviation']:.6g}"
        for own in facts["strands"]
    ]
    return facts | {"strands": "; ".join(strands)}
