"""A figure that is known within bounds: the least, the likely and the greatest value of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from hls_model.errors import ModelError


@dataclass(frozen=True)
class Range:
    """Bounds of a figure, and its likely value between them.

    Attributes
    ----------
    low, likely, high : float
        In the unit of the figure; `low` <= `likely` <= `high`.

    Raises
    ------
    ModelError
        They are not finite numbers in this order.
    """

    low: float
    likely: float
    high: float

    def __post_init__(self) -> None:
        values = (self.low, self.likely, self.high)
        if not all(map(isfinite, values)) or not self.low <= self.likely <= self.high:
            shown = ", ".join(f"{value:g}" for value in values)
            raise ModelError(f"a range has to be low <= likely <= high in finite numbers, and this one is {shown}")

    @classmethod
    def exactly(cls, value: float) -> Range:
        """Return the range of a figure that is known."""
        return cls(value, value, value)

    @classmethod
    def spanning(cls, likely: float, *others: float) -> Range:
        """Return the range from the least to the greatest of some values, of which one is the likely one."""
        return cls(min(likely, *others), likely, max(likely, *others))

    def __add__(self, other: Range) -> Range:
        """Return the bounds of a sum: both low, both likely, both high."""
        return Range(self.low + other.low, self.likely + other.likely, self.high + other.high)

    def times(self, factor: float) -> Range:
        """Return the range of a multiple.

        Raises
        ------
        ModelError
            The factor is negative.
        """
        if factor < 0:
            raise ModelError(f"a range is multiplied by {factor:g}; it has to be 0 or more")
        return self.each(lambda value: factor * value)

    def under(self, amount: float) -> Range:
        """Return the range of an amount over the figure, such as of bytes over a rate."""
        return Range(amount / self.high, amount / self.likely, amount / self.low)

    def each(self, function: Callable[[float], float]) -> Range:
        """Return the range of what a function that does not fall makes of the figure."""
        return Range(function(self.low), function(self.likely), function(self.high))

    def holds(self, value: float) -> bool:
        """Whether a value lies within the bounds."""
        return self.low <= value <= self.high

    def record(self) -> dict[str, float]:
        """Return the three values by name, for JSON."""
        return dict(vars(self))
