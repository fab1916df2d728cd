"""An alignment's sites in device memory: all of them, or those of the block at work."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from oclgenomics.omega.device.bit_planes import SITE_GROUP, BitPlanes
from oclgenomics.omega.passes import TILE, Block, round_up
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["AlleleRows", "DeviceSites", "PlanesAtWork"]


@dataclass(frozen=True)
class PlanesAtWork:
    """Bits and valid of at least a block's sites, and the first site in them; `valid` is `bits` for complete data."""

    bits: DeviceArray
    valid: DeviceArray
    site0: int


@dataclass(frozen=True)
class AlleleRows:
    """Rows of the states of sites with three or more, and which these are; see `BitPlanes`."""

    bits: DeviceArray
    first_row: DeviceArray
    row_count: DeviceArray
    listed: DeviceArray


class DeviceSites:
    """The planes of a `BitPlanes` on the device: all of them, or those that the block at work needs.

    Parameters
    ----------
    engine : Engine
    planes : BitPlanes
    resident : bool
        False uploads the bits of each block's sites anew, for alignments larger than the memory: into `buffers` sets of
        planes in turn, so that a discrete device gets a block's sites while it computes the one before.

    Attributes
    ----------
    ones, weight : DeviceArray
        As in `BitPlanes`.
    alleles : AlleleRows or None
        None where no site has three or more states.
    """

    def __init__(self, engine: Engine, planes: BitPlanes, *, resident: bool) -> None:
        self._engine, self._host = engine, planes
        self._sets: deque[PlanesAtWork | None] = deque([None] * self.buffers(engine))
        self.ones, self.weight = engine.upload(planes.ones), engine.upload(planes.weight)
        self.alleles: AlleleRows | None = None
        if planes.allele_bits is not None:
            rows = (planes.allele_bits, planes.first_row, planes.row_count, planes.listed)
            self.alleles = AlleleRows(*map(engine.upload, rows))
        self._resident: PlanesAtWork | None = None
        if resident:
            bits = engine.upload(planes.bits)
            self._resident = PlanesAtWork(bits, bits if planes.valid is None else engine.upload(planes.valid), 0)

    @staticmethod
    def buffers(engine: Engine) -> int:
        """Sets of planes of an alignment that does not stay on the device."""
        return 1 if engine.device.unified_memory else 2

    def planes(self, block: Block) -> PlanesAtWork:
        """Return the planes of a block's sites, uploaded if they do not stay on the device."""
        if self._resident is not None:
            return self._resident
        host, engine = self._host, self._engine
        groups = slice(block.col0 // SITE_GROUP, round_up(block.row0 + block.rows, TILE) // SITE_GROUP)
        held = self._next_set(host.bits[groups].shape, block.col0)
        engine.write(held.bits, host.bits[groups])
        if host.valid is not None:
            engine.write(held.valid, host.valid[groups])
        return held

    def _next_set(self, shape: tuple[int, ...], site0: int) -> PlanesAtWork:
        """The set of planes that was used longest ago, made larger where it is too small."""
        held = self._sets.popleft()
        if held is None or held.bits.size < math.prod(shape):
            bits = self._engine.empty(shape, np.uint32)
            held = PlanesAtWork(bits, bits if self._host.valid is None else self._engine.empty(shape, np.uint32), site0)
        self._sets.append(held)
        return PlanesAtWork(held.bits, held.valid, site0)
