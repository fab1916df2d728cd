"""Plan what fits on a device: pure arithmetic, tested without one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oclgenomics.errors import AllocationError, readable_bytes


@dataclass(frozen=True)
class DeviceLimits:
    """What a plan has to know of a device; `Engine.limits` gives it.

    Attributes
    ----------
    budget : int
        Bytes that may be in use at a time.
    max_allocation : int
        Bytes of the largest buffer.
    compute_units, warp : int
        Of the device.
    cpu : bool
        Whether kernels have the shape for CPUs.
    """

    budget: int
    max_allocation: int
    compute_units: int = 1
    warp: int = 1
    cpu: bool = False


@dataclass(frozen=True)
class BufferNeed:
    """What one buffer takes.

    Attributes
    ----------
    name : str
        What it holds, for the error message.
    fixed : int
        Bytes whatever the number of items.
    per_item : int
        Bytes for each item.
    copies : int
        How many such buffers there are at a time (2 for double buffering).
    """

    name: str
    fixed: int = 0
    per_item: int = 0
    copies: int = 1


def items_that_fit(
    needs: Sequence[BufferNeed], *, budget: int, max_allocation: int, minimum: int = 1, item: str = "item"
) -> int:
    """Return how many items fit into the device's memory at a time.

    Parameters
    ----------
    needs : sequence of BufferNeed
        All buffers that live at the same time.
    budget : int
        Bytes that all buffers together may take (`Engine.budget`).
    max_allocation : int
        Bytes that one buffer may take (`Device.max_allocation`).
    minimum : int
        The smallest useful number of items.
    item : str
        Name of an item, for the error message.

    Returns
    -------
    int
        At least `minimum`.

    Raises
    ------
    AllocationError
        Not even `minimum` items fit.
    """
    fixed = sum(need.fixed * need.copies for need in needs)
    per_item = sum(need.per_item * need.copies for need in needs)
    fit = (budget - fixed) // per_item if per_item else (minimum if fixed <= budget else -1)
    limits = [(fit, f"{readable_bytes(fixed + minimum * per_item)} for all buffers together", budget, "`max_memory`")]
    for need in needs:
        room = max_allocation - need.fixed
        one = room // need.per_item if need.per_item else (fit if room >= 0 else -1)
        asked = readable_bytes(need.fixed + minimum * need.per_item)
        limits.append((one, f"{asked} for the buffer of {need.name}", max_allocation, "largest buffer of the device"))
    count, asked, limit, name = min(limits)
    if count < minimum:
        raise AllocationError(
            f"{minimum} {item}{'s' if minimum != 1 else ''} would take {asked}, "
            f"but the limit is {readable_bytes(limit)} ({name}); "
            "raise `max_memory`, choose a `device` with more memory, or make the problem smaller"
        )
    return count


def chunks(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Split `total` items into runs of at most `size`, as (start, stop)."""
    for start in range(0, total, size):
        yield start, min(start + size, total)
