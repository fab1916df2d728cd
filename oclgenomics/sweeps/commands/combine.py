"""`oclgenomics sweeps combine`: what one scan or one run of `sweeps threshold` gives, from its pieces."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.spread import add_combine
from oclgenomics.sweeps.commands import scan, threshold


def add_parser(actions: Any) -> None:
    """Add `combine` to the actions of `sweeps`."""
    add_combine(actions, {"sweeps scan": scan, "sweeps threshold": threshold}, scan.add_report_options)
