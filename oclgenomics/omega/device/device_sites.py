"""An alignment's sites in device memory: all of them, or those of the block at work."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from oclgenomics.omega.device.bit_planes import SITE_GROUP, BitPlanes
from oclgenomics.omega.plan import TILE, Block, round_up
from oclgenomics.runtime import Engine
from oclgenomics.runtime.buffers import DeviceArray

__all__ = ["DeviceSites"]


class DeviceSites:
    """The planes of a `BitPlanes` on the device: all of them, or those that the block at work needs.

    Parameters
    ----------
    engine : Engine
    planes : BitPlanes
    resident : bool
        False uploads the bits of each block's sites anew, for alignments larger than the memory: into `buffers` sets of
        planes in turn, so that a discrete device gets a block's sites while it computes the one before.
    """

    def __init__(self, engine: Engine, planes: BitPlanes, *, resident: bool) -> None:
        self._engine, self._host, self._resident = engine, planes, resident
        self._planes: deque[tuple[DeviceArray, DeviceArray] | None] = deque([None] * self.buffers(engine))
        self.ones = engine.upload(planes.ones)
        self.weight = engine.upload(planes.weight)
        self.alleles = None if planes.allele_bits is None else engine.upload(planes.allele_bits)
        if self.alleles is not None:
            self.first_row, self.row_count = engine.upload(planes.first_row), engine.upload(planes.row_count)
            self.listed = engine.upload(planes.listed)
        if resident:
            bits = engine.upload(planes.bits)
            self._planes = deque([(bits, bits if planes.valid is None else engine.upload(planes.valid))])

    @staticmethod
    def buffers(engine: Engine) -> int:
        """Sets of planes of an alignment that does not stay on the device."""
        return 1 if engine.device.unified_memory else 2

    def planes(self, block: Block) -> tuple[DeviceArray, DeviceArray, int]:
        """Bits and valid of at least the block's sites, and the first site in them."""
        held = self._planes.popleft()
        if self._resident and held is not None:
            self._planes.append(held)
            return (*held, 0)
        planes, engine = self._host, self._engine
        groups = slice(block.col0 // SITE_GROUP, round_up(block.row0 + block.rows, TILE) // SITE_GROUP)
        shape = planes.bits[groups].shape
        if held is None or held[0].size < math.prod(shape):
            bits = engine.empty(shape, np.uint32)
            held = bits, bits if planes.valid is None else engine.empty(shape, np.uint32)
        self._planes.append(held)
        bits, valid = held
        engine.write(bits, planes.bits[groups])
        if planes.valid is not None:
            engine.write(valid, planes.valid[groups])
        return bits, valid, block.col0
