"""How much work goes into one launch on a GPU: about a tenth of a second's.

A display's watchdog ends a launch that keeps its GPU for seconds, and the screen stands still meanwhile. The bound
follows from the sizes of the work and the device's compute units alone, and results do not depend on it.
"""

from __future__ import annotations

from oclgenomics.omega.cost import KERNEL_ONE, KERNEL_TILES, costs_of
from oclgenomics.omega.passes import TILE, Stretch

__all__ = ["Launches"]

LAUNCH_NS = 100e6
WORD_NS = 0.5  # a population count of a pair of words, on a compute unit of a modest GPU; of an H200 0.05
ALLELE_COUNTS = 64  # a word of a pair of sites of two states each: 4 pairs of rows, 4 counts, nothing kept in registers
MAX_WINDOWS = 65_535  # some drivers take no more work-groups in the third dimension
ENDLESS = 1 << 31


class Launches:
    """How much work goes into one launch. CPUs need no bound.

    Parameters
    ----------
    compute_units : int
    cpu : bool
    """

    def __init__(self, compute_units: int, *, cpu: bool) -> None:
        self._units, self._cpu = compute_units, cpu
        self._costs = costs_of(compute_units, cpu=cpu)

    def row_tiles(self, columns: int, counts: int) -> int:
        """Row tiles of `pair_values` over so many tile columns, with so many population counts for a pair of sites."""
        return self._items(columns * TILE * TILE * counts * WORD_NS / self._units)

    def listed_sites(self, partners: int, words: int) -> int:
        """Sites of `allele_values` with so many partners each."""
        return self._items(partners * words * ALLELE_COUNTS * WORD_NS / self._units)

    def windows(self, stretch: Stretch) -> int:
        """Windows of the scoring kernels."""
        places = stretch.lefts * stretch.rows
        if stretch.kernel == KERNEL_TILES:
            costs = self._costs.tiles
            each = max(costs.position + costs.tile * stretch.tiles_i * stretch.tiles_j, costs.queue)
        else:
            kind = self._costs.one if stretch.kernel == KERNEL_ONE else self._costs.two
            each = kind.position + (kind.score + kind.place) * places
        return min(self._items(each), MAX_WINDOWS)

    def _items(self, each: float) -> int:
        return ENDLESS if self._cpu else max(1, int(LAUNCH_NS / each))
