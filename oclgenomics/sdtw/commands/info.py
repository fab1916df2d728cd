"""`oclgenomics sdtw info`: what the file of a reference holds."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import sdtw
from oclgenomics.app.commands import add_info, write_facts


def add_parser(actions: Any) -> None:
    """Add `info` to the actions of `sdtw`."""
    what, holds = "the file of a reference", "sequences, k-mers, model, levels"
    add_info(actions, run, what, holds, "REFERENCE", "a file of `sdtw index`")


def run(args: argparse.Namespace) -> int:
    """Describe a squiggle.

    Raises
    ------
    InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    facts = sdtw.read_squiggle(args.reference).facts()
    strands = [
        f"{own['strand']} columns={own['columns']} mean={own['mean']:.6g} deviation={own['deviation']:.6g}"
        for own in facts["strands"]
    ]
    write_facts(args, facts, facts | {"strands": "; ".join(strands)})
    return 0
