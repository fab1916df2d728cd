"""Samples as the kernels compare them: a set of nucleotides for each letter, and sums of qualities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray
from oclgenomics.sequence.letters import LetterBlock

__all__ = ["SampleLetters"]


@dataclass(frozen=True)
class SampleLetters:
    """The letters of a block's pieces, checked, on the device.

    Attributes
    ----------
    block : LetterBlock
    codes : DeviceArray, uint8 (block.text.size,)
        For each place of the text that holds a letter: in the low four bits its set of nucleotides, in the high four
        its code in the five letters of the index (A 0, C 1, G 2, T 3, all others 4). Of no meaning at other places.
    letters, size, owned, qualities : DeviceArray, uint32 (pieces,)
        As `Pieces` has them. `qualities` repeats `letters` where samples have none.
    has_qualities : bool
    ns : ndarray, int64 (pieces,)
        Letters N of what each piece owns.
    ambiguous : ndarray, int64 (pieces,)
        Letters of what each piece owns that are no single nucleotide, N among them.
    quality_sum : ndarray, uint64 (pieces,)
        Of what each piece owns; 0 without qualities.
    least_quality : ndarray, uint8 (pieces,)
        The lowest quality of what each piece owns; 255 where there is none.
    """

    block: LetterBlock
    codes: DeviceArray
    letters: DeviceArray
    size: DeviceArray
    owned: DeviceArray
    qualities: DeviceArray
    has_qualities: bool
    ns: NDArray[np.int64]
    ambiguous: NDArray[np.int64]
    quality_sum: NDArray[np.uint64]
    least_quality: NDArray[np.uint8]
