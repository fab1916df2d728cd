"""`oclgenomics omega combine`: what one scan or one run of `omega threshold` gives, from its pieces."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics.app.spread import add_combine
from oclgenomics.omega.commands import scan, threshold


def add_parser(actions: Any) -> None:
    """Add `combine` to the actions of `omega`."""
    add_combine(actions, {"omega scan": scan, "omega threshold": threshold}, _add_outputs)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    scan.add_report_options(parser)
    scan.add_samples_out(parser)
