"""`oclgenomics sdtw combine`: what one alignment or classification gives, from its pieces."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.spread import add_combine
from oclgenomics.sdtw.commands import align, classify


def add_parser(actions: Any) -> None:
    """Add `combine` to the actions of `sdtw`."""
    add_combine(actions, {"sdtw align": align, "sdtw classify": classify}, classify.add_report_options)
