"""What has to hold of the arrays of an alignment; each check names the array and where it is wrong.

All take time in proportion to the sites, but for the masks of missing data, which are looked at word by word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.variation.bed import MAX_BP
from oclgenomics.variation.packing import WORD_BITS

SECOND = np.uint32(0xAAAAAAAA)  # second haplotypes of diploid samples
MIN_ROWS, MAX_ROWS = 3, 4  # of a site with three or four states


def check_array(name: str, array: Any, dtype: type[np.generic], shape: tuple[int, ...]) -> None:
    """Refuse what is no array of this type and shape."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise ParameterError(name, f"must be an array of {np.dtype(dtype)}, not {kind}")
    if array.shape != shape:
        raise ParameterError(name, f"must have the shape {shape}, not {array.shape}")


def check_positions(positions: NDArray[np.int64]) -> None:
    """Refuse positions that go back or lie on no chromosome."""
    steps = positions[1:] < positions[:-1]
    if steps.any():
        site = int(np.argmax(steps)) + 1
        raise ParameterError(
            "positions",
            f"must not go back: site {site} (counted from 0) lies at {positions[site]}, the one before at "
            f"{positions[site - 1]}; sort the sites by position",
        )
    if len(positions) and not (positions[0] >= 0 and positions[-1] <= MAX_BP):
        site = 0 if positions[0] < 0 else int(np.argmax(positions > MAX_BP))
        raise ParameterError(
            "positions", f"must be between 0 and {MAX_BP} bp: site {site} (counted from 0) lies at {positions[site]}"
        )


def check_tail(name: str, plane: NDArray[np.uint32], haplotypes: int, column: str = "site") -> None:
    """Refuse bits past the last haplotype, of a plane (words, columns)."""
    used = haplotypes % WORD_BITS
    if not used or not plane.size:
        return
    rule = f"must be 0 past the last of {haplotypes} haplotypes"
    _check_clear(name, plane[-1] >> np.uint32(used), rule, "a bit", column)


def _check_clear(name: str, words: NDArray[np.uint32], rule: str, what: str, column: str = "site") -> None:
    """Refuse words of columns of a plane of which any bit is set."""
    if words.any():
        place = int(np.argmax(words != 0))
        raise ParameterError(name, f"{rule}: {column} {place} (counted from 0) has {what} there")


def check_masks(bits: NDArray[np.uint32], valid: NDArray[np.uint32], gap: NDArray[np.uint32] | None) -> None:
    """Refuse missing entries with a state, and gaps that are not missing; planes of one shape, (words, sites)."""
    for word in range(len(bits)):
        _check_clear("bits", bits[word] & ~valid[word], "must be 0 where valid is", "a state")
        if gap is not None:
            _check_clear("gap", gap[word] & valid[word], "must be 0 where valid is 1", "a gap")


def check_haploid(haploid: NDArray[np.uint32] | None, valid: NDArray[np.uint32] | None, ploidy: int) -> None:
    """Refuse marks of haploid calls that are not at second haplotypes, or where a state is observed."""
    if haploid is None:
        return
    if ploidy != 2 or (haploid & SECOND != haploid).any():
        raise ParameterError("haploid", "must be 1 at second haplotypes of diploid samples alone")
    if valid is None or (haploid & valid).any():
        raise ParameterError("haploid", "must be 0 where valid is 1: a haploid call has no second state")


def check_rows(multi_site: NDArray[np.int32], multi_letter: NDArray[np.uint8], sites: int) -> None:
    """Refuse rows of sites with three or more states that are out of order, too few or too many."""
    if not len(multi_site):
        return
    later, letters = np.diff(multi_site), np.diff(multi_letter.astype(np.int16))
    wrong = (later < 0) | ((later == 0) & (letters <= 0))
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        raise UsageError(
            f"multi_site and multi_letter must be in the order of the sites, and of A, C, G, T in each: row {row} "
            "(counted from 0) goes back"
        )
    if multi_site[0] < 0 or multi_site[-1] >= sites:
        raise ParameterError(
            "multi_site", f"must be sites from 0 to {sites - 1}, not {multi_site[0]} to {multi_site[-1]}"
        )
    starts = np.flatnonzero(np.concatenate([[True], later > 0]))
    rows = np.diff(starts, append=len(multi_site))
    if rows.min() < MIN_ROWS or rows.max() > MAX_ROWS:
        at = int(np.argmax((rows < MIN_ROWS) | (rows > MAX_ROWS)))
        raise ParameterError(
            "multi_site",
            f"must have {MIN_ROWS} or {MAX_ROWS} rows of a site: site {multi_site[starts[at]]} (counted "
            f"from 0) has {rows[at]}",
        )
