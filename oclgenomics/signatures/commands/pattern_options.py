"""What signatures look for in samples: options of `scan` and `build` alike."""

from __future__ import annotations

import argparse

__all__ = ["add_pattern_options"]


def add_pattern_options(group: argparse._ArgumentGroup) -> None:
    """Add --strand and --max-mismatch."""
    group.add_argument(
        "--strand", default="+", choices=("+", "-", "both"),
        help="signatures as they are, their reverse complements, or both (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--max-mismatch", dest="max_mismatches", type=int, default=0, metavar="M",
        help="letters of a match that need not match, 0 to 7 (default: %(default)s)",
    )  # fmt: skip
