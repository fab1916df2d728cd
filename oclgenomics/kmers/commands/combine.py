"""`oclgenomics kmers combine`: what one count gives, from its pieces."""

from __future__ import annotations

from typing import Any

from oclgenomics.app.spread import add_combine
from oclgenomics.kmers.commands import count


def add_parser(actions: Any) -> None:
    """Add `combine` to the actions of `kmers`."""
    add_combine(actions, {"kmers count": count}, count.add_outputs)
