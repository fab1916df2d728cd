"""Sets of k-mers side by side: their algebra, and the rows of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.kmers.sets.algebra import check_alike, check_one_kind, intersect, restricted, subtract, union
    from oclgenomics.kmers.sets.rows import MatrixRows, RowChoice, check_names

__all__ = [
    "MatrixRows", "RowChoice", "check_alike", "check_names", "check_one_kind", "intersect", "restricted", "subtract",
    "union",
]  # fmt: skip

HOMES = {
    "MatrixRows": "rows", "RowChoice": "rows", "check_alike": "algebra", "check_names": "rows",
    "check_one_kind": "algebra", "intersect": "algebra", "restricted": "algebra", "subtract": "algebra",
    "union": "algebra",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
