"""`oclgenomics classify`: reads to taxa, by the sketches of reference genomes."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.commands import OneLineParser
from oclgenomics.classify.commands import add as classify_add
from oclgenomics.classify.commands import build as classify_build
from oclgenomics.classify.commands import evaluate as classify_evaluate
from oclgenomics.classify.commands import info as classify_info
from oclgenomics.classify.commands import merge as classify_merge
from oclgenomics.classify.commands import plot as classify_plot
from oclgenomics.classify.commands import query as classify_query
from oclgenomics.classify.commands import run as classify_run
from oclgenomics.classify.commands import serve as classify_serve
from oclgenomics.classify.commands import verify as classify_verify

__all__ = ["COMMANDS", "add_parser"]

COMMANDS = (
    classify_build, classify_add, classify_query, classify_run, classify_merge, classify_serve, classify_info,
    classify_verify, classify_evaluate, classify_plot,
)  # fmt: skip


def add_parser(subparsers: Any) -> None:
    """Add `classify` and what it does to the command line."""
    parser = subparsers.add_parser("classify", help="reads to taxa: databases of reference genomes, and their queries")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=OneLineParser)
    for command in COMMANDS:
        command.add_parser(actions)
