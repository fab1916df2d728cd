"""What neutral replicates say of a statistic: which value to exceed for a false-positive rate, and p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError, UsageError

FEW_MAXIMA = 10  # fewer replicates above a threshold than that leave its rate uncertain by a third or more
_ROUNDING = 1e-9  # 0.05 * 100 is not quite 5


def rank_for(rate: float, replicates: int, halved: bool = False) -> int:
    """Return which of the largest maxima of so many replicates is the threshold for a false-positive rate.

    Parameters
    ----------
    rate : float
    replicates : int
        Those that judge.
    halved : bool, optional
        They are the second half of all: as many more have calibrated a combined score.

    Raises
    ------
    UsageError
        A rate outside its range, or too small for so few replicates.
    """
    if not 0 < rate < 1:
        raise ParameterError("fpr", "a false-positive rate lies between 0 and 1", rate)
    rank = math.floor(rate * (replicates + 1) + _ROUNDING)
    if rank < 1:
        few, enough = replicates_for(rate), replicates_for(rate, FEW_MAXIMA)
        what, parts = (" for the combined score", 2) if halved else ("", 1)
        needed = (
            f"needs at least {parts * few:,} neutral replicates{what}, better {parts * enough:,}; there are "
            f"{parts * replicates:,}"
        )
        raise ParameterError("fpr", needed, rate)
    return rank


def replicates_for(rate: float, rank: int = 1) -> int:
    """Return the fewest replicates of which the `rank` largest maxima decide on a false-positive rate."""
    return max(rank, math.ceil(rank / rate - _ROUNDING) - 1)


def said_of_few(rate: float, replicates: int) -> str:
    """Return what to say of a rate that rests on few maxima of so many replicates; empty where there are enough."""
    if rank_for(rate, replicates) >= FEW_MAXIMA:
        return ""
    enough = replicates_for(rate, FEW_MAXIMA)
    return f"--fpr {rate:g} rests on few maxima; take {enough:,} replicates or more"


def p_values(values: NDArray[np.float64] | float, maxima: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of so large a value anywhere in a neutral alignment: (1 + maxima >= value) / (1 + R).

    Parameters
    ----------
    values : float, or ndarray of float64, shape (...)
    maxima : ndarray of float64, shape (replicates,)
        Largest value of each neutral replicate.

    Returns
    -------
    ndarray of float64, shape (...)
        At least 1 / (1 + R).
    """
    below = np.searchsorted(np.sort(maxima), values, side="left")
    return np.asarray((1 + len(maxima) - below) / (1 + len(maxima)), np.float64)


def rates_of(text: str) -> list[float]:
    """Read false-positive rates as options give them, with commas between.

    Raises
    ------
    UsageError
        One is none.
    """
    try:
        rates = [float(word) for word in text.split(",")]
    except ValueError:
        raise UsageError(f"--fpr {text}: give rates such as 0.05 or 0.05,0.01") from None
    check_rates(rates)
    return rates


def check_rates(rates: Sequence[float]) -> None:
    """Refuse a false-positive rate that is none.

    Raises
    ------
    UsageError
    """
    for rate in rates:
        if not 0 < rate < 1:
            raise ParameterError("fpr", "a false-positive rate lies between 0 and 1", rate)


class RankedThreshold:
    """A threshold that is the `rank`-th most extreme value of so many neutral replicates, one of each."""

    rank: int
    replicates: int

    @property
    def expected_fpr(self) -> float:
        """Mean false-positive rate over all sets of replicates: rank / (R + 1), at most the one asked for."""
        return self.rank / (self.replicates + 1)


def known_numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Return a column of a file as float64 (values,), NaN for null.

    Raises
    ------
    ValueError
        It holds something else.
    """
    numbers = np.array([math.nan if value is None else value for value in values])
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or np.isinf(numbers).any():
        raise ValueError
    return numbers.astype(np.float64)
