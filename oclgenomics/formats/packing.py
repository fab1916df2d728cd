"""Packing of 0/1 states into 32-bit words, word-major (words, sites).

Two shapes come in: rows of haplotypes (ms, FASTA), where a word gathers 32 rows, and rows of sites (VCF, MaCS), where a
word gathers 32 neighbouring columns.
"""

from __future__ import annotations

import numpy as np

from .alignment import words_for

__all__ = ["RowPacker", "combine_rows", "pack_site_rows", "unpack_sites"]


def combine_rows(rows: np.ndarray, offset: int) -> np.ndarray:
    """Combine groups of 8 haplotype rows into bytes, row i of a group being bit i.

    Parameters
    ----------
    rows : ndarray of uint8, shape (groups, 8, sites)
        Values `offset` and `offset` + 1.
    offset : int
        Value that stands for 0. Sums wrap modulo 256, so that no row has to be shifted down first.

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
        self._words: list[np.ndarray] = []
        self._planes: list[np.ndarray] = []

    @property
    def planes_added(self) -> int:
        """How many byte planes have come so far."""
        return 4 * len(self._words) + len(self._planes)

    def add(self, planes: np.ndarray) -> None:
        """Append byte planes, uint8 (groups, sites), each holding the next 8 haplotypes."""
        for plane in planes:
            self._planes.append(plane)
            if len(self._planes) == 4:
                self._close_word()

    def _close_word(self) -> None:
        word = np.zeros((self.sites, 4), np.uint8)
        for i, plane in enumerate(self._planes):
            word[:, i] = plane
        self._words.append(word.view("<u4").reshape(self.sites).astype(np.uint32, copy=False))
        self._planes = []

    def finish(self) -> np.ndarray:
        """All words, uint32 (words, sites)."""
        if self._planes:
            self._close_word()
        if not self._words:
            return np.zeros((0, self.sites), np.uint32)
        return np.stack(self._words)


def pack_site_rows(states: np.ndarray) -> np.ndarray:
    """Pack states of shape (sites, haplotypes), non-zero = 1, into uint32 (words, sites)."""
    sites, haplotypes = states.shape
    packed = np.zeros((sites, 4 * words_for(haplotypes)), np.uint8)
    packed[:, : -(-haplotypes // 8)] = np.packbits(states, axis=1, bitorder="little")
    return np.ascontiguousarray(packed.view("<u4").T.astype(np.uint32, copy=False))


def unpack_sites(plane: np.ndarray, haplotypes: int) -> np.ndarray:
    """Undo the packing: uint32 (words, sites) to uint8 0/1 of shape (sites, haplotypes)."""
    per_site = np.ascontiguousarray(plane.T).astype("<u4", copy=False).view(np.uint8)
    if not per_site.shape[1]:
        return np.zeros((plane.shape[1], 0), np.uint8)
    return np.unpackbits(per_site, axis=1, count=haplotypes, bitorder="little")
