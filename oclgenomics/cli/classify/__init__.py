"""`oclgenomics classify`: reads to taxa, by the sketches of reference genomes."""

from __future__ import annotations

from typing import Any

from oclgenomics.cli.classify import add as classify_add
from oclgenomics.cli.classify import build as classify_build
from oclgenomics.cli.classify import evaluate as classify_evaluate
from oclgenomics.cli.classify import info as classify_info
from oclgenomics.cli.classify import merge as classify_merge
from oclgenomics.cli.classify import plot as classify_plot
from oclgenomics.cli.classify import query as classify_query
from oclgenomics.cli.classify import run as classify_run
from oclgenomics.cli.classify import serve as classify_serve
from oclgenomics.cli.classify import verify as classify_verify
from oclgenomics.cli.options import OneLineParser

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
