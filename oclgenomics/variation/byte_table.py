"""Tables that classify bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["byte_table"]


def byte_table(default: int, classes: Mapping[str, int | Sequence[int]]) -> NDArray[np.uint8]:
    """A table of 256 codes: the characters of each key get its code, or the codes one by one."""
    table = np.full(256, default, np.uint8)
    for characters, codes in classes.items():
        table[list(characters.encode())] = codes
    return table
