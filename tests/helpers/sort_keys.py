"""Keys and values that the tests of sorting and partitioning share."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from helpers.products import drawn

__all__ = ["KINDS", "random_keys"]

# Words of a key, their type and that of values. Each kind has kernels to compile, so these few are drawn from.
_KINDS: list[tuple[int, type, type | None]] = [
    (1, np.uint32, None),
    (1, np.uint32, np.uint64),
    (1, np.uint64, np.uint8),
    (1, np.uint64, np.uint32),
    (2, np.uint32, np.uint16),
    (2, np.uint64, None),
    (2, np.uint64, np.uint64),
    (3, np.uint32, np.uint8),
    (3, np.uint64, np.uint16),
    (3, np.uint64, np.uint32),
    (4, np.uint32, np.uint32),
    (4, np.uint64, None),
]
_FEW_KINDS = [_KINDS[i] for i in (1, 3, 4, 7, 11)]  # every number of words, every type of values
KINDS = drawn(st.sampled_from(_FEW_KINDS), whole=st.sampled_from(_KINDS))


def random_keys(rng: np.random.Generator, words: int, size: int, dtype: type, distinct: int) -> np.ndarray:
    """Keys, (words, size), of which at most `distinct` differ."""
    pool = rng.integers(0, np.iinfo(dtype).max, (words, distinct), dtype, endpoint=True)
    return pool[:, rng.integers(0, distinct, size)]
