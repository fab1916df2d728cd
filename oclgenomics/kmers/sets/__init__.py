"""Sets of k-mers side by side: their algebra, and the rows of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.kmers.sets.algebra import *
    from oclgenomics.kmers.sets.rows import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "algebra": "check_alike check_one_kind merge_sets restricted union",
        "rows": "MatrixRows RowBlock RowChoice check_names",
    },
)
