"""`oclgenomics kmers combine`: what one count gives, from its pieces."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics.app.commands import add_device_choice
from oclgenomics.app.spread import add_combine
from oclgenomics.kmers.commands import count


def add_parser(actions: Any) -> None:
    """Add `combine` to the actions of `kmers`."""
    add_combine(actions, {"kmers count": count}, _add_options)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_device_choice(parser, "none; the host puts pieces together, which takes longer")
    count.add_outputs(parser)
