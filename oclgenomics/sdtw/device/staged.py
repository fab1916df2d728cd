"""Reads whose prefixes are aligned one after the other, and go on where they can."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.found import Found, PrefixAligner
from oclgenomics.sdtw.reference import BLOCK
from oclgenomics.signals import Signals

__all__ = ["StagedReads", "reads_together"]


def reads_together(aligner: PrefixAligner, wanted: int) -> int:
    """Return how many reads of those that are wanted can be staged at a time."""
    going_on = _going_on(aligner)
    return wanted if going_on is None else min(wanted, going_on.slots_that_fit())


class StagedReads:
    """Aligns longer and longer prefixes of reads.

    With `norm=blocks` the scores at the end of whole blocks stay on the device, and a longer prefix goes on from there;
    else each prefix is normalised, and aligned, by itself.

    Parameters
    ----------
    aligner : PrefixAligner
    signals : Signals
        Reads, as many as `reads_together` allows.
    """

    def __init__(self, aligner: PrefixAligner, signals: Signals) -> None:
        self._aligner, self._signals, self._going_on = aligner, signals, _going_on(aligner)
        self._slots = self._going_on.slots(len(signals)) if self._going_on is not None and len(signals) else None

    def align(self, which: NDArray[np.int64], prefix: int) -> Found:
        """Align prefixes of some reads; later calls are of longer prefixes, and of some of the same reads."""
        first = self._signals.starts[which]
        if self._going_on is None or self._slots is None or prefix % BLOCK:  # a block that is cut has levels of its own
            return self._aligner.align(self._signals.samples, first, prefix)
        return self._going_on.extend(self._signals.samples, first, prefix, self._slots, which)


def _going_on(aligner: PrefixAligner) -> Aligner | None:
    """The aligner, if it can go on from shorter prefixes."""
    return aligner if isinstance(aligner, Aligner) and aligner.options.norm == "blocks" else None
