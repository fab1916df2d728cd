"""Models of the pore: the current that each k-mer gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.checksum import checksum
from oclgenomics.signals.chemistry import PORES

__all__ = ["MAX_K", "KmerModel"]

CHECKSUM_KEY = b"oclgenomicsmodel"

MAX_K = 12


@dataclass(frozen=True, eq=False)
class KmerModel:
    """Mean currents of k-mers.

    Attributes
    ----------
    name : str
    k : int
        Length of k-mers, 1 to 12.
    mean : ndarray, float64, (4**k,)
        Mean current in pA (or in units of the model's own normalisation) of each k-mer. K-mers are numbered by their
        letters A, C, G, T = 0, 1, 2, 3 as digits of base 4, the first letter the most significant; U is T.
    deviation : ndarray, float64, (4**k,)
        Standard deviation of the samples of a k-mer; NaN where the model has none.
    pore : str
        Family of the pore, one of `oclgenomics.signals.chemistry.PORES`; empty if not known.
    rate : float, optional
        Samples per second of the signals that the model is for, if known.
    """

    name: str
    k: int
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    pore: str = ""
    rate: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MAX_K or self.mean.shape != (4**self.k,) or self.deviation.shape != self.mean.shape:
            raise ValueError("a model has a mean and a deviation for each of 4**k k-mers, k from 1 to 12")
        if not np.isfinite(self.mean).all():
            raise ValueError("means are finite numbers")
        if self.pore not in ("", *PORES):
            raise ValueError(f"pores are {', '.join(PORES)}")
        if self.rate is not None and not 0 < self.rate < math.inf:
            raise ValueError("a rate is a number above 0")

    @cached_property
    def checksum(self) -> str:
        """Checksum of the means, in their order: that of all from which expected signals are made."""
        return f"{checksum(CHECKSUM_KEY, np.ascontiguousarray(self.mean, '<f8').view(np.uint8).data):016x}"
