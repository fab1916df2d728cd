"""Sketches as they lie in the device's memory."""

from __future__ import annotations

from dataclasses import dataclass

from oclgenomics.runtime import DeviceArray

__all__ = ["Sketches"]


@dataclass(frozen=True)
class Sketches:
    """Sketches of windows that follow each other.

    Attributes
    ----------
    features : DeviceArray, uint32 (windows or more, sketchlen)
        Of each window in ascending order, then `hashes.NO_FEATURE`.
    windows : int
    """

    features: DeviceArray
    windows: int

    @property
    def size(self) -> int:
        """Features of a window at most."""
        return self.features.shape[1]
