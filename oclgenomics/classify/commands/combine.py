"""`oclgenomics classify combine`: what one query or one build gives, from its pieces."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics.app.commands import add_device_choice
from oclgenomics.app.spread import add_combine
from oclgenomics.classify.commands import build, query
from oclgenomics.classify.commands.reference_options import add_manifest_option, with_manifest
from oclgenomics.classify.commands.report_files import add_report_options, add_text_options


def add_parser(actions: Any) -> None:
    """Add `combine` to the actions of `classify`."""
    add_combine(actions, {"classify query": query, "classify build": build}, _add_outputs)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    add_device_choice(parser, "none; the host puts reports together, or packs and counts features, which takes longer")
    add_report_options(parser, with_manifest)
    add_text_options(parser)
    add_manifest_option(parser.add_argument_group("output of `classify build`"))
