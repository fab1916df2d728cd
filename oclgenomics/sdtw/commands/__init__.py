"""`oclgenomics sdtw`: which nanopore reads are of a target, told from their raw signal."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import OneLineParser
from oclgenomics.sdtw.commands import align as sdtw_align
from oclgenomics.sdtw.commands import calibrate as sdtw_calibrate
from oclgenomics.sdtw.commands import classify as sdtw_classify
from oclgenomics.sdtw.commands import evaluate as sdtw_evaluate
from oclgenomics.sdtw.commands import index as sdtw_index
from oclgenomics.sdtw.commands import info as sdtw_info
from oclgenomics.sdtw.commands import stream as sdtw_stream

__all__ = ["COMMANDS", "add_parser"]

COMMANDS = (sdtw_index, sdtw_info, sdtw_align, sdtw_classify, sdtw_evaluate, sdtw_calibrate, sdtw_stream)


def add_parser(subparsers: Any) -> None:
    """Add `sdtw` and what it does to the command line."""
    parser = subparsers.add_parser("sdtw", help="nanopore reads of a target, found by their raw signal")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=OneLineParser)
    for command in COMMANDS:
        command.add_parser(actions)
