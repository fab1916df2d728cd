"""The options of a filter: which reads it keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.kmers.options import MAX_COUNTER, CountOptions

__all__ = ["PAIR_RULES", "FilterOptions", "PairRule"]

PairRule = Literal["either", "both"]
PAIR_RULES: tuple[PairRule, ...] = ("either", "both")


@dataclass(frozen=True)
class FilterOptions:
    """Bounds on the k-mers of a read that the set has.

    A read passes if it is within all bounds that are given. Without any it has to have one k-mer of the set.

    Attributes
    ----------
    min_kmers, max_kmers : int, optional
        K-mers of the read that the set has, each place counted.
    min_fraction, max_fraction : float, optional
        Their share of the read's k-mers, 0 to 1. A read without k-mers has the share 0.
    min_count, max_count : int
        K-mers of the set with other counts are as if it had them not.
    pairs : {'either', 'both'}
        A pair passes if either of its mates does, or both do.
    drop : bool
        Keep the reads that do not pass.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    min_kmers: int | None = None
    max_kmers: int | None = None
    min_fraction: float | None = None
    max_fraction: float | None = None
    min_count: int = 1
    max_count: int = MAX_COUNTER
    pairs: PairRule = "either"
    drop: bool = False
    _least: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("min_kmers", "max_kmers"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ParameterError(name, "give 0 or more", value)
        for name in ("min_fraction", "max_fraction"):
            share = getattr(self, name)
            if share is not None and not 0 <= share <= 1:
                raise ParameterError(name, "a share is 0 to 1", share)
        _check_order("kmers", self.min_kmers, self.max_kmers)
        _check_order("fraction", self.min_fraction, self.max_fraction)
        CountOptions(1, min_count=self.min_count, max_count=self.max_count)
        if self.pairs not in PAIR_RULES:
            raise ParameterError("pairs", f"choose one of {', '.join(PAIR_RULES)}", self.pairs)
        bounds = (self.min_kmers, self.max_kmers, self.min_fraction, self.max_fraction)
        least = int(bounds == (None,) * len(bounds)) if self.min_kmers is None else self.min_kmers
        object.__setattr__(self, "_least", least)

    def passing(self, kmers: NDArray[np.int64], found: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which reads pass.

        Parameters
        ----------
        kmers, found : ndarray, int64 (n,)
            K-mers of each read, and those of them that the set has.

        Returns
        -------
        ndarray, bool (n,)
        """
        passing: NDArray[np.bool_] = found >= self._least
        if self.max_kmers is not None:
            passing &= found <= self.max_kmers
        if self.min_fraction is not None or self.max_fraction is not None:
            # The quotient is the double next to the share, as is a bound that was written as a decimal.
            share = found / np.maximum(kmers, 1)
            passing &= share >= (self.min_fraction or 0)
            passing &= share <= (1 if self.max_fraction is None else self.max_fraction)
        return passing


def _check_order(name: str, least: float | None, most: float | None) -> None:
    if least is not None and most is not None and least > most:
        raise UsageError(f"`min_{name}={least}` `max_{name}={most}`: take min <= max")
