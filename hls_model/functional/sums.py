"""The operands of one grid position: region sums from the matrix M, and SNP counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.errors import ModelError
from hls_model.workload import LARGEST_SIDE

__all__ = ["Sums"]


Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Sums:
    """Region sums of one grid position, as they lie in M.

    Attributes
    ----------
    LS : ndarray, float32 (left,)
        Sum within the left part, for each column (outer iteration).
    RS : ndarray, float32 (right,)
        Sum within the right part, for each right-side iteration.
    TS : ndarray, float32 (left, right)
        Sum of the whole window: a row here is a column of M.
    first_left, first_right : int
        SNPs of the left part in the first column, and of the right part in the first right-side iteration: k of column
        i is `first_left + i`, m of right-side iteration j is `first_right + j`.

    Raises
    ------
    ModelError
        Shapes or types that do not fit together, or counts beyond 32-bit integers: k and m have to be 1 to 65,536, and
        k m below 2**32.
    """

    LS: Floats
    RS: Floats
    TS: Floats
    first_left: int = 2
    first_right: int = 2

    def __post_init__(self) -> None:
        if self.LS.ndim != 1 or self.RS.ndim != 1 or self.TS.shape != (len(self.LS), len(self.RS)):
            raise ModelError(
                f"LS, RS and TS have the shapes {self.LS.shape}, {self.RS.shape} and {self.TS.shape}; they have to be "
                "(left,), (right,) and (left, right)"
            )
        for name in ("LS", "RS", "TS"):
            if getattr(self, name).dtype != np.float32:
                raise ModelError(f"{name} is {getattr(self, name).dtype}; the hardware takes float32")
        if min(self.first_left, self.first_right) < 1:
            raise ModelError(f"first counts are {self.first_left} and {self.first_right}; a part has 1 SNP at least")
        k, m = self.first_left + self.left - 1, self.first_right + self.right - 1
        if max(k, m) > LARGEST_SIDE or k * m >= 1 << 32:
            raise ModelError(
                f"windows reach {k} and {m} SNPs; the 32-bit counters of the hardware take {LARGEST_SIDE} on a side "
                "and a product below 2**32"
            )

    @property
    def left(self) -> int:
        """Columns, the outer loop's trip count."""
        return len(self.LS)

    @property
    def right(self) -> int:
        """Right-side iterations, the inner loop's trip count."""
        return len(self.RS)
