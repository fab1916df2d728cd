"""What a scan finds in one alignment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.omega.data_facts import DataFacts

__all__ = ["ACCURATE_DIGITS", "COMPAT_DIGITS", "SCAN_COLUMNS", "Scan", "ScanStats"]

SCAN_COLUMNS = ("chromosome", "replicate", "position", "omega", "left", "right", "window_sites")
"""Of a table of grid positions: in tsv reports, `Scan.records` and `Scan.to_frame`."""

ACCURATE_DIGITS = 7  # pair values are float32, which leaves omega a relative error of about 1.5e-7
COMPAT_DIGITS = 9  # tell all float32 values apart


@dataclass(frozen=True)
class ScanStats:
    """What a scan took.

    Attributes
    ----------
    scores, pairs : int
        Omegas evaluated, and pairs of sites whose linkage disequilibrium they need.
    seconds : float
        Time on the device and in its preparation; of alignments that were scanned together, the share.
    """

    scores: int = 0
    pairs: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
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
    discarded : mapping of str to int
        Records and sites left out, by reason.
    possible : bool
        False with fewer than 4 sites; all arrays are then empty.
    maxwin : int
        Largest window used, in bp (compat precision shrinks it where OmegaPlus does).
    stats : ScanStats
    window_sites : ndarray of int64, shape (grid,), optional
        Sites from `left` to `right`; -1 where `valid` is False. None if nobody counted.
    enough_sites : ndarray of bool, shape (grid,), optional
        Where a window holds enough sites, permitted or not, which is what OmegaPlus calls valid. None: as `valid`.
    digits : int
        Significant digits of `omega` to show: the seven that hold, or nine in compat precision, which bring OmegaPlus'
        float32 values back exactly.
    data : DataFacts, optional
        What a threshold has to be made for. None if nobody looked.
    parameters : mapping of str to object
        Options of the scan by name, as plain values.
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
    discarded: Mapping[str, int]
    possible: bool
    maxwin: int
    stats: ScanStats = ScanStats()
    window_sites: NDArray[np.int64] | None = None
    enough_sites: NDArray[np.bool_] | None = None
    digits: int = ACCURATE_DIGITS
    data: DataFacts | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        best = self.best
        peak = "" if best is None else f", best omega {self.omega[best]:.6g} at {self.positions[best]:.0f} bp"
        size = f"{self.haplotypes} haplotypes, {self.sites} sites, {len(self.positions)} positions"
        return f"<Scan of {self.name!r}: {size}{peak}>"

    @property
    def best(self) -> int | None:
        """Index of the largest omega (the first of equals); None where no position is valid."""
        if not self.possible or not self.valid.any():
            return None
        return int(np.argmax(np.where(self.valid, self.omega, -1.0)))

    def records(self) -> Iterator[dict[str, Any]]:
        """Give a dict for each grid position, with the names of `SCAN_COLUMNS`.

        Yields
        ------
        dict
            Plain values. `omega` is None where no window holds enough sites or `border` permits none; `left`, `right`
            and `window_sites` are None there and where omega is 0, and `window_sites` also where nobody counted.
        """
        found, sites = self._found(), self._counted()
        columns = (self.positions, self.omega, self.left, self.right, sites, self.valid, found)
        for at, omega, left, right, count, valid, there in zip(*(values.tolist() for values in columns), strict=True):
            window = (left, right, count if count >= 0 else None) if there else (None, None, None)
            values = (self.name, self.replicate, at, omega if valid else None, *window)
            yield dict(zip(SCAN_COLUMNS, values, strict=True))

    def to_frame(self) -> Any:
        """Make a table of the grid positions, with the columns `SCAN_COLUMNS`.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            Numbers are float64 (`replicate` int64), NaN where `records` has None.

        Raises
        ------
        MissingDependencyError
            Neither pandas nor polars is installed.
        """
        found, sites = self._found(), self._counted()
        grid = len(self.positions)
        values = (
            [self.name] * grid,
            np.full(grid, self.replicate, np.int64),
            self.positions,
            np.where(self.valid, self.omega, np.nan),
            np.where(found, self.left, np.nan),
            np.where(found, self.right, np.nan),
            np.where(found & (sites >= 0), sites, np.nan),
        )
        return to_frame(dict(zip(SCAN_COLUMNS, values, strict=True)))

    def _found(self) -> NDArray[np.bool_]:
        """Where a window gives the omega."""
        return self.valid & (self.omega > 0)

    def _counted(self) -> NDArray[np.int64]:
        """Sites in each window; -1 where they were not counted."""
        return np.full(len(self.positions), -1, np.int64) if self.window_sites is None else self.window_sites
