"""`oclgenomics classify combine`: what one query gives, from its pieces."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics.app.spread import add_combine
from oclgenomics.classify.commands import query
from oclgenomics.classify.commands.report_files import add_report_options, add_text_options


def add_parser(actions: Any) -> None:
    """Add `combine` to the actions of `classify`."""
    add_combine(actions, {"classify query": query}, _add_outputs)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    add_report_options(parser)
    add_text_options(parser)
