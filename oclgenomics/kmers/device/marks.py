"""Marks of k-mers on the device, and which sections of a database have k-mers that were marked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.plan.memory import MARK_BITS, finds_sections
from oclgenomics.runtime import DeviceArray, Engine, HostArray


class Marks:
    """A bit for each of some k-mers, and for few others: see `mark_of` in `kernels_cl/kmers/key_table.clh`.

    Parameters
    ----------
    engine : Engine
    bits : int
        Bits of prefixes; from `plan.memory.mark_prefix_bits`.
    firsts : ndarray, uint64 (words, sections), optional
        The first key of each section of a database, ascending, so that sections without a marked k-mer are not read.

    Attributes
    ----------
    bits : int
    kmers : int
        That were marked; equal ones count as often as they come.
    """

    def __init__(self, engine: Engine, bits: int, firsts: NDArray[np.uint64] | None = None) -> None:
        self.bits, self.kmers = bits, 0
        self._engine = engine
        self._array = HostArray(engine, 1 << bits + MARK_BITS - 5, np.uint32)
        engine.fill(self._array.device, 0)
        self._sections, self._firsts = 0, None if firsts is None else engine.upload(firsts)
        if firsts is not None:
            self._sections = firsts.shape[1]
            self._needed = engine.empty(self._sections + 1, np.uint32)
            engine.fill(self._needed, 0)

    @property
    def array(self) -> DeviceArray:
        """Of all bits, uint32."""
        return self._array.device

    def seeks(self, kmers: int) -> dict[str, Any] | None:
        """Count k-mers that were marked; return what `find_sections` takes for these, None where it is not worth it.

        It finds the section of each k-mer, as long as that takes little of the time in which the sections are read.
        """
        self.kmers += kmers
        if self._firsts is not None and not finds_sections(self.kmers, self._sections):
            self._firsts = None
        if self._firsts is None:
            return None
        return {"firsts": self._firsts, "sections": self._sections, "needed": self._needed}

    def sections(self) -> NDArray[np.int64] | None:
        """Return the numbers of the sections that may have marked k-mers, ascending; None where all may."""
        if self._firsts is None:
            return None
        return np.flatnonzero(self._engine.download(self._needed)[1:])
