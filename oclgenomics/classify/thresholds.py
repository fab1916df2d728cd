"""How many hits a read needs to be classified.

Hits of chance are spread over all windows of a database. Of L hits the expected number of ranges of R among W
windows in which h of them meet is about C(L, h) (R / W)^(h - 1): any h of them, where all but one have to be close to
the first. A read needs the smallest h, `MIN_HITS` to `MAX_HITS`, for which that is at most `CHANCE`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidates import Candidates
from oclgenomics.classify.options import QueryOptions

__all__ = ["CHANCE", "MAX_HITS", "MIN_HITS", "needed_hits"]

CHANCE = 0.01
MIN_HITS, MAX_HITS = 2, 5
_LOCATED, _WIDTHS = 1 << 12, 16  # what the table holds


def needed_hits(
    candidates: Candidates,
    letters: NDArray[np.uint32],
    widths: NDArray[np.uint32],
    windows: int,
    options: QueryOptions,
) -> NDArray[np.uint32]:
    """Return the hits that each read needs to be classified, uint32 (reads,).

    Parameters
    ----------
    candidates : Candidates
    letters : ndarray (reads,)
        Lengths of the reads, those of mates together.
    widths : ndarray (reads,)
        Neighbouring windows whose hits add up; see `windows.range_width`.
    windows : int
        Of all targets.
    options : QueryOptions
        `hitmin`, if given, is what every read needs.
    """
    if options.hitmin is not None:
        return np.full(len(letters), options.hitmin, np.uint32)
    located = candidates.located
    tabled = (located < _LOCATED) & (widths < _WIDTHS)
    shares = np.arange(_WIDTHS)[:, np.newaxis] / max(windows, 1)
    table = _unlikely(np.arange(_LOCATED, dtype=np.float64), shares)
    needed = table.ravel()[np.where(tabled, widths * np.uint32(_LOCATED) + located, 0)]
    others = np.flatnonzero(~tabled)
    needed[others] = _unlikely(located[others].astype(np.float64), widths[others] / max(windows, 1))
    return needed


def _unlikely(located: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.uint32]:
    """The smallest number of hits that chance seldom gives."""
    expected = located * np.ones_like(share)
    needed = np.full(expected.shape, MIN_HITS, np.uint32)
    for hits in range(2, MAX_HITS):
        expected *= np.maximum(located - (hits - 1), 0) / hits * share
        needed[expected > CHANCE] = hits + 1
    return needed
