"""How an array is distributed over work-groups."""

from __future__ import annotations

from oclgenomics.runtime import Engine

__all__ = ["CPU_SPANS", "GROUPS", "scan_lanes", "spans"]

GROUPS = 2048  # enough for the largest GPUs to be full, few enough that each can look at all the others' totals
CPU_SPANS = 64
ROOTS = (8, 4, 2)  # of the work-items that scan together, best first


def scan_lanes(engine: Engine) -> tuple[int, int]:
    """Return how many work-items of a GPU scan together, a square number, and its root: see group_scan.clh."""
    root = next((root for root in ROOTS if root * root <= engine.device.max_work_group), ROOTS[-1])
    return engine.group_size(root * root, least=ROOTS[-1] ** 2), root


def spans(size: int, tile: int, most: int) -> tuple[int, int]:
    """Distribute `size` items over at most `most` groups in whole tiles; return (groups, items of a group)."""
    tiles = -(-size // tile)
    each = max(1, -(-tiles // most))
    return -(-tiles // each), each * tile
