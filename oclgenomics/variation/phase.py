"""What is done with calls whose phase is unknown.

A call is not phased if it is written with '/' and its alleles differ: nobody knows which haplotype carries which. Equal
alleles have no order. A call with one allele missing counts as not phased where haplotypes are asked for.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = ["PHASES", "Phase", "unphased_calls"]

Phase = Literal["auto", "missing", "strict", "ignore"]
"""'auto': a heterozygous call that is not phased makes its alignment unphased; 'missing': calls that are not phased are
missing; 'strict': they are refused; 'ignore': the order in which alleles are written is their phase."""

PHASES: tuple[Phase, ...] = get_args(Phase)


def unphased_calls(
    slashed: NDArray[np.bool_], first: NDArray[Any], second: NDArray[Any], missing: int, phase: Phase
) -> NDArray[np.bool_] | None:
    """Tell which calls are not phased; None if none is, or nobody asks.

    Parameters
    ----------
    slashed : ndarray of bool, shape (sites, samples)
        Calls written with '/'.
    first, second : ndarray of integers, shape (sites, samples)
        Their alleles.
    missing : int
        Stands for no allele.
    phase : str
        One of `PHASES`.

    Returns
    -------
    ndarray of bool, shape (sites, samples), or None
    """
    if phase == "ignore" or not slashed.any():
        return None
    found: NDArray[np.bool_] = slashed & (first != second)
    if phase == "auto":
        found &= (first != missing) & (second != missing)
    return found if found.any() else None
