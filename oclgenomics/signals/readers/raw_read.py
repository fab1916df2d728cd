"""What readers give: one read after the other, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError

__all__ = ["RawRead", "check_read"]

MAX_CHANNEL = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class RawRead:
    """A read as it is in a file; see `Signals` for what its facts mean.

    Attributes
    ----------
    name : str
    samples : ndarray, int16
        All, or as many from the first one on as the reader was asked for.
    scale, offset, rate : float
    channel : int
    share : float
        How much of the file has been read with it, 0 to 1.
    """

    name: str
    samples: NDArray[np.int16]
    scale: float = 1.0
    offset: float = 0.0
    rate: float = math.nan
    channel: int = 0
    share: float = 0.0


def check_read(read: RawRead, source: str) -> RawRead:
    """Return a read whose facts make sense.

    Raises
    ------
    InputError
        It has no name, or a calibration, a rate or a channel that cannot be.
    """
    if not read.name:
        raise InputError("a read without a name", source=source)
    if not (math.isfinite(read.scale) and read.scale > 0 and math.isfinite(read.offset)):
        trouble = f"a calibration that cannot be: (sample + {read.offset:g}) * {read.scale:g} pA"
    elif not (math.isnan(read.rate) or 0 < read.rate < math.inf):
        trouble = f"{read.rate:g} samples per second"
    elif not 0 <= read.channel <= MAX_CHANNEL:
        trouble = f"channel {read.channel}"
    else:
        return read
    raise InputError(f"read {read.name!r} has {trouble}; the file is damaged", source=source)
