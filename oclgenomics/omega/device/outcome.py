"""From the best borders that a device found to the scan of an alignment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.device.best_borders import BestBorders
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.result import ACCURATE_DIGITS, COMPAT_DIGITS, Scan, ScanStats
from oclgenomics.omega.score import EPSILON
from oclgenomics.omega.windows import Windows
from oclgenomics.variation.alignment import Alignment

__all__ = ["impossible_scan", "scan_of"]


def scan_of(alignment: Alignment, windows: Windows, best: BestBorders, options: ScanOptions) -> Scan:
    """Omega in float64 (float32 values in compat precision) and the borders in bp."""
    omega = best.omega.astype(np.float64) if options.precision == "compat" else _exact_omega(best, windows)
    scores = windows.scores(options.tried_border)
    found = (omega > 0) & windows.valid
    first = int(alignment.positions[0])
    return Scan(
        name=alignment.name,
        replicate=alignment.replicate,
        positions=windows.at,
        omega=np.where(found, omega, 0.0),
        left=_border(alignment, best.i, found, windows.valid, first),
        right=_border(alignment, best.j, found, windows.valid, first),
        valid=scores > 0,
        sites=alignment.sites,
        haplotypes=alignment.copies,
        discarded=dict(alignment.skipped),
        possible=True,
        maxwin=windows.maxwin,
        stats=ScanStats(scores=int(scores.sum()), pairs=windows.pairs),
        enough_sites=windows.valid,
        digits=COMPAT_DIGITS if options.precision == "compat" else ACCURATE_DIGITS,
    )


def _exact_omega(best: BestBorders, windows: Windows) -> NDArray[np.float64]:
    """omega of the chosen borders in float64, from the exact sums."""
    k, m = (windows.centre - best.i + 1).astype(np.float64), (best.j - windows.centre).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = best.within * best.unit / (k * (k - 1) / 2 + m * (m - 1) / 2)
        cross = best.cross * best.unit / (k * m)
        return np.where(best.omega > 0, within / (cross + EPSILON), 0.0)


def _border(
    alignment: Alignment, index: NDArray[np.int32], found: NDArray[np.bool_], valid: NDArray[np.bool_], first: int
) -> NDArray[np.int64]:
    """Borders in bp; a valid window in which every omega is 0 has the first site for both, an invalid one 0."""
    return np.where(found, alignment.positions[np.where(found, index, 0)], np.where(valid, first, 0))


def impossible_scan(alignment: Alignment, options: ScanOptions) -> Scan:
    """The scan of an alignment of too few sites."""
    nothing = np.zeros(0)
    none = np.zeros(0, np.int64)
    return Scan(
        name=alignment.name,
        replicate=alignment.replicate,
        positions=nothing,
        omega=nothing,
        left=none,
        right=none,
        valid=np.zeros(0, np.bool_),
        sites=alignment.sites,
        haplotypes=alignment.copies,
        discarded=dict(alignment.skipped),
        possible=False,
        maxwin=options.maxwin,
    )
