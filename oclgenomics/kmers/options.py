"""The options of a count."""

from __future__ import annotations

from dataclasses import dataclass

from oclgenomics.errors import ParameterError, UsageError

__all__ = ["MAX_COUNTER", "MAX_K", "CountOptions"]

MAX_K = 256
MAX_COUNTER = (1 << 32) - 1


@dataclass(frozen=True)
class CountOptions:
    """What is counted, and how.

    Attributes
    ----------
    k : int
        Letters of a k-mer, 1 to 256.
    canonical : bool
        A k-mer and its reverse complement count as one, the lesser of the two (A < C < G < T). A k-mer that is its own
        reverse complement counts once for each place.
    min_count, max_count : int
        K-mers that occur less or more often are left out. `min_count` is at most 2^32 - 1.
    counter_max : int
        Counters stop here, after k-mers were left out; at most 2^32 - 1.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    k: int
    canonical: bool = True
    min_count: int = 1
    max_count: int = MAX_COUNTER
    counter_max: int = MAX_COUNTER

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MAX_K:
            raise ParameterError("k", f"k-mers have 1 to {MAX_K} letters", self.k)
        if not 1 <= self.min_count <= self.max_count:
            raise UsageError(f"`min_count={self.min_count}` `max_count={self.max_count}`: take 1 <= min <= max")
        if self.min_count > MAX_COUNTER:
            raise ParameterError("min_count", f"counters hold at most {MAX_COUNTER:,}", self.min_count)
        if not 1 <= self.counter_max <= MAX_COUNTER:
            raise ParameterError("counter_max", f"counters hold 1 to {MAX_COUNTER:,}", self.counter_max)
