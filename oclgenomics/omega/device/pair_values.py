"""Linkage disequilibrium of all pairs of sites of a block, into the memory of its sums."""

from __future__ import annotations

import numpy as np

from oclgenomics.omega.device.device_sites import AlleleRows, PlanesAtWork
from oclgenomics.omega.device.kernels import PAIR_ROW
from oclgenomics.omega.device.setup import ScanSetup
from oclgenomics.omega.passes import TILE, Block, Pass, round_up
from oclgenomics.runtime import DeviceArray

__all__ = ["PairValues"]

ALLELE_LANES = 16


class PairValues:
    """Values of the pairs of a pass, block by block.

    Parameters
    ----------
    setup : ScanSetup
    walk : Pass
    sums : DeviceArray
        Where they go.
    """

    def __init__(self, setup: ScanSetup, walk: Pass, sums: DeviceArray) -> None:
        self._setup, self._walk, self._sums = setup, walk, sums

    def enqueue(self, block: Block) -> None:
        """Compute the values of a block's pairs."""
        setup = self._setup
        planes = setup.sites.planes(block)
        if not (setup.compat and len(setup.planes.listed)):
            self._of_two_states(block, planes)
        self._of_more_states(block, planes)

    def _of_two_states(self, block: Block, planes: PlanesAtWork) -> None:
        """All pairs, as if their sites had two states: some row tiles a launch, so that none is long."""
        setup, host = self._setup, self._setup.planes
        kernels, lanes = setup.kernels, setup.kernels.lanes("pair_values")
        columns = min((self._walk.band + TILE - 1) // TILE + 1, block.width // TILE)
        tiles = -(-block.rows // TILE)
        at_once = setup.launches.row_tiles(columns, host.words * host.counts)
        for first in range(0, tiles, at_once):
            if kernels.vector_width == 1:
                size = (PAIR_ROW * columns, lanes // PAIR_ROW * min(at_once, tiles - first))
                local = (PAIR_ROW, lanes // PAIR_ROW)
            else:
                rows = min(at_once * TILE, block.rows - first * TILE)
                size, local = (columns, -(-rows // kernels.rows_each)), (1, 1)
            setup.engine.launch(
                kernels["pair_values"],
                size,
                local,
                bits=planes.bits,
                valid=planes.valid,
                words=host.words,
                units=host.units,
                ones=setup.sites.ones,
                weight=setup.sites.weight,
                haplotypes=host.haplotypes,
                scale=setup.scale,
                sums=self._sums,
                **block.layout,
                stride=self._walk.stride,
                site0=planes.site0,
                first_tile=first,
            )

    def _of_more_states(self, block: Block, planes: PlanesAtWork) -> None:
        """Pairs with a site of three or more states (all pairs in OmegaPlus' DNA mode)."""
        alleles, listed, band = self._setup.sites.alleles, self._setup.planes.listed, self._walk.band
        if alleles is None:
            return
        end = block.row0 + block.rows
        roles = [(0, np.searchsorted(listed, [block.row0, end]), band)]
        if not self._setup.compat:
            roles.append((1, np.searchsorted(listed, [block.col0, end]), block.rows))
        for as_column, (low, high), away in roles:
            at_once = self._setup.launches.listed_sites(away, self._setup.planes.words)
            for start in range(int(low), int(high), at_once):
                count = min(at_once, int(high) - start)
                self._of_listed_sites(block, planes, alleles, start, count, as_column, away)

    def _of_listed_sites(
        self,
        block: Block,
        planes: PlanesAtWork,
        alleles: AlleleRows,
        start: int,
        count: int,
        as_column: int,
        away: int,
    ) -> None:
        """Pairs of some listed sites, as rows or as columns, with the sites no further away than so many."""
        setup = self._setup
        lanes = setup.kernels.group("allele_values", ALLELE_LANES)
        setup.engine.launch(
            setup.kernels["allele_values"],
            (round_up(away, lanes), count),
            (lanes, 1),
            bits=planes.bits,
            alleles=alleles.bits,
            valid=planes.valid,
            words=setup.planes.words,
            first_row=alleles.first_row,
            row_count=alleles.row_count,
            listed=alleles.listed,
            list0=start,
            as_column=as_column,
            scale=setup.scale,
            sums=self._sums,
            **block.layout,
            stride=self._walk.stride,
            band=self._walk.band,
            site0=planes.site0,
        )
