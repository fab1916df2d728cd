"""Packing of 0/1 states into 32-bit words, word-major (words, sites).

Two shapes come in: rows of haplotypes (ms, FASTA), where a word gathers 32 rows, and rows of sites (VCF, MaCS), where a
word gathers 32 neighbouring columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.workers import Workers

WORD_BITS = 32
FIRST = np.uint32(0x55555555)  # first haplotypes of diploid samples
_FILLED_AT_ONCE = 1 << 18  # words that one thread puts together
_COMBINED_AT_ONCE = 1 << 17  # bytes of planes, which stay in the cache


def words_for(haplotypes: int) -> int:
    """Number of 32-bit words that hold `haplotypes` bits."""
    return -(-haplotypes // WORD_BITS)


def combine_rows(rows: NDArray[np.uint8], offset: int) -> NDArray[np.uint8]:
    """Combine groups of 8 haplotype rows into bytes, row i of a group being bit i.

    Parameters
    ----------
    rows : ndarray of uint8, shape (groups, 8, sites)
        Values `offset` and `offset` + 1.
    offset : int
        Value that means 0. Sums wrap modulo 256, so that no row has to be shifted down first.

    Returns
    -------
    ndarray of uint8, shape (groups, sites)
    """
    plane = rows[:, 7].copy()
    for i in range(6, -1, -1):
        np.add(plane, plane, out=plane)
        np.add(plane, rows[:, i], out=plane)
    if offset:
        np.subtract(plane, np.uint8(offset * 255 % 256), out=plane)
    return plane


class RowPacker:
    """Collects haplotype rows, 8 at a time as byte planes, into words of 32 haplotypes.

    Parameters
    ----------
    sites : int
        Length of every row.
    """

    def __init__(self, sites: int) -> None:
        self.sites = sites
        self._planes: list[NDArray[np.uint8]] = []

    @property
    def planes_added(self) -> int:
        """How many byte planes have come so far."""
        return len(self._planes)

    def add(self, planes: NDArray[np.uint8]) -> None:
        """Append byte planes, uint8 (groups, sites), each holding the next 8 haplotypes."""
        self._planes.extend(planes)

    def finish(self, workers: Workers) -> NDArray[np.uint32]:
        """All words, uint32 (words, sites)."""
        words = -(-len(self._planes) // 4)
        packed = np.zeros((words, self.sites, 4), np.uint8)
        at_once = 4 * max(1, _FILLED_AT_ONCE // max(self.sites, 1))

        def fill(first: int) -> None:
            for i, plane in enumerate(self._planes[first : first + at_once], first):
                packed[i // 4, :, i % 4] = plane

        for _ in workers.map(fill, range(0, len(self._planes), at_once)):
            pass
        self._planes = []
        return packed.view("<u4").reshape(words, self.sites).astype(np.uint32, copy=False)


def pack_states(states: NDArray[Any]) -> NDArray[np.uint32]:
    """Pack states 0 and 1 (sites, haplotypes) of one byte each into site-major words, uint32 (sites, words)."""
    sites, haplotypes = states.shape
    if states.strides[0] == 1 < states.strides[1]:
        return _pack_columns(states.T.view(np.uint8))
    packed = np.zeros((sites, 4 * words_for(haplotypes)), np.uint8)
    if haplotypes:
        packed[:, : -(-haplotypes // 8)] = np.packbits(states, axis=1, bitorder="little")
    return packed.view("<u4").astype(np.uint32, copy=False)


def _pack_columns(rows: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Pack rows of haplotypes, uint8 (haplotypes, sites), as `pack_states` does; contiguous along the sites."""
    haplotypes, sites = rows.shape
    packer, whole = RowPacker(sites), haplotypes // 8
    at_once = max(1, _COMBINED_AT_ONCE // max(sites, 1))
    for first in range(0, whole, at_once):
        groups = min(at_once, whole - first)
        packer.add(combine_rows(rows[8 * first : 8 * (first + groups)].reshape(groups, 8, sites), 0))
    if haplotypes % 8:
        last = np.zeros((1, 8, sites), np.uint8)
        last[0, : haplotypes % 8] = rows[8 * whole :]
        packer.add(combine_rows(last, 0))
    with Workers(1) as worker:
        return packer.finish(worker).T


def full_words(haplotypes: int) -> NDArray[np.uint32]:
    """The words of a site at which every haplotype has a 1, uint32 (words,)."""
    words = np.full(words_for(haplotypes), 0xFFFFFFFF, np.uint32)
    if haplotypes % WORD_BITS:
        words[-1] = (1 << haplotypes % WORD_BITS) - 1
    return words


def join_sites(parts: list[NDArray[np.uint32]], words: int, workers: Workers | None = None) -> NDArray[np.uint32]:
    """Join site-major parts, (sites, words) each, into a word-major plane; empties the list to free memory."""
    plane = np.empty((words, sum(len(part) for part in parts)), np.uint32)
    parts.reverse()

    def taken() -> Iterator[tuple[int, NDArray[np.uint32]]]:
        start = 0
        while parts:
            part = parts.pop()
            yield start, part
            start += len(part)

    def place(one: tuple[int, NDArray[np.uint32]]) -> None:
        start, part = one
        plane[:, start : start + len(part)] = part.T

    for _ in map(place, taken()) if workers is None else workers.map(place, taken()):
        pass
    return plane


_SPREAD = np.array([sum((byte >> i & 1) << 2 * i for i in range(8)) for byte in range(256)], "<u2")


def spread_haplotypes(part: NDArray[np.uint32], haplotypes: int) -> NDArray[np.uint32]:
    """Move haplotype h to 2h: the words of haploid calls, (sites, words), among diploid ones."""
    as_bytes = np.ascontiguousarray(part).astype("<u4", copy=False).view(np.uint8)
    spread = _SPREAD[as_bytes].view("<u4")
    return spread[:, : words_for(2 * haplotypes)].astype(np.uint32, copy=False)


def with_haploid(plane: NDArray[np.uint32], haploid: NDArray[np.uint32] | None) -> NDArray[np.uint32]:
    """The plane with haploid calls twice, as homozygous genotypes: what the first haplotype has, the second has."""
    return plane if haploid is None else plane | ((plane << np.uint32(1)) & haploid)


def both_observed(valid: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Where both haplotypes of a sample are observed."""
    both = valid & (valid >> np.uint32(1)) & FIRST
    return both | (both << np.uint32(1))


def unpack_sites(plane: NDArray[np.uint32], haplotypes: int) -> NDArray[np.uint8]:
    """Undo the packing: uint32 (words, sites) to uint8 0/1 of shape (sites, haplotypes)."""
    per_site = np.ascontiguousarray(plane.T).astype("<u4", copy=False).view(np.uint8)
    if not per_site.shape[1]:
        return np.zeros((plane.shape[1], 0), np.uint8)
    return np.unpackbits(per_site, axis=1, count=haplotypes, bitorder="little")


def byte_table(default: int, classes: Mapping[str, int | Sequence[int]]) -> NDArray[np.uint8]:
    """A table of 256 codes: the characters of each key get its code, or the codes one by one."""
    table = np.full(256, default, np.uint8)
    for characters, codes in classes.items():
        table[list(characters.encode())] = codes
    return table
