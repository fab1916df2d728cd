"""`oclgenomics signatures combine`: what one scan gives, from its pieces."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.spread import add_combine
from oclgenomics.signatures.commands import scan


def add_parser(actions: Any) -> None:
    """Add `combine` to the actions of `signatures`."""
    add_combine(actions, {"signatures scan": scan}, scan.add_report_options)
