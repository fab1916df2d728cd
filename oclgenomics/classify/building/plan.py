"""Memory decisions of building a database: pure arithmetic on a device's limits, tested without a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oclgenomics.classify.options import SketchOptions
from oclgenomics.errors import AllocationError

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine

__all__ = ["BuildLimits", "BuildPlan", "plan_build"]

MIN_BLOCK, CPU_BLOCK, GPU_BLOCK = 1 << 16, 4 << 20, 64 << 20  # bytes of text; a larger one saves a CPU nothing
TEXT_SHARE = 4  # one part in so many of the memory for blocks of text and their sketches
TEXT_COPIES = 8  # of a block: as it is read, three of them at most, its letters, and what is known of its tiles
FEATURE_BYTES = 4
SKETCH_BYTES = 5  # of a feature: memory for sketches is taken a quarter larger than the largest block so far needs
MAX_FEATURES = 1 << 31  # of a block: they are numbered by 32 bits
PAIR_BYTES = 8
BYTES_OF_PAIR = 2 * PAIR_BYTES + FEATURE_BYTES  # twice while they are sorted; or once beside the lists they come from
SMALL_BYTES = 1 << 20  # sums of tiles and their like
MIN_PAIRS, MAX_PAIRS = 1 << 16, (1 << 32) - 1  # places are 32 bits
ENDS_SHARE = 2  # records end with a window that is not whole: one more in so many, of those that a text has otherwise
CPU_PAIRS = 1 << 27  # a run of 1 GiB; a longer one is sorted no faster


@dataclass(frozen=True)
class BuildLimits:
    """What a plan has to know of a device.

    Attributes
    ----------
    budget : int
        Bytes that may be taken.
    max_allocation : int
        Bytes of the largest buffer.
    cpu : bool
        Whether kernels have the shape for CPUs.
    """

    budget: int
    max_allocation: int
    cpu: bool

    @classmethod
    def of(cls, engine: Engine) -> BuildLimits:
        """The limits of an engine, beside what is in use."""
        return cls(engine.budget - engine.memory.used, engine.max_allocation, engine.tuning.cpu)


@dataclass(frozen=True)
class BuildPlan:
    """How much is done at a time.

    Attributes
    ----------
    block_bytes : int
        Bytes of text that are read.
    pairs : int
        Pairs of features and windows that are sorted.
    """

    block_bytes: int
    pairs: int


def plan_build(limits: BuildLimits, options: SketchOptions, letters: int | None, max_locations: int) -> BuildPlan:
    """Plan the building of a database.

    Parameters
    ----------
    limits : BuildLimits
    options : SketchOptions
    letters : int, optional
        Of all references, as far as known: more do no harm. Room for more pairs than they have is not taken.
    max_locations : int
        Of a feature.

    Raises
    ------
    AllocationError
        The memory is too small to build anything.
    """
    text = limits.budget // TEXT_SHARE
    # A window is a stride of letters, or a record that is longer than a k-mer, with its header and line breaks.
    per_window = min(options.winstride, options.kmerlen + 3)
    sketch_bytes = -(-SKETCH_BYTES * options.sketchlen // per_window)
    largest = limits.max_allocation // max(2, sketch_bytes)
    largest = min(largest, MAX_FEATURES * per_window // options.sketchlen)
    block = min(CPU_BLOCK if limits.cpu else GPU_BLOCK, text // (TEXT_COPIES + sketch_bytes), largest)
    fit = (limits.budget - text - SMALL_BYTES) // BYTES_OF_PAIR
    pairs = min(fit, limits.max_allocation // PAIR_BYTES, CPU_PAIRS if limits.cpu else MAX_PAIRS)
    least = max(MIN_PAIRS, 2 * max_locations)
    if block < MIN_BLOCK or pairs < least:
        raise AllocationError(
            f"{limits.budget:,} bytes of memory, {limits.max_allocation:,} in one buffer, are too few to build a "
            "database; raise `max_memory`"
        )
    if letters is not None:
        wanted = (letters + letters // ENDS_SHARE) // options.winstride * options.sketchlen
        pairs = max(min(pairs, wanted), least)
    return BuildPlan(block, pairs)
