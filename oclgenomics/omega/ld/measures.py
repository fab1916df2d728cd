"""The measures of linkage disequilibrium: what a scan sums, and what a map shows.

Of the n haplotypes that are observed at both of two sites, let a and b be the shares that carry the second state at
either, and c the share that carries it at both. Then

    D  = c - a b
    r2 = D^2 / (a (1 - a) b (1 - b)), 0 where a site does not vary.

Of unphased genotypes, the counts of second states of the samples are correlated instead: r2 is the square of their
correlation, and n counts two haplotypes a sample. Sites of three or more states: see docs/omega.md.
`kernels_cl/omega/pair_value.clh` computes the values.
"""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["LD_MEASURES", "MAP_MEASURES", "LdMeasure", "MapMeasure"]

LdMeasure = Literal["RSQUARE", "D", "ABSD", "DOM", "ABSDOM", "ABSDOM2"]
"""Measures of a scan, by OmegaPlus' names.

'RSQUARE' is n r2; 'D' and 'ABSD' are D and its magnitude; 'DOM' is D counted from the commoner state of either site,
and 'ABSDOM' its magnitude; 'ABSDOM2' goes through an integer `abs` in OmegaPlus, and is 0.
"""

MapMeasure = Literal["r2", "nr2"]
"""Measures of a map: r2, or n r2, which omega sums."""

LD_MEASURES: tuple[LdMeasure, ...] = get_args(LdMeasure)
"""In the order of the kernels' numbers (`-D MEASURE`)."""

MAP_MEASURES: tuple[MapMeasure, ...] = get_args(MapMeasure)
