"""`oclgenomics kmers`: counted k-mers, and all that can be done with them."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from oclgenomics.cli import kmers_count, kmers_dump, kmers_histogram, kmers_info, kmers_merge, kmers_query
from oclgenomics.errors import UsageError

__all__ = ["COMMANDS", "add_parser"]

COMMANDS = (kmers_count, kmers_dump, kmers_histogram, kmers_info, kmers_query, kmers_merge)


class KmersParser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unknown arguments: {' '.join(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (options: {self.prog} --help)")


def add_parser(subparsers: Any) -> None:
    """Add `kmers` and what it does to the command line."""
    parser = subparsers.add_parser("kmers", help="k-mers of any length: their counts, spectra, dumps and set algebra")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=KmersParser)
    for command in COMMANDS:
        command.add_parser(actions)
