"""How an array is dealt out to work-groups."""

from __future__ import annotations

__all__ = ["CPU_SPANS", "GROUPS", "spans"]

GROUPS = 2048  # enough for the largest GPUs to be full, few enough that each can look at all the others' totals
CPU_SPANS = 64


def spans(size: int, tile: int, most: int) -> tuple[int, int]:
    """Deal `size` items out to at most `most` groups in whole tiles; return (groups, items of a group)."""
    tiles = -(-size // tile)
    each = max(1, -(-tiles // most))
    return -(-tiles // each), each * tile
