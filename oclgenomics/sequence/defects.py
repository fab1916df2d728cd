"""What is wrong with FASTQ, in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError

__all__ = ["DEFECTS", "fastq_error"]

DEFECTS = (
    "a record has to start with @; FASTQ with four lines a record is read",
    "the third line of a record has to start with +; wrapped FASTQ is not read, so join its lines first",
    "letters and qualities of a record are not equally many",
    "the text ends within a record; it seems to be cut off",
)


def fastq_error(text: NDArray[np.uint8], at: int, kind: int, *, source: str, records: int, offset: int) -> InputError:
    """Return the error for the first defect of a block of FASTQ.

    Parameters
    ----------
    text : ndarray, uint8
        The block; starts with a record.
    at, kind : int
        Place in it, and index of `DEFECTS`.
    source : str
    records : int
        Records of the input before the block.
    offset : int
        Place of the block's first byte in the input.
    """
    lines = int(np.count_nonzero(text[:at] == ord("\n")))
    return InputError(DEFECTS[kind], source=source, record=records + lines // 4 + 1, byte=offset + at)
