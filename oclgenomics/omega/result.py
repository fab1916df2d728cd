"""What a scan finds in one alignment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACCURATE_DIGITS", "COMPAT_DIGITS", "Scan"]

ACCURATE_DIGITS = 7  # pair values are float32, which leaves omega a relative error of about 1.5e-7
COMPAT_DIGITS = 9  # tell all float32 values apart


@dataclass
class Scan:
    """Omega along one alignment (a chromosome or a replicate).

    Attributes
    ----------
    name : str
        Chromosome, or the replicate's number.
    replicate : int
        Place of the alignment in its input, counted from 1.
    positions, omega : ndarray of float64, shape (grid,)
        Grid positions in bp and the largest omega at each (0 where `valid` is False). Float32 values in compat
        precision.
    left, right : ndarray of int64, shape (grid,)
        Positions in bp of the first and the last site of the window that gives `omega`.
    valid : ndarray of bool, shape (grid,)
        False where no window holds enough sites, or `border` permits none of those that do.
    sites, haplotypes : int
        Sites used, and states per site.
    discarded : dict of str to int
        Records and sites left out, by reason.
    possible : bool
        False with fewer than 4 sites; all arrays are then empty.
    maxwin : int
        Largest window used, in bp (compat precision shrinks it where OmegaPlus does).
    stats : dict
        'scores' and 'pairs' (int: omegas evaluated and LD pairs needed) and 'scan_seconds', of a batch the share.
    window_sites : ndarray of int64, shape (grid,), optional
        Sites from `left` to `right`; -1 where `valid` is False. None if nobody counted.
    enough_sites : ndarray of bool, shape (grid,), optional
        Where a window holds enough sites, permitted or not, which is what OmegaPlus calls valid. None: as `valid`.
    digits : int
        Significant digits of `omega` to show: the seven that hold, or nine in compat precision, which bring OmegaPlus'
        float32 values back exactly.
    """

    name: str
    replicate: int
    positions: NDArray[np.float64]
    omega: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    valid: NDArray[np.bool_]
    sites: int
    haplotypes: int
    discarded: dict[str, int]
    possible: bool
    maxwin: int
    stats: dict[str, Any] = field(default_factory=dict)
    window_sites: NDArray[np.int64] | None = None
    enough_sites: NDArray[np.bool_] | None = None
    digits: int = ACCURATE_DIGITS

    @property
    def best(self) -> int | None:
        """Index of the largest omega (the first of equals); None where no position is valid."""
        if not self.possible or not self.valid.any():
            return None
        return int(np.argmax(np.where(self.valid, self.omega, -1.0)))
