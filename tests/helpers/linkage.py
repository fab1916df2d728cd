"""Linkage disequilibrium of all pairs of sites as one matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.omega.device.ld import ld_blocks
from oclgenomics.omega.options import MapMeasure
from oclgenomics.runtime import Engine
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.selection import take_sites


def ld_matrix(
    alignment: Alignment, first: int, last: int, *, engine: Engine, measure: MapMeasure = "r2"
) -> NDArray[np.float32]:
    """Compute linkage disequilibrium between all sites of a region.

    Parameters
    ----------
    alignment : Alignment
        Prepared by `omega.sites.prepare`: every site shows at least two states.
    first, last : int
        First and last site, counted from 0, both included.
    engine : Engine
    measure : {'r2', 'nr2'}
        See `ld_blocks`.

    Returns
    -------
    ndarray, float32 (sites, sites)
        Symmetric, with 1 (r2) or the number of haplotypes (nr2) on the diagonal. Where a site does not vary over
        the haplotypes observed at both, r2 is NaN and nr2 0.

    Raises
    ------
    UsageError
        An unknown measure, no such sites, or more than `MAX_SITES`.
    DeviceError
        Not enough device memory, or a device lost on the way.
    """
    if not 0 <= first <= last < alignment.sites:
        raise UsageError(f"sites {first} to {last}: the alignment has {alignment.sites} sites, counted from 0")
    keep = np.zeros(alignment.sites, np.bool_)
    keep[first : last + 1] = True
    region = take_sites(alignment, keep)
    matrix = np.zeros((region.sites, region.sites), np.float32)
    for block in ld_blocks(region, engine, measure=measure):
        matrix[block.row0 : block.row0 + len(block.values), block.row0 :] = block.values
    matrix += matrix.T.copy()
    np.fill_diagonal(matrix, 1 if measure == "r2" else alignment.haplotypes)
    return matrix
