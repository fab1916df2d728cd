"""Where a read that still goes on begins: what `oclgenomics.signals.trimming` finds in the samples that are there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signals.trimming import MAX_STALL, TrimOptions, trim_start

__all__ = ["LiveTrim"]


class LiveTrim:
    """Trims reads of which more samples come.

    A number of samples is left out as they come. A stall is looked for as soon as there are enough samples for the
    trimming without one and for the first stage; what is found then is the start of the read.

    Parameters
    ----------
    options : TrimOptions, optional
        None leaves nothing out.

    Attributes
    ----------
    fixed : int
        Samples that are always left out.
    searched : int
        Samples in which a start is looked for; 0 if there is nothing to look for.
    least : int
        Samples before the first stage's at which to begin to look.
    """

    def __init__(self, options: TrimOptions | None) -> None:
        self._options = options or TrimOptions(stall=False, extra=0)
        stall, extra = self._options.stall, self._options.extra
        longest = MAX_STALL if self._options.max_trim is None else self._options.max_trim
        self.fixed = 0 if stall else extra
        self.searched = longest + extra if stall else 0
        self.least = extra

    @property
    def samples(self) -> int:
        """Samples that may be left out at most."""
        return self.fixed + self.searched

    def find(self, samples: NDArray[np.int16]) -> int | None:
        """Return where the read begins; None if that is not known yet."""
        start = trim_start(samples, self._options)
        return start if start < len(samples) else None
