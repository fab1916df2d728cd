"""What is the same in all passes of a scan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oclgenomics.omega.device.bit_planes import BitPlanes
from oclgenomics.omega.device.device_sites import DeviceSites
from oclgenomics.omega.device.fixed_point import whole_unit
from oclgenomics.omega.device.kernels import ScanKernels
from oclgenomics.omega.device.launches import Launches
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.score import EPSILON
from oclgenomics.runtime import Engine

__all__ = ["ScanSetup"]

ANY_BORDER = 1 << 30


@dataclass(frozen=True)
class ScanSetup:
    """The sites, the kernels for them, and the numbers that they get.

    Attributes
    ----------
    engine : Engine
    planes : BitPlanes
        Of the sites, on the host.
    sites : DeviceSites
        The same on the device.
    kernels : ScanKernels
    launches : Launches
    compat : bool
        Sums are OmegaPlus' float32 ones.
    border : int
        Most sites by which the halves of a window may differ.
    bits : int
        Fraction bits of exact sums.
    whole : int
        What 1 is in exact sums of values that are whole numbers then; 0 if `bits` says it.
    ranked_as_whole : bool
        Kernels get what 1 is in the sums, not what keeps omega finite (D and its kin).
    """

    engine: Engine
    planes: BitPlanes
    sites: DeviceSites
    kernels: ScanKernels
    launches: Launches
    compat: bool
    border: int
    bits: int
    whole: int
    ranked_as_whole: bool

    @classmethod
    def of(cls, engine: Engine, planes: BitPlanes, sites: DeviceSites, options: ScanOptions, *, bits: int) -> ScanSetup:
        """Prepare a scan whose exact sums have so many fraction bits."""
        return cls(
            engine=engine,
            planes=planes,
            sites=sites,
            kernels=ScanKernels(engine, planes, options),
            launches=Launches(engine.device.compute_units, cpu=engine.tuning.cpu),
            compat=options.precision == "compat",
            border=options.tried_border if options.tried_border >= 0 else ANY_BORDER,
            bits=bits,
            whole=whole_unit(planes.units, options, complete=not planes.missing),
            ranked_as_whole=options.ld != "RSQUARE",
        )

    @property
    def scale(self) -> float:
        """What values are multiplied with in exact sums."""
        return float(self.whole or 2.0**self.bits)

    @property
    def epsilon(self) -> float:
        """What keeps omega finite, in the unit of the sums; for D and its kin the unit."""
        return EPSILON if self.compat else self.scale if self.ranked_as_whole else EPSILON * self.scale

    @property
    def sum_type(self) -> type[np.generic]:
        """Type of the sums."""
        return np.float32 if self.compat else np.int64
