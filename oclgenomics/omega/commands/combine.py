"""`oclgenomics omega combine`: what one scan gives, from its pieces."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics.app.spread import add_combine
from oclgenomics.omega.commands import scan


def add_parser(actions: Any) -> None:
    """Add `combine` to the actions of `omega`."""
    add_combine(actions, {"omega scan": scan}, _add_outputs)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    scan.add_report_options(parser)
    scan.add_samples_out(parser)
